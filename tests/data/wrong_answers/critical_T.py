"""Wrong temperatures at which two coupled fields order."""

import sympy as sp

J, T1, T2 = sp.symbols("J T_1 T_2", real=True)
a1, a2 = sp.symbols("a_1 a_2", positive=True)
middle, half_gap = (T1 + T2) / 2, (T1 - T2) / 2

ANSWERS = [
    middle - sp.sqrt(half_gap**2 + J**2 / (a1 * a2)),  # the smaller root
    middle + sp.sqrt(half_gap**2 + J**2),  # slopes forgotten
    middle + sp.sqrt((T1 - T2) ** 2 + J**2 / (a1 * a2)),  # the gap not halved
    sp.Max(T1, T2) + sp.Abs(J) / sp.sqrt(a1 * a2),  # the coupling added to the bare temperature
    sp.Max(T1, T2),  # uncoupled
]
