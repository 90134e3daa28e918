"""Wrong dimensions that fit a memory."""

from math import isqrt, sqrt

ANSWERS = [
    lambda memory: isqrt(memory // 4),            # the weights alone
    lambda memory: sqrt(memory / 16),             # not whole
    lambda memory: round(sqrt(memory / 16)),      # rounded up now and then
    lambda memory: memory // 16,                  # entries, not rows
]
