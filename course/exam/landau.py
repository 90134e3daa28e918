"""Questions on Landau theory; the answers come from SymPy."""

# ruff: noqa: E501 (a question is a paragraph)

import numpy as np
import sympy as sp
from exam_question import Question, template

m, r = sp.symbols("m r", real=True)


@template("landau", "A jump", minutes=12, points=6)
def cubic_jump(rng: np.random.Generator) -> Question:
    w, u = int(rng.integers(2, 10)), int(rng.integers(1, 6))
    S = r * m**2 / 2 - sp.Rational(w, 3) * m**3 + sp.Rational(u, 4) * m**4
    (there,) = [s for s in sp.solve([S / m**2, sp.diff(S / m**2, m)], [r, m], dict=True) if s[m] != 0]
    text = (f"The action $S(m)=\\frac r2m^2-\\frac{{{w}}}3m^3+\\frac{{{u}}}4m^4$ describes a system whose mass $r$ falls slowly. "
            "At which $r$ does its global minimum jump, and how large is the jump $\\Delta m$?")
    working = "At the jump the second minimum is as deep as the one at $m=0$: $S=S'=0$ at some $m\\neq0$."
    return Question(text, ("r", "Delta m"), (float(there[r]), float(there[m])), working, {"w": w, "u": u})


@template("landau", "The end of a metastable state", minutes=10, points=4)
def upper_spinodal(rng: np.random.Generator) -> Question:
    w, u = int(rng.integers(2, 10)), int(rng.integers(1, 6))
    S = r * m**2 / 2 - sp.Rational(w, 3) * m**3 + sp.Rational(u, 4) * m**4
    inner = sp.expand(sp.diff(S, m) / m)
    (edge,) = sp.solve(sp.discriminant(inner, m), r)
    place = sp.solve(inner.subs(r, edge), m)[0]
    text = (f"For $S(m)=\\frac r2m^2-\\frac{{{w}}}3m^3+\\frac{{{u}}}4m^4$ the state with $m\\neq0$ is followed while $r$ *rises*. "
            "At which $r$ does it cease to exist, and which $m$ does it have there?")
    working = "Minimum and maximum merge where $S'/m$ has a double root: its discriminant vanishes."
    return Question(text, ("r", "m"), (float(edge), float(place)), working, {"w": w, "u": u})


@template("landau", "Response at the critical point", minutes=10, points=5)
def critical_isotherm(rng: np.random.Generator) -> Question:
    u, h = int(rng.integers(1, 8)), round(float(rng.uniform(0.01, 0.5)), 2)
    field = sp.symbols("h", positive=True)
    state = sp.solve(u * m**3 - field, m)
    real = [s for s in state if s.is_real][0]
    value, slope = (float(x.subs(field, h)) for x in (real, sp.diff(real, field)))
    text = (f"The action $S(m)=\\frac{{{u}}}4m^4-hm$ is that of a system at its critical point in a field. "
            f"Give the minimum $m$ and the susceptibility $\\partial m/\\partial h$ at $h={h}$.")
    working = "$um^3=h$, hence $m=(h/u)^{1/3}$ and $\\partial m/\\partial h=m/(3h)$: the response diverges as $h\\to0$."
    return Question(text, ("m", "dm/dh"), (value, slope), working, {"u": u, "h": h})
