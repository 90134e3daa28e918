"""Questions on the prior; the answers come from the package."""

# ruff: noqa: E501 (a question is a paragraph)

import numpy as np
from exam_question import Question, template

from copyhead import Setup, SoftmaxAction, patterns
from copyhead.kernels import prior_action


@template("prior", "What an attention matrix costs", minutes=10, points=5)
def cost_of_copying(rng: np.random.Generator) -> Question:
    L, V, g_W = int(rng.integers(4, 30)), int(rng.integers(2, 10)), float(rng.choice([0.5, 1.0, 2.0]))
    c_G = round(float(rng.uniform(0.2, 1.5)), 2)
    value = prior_action(patterns.pattern(0.0, c_G, L), V, g_W)
    text = (f"Linear attention has the matrix $G=\\hat c_GG^*/\\sqrt L$ with $\\hat c_G={c_G}$, $L={L}$, $V={V}$, $g_W={g_W}$. "
            "What is its prior action $S_{\\rm NNGP}(G)$?")
    working = "$\\frac{L^2}{2g_W}\\operatorname{tr}BGBG^\\top$ with $B=I-J/(L+V)$; $G^*$ commutes with $J$ and $G^*G^{*\\top}=I$."
    return Question(text, ("S",), (value,), working, {"L": L, "V": V, "g_W": g_W, "c_G": c_G})


@template("prior", "What a copy weight costs", minutes=10, points=5)
def cost_of_copy_weight(rng: np.random.Generator) -> Question:
    L, share, g_W = int(rng.integers(6, 60)), round(float(rng.uniform(0.3, 0.95)), 2), float(rng.choice([0.5, 1.0, 2.0]))
    ell = float(np.log(share * (L - 1) / (1 - share)))
    value = SoftmaxAction(Setup(L, 5, g_W=g_W)).stiffness * ell**2 / (2 * g_W)
    text = (f"Softmax attention over $L={L}$ positions puts the weight $m={share}$ on the previous position and the same weight "
            f"on each other one. How large is the gap $\\ell$ of the logits, and what does it cost in the prior ($g_W={g_W}$, "
            "pooling integrated out)?")
    working = "$m=e^\\ell/(L-1+e^\\ell)$; the cheapest logits with this gap cost $(L-1)\\ell^2/(2g_W)$."
    return Question(text, ("ell", "S"), (ell, value), working, {"L": L, "m": share, "g_W": g_W})
