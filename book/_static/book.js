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
