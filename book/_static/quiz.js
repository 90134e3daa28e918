// Quizzes (tools/quiz.py): a button under each question, and what it says.  Nothing is stored or sent.
for (const question of document.querySelectorAll(".quiz-question")) {
  const { kind, answer, tolerance } = question.dataset;
  const inputs = [...question.querySelectorAll("input")];
  const verdict = question.querySelector(".quiz-verdict");
  const answers = question.querySelector(".quiz-answers");
  const reasons = [...answers.querySelectorAll("li, p")];
  const number = question.querySelector(".quiz-number").textContent.replace(".", "").toLowerCase();

  const say = (state, lead, chosen = []) => {
    const head = document.createElement("p");
    const strong = document.createElement("strong");
    strong.textContent = lead;
    head.append(strong);
    const said = [head];
    for (const reason of chosen) {
      const paragraph = chosen.length > 1 ? document.createElement("p") : head;
      if (paragraph === head) head.append(" ");
      else said.push(paragraph);
      if (chosen.length > 1) {
        const name = reason.querySelector(".quiz-answer").cloneNode(true);
        const mark = reason.dataset.correct ? "Right: " : "Wrong: ";
        paragraph.append(mark, name, " ");
      }
      paragraph.append(reason.querySelector(".quiz-why").cloneNode(true));
    }
    question.dataset.state = state;
    verdict.replaceChildren(...said);
    if (state) answers.hidden = false;
    // Whoever is faster than MathJax copied a formula that is not set yet.
    window.MathJax?.typesetPromise?.([verdict]);
  };

  const check = () => {
    if (kind === "number") {
      const value = inputs[0].valueAsNumber;
      if (Number.isNaN(value)) return say("", "Enter a number first.");
      const miss = value - Number(answer);
      // A hair of slack, so that an answer on the edge of the tolerance does not fail by rounding.
      if (Math.abs(miss) <= Number(tolerance) * (1 + 1e-9)) return say("right", "Right.", reasons);
      return say("wrong", `Not right: ${inputs[0].value} is too ${miss < 0 ? "small" : "large"}.`);
    }
    const chosen = reasons.filter((_, i) => inputs[i].checked);
    if (!chosen.length) return say("", "Choose an answer first.");
    const wrong = chosen.filter((reason) => !reason.dataset.correct).length;
    const missed = reasons.filter((reason, i) => reason.dataset.correct && !inputs[i].checked).length;
    if (!wrong && !missed) return say("right", "Right.", chosen);
    const more = kind === "several" && !wrong ? " So far right, but not all." : "";
    return say("wrong", more.trim() || "Not right.", chosen);
  };

  const button = document.createElement("button");
  button.type = "button";
  button.className = "quiz-check";
  button.innerHTML = `Check<span class="quiz-unseen"> ${number}</span>`;
  button.addEventListener("click", check);
  verdict.before(button);
  answers.hidden = true;
  for (const input of inputs) {
    // What was said about another answer must not stay.
    input.addEventListener("input", () => {
      question.dataset.state = "";
      verdict.replaceChildren();
    });
    input.addEventListener("keydown", (event) => {
      if (event.key === "Enter") check();
    });
  }
}

// On paper nobody can unfold an answer.
const folds = () => document.querySelectorAll(".quiz-answers");
window.addEventListener("beforeprint", () => {
  for (const fold of folds()) {
    fold.dataset.before = `${fold.hidden} ${fold.open}`;
    fold.hidden = false;
    fold.open = true;
  }
});
window.addEventListener("afterprint", () => {
  for (const fold of folds()) {
    const [hidden, open] = fold.dataset.before.split(" ");
    fold.hidden = hidden === "true";
    fold.open = open === "true";
  }
});
