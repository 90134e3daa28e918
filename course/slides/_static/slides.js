// After a slider was moved with the mouse or a finger, the keys turn slides again.
document.addEventListener("pointerup", (event) => {
  if (event.target instanceof HTMLInputElement) event.target.blur();
});

// A formula wider than the slide is set smaller.  Its width is known once it is visible and typeset.
const fitFormulas = async () => {
  await window.MathJax?.startup?.promise;
  for (const box of document.querySelectorAll(".reveal div.math")) {
    const formula = box.querySelector("mjx-math");
    const share = formula ? (box.clientWidth * Reveal.getScale()) / formula.getBoundingClientRect().width : 1;
    if (share < 1) box.style.fontSize = `${0.98 * share * parseFloat(getComputedStyle(box).fontSize)}px`;
  }
};
for (const event of ["ready", "slidechanged", "pdf-ready"]) Reveal.on(event, fitFormulas);
window.addEventListener("load", fitFormulas);
