"""Wrong numbers of draws."""

import numpy as np

ANSWERS = [
    lambda u2, noise, goal: noise / u2 * goal / (1 - goal),                            # not a whole number
    lambda u2, noise, goal: int(np.ceil(noise / u2 * goal / (1 - goal))),              # zero draws
    lambda u2, noise, goal: max(1, int(noise / u2 * goal / (1 - goal))),               # rounded down
    lambda u2, noise, goal: max(1, int(np.ceil(noise / u2 / (1 - goal)))),             # one draw too many at times
    lambda u2, noise, goal: max(1, int(np.ceil((noise / u2 * goal / (1 - goal)) ** 2))),   # as if sizes were not squared
]
