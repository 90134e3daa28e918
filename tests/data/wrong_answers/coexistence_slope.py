import sympy as sp

w, v = sp.symbols("w v", positive=True)

ANSWERS = [
    3 * w / (4 * v),  # the square of the order parameter, without the half
    w / (2 * v),  # slope of the spinodal
    3 * w**2 / (16 * v),  # the line itself
    -3 * w / (8 * v),  # sign
    sp.sqrt(3 * w / (4 * v)) / 2,  # m instead of its square
]
