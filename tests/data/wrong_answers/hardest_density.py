"""Wrong answers to which density is hardest."""

import numpy as np

from copyhead.sparse import RegularAction


def needed(setup, power, psi):
    return [RegularAction(setup, s, float(s) ** power).samples_for(psi) for s in range(1, setup.L)]


ANSWERS = [
    lambda setup, power, psi=0.1: int(np.argmax(needed(setup, power, psi))),              # counted from zero
    lambda setup, power, psi=0.1: 1 + int(np.argmin(needed(setup, power, psi))),          # the easiest
    lambda setup, power, psi=0.1: 1 + int(np.argmax(needed(setup, -0.5, psi))),           # one power for all
    lambda setup, power, psi=0.1: 1 + int(np.argmax(needed(setup, power, 0.1))),          # one progress for all
    lambda setup, power, psi=0.1: 1 + int(np.argmax(needed(setup, 2 * power, psi))),      # c squared
]
