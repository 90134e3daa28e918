"""Wrong sets of learned lags."""

from copyhead.multi import MultiAction


def learned(setup, teacher, heads, P, which=0):
    return {k for k, n in enumerate(MultiAction(setup, teacher, heads).minima(P)[which].heads_on) if n}


ANSWERS = [
    lambda setup, teacher, heads, P: {teacher.K - 1 - k for k in learned(setup, teacher, heads, P)},   # lags backwards
    lambda setup, teacher, heads, P: set(range(min(heads, teacher.K))),                     # whatever the data
    lambda setup, teacher, heads, P: set(MultiAction(setup, teacher, heads).minima(P)[0].heads_on),
    lambda setup, teacher, heads, P: learned(setup, teacher, 1, P),                         # one head only
]
