"""Wrong shares after some bits of a parity have been found."""

from math import comb

ANSWERS = [
    lambda S, s, r: 1 / comb(S, s - r),                                          # the known bits still in the sum
    lambda S, s, r: comb(S, r) / comb(S, s) if r < s else 1,                     # counts patterns that are left, twice
    lambda S, s, r: (1 + r) / comb(S, s) if r < s else 1,                        # each bit adds as much as the sum
    lambda S, s, r: 1 / comb(S, s) ** ((s - r) / s),                             # equal factors on the way
]
