"""Wrong limits of R-hat."""

import numpy as np

ANSWERS = [
    lambda gap, within: np.sqrt(1 + gap**2 / (2 * within)),      # two chains, not split
    lambda gap, within: np.sqrt(1 + gap**2 / (4 * within)),      # four means, divided by four
    lambda gap, within: 1 + gap**2 / (3 * within),               # the square
    lambda gap, within: np.sqrt(1 + gap**2 / (3 * within**2)),   # a width for a variance
    lambda gap, within: np.sqrt(gap**2 / (3 * within)),          # the spread between alone
]
