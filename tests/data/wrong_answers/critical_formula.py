import sympy as sp

f, sigma2, g_O, g_W = sp.symbols("f sigma2 g_O g_W", positive=True)

ANSWERS = [
    f * sigma2 / (g_O * g_W),  # the root forgotten
    f * sigma2 / sp.sqrt(g_O / g_W),  # as in softmax attention, where ratios matter
    f * sigma2 * sp.sqrt(g_O * g_W),  # a wider prior taken for a harder problem
    f * sp.sqrt(sigma2) / sp.sqrt(g_O * g_W),  # a standard deviation for the variance
    f / (sigma2 * sp.sqrt(g_O * g_W)),  # P and sigma2 taken to enter as a product
    f * sigma2 / sp.sqrt(g_O),  # the attention's variance left out
]
