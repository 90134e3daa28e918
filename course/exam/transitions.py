"""Questions on the transitions; the answers come from the package."""

# ruff: noqa: E501 (a question is a paragraph)

import numpy as np
from exam_question import Question, template

from copyhead import LinearAction, Setup, SoftmaxAction


@template("transitions", "Where linear attention turns on", minutes=12, points=5)
def linear_threshold(rng: np.random.Generator) -> Question:
    L, V, sigma2 = int(rng.integers(6, 60)), int(rng.integers(3, 12)), float(rng.choice([10.0, 20.0, 30.0, 50.0]))
    value = LinearAction(Setup(L, V, sigma2)).critical_P
    text = (f"From how many training sequences $P$ on does linear attention differ from zero, for $L={L}$, $V={V}$, "
            f"$\\sigma^2={sigma2}$, $g_O=g_W=1$? A formula or a program will do.")
    working = "The Hessian of the action at the origin becomes singular."
    return Question(text, ("P",), (value,), working, {"L": L, "V": V, "sigma2": sigma2})


@template("transitions", "Where softmax attention jumps", minutes=15, points=6)
def softmax_jump(rng: np.random.Generator) -> Question:
    L, V, sigma2 = int(rng.integers(30, 41)), int(rng.integers(4, 8)), float(rng.choice([10.0, 20.0, 30.0, 50.0]))
    found = SoftmaxAction(Setup(L, V, sigma2)).first_order_transition()
    if found is None:
        raise ValueError(f"softmax attention does not jump at L = {L}, V = {V}")
    text = (f"At which $P$ does softmax attention jump, for $L={L}$, $V={V}$, $\\sigma^2={sigma2}$, $g_O=g_W=1$, and from which "
            "copy weight $m$ to which? Use a program.")
    working = "Two minima of the softmax action are equally deep there."
    values = (found.P, float(found.uniform.m), float(found.copy.m))
    return Question(text, ("P", "m before", "m after"), values, working, {"L": L, "V": V, "sigma2": sigma2})


@template("transitions", "Other units", minutes=8, points=4)
def threshold_in_other_units(rng: np.random.Generator) -> Question:
    L, V, factor = int(rng.integers(10, 40)), int(rng.integers(3, 8)), int(rng.choice([2, 3, 4, 5]))
    share = int(rng.choice([4, 9, 16]))
    first = LinearAction(Setup(L, V, 10.0)).critical_P
    value = LinearAction(Setup(L, V, 10.0 * factor, g_W=share)).critical_P / first
    text = (f"Linear attention turns on at $P_c$. The noise variance $\\sigma^2$ is multiplied by {factor} and the prior variance "
            f"$g_W$ by {share}; $L={L}$ and $V={V}$ stay. By which factor does $P_c$ change?")
    working = "$P_c\\propto\\sigma^2/\\sqrt{g_Og_W}$, as rescaling the attention shows."
    return Question(text, ("factor",), (value,), working, {"factor": factor, "share": share})
