// The theme puts on its colours when everything has loaded; a page that waits for them flashes and moves.
if (!["light", "dark"].includes(document.documentElement.dataset.theme))
  document.documentElement.dataset.theme = window.matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light";

// Paper is white: print a page in its light colours, whatever the screen shows.
const paper = window.matchMedia("print");
let screenTheme;
paper.addEventListener("change", () => {
  const root = document.documentElement;
  if (paper.matches) {
    screenTheme = root.dataset.theme;
    root.dataset.theme = "light";
  } else {
    root.dataset.theme = screenTheme;
  }
});
