// Run in a built page: hand over its article as a piece of one long document that Chromium prints.
({slug, pages}) => {
  const article = document.querySelector("article").cloneNode(true);
  const drop = (selector) => article.querySelectorAll(selector).forEach((e) => e.remove());

  // A slider becomes three of its frames.
  for (const slider of article.querySelectorAll(".copyhead-slider")) {
    const data = JSON.parse(slider.querySelector("script[type='application/json']").textContent);
    const last = data.labels.length - 1;
    const middle = data.start > 0 && data.start < last ? data.start : Math.round(last / 2);
    const panels = slider.querySelector(".copyhead-panels");
    const frames = new Set([0, middle, last]);
    for (const frame of frames) {
      const copy = panels.cloneNode(true);
      for (const group of copy.querySelectorAll("[data-f]"))
        if (group.dataset.f.split(" ").includes(String(frame))) group.removeAttribute("display");
        else group.remove();
      copy.setAttribute("aria-label", data.alts[frame]);
      const figure = document.createElement("div");
      figure.className = "frame";
      const caption = document.createElement("p");
      caption.className = "frame-name";
      caption.textContent = `${data.name} = ${data.labels[frame]}`;
      figure.append(caption, copy);
      slider.parentNode.insertBefore(figure, slider);
    }
    slider.remove();
  }

  // What only a screen can use.
  drop("script, .headerlink, .copyhead-status, button, .colab-badge, .copybtn, mjx-assistive-mml, .quiz-check, style, .cell.tag_exercise .cell_output");
  for (const facts of article.querySelectorAll(".chapter-facts")) {
    facts.querySelectorAll("a").forEach((a) => a.remove());
    facts.textContent = facts.textContent.replace(/[\s·]+$/, "");
  }
  for (const e of article.querySelectorAll(".dropdown, .toggle")) e.classList.remove("dropdown", "toggle", "toggle-hidden");
  drop(".cell.tag_hide-input .cell_input, .cell.tag_hide-input > details, .cell.tag_hide-input details.hide");
  for (const e of article.querySelectorAll("details")) e.open = true;

  // Ids of all pages live side by side, so each gets its page's name.
  const own = (id) => `${slug}--${id}`;
  for (const e of article.querySelectorAll("[id]")) e.id = own(e.id);
  for (const e of article.querySelectorAll("svg *"))
    for (const {name, value} of [...e.attributes]) {
      const local = value.replace(/url\(["']?#([^)"']+)["']?\)/g, (_, id) => `url(#${own(id)})`);
      if (local !== value) e.setAttribute(name, local);
      if (/^(xlink:)?href$/.test(name) && value.startsWith("#")) e.setAttribute(name, "#" + own(value.slice(1)));
    }
  for (const a of article.querySelectorAll("a[href]")) {
    const url = new URL(a.getAttribute("href"), document.baseURI);
    if (url.protocol !== "file:") continue;
    const target = pages.find((page) => url.pathname.endsWith(`/${page}.html`));
    if (!target) { a.replaceWith(...a.childNodes); continue; }
    const goal = target.replaceAll("/", "-");
    a.setAttribute("href", url.hash ? `#${goal}--${decodeURIComponent(url.hash.slice(1))}` : `#${goal}`);
  }
  for (const image of article.querySelectorAll("img")) image.src = new URL(image.getAttribute("src"), document.baseURI);

  // Solutions go to the end of the book; exercise and solution lead to each other.
  const solutions = [...article.querySelectorAll(".solution.admonition")];
  for (const solution of solutions) {
    const exercise = article.querySelector(solution.querySelector(".admonition-title a")?.getAttribute("href")?.replace(
      /^#(.*)$/, (_, id) => `[id="${id}"]`) ?? "nothing");
    const link = document.createElement("p");
    link.className = "to-solution";
    link.innerHTML = `<a href="#${solution.id}">Solution</a>`;
    exercise?.append(link);
    solution.remove();
  }

  // The title of a page is a heading below that of its part.
  for (let level = 4; level >= 1; level--)
    for (const old of article.querySelectorAll(`h${level}`)) {
      const heading = document.createElement(`h${level + 1}`);
      for (const {name, value} of old.attributes) heading.setAttribute(name, value);
      heading.append(...old.childNodes);
      old.replaceWith(heading);
    }
  return {
    title: article.querySelector("h2").textContent.trim(),
    body: article.innerHTML,
    solutions: solutions.map((solution) => solution.outerHTML).join("\n"),
  };
}
