// The closed forms of both actions and their minima, for g_O = g_W = 1: the port of data_term.py, ordered.py,
// branch.py, softmax.py, linear.py and transition.py that lets a page without a kernel leave the paper's parameters.
// The derivations stand in those modules; names are theirs, and tests hold both languages together to 1e-9.
//
//   const linear = copyheadTheory.linear({ L: 25, V: 5, sigma2: 30 });      // or .softmax(...), prior "exact"
//   linear.minimum(275)             // {c1, c_G, share, action, loss}; softmax {a_G, m, ell, share, action, loss}
//   linear.minima(275)              // all of them by action; for linear attention those with c1, c_G >= 0, which
//                                   // hold the global one (mirror.py finds the others)
//   linear.transition               // {P, lower_spinodal, upper_spinodal, uniform, copy, barrier, loss_jump} or null
//   linear.curve(low, high)         // stationary states {P, ...} between two P: a list for each segment of the branch
//   linear.profile(share, 275)      // action at a share of copying in the row sum, lowest over what else is free
//
// "share" puts both attentions on one axis: 0 pools, 1 copies; a_G / sqrt(L), or (c_G / sqrt(L)) / (c1 + c_G / sqrt(L)).
const copyheadTheory = (() => {
  "use strict";
  const { abs, exp, log, max, min, sqrt } = Math;

  // --- numerics ---------------------------------------------------------------------------------------------------

  // Newton's method from a side on which it cannot overshoot: a step against that side is rounding.  Convergence is
  // quadratic, so a relative step of 1e-9 leaves rounding only.
  function newton(x, side, step) {
    for (let i = 0; i < 200; i++) {
      const d = step(x);
      x -= d;
      if (!(side * d > 1e-9 * x)) break;
    }
    return x;
  }

  // Zero of f between a and b, where f changes its sign: bisection down to the last digit.
  function bisect(f, a, b) {
    const sign = Math.sign(f(b));
    for (let i = 0; i < 200; i++) {
      const middle = (a + b) / 2;
      if (middle === a || middle === b) break;
      if (f(middle) * sign < 0) a = middle;
      else b = middle;
    }
    return (a + b) / 2;
  }

  // Position of the smallest value of f between a and b: golden section.
  function lowest(f, a, b) {
    const golden = (sqrt(5) - 1) / 2;
    while (b - a > 1e-9 * (1 + abs(a))) {
      const x = b - golden * (b - a), y = a + golden * (b - a);
      if (f(x) < f(y)) b = y;
      else a = x;
    }
    return (a + b) / 2;
  }

  // All zeros of f on an increasing grid with the samples f(grid).  A pair inside one cell shows as an extremum that
  // the parabola through three samples carries close to, or across, zero; each is refined and tested.
  function allRoots(f, grid, values) {
    const points = [];
    for (let i = 0; i < grid.length; i++) {
      points.push([grid[i], values[i]]);
      const [left, middle, right] = [values[i - 1], values[i], values[i + 1]];
      const bend = left - 2 * middle + right;
      const vertex = middle - (right - left) ** 2 / (8 * bend);
      const same = left * middle > 0 && middle * right > 0; // false at the ends of the grid
      const toward = middle * bend > 0 && abs(middle) <= abs(left) && abs(middle) <= abs(right);
      if (same && toward && vertex / middle < 0.3) {
        const dip = lowest((s) => Math.sign(middle) * f(s), grid[i - 1], grid[i + 1]);
        points.push([dip, f(dip)]);
      }
    }
    points.sort((one, other) => one[0] - other[0]);
    const roots = [];
    for (let i = 1; i < points.length; i++)
      if (points[i - 1][1] * points[i][1] < 0) roots.push(bisect(f, points[i - 1][0], points[i][0]));
    return roots;
  }

  // --- the branch of stationary points -------------------------------------------------------------------------------

  // at(s) = {logP, slope, ...} along the curve; folds are the spinodals, rising segments are minima.
  function makeBranch(at, grid) {
    const table = grid.map((s) => ({ s, ...at(s) }));
    const folds = allRoots((s) => at(s).slope, grid, table.map((row) => row.slope));
    const ends = [grid[0], ...folds, grid[grid.length - 1]];
    const segments = folds.concat(0).map((_, i) => ({
      rising: i % 2 === 0,
      rows: [{ s: ends[i], ...at(ends[i]) }, ...table.filter((row) => row.s > ends[i] && row.s < ends[i + 1]),
        { s: ends[i + 1], ...at(ends[i + 1]) }],
    }));
    return { folds: folds.map((s) => at(s).logP), segments };
  }

  // s at which ln P has the value logP on a segment, or NaN: Newton's method inside a bracket that only shrinks.
  function solve(at, { rows, rising }, logP) {
    const sign = rising ? 1 : -1;
    const before = (i) => sign * (rows[i].logP - logP) <= 0;
    let first = 0, last = rows.length - 1;
    if (!before(first) || sign * (rows[last].logP - logP) < 0) return NaN;
    while (last - first > 1) {
      const middle = (first + last) >> 1;
      if (before(middle)) first = middle;
      else last = middle;
    }
    let low = rows[first].s, high = rows[last].s;
    const t = (logP - rows[first].logP) / (rows[last].logP - rows[first].logP);
    let s = low + (t >= 0 && t <= 1 ? t : 0.5) * (high - low);
    for (let i = 0; i < 100; i++) {
      const point = at(s);
      const error = point.logP - logP;
      if (error === 0) return s;
      if (sign * error < 0) low = s;
      else high = s;
      const next = s - error / point.slope;
      s = next >= low && next <= high ? next : (low + high) / 2;
      if (abs(error) <= 1e-13 * (1 + abs(logP))) break; // one more step was made
    }
    return s;
  }

  // What both attentions share, given their curve: at(s) of the branch, and state(s, P).
  function makeAction(L, sigma2, at, grid, state, numbers, profile) {
    const branch = makeBranch(at, grid);
    const minima = (P) => branch.segments.filter((segment) => segment.rising)
      .map((segment) => solve(at, segment, log(P / sigma2))).filter((s) => !Number.isNaN(s))
      .map((s) => state(s, P)).sort((one, other) => one.action - other.action);

    // Both states have equal action between the spinodals; the difference falls in P, since dS/dP = L loss/(2 sigma2).
    function coexistence() {
      if (!branch.folds.length) return null;
      if (branch.folds.length !== 2) throw new Error(`expected one pair of spinodals, found ${branch.folds.length} folds`);
      const [upper, lower] = branch.folds;
      const on = (i, logP) => state(solve(at, branch.segments[i], logP), sigma2 * exp(logP));
      const logP = bisect((x) => on(0, x).action - on(2, x).action, lower + 1e-15 * abs(lower), upper - 1e-15 * abs(upper));
      const [uniform, saddle, copy] = [0, 1, 2].map((i) => on(i, logP));
      const loss_jump = uniform.loss - copy.loss;
      return {
        P: sigma2 * exp(logP) - (uniform.action - copy.action) / ((L / (2 * sigma2)) * loss_jump),
        lower_spinodal: sigma2 * exp(lower), upper_spinodal: sigma2 * exp(upper), uniform, copy, loss_jump,
        barrier: saddle.action - (uniform.action + copy.action) / 2,
      };
    }

    // Stationary states with P between low and high, close enough to be joined by straight lines.
    const curve = (low, high) => branch.segments.map(({ rows }) => {
      const found = [];
      for (let i = 1; i < rows.length; i++) {
        const [from, to] = [rows[i - 1], rows[i]];
        if (max(from.logP, to.logP) < log(low / sigma2) || min(from.logP, to.logP) > log(high / sigma2)) continue;
        const pieces = 1 + Math.floor(abs(to.logP - from.logP) / 0.05);
        for (let j = 0; j <= pieces; j++) {
          const s = from.s + ((to.s - from.s) * j) / pieces, P = sigma2 * exp(at(s).logP);
          found.push({ P, ...state(s, P) });
        }
      }
      return found;
    });
    return { ...numbers, minima, minimum: (P) => minima(P)[0], transition: coexistence(), curve, profile };
  }

  // --- data term (data_term.py); p = P / sigma2, w = 1 / (L - 1) -------------------------------------------------------

  const dataAction = (L, V, rho2, u2, off2, p) =>
    (p * L) / (2 * V * (1 + p * rho2 * (L / V + 1))) +
    (((V - 1) / (2 * V)) * p * (L * V + p * (L - 1) * off2)) / (V + p * u2);

  const lossPerToken = (L, V, rho2, u2, off2, p) =>
    1 / (1 + p * rho2 * (L / V + 1)) ** 2 / V +
    (((V - 1) / V) * (L * V ** 2 + p * (L - 1) * off2 * (2 * V + p * u2))) / (L * (V + p * u2) ** 2);

  // --- linear attention (ordered.py, linear.py): rho is the row sum, h = k rho the copy weight above pooling -----------

  const ORDERED_GRID = Array.from({ length: 1281 }, (_, i) => -64 + 0.1 * i);

  function linear({ L, V, sigma2 }) {
    const w = 1 / (L - 1), A = L / V + 1, a = ((L * V) / (L + V)) ** 2, b = L ** 2 / (L - 1);
    const r0 = (V ** 2 * (L - 1)) / (L + V) ** 2;
    const half = ((V - 1) * (1 - r0) + L * (L + V)) / 2, root = sqrt(half ** 2 + (V - 1) * (V - 1) * r0);
    const k_c = ((V - 1) * r0) / (half + root), kappa_0 = (half + root) / (V - 1), width = L - 1 - k_c;
    const critical_P = sigma2 * sqrt((L ** 2 * V ** 2 * k_c) / ((L - 1) * (V - 1) * (1 + k_c)));

    // The point s of the ordered branch; y = p rho^2 is the root of an increasing concave function.
    function at(s) {
      const above = width / (1 + exp(-s)), below = width / (1 + exp(s));
      const k = k_c + above, j = w * below, g = 1 + w * k ** 2;
      const M = (b * k * L * A) / ((V - 1) * (1 + k)), slope = j * (a + b * k ** 2);
      const start = (V * b * above * (k + kappa_0)) / (1 + k), drop = A * V - g, floor = g / A;
      const y = newton(max(0, (start - M * (V - floor) * (V + floor)) / slope), -1, (x) => {
        const ratio = (V + g * x) / (1 + A * x);
        const phi = slope * x - start + ((M * x * drop) / (1 + A * x)) * (V + ratio);
        return phi / (slope + (2 * M * ratio * drop) / (1 + A * x) ** 2);
      });
      const D = V + g * y, E = V + j * y, ratio = D / (1 + A * y);
      const phi_y = slope + (2 * M * ratio * drop) / (1 + A * y) ** 2;
      const phi_k = y * (2 * b * k * j - w * (a + b * k ** 2)) - b * V - (M / (k * (1 + k))) * ratio ** 2 -
        ((2 * M * ratio) / (1 + A * y)) * 2 * w * k * y;
      const dy = -phi_k / phi_y;
      const d_log = 1 / (k * (1 + k)) + (2 * (2 * w * k * y + g * dy)) / D - (j * dy - w * y) / E;
      return {
        logP: 0.5 * log((b * k * V * D ** 2) / ((V - 1) * (1 + k) * E)),
        slope: ((0.5 * d_log * above) * below) / width, y, k,
      };
    }

    function point(rho, k, P) {
      const p = P / sigma2, h = k * rho, c1 = rho - w * h, u2 = rho ** 2 + w * h ** 2;
      return {
        c1, c_G: sqrt(L) * w * h, share: w * k, loss: lossPerToken(L, V, rho ** 2, u2, c1 ** 2, p),
        action: (a * rho ** 2 + b * h ** 2) / 2 + dataAction(L, V, rho ** 2, u2, c1 ** 2, p),
      };
    }

    function state(s, P) {
      const { y, k } = at(s);
      return point(sqrt((y * sigma2) / P), k, P);
    }

    // Lowest action along the ray of a share (convex in the squared length; y is its root, seen from below).
    function profile(share, P) {
      const p = P / sigma2, k = (L - 1) * share, g = 1 + w * k ** 2, stiff = a + b * k ** 2;
      const F0 = (p * p * L * A) / V, F1 = ((p * p * (V - 1)) / V ** 2) * (1 + k) ** 2;
      if (F0 + F1 <= stiff) return point(0, 0, P).action;
      const y0 = max(0, (sqrt(F0 / stiff) - 1) / A, ((sqrt(F1 / stiff) - 1) * V) / g);
      const y = newton(y0, -1, (x) => {
        const d0 = 1 + A * x, d1 = 1 + (g * x) / V;
        return (stiff - F0 / d0 ** 2 - F1 / d1 ** 2) / ((2 * A * F0) / d0 ** 3 + (((2 * g) / V) * F1) / d1 ** 3);
      });
      return point(sqrt(y / p), k, P).action;
    }

    const scale = sigma2 / sqrt(L + 1);
    const numbers = {
      critical_P,
      pooling_P: (scale * L * V ** 2) / ((L + V) * sqrt(L + V - 1)), // eq. (16)
      copy_P: ((scale * L) / (L + V)) * sqrt(V * ((L + V) ** 2 - L - 2 * V)), // eq. (17)
    };
    const action = makeAction(L, sigma2, at, ORDERED_GRID, state, numbers, profile);
    const minima = (P) => {
      const found = P > critical_P ? action.minima(P) : [];
      return found.length ? found : [point(0, 0, P)];
    };
    return { ...action, minima, minimum: (P) => minima(P)[0] };
  }

  // --- softmax attention (softmax.py), prior "exact": ell is the logit gap ---------------------------------------------

  const steps = (first, last, n) => Array.from({ length: n }, (_, i) => first * (last / first) ** (i / (n - 1)));
  const SOFTMAX_GRID = [...steps(1e-120, 1e-6, 80), ...steps(2e-6, 0.02, 60),
    ...Array.from({ length: 1333 }, (_, i) => 0.03 * (i + 1)), ...steps(40, 300, 60)].map(log);

  function softmax({ L, V, sigma2 }) {
    const K = L - 1, root = sqrt(L);

    // The point s = ln ell of the curve of stationary points; z = 1/p is the root of a cubic that is convex for z > 0.
    function at(s) {
      const ell = exp(s), m = 1 / (1 + K * exp(-ell)), r = 1 / (1 + exp(ell) / K);
      const u2 = L * (m ** 2 + r ** 2 / K), C = K * ell, B = (((V - 1) * L ** 2) / V) * m ** 2 * r, R = (L * r) / K;
      const a3 = C * V ** 2, a2 = 2 * C * V * u2, a1 = C * u2 ** 2 - B * V, a0 = -B * R;
      const z0 = max((sqrt((2 * B * V) / C) - u2) / V, min((-2 * a0) / (C * u2 ** 2), Math.cbrt((-2 * a0) / a3)));
      const z = newton(z0, 1, (x) => (((a3 * x + a2) * x + a1) * x + a0) / ((3 * a3 * x + 2 * a2) * x + a1));
      const p = 1 / z, D = V + p * u2, E = V + p * R, du2 = 2 * L * m * r * (m - r / K);
      const d_ell = 1 / ell + (2 * p * du2) / D - (2 * r - m) + (p * L * m * r) / (K * E);
      return { logP: log(p), slope: (-d_ell / ((2 * p * u2) / D - 2 - (p * R) / E)) * ell };
    }

    const total = (ell, a_G, P) =>
      (K / 2) * ell ** 2 + dataAction(L, V, 1, 1 + (K / L) * a_G ** 2, (1 - a_G / root) ** 2, P / sigma2);

    function state(s, P) {
      const ell = exp(s), a_G = (-root * Math.expm1(-ell)) / (1 + K * exp(-ell));
      return {
        a_G, m: 1 / (1 + K * exp(-ell)), ell, share: a_G / root, action: total(ell, a_G, P),
        loss: lossPerToken(L, V, 1, 1 + (K / L) * a_G ** 2, (1 - a_G / root) ** 2, P / sigma2),
      };
    }

    const profile = (share, P) => total(Math.log1p(K * share) - Math.log1p(-share), root * share, P);
    return makeAction(L, sigma2, at, SOFTMAX_GRID, state, {}, profile);
  }

  return { linear, softmax };
})();
if (typeof module !== "undefined") module.exports = copyheadTheory;
