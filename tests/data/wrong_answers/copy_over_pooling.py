import sympy as sp

L, V, g_p = sp.symbols("L V g_p", positive=True)
discount = (V * g_p / (L + V * g_p)) ** 2

ANSWERS = [
    1 / discount,  # the row sum of the copy pattern forgotten
    (discount / L + 1 - 1 / L) / sp.sqrt(discount),  # discount of one side only
    (discount / L + 1 - 1 / L) / discount / g_p**2,  # the common factor kept
    ((V / (L + V)) ** 2 / L + 1 - 1 / L) * ((L + V) / V) ** 2,  # positions of unit variance
]
