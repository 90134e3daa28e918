import numpy as np


def _descent(gradient, start, lr, steps):
    path = [start]
    for _ in range(steps):
        path.append(path[-1] - lr * gradient(path[-1]))
    return np.array(path)


def _adam(gradient, start, lr, steps, beta=0.999, correct=True, root=True):
    path, m, v = [start], 0.0, 0.0
    for n in range(1, steps + 1):
        g = gradient(path[-1])
        m, v = 0.9 * m + 0.1 * g, beta * v + (1 - beta) * g**2
        a, b = (m / (1 - 0.9**n), v / (1 - beta**n)) if correct else (m, v)
        path.append(path[-1] - lr * a / (np.sqrt(b) if root else b))
    return np.array(path)


ANSWERS = [
    _descent,
    lambda g, x, lr, n: _adam(g, x, lr, n, correct=False),
    lambda g, x, lr, n: _adam(g, x, lr, n, root=False),
    lambda g, x, lr, n: _adam(g, x, lr, n, beta=0.9),
    lambda g, x, lr, n: np.concatenate([[x], x - lr * np.sign(g(x)) * np.arange(1, n + 1)]),
]
