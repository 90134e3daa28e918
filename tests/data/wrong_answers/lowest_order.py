"""Wrong lowest orders of a rule."""

import numpy as np

from copyhead.bit_tasks import by_order, walsh


def weights(rule):
    return by_order(walsh(1 - 2 * np.array([rule >> i & 1 for i in range(8)])))


ANSWERS = [
    lambda rule: int(np.argmax(weights(rule) > 1e-12)),                         # counts the constant term as an order
    lambda rule: int(np.argmax(weights(rule)[1:])) + 1,                         # the order of most weight
    lambda rule: 3 if rule in (105, 150) else 1,                                # parity of three or nothing
    lambda rule: max((k for k in range(1, 4) if weights(rule)[k] > 1e-12), default=0),       # the highest order
]
