for (const root of document.querySelectorAll(".copyhead-slider:not(.copyhead-live)")) {
  root.classList.add("copyhead-live");
  const data = JSON.parse(root.querySelector("script[type='application/json']").textContent);
  const control = root.querySelector(".copyhead-control");
  const input = control.querySelector("input");
  const output = control.querySelector("output");
  const picture = root.querySelector(".copyhead-panels");
  const status = root.querySelector(".copyhead-status");
  const shown = root.querySelector(".copyhead-shown");
  const frames = data.labels.map(() => []);
  for (const group of picture.querySelectorAll("[data-f]"))
    for (const i of group.dataset.f.split(" ")) frames[i].push(group);
  let current = data.start;
  let timer;
  const show = (i) => {
    for (const group of frames[current]) group.setAttribute("display", "none");
    for (const group of frames[i]) group.removeAttribute("display");
    current = i;
    const text = data.name + " = " + data.labels[i];
    output.textContent = shown.textContent = data.labels[i];
    input.setAttribute("aria-valuetext", text);
    picture.setAttribute("aria-label", data.alts[i]);
    root.dataset.value = data.labels[i];
  };
  input.addEventListener("input", () => {
    show(Number(input.value));
    clearTimeout(timer);
    timer = setTimeout(() => { status.textContent = data.alts[current]; }, 1000);
  });
  input.value = data.start; // browsers restore an old position on reload
  show(data.start);
  control.hidden = false;
}
