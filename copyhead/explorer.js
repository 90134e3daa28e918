// The explorer on the page: four sliders, four panels and two sentences, all drawn from copyheadTheory (theory.js),
// which stands before this file in the same block.  A move of a slider redraws everything, in a few milliseconds.
const WIDTH = 326, HEIGHT = 240, LEFT = 50, RIGHT = 314, TOP = 26, BOTTOM = 198;
const COLOUR = { linear: "var(--linear)", softmax: "var(--softmax)" }; // set by explorer.py, from the book's palette

// Four significant digits; explorer.py writes its table alike.
const digits = (x) => String(Number(x.toPrecision(4)));

// --- drawing: functions that return a string of SVG -------------------------------------------------------------------

// An axis knows its range, its ticks, and the place of a value on the panel (clamped to the panel).
function makeAxis(low, high, from, to, ticks, scale) {
  const start = scale(low), unit = (to - from) / (scale(high) - start), has = (v) => v >= low && v <= high;
  const place = (v) => from + (scale(Math.min(high, Math.max(low, v))) - start) * unit;
  return { low, high, has, place, ticks: ticks.filter(has), at: (v) => place(v).toFixed(1) };
}

function linearAxis(low, high, from, to) {
  const rough = (high - low) / 4, power = 10 ** Math.floor(Math.log10(rough));
  const step = power * [1, 2, 5, 10].find((m) => m * power >= rough), first = Math.ceil(low / step);
  const ticks = Array.from({ length: 12 }, (_, i) => Number(((first + i) * step).toPrecision(12)));
  return makeAxis(low, high, from, to, ticks, (v) => v);
}

function logAxis(low, high, from, to) {
  const decades = Math.log10(high / low), every = Math.ceil(decades / 5), ticks = [];
  for (let n = -9 * every; n < 10 * every; n += every)
    for (const m of decades < 2.2 ? [1, 2, 5] : [1]) ticks.push(Number(`${m}e${n}`));
  return makeAxis(low, high, from, to, ticks, Math.log);
}

const text = (x, y, words, anchor = "middle") => `<text x="${x}" y="${y}" text-anchor="${anchor}">${words}</text>`;
const stroke = (colour, width = 2, dash = "") => `stroke="${colour}" stroke-width="${width}" ${dash}`;

function panel(title, xlabel, ylabel, x, y, body) {
  const xticks = x.ticks.map((t) => `<path d="M${x.at(t)} ${BOTTOM}v4"/>${text(x.at(t), BOTTOM + 16, digits(t))}`);
  const yticks = y.ticks.map((t) => `<path d="M${LEFT} ${y.at(t)}h-4"/>${text(LEFT - 7, +y.at(t) + 4, digits(t), "end")}`);
  return `<svg viewBox="0 0 ${WIDTH} ${HEIGHT}" style="flex-basis:${WIDTH}px" aria-hidden="true">${body}` +
    `<path d="M${LEFT} ${TOP}V${BOTTOM}H${RIGHT}"/>${xticks.join("")}${yticks.join("")}` +
    text((LEFT + RIGHT) / 2, 15, title) + text((LEFT + RIGHT) / 2, HEIGHT - 8, xlabel) +
    `<g transform="translate(11 ${(TOP + BOTTOM) / 2}) rotate(-90)">${text(0, 0, ylabel)}</g></svg>`;
}

// A curve through [x, y] points, cut at the edge of the panel; steps of less than half a pixel are left out.
function line(x, y, points, style) {
  const inside = (point) => point && x.has(point[0]) && y.has(point[1]);
  let d = "", last = null;
  points.forEach((point, i) => {
    const here = inside(point), next = inside(points[i + 1]);
    if (!here && !next && !inside(points[i - 1])) return void (last = null);
    const place = [x.place(point[0]), y.place(point[1])];
    if (here && next && last && Math.hypot(place[0] - last[0], place[1] - last[1]) < 0.5) return;
    d += `${last ? "L" : "M"}${place[0].toFixed(1)} ${place[1].toFixed(1)}`;
    last = place;
  });
  return `<path d="${d}" ${style}/>`;
}

// A state of the attention: filled where it is the deepest.
function ball(x, y, [a, b], colour, deepest = true) {
  if (!x.has(a) || !y.has(b)) return "";
  const look = deepest ? `fill="${colour}" ${stroke("var(--highlight)", 1.6)}` : `fill="none" ${stroke("currentColor", 1.6)}`;
  return `<circle cx="${x.at(a)}" cy="${y.at(b)}" r="4.5" ${look}/>`;
}

// --- what the panels show ---------------------------------------------------------------------------------------------

// A quantity of the stationary states against P: thick where the state is the deepest, thin elsewhere.
function againstP(x, y, action, states, quantity, colour, dash) {
  const t = action.transition;
  const segments = states.map((list) => list.map((state) => [state.P, quantity(state)]));
  const start = !action.critical_P ? [] :
    [x.low, action.critical_P].map((P) => [P, quantity(action.minimum(P))]);
  if (!t) return line(x, y, [...start, ...segments[0]], stroke(colour, 2, dash));
  const jump = [[t.P, quantity(t.uniform)], [t.P, quantity(t.copy)]];
  const before = segments[0].filter(([P]) => P < t.P), after = segments[2].filter(([P]) => P > t.P);
  return segments.map((points) => line(x, y, points, stroke(colour, 0.8))).join("") +
    line(x, y, [...start, ...before, ...jump, ...after], stroke(colour, 2, dash));
}

// The action along the share of copying, with a ball in each well.  The axis ends at one of five places, so that it
// stays where it is while P moves a little.
function wells(title, action, P, colour, lowest) {
  const states = action.minima(P), floor = states[0].action;
  const reach = Math.max(0.02, action.transition?.copy.share ?? 0, ...states.map((state) => state.share));
  const end = [0.05, 0.1, 0.2, 0.5].find((e) => e >= 1.5 * reach) ?? 1;
  const x = linearAxis(Math.max(lowest, -0.05 * end), end, LEFT, RIGHT);
  const shares = Array.from({ length: 241 }, (_, i) => x.low + ((x.high - x.low) * i) / 240).filter((s) => s < 1);
  shares.push(...states.map((state) => state.share));
  const points = shares.sort((a, b) => a - b).map((s) => [s, action.profile(s, P) - floor]);
  const between = points.filter(([s]) => s >= 0 && s <= Math.max(end / 2, states[0].share));
  const top = 1.15 * Math.max(...between.map(([, height]) => height)) || 1;
  const y = linearAxis(-0.08 * top, top, BOTTOM, TOP);
  const balls = states.map((state, i) => ball(x, y, [state.share, state.action - floor], colour, i === 0));
  return panel(title, "share of copying", "action above its minimum", x, y,
    line(x, y, points, stroke(colour)) + balls.join(""));
}

function draw(actions, P) {
  const { linear, softmax, L } = actions;
  const marks = [linear.critical_P, linear.copy_P, linear.transition?.P, softmax.transition?.P].filter(Boolean);
  const x = logAxis(Math.min(P, Math.min(...marks) / 3), Math.max(P, 3 * Math.max(...marks)), LEFT, RIGHT);
  const y = linearAxis(0, 1.05, BOTTOM, TOP);
  const loss = (state) => state.loss, copying = (state) => (state.c_G ?? state.a_G) / Math.sqrt(L);
  const losses = [["softmax", loss], ["linear", loss]];
  const weights = [["linear", (state) => state.c1], ["linear", copying, 'stroke-dasharray="5 3"'], ["softmax", copying]];
  if (actions.low !== x.low || actions.high !== x.high) { // else the curves stand as they are
    const states = { linear: linear.curve(x.low, x.high), softmax: softmax.curve(x.low, x.high) };
    const curves = (list) => list.map(([name, f, dash]) => againstP(x, y, actions[name], states[name], f, COLOUR[name], dash));
    Object.assign(actions, { low: x.low, high: x.high, losses: curves(losses).join(""), weights: curves(weights).join("") });
  }
  const here = `<path d="M${x.at(P)} ${TOP}V${BOTTOM}" ${stroke("var(--highlight)", 1)}/>`;
  const balls = (list) => list.map(([name, f]) => ball(x, y, [P, f(actions[name].minimum(P))], COLOUR[name])).join("");
  return panel("Loss per token", "P", "loss", x, y, here + actions.losses + balls(losses)) +
    panel("Order parameters", "P", "weight of the pattern", x, y, here + actions.weights + balls(weights)) +
    wells("Softmax: action", softmax, P, COLOUR.softmax, -0.9 / L) + wells("Linear: action", linear, P, COLOUR.linear, 0);
}

// --- what the sentences say; <data> holds the full number behind the four digits ---------------------------------------

const number = (name, x) => `<data data-name="${name}" value="${x}">${digits(x)}</data>`;

function jumps(name, t) {
  return `at P&nbsp;=&nbsp;${number(`${name}.P`, t.P)}, a <b>first-order</b> jump; both states exist between ` +
    `${number(`${name}.lower_spinodal`, t.lower_spinodal)} and ${number(`${name}.upper_spinodal`, t.upper_spinodal)}`;
}

function describeLinear({ linear, L }, P) {
  const now = linear.minimum(P), turn = linear.transition ? jumps("linear", linear.transition) :
    `around P&nbsp;=&nbsp;${number("linear.copy_P", linear.copy_P)}, by a smooth <b>crossover</b>`;
  const weights = `pooling has the weight c<sub>1</sub>&nbsp;=&nbsp;${number("linear.c1", now.c1)}, copying ` +
    `c<sub>G</sub>/√L&nbsp;=&nbsp;${number("linear.copying", now.c_G / Math.sqrt(L))}`;
  return `<b>Linear attention</b> switches on at P&nbsp;=&nbsp;${number("linear.critical_P", linear.critical_P)}, by a ` +
    `<b>second-order</b> transition. It turns from pooling to copying ${turn}. At P&nbsp;=&nbsp;${digits(P)} ` +
    `${now.c1 ? weights : "it is off"}, and the loss is ${number("linear.loss", now.loss)}.`;
}

function describeSoftmax({ softmax, L }, P) {
  const now = softmax.minimum(P), count = softmax.minima(P).length, turn = softmax.transition ?
    jumps("softmax", softmax.transition) : "by a smooth <b>crossover</b>, without a jump";
  return `<b>Softmax attention</b> pools from the start. It turns to copying ${turn}. At P&nbsp;=&nbsp;${digits(P)} ` +
    `copying has the weight a<sub>G</sub>/√L&nbsp;=&nbsp;${number("softmax.copying", now.a_G / Math.sqrt(L))}, the loss is ` +
    `${number("softmax.loss", now.loss)}, and the action has ${count === 1 ? "one well" : "two wells"}.`;
}

function describePicture({ linear, softmax, low, high }, P) {
  const places = (action) => action.minima(P).map((state) => digits(state.share)).join(" and ");
  return `Loss and order parameters of both attentions for P from ${digits(low)} to ${digits(high)}, with a mark at ` +
    `P = ${digits(P)}; the action of softmax attention has its wells at the share of copying ${places(softmax)}, deepest ` +
    `first, that of linear attention at ${places(linear)}.`;
}

// --- the page -----------------------------------------------------------------------------------------------------------

for (const root of document.querySelectorAll(".copyhead-explorer:not(.copyhead-live)")) {
  root.classList.add("copyhead-live");
  const find = (selector) => root.querySelector(selector);
  const values = JSON.parse(find("script[type='application/json']").textContent);
  const inputs = [...root.querySelectorAll("input")], picture = find(".copyhead-panels");
  let timer, waiting = false, actions = {};

  const show = () => {
    waiting = false;
    const setting = {};
    for (const input of inputs) {
      const value = (setting[input.name] = values[input.name][Number(input.value)]);
      find(`output[for="${input.id}"]`).textContent = value;
      input.setAttribute("aria-valuetext", `${input.dataset.symbol} = ${value}`);
    }
    const { P, L, V, sigma2 } = setting, key = [L, V, sigma2].join();
    if (actions.key !== key)
      actions = { key, L, linear: copyheadTheory.linear(setting), softmax: copyheadTheory.softmax(setting) };
    picture.innerHTML = draw(actions, P);
    picture.setAttribute("aria-label", describePicture(actions, P));
    find(".copyhead-setting").textContent = `P = ${P}, L = ${L}, V = ${V}, σ² = ${sigma2}.`;
    find(".copyhead-linear").innerHTML = describeLinear(actions, P);
    find(".copyhead-softmax").innerHTML = describeSoftmax(actions, P);
  };
  const say = () => {
    const sentences = [...root.querySelectorAll(".copyhead-readout p")].map((p) => p.textContent);
    find(".copyhead-status").textContent = sentences.join(" ");
  };
  for (const input of inputs) {
    input.value = input.defaultValue; // browsers restore an old position on reload
    input.addEventListener("input", () => {
      if (!waiting) requestAnimationFrame(show); // at most one redraw per frame
      waiting = true;
      clearTimeout(timer);
      timer = setTimeout(say, 1200); // a screen reader hears the result once the slider rests
    });
  }
  show();
  for (const part of root.querySelectorAll(":scope > [hidden]")) part.hidden = false;
}
