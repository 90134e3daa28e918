"""Questions on experiments with networks; the answers are computed, with the package where it can."""

# ruff: noqa: E501 (a question is a paragraph)

import numpy as np
from exam_question import Question, template

from copyhead import Setup
from copyhead.log_determinant import thermal_loss


@template("experiments", "What a chain is worth", minutes=10, points=4)
def effective_draws(rng: np.random.Generator) -> Question:
    n, tenths = int(rng.integers(5, 30)) * 50, int(rng.integers(5, 10))
    phi, lags = tenths / 10, np.arange(1, n)
    time = 1 + 2 * np.sum((1 - lags / n) * phi**lags)
    text = (f"A chain of $n={n}$ draws has the autocorrelation ${phi}^k$ at lag $k$. How many independent draws give a mean "
            "of the same variance?")
    working = "$n/(1+2\\sum_{k<n}(1-k/n)\\varphi^k)$, for a long chain $n(1-\\varphi)/(1+\\varphi)$."
    return Question(text, ("n_eff",), (float(n / time),), working, {"n": n, "phi": phi})


@template("experiments", "Heat in the loss", minutes=12, points=5)
def heat_in_the_loss(rng: np.random.Generator) -> Question:
    L, V = (int(value) for value in rng.choice([(3, 2), (4, 2), (3, 3)]))
    c_G, sigma2, chi = round(float(rng.uniform(0.3, 1.2)), 1), float(rng.choice([1.0, 5.0, 20.0])), int(rng.choice([10, 100, 500]))
    value = float(thermal_loss(Setup(L, V, sigma2), 0.5, c_G, V**L, chi))
    text = (f"A network is sampled with Langevin dynamics at $\\chi={chi}$. Its attention is $\\hat c_1=0.5$, $\\hat c_G={c_G}$; "
            f"$L={L}$, $V={V}$, $\\sigma^2={sigma2}$, $g_O=1$, every sequence once. By how much does its loss per token exceed that "
            "of the mean readout?")
    working = "$\\frac{V\\sigma^2}{\\chi PL}\\sum_k\\mu_k\\frac{\\lambda_k}{\\lambda_k+\\sigma^2}$ over the spectrum of the kernel."
    return Question(text, ("loss",), (value,), working, {"L": L, "V": V, "c_G": c_G, "sigma2": sigma2, "chi": chi})
