import numpy as np

from copyhead.probes import selectivity


def _by(quantity, offsets, shift):
    def find(attention, targets):
        scores = quantity(selectivity(attention, targets, offsets, floor=1e-12))
        head, column = np.unravel_index(scores.argmax(), scores.shape)
        return int(head), int(column) - shift

    return find


ANSWERS = [
    _by(lambda s: s.ratio, range(-3, 4), 3),                                  # a ratio over nothing wins
    _by(lambda s: s.mass, range(0, 1), 0),                                    # no scan
    _by(lambda s: s.mass, range(-3, 4), 0),                                   # column, not offset
    _by(lambda s: s.mass, range(-2, 3), 2),                                   # too short a scan
]
