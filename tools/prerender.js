// Set formulas: stdin holds {folder, fonts, formulas: [[tex, display], ...]}, stdout gets {html: [...], css}.
const {folder, fonts, formulas} = JSON.parse(require("fs").readFileSync(0, "utf-8"));
require(`${folder}/node-main.js`).init({
  loader: {
    load: ["input/tex-full", "output/chtml", "adaptors/liteDOM", "a11y/assistive-mml"],
    paths: {mathjax: folder},
  },
  chtml: {fontURL: fonts, adaptiveCSS: false},
  options: {enableMenu: false},
  startup: {typeset: false},
}).then((MathJax) => {
  const {adaptor} = MathJax.startup;
  const html = formulas.map(([tex, display]) => adaptor.outerHTML(MathJax.tex2chtml(tex, {display})));
  process.stdout.write(JSON.stringify({html, css: adaptor.textContent(MathJax.chtmlStylesheet())}));
}).catch((error) => { console.error(String(error)); process.exit(1); });
