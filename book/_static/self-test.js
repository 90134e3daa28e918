// The self-test (tools/self_test.py): counts the first answer to each question of a group, and shows the advice that holds.
for (const group of document.querySelectorAll(".self-test")) {
  const questions = [...group.querySelectorAll(".quiz-question")];
  const advice = group.querySelector(".self-test-advice");
  const result = advice.querySelector(".self-test-result");
  const [low, enough] = ["low", "enough"].map((when) => advice.querySelector(`.self-test-${when}`));
  const first = new Map();

  // quiz.js writes its verdict into data-state; what is changed afterwards does not count.
  const note = (question) => {
    const { state } = question.dataset;
    if (!["right", "wrong"].includes(state) || first.has(question)) return;
    first.set(question, state);
    if (!result.hidden && result.childElementCount) show();
  };

  const show = () => {
    const right = [...first.values()].filter((state) => state === "right").length;
    const open = questions.length - first.size;
    const summary = document.createElement("p");
    const strong = document.createElement("strong");
    strong.textContent = `${right} of ${questions.length} right at the first try`;
    summary.append(strong, open ? `, ${open} not answered. ` : ". ");
    const chosen = right >= Number(group.dataset.enough) ? enough : low;
    // The lead of the advice ("Fewer than ...") is what the summary has just said.
    for (const node of [...chosen.childNodes].slice(1)) summary.append(node.cloneNode(true));
    result.replaceChildren(summary);
  };

  for (const question of questions) {
    new MutationObserver(() => note(question)).observe(question, { attributes: true, attributeFilter: ["data-state"] });
  }
  low.hidden = enough.hidden = true;
  const button = document.createElement("button");
  button.type = "button";
  button.className = "quiz-check";
  button.textContent = "Show my result and what to read";
  button.addEventListener("click", show);
  result.before(button);
}
