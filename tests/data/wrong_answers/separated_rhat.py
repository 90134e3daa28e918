"""Wrong limits of R-hat."""

import sympy as sp

gap, within = sp.symbols("gap within", positive=True)

ANSWERS = [
    sp.sqrt(1 + gap**2 / (2 * within)),  # two chains, not split
    sp.sqrt(1 + gap**2 / (4 * within)),  # four means, divided by four
    1 + gap**2 / (3 * within),  # the square
    sp.sqrt(1 + gap**2 / (3 * within**2)),  # a width for a variance
    sp.sqrt(gap**2 / (3 * within)),  # the spread between alone
]
