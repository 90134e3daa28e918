import numpy as np

ANSWERS = [
    lambda P, time: np.min(P),                                                    # the smallest P that escaped
    lambda P, time: -np.divide(*np.polyfit(P, 1 / time, 1)[::-1]),                # the exponent 1 instead of 1/2
    lambda P, time: -np.divide(*np.polyfit(P, time**-2.0, 1)),                    # slope over intercept
    lambda P, time: np.polyfit(P, time**-2.0, 1)[1],                              # the intercept at P = 0
]
