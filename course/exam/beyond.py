"""Questions beyond the paper; the answers come from the package and SymPy."""

# ruff: noqa: E501 (a question is a paragraph)

import numpy as np
import sympy as sp
from exam_question import Question, template

from copyhead import Setup, SoftmaxAction


@template("beyond", "How much a head trembles", minutes=12, points=5)
def variance_of_copying(rng: np.random.Generator) -> Question:
    L, V, chi = int(rng.integers(30, 41)), int(rng.integers(4, 8)), int(rng.choice([100, 1000, 10_000]))
    action = SoftmaxAction(Setup(L, V))
    P = round(0.5 * action.first_order_transition().P)
    state = action.minimum(P)
    value = 1 / (chi * float(action.curvature(state.a_G, P)))
    text = (f"Softmax attention with $L={L}$, $V={V}$, $\\sigma^2=30$, $g_O=g_W=1$ has seen $P={P}$ sequences. In Gaussian "
            f"approximation, which variance does the order parameter $\\hat a_G$ have over the posterior at $\\chi={chi}$?")
    working = "$1/(\\chi S'')$ at the minimum, by the action of the chapter on softmax attention."
    return Question(text, ("variance",), (value,), working, {"L": L, "V": V, "P": P, "chi": chi})


@template("beyond", "Waiting times that were cut off", minutes=10, points=4)
def censored_waiting(rng: np.random.Generator) -> Question:
    stop = int(rng.integers(20, 60)) * 10
    times = np.sort(np.round(rng.exponential(0.7 * stop, 8)))
    seen = [int(time) for time in times if 0 < time < stop] or [stop // 2]
    lost = 8 - len(seen)
    rate = sp.symbols("k", positive=True)
    likelihood = len(seen) * sp.log(rate) - rate * (sum(seen) + lost * stop)
    (best,) = sp.solve(sp.diff(likelihood, rate), rate)
    text = (f"Eight networks are watched for {stop} steps. {len(seen)} of them find the copy head, after "
            f"{', '.join(map(str, seen))} steps; {lost} do not. The waiting time is exponential. Which mean waiting time is most likely?")
    working = "Steps at risk, those of the networks that found nothing included, over the number of events."
    return Question(text, ("mean",), (float(1 / best),), working, {"stop": stop, "seen": seen, "lost": lost})
