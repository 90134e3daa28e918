"""Plausible wrong answers to the share of the plateau that is left when the speed has grown."""

import sympy as sp

growth = sp.Symbol("growth", positive=True)
half = sp.Rational(1, 2)

ANSWERS = [
    half - sp.atan(growth) / sp.pi,  # without the root
    half + sp.atan(sp.sqrt(growth)) / sp.pi,  # gone instead of left
    1 - 2 * sp.atan(sp.sqrt(growth)) / sp.pi,  # counted from the slowest point
    half - sp.atan(sp.sqrt(1 + growth)) / sp.pi,  # the speed for its growth
]
