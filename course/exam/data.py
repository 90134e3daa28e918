"""Questions on the data term; the answers come from the package."""

# ruff: noqa: E501 (a question is a paragraph)

import numpy as np
from exam_question import Question, template

from copyhead import Setup
from copyhead.log_determinant import kernel_spectrum, log_determinant


def attention(rng: np.random.Generator) -> tuple[int, int, float, float]:
    """Small systems, every sequence of which can be written down."""
    L, V = (int(value) for value in rng.choice([(3, 2), (4, 2), (3, 3)]))
    return L, V, round(float(rng.uniform(-0.8, 0.8)), 1), round(float(rng.uniform(0.2, 1.2)), 1)


@template("data", "Spectrum of the readout kernel", minutes=15, points=6)
def readout_spectrum(rng: np.random.Generator) -> Question:
    L, V, c1, c_G = attention(rng)
    P = V**L
    values, _ = kernel_spectrum(Setup(L, V), c1, c_G, P)
    text = (f"Each of the $P=V^L={P}$ sequences of length $L={L}$ over $V={V}$ tokens occurs once. Linear attention is "
            f"$\\hat c_1J/L+\\hat c_GG^*/\\sqrt L$ with $\\hat c_1={c1}$, $\\hat c_G={c_G}$, and $g_O=1$. Give the three "
            "eigenvalues of the readout kernel that are not zero: constant, token and position mode.")
    working = "$P(\\rho^2(L/V+1),\\ u^2/V,\\ \\hat c_G^2/L)$, once, $V-1$ and $L-1$ times."
    return Question(text, ("constant", "token", "position"), tuple(map(float, values)), working,
                    {"L": L, "V": V, "c1": c1, "c_G": c_G})


@template("data", "Fluctuations of the readout", minutes=12, points=5)
def readout_fluctuations(rng: np.random.Generator) -> Question:
    L, V, c1, c_G = attention(rng)
    sigma2 = float(rng.choice([1.0, 2.0, 5.0, 30.0]))
    value = float(log_determinant(Setup(L, V, sigma2), c1, c_G, V**L))
    text = (f"In the system with $L={L}$, $V={V}$, every sequence once, $\\hat c_1={c1}$, $\\hat c_G={c_G}$, $g_O=1$ and noise "
            f"$\\sigma^2={sigma2}$, by how much do the fluctuations of the readout change $-\\ln$ of the posterior, compared with "
            "no attention?")
    working = "$S_1=\\frac V2\\sum_k\\mu_k\\ln(1+\\lambda_k/\\sigma^2)$ over the three eigenvalues with multiplicities $1,V-1,L-1$."
    return Question(text, ("S_1",), (value,), working, {"L": L, "V": V, "c1": c1, "c_G": c_G, "sigma2": sigma2})
