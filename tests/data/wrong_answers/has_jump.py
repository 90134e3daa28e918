"""Plausible wrong answers to check.has_jump."""

import numpy as np

ANSWERS = [
    lambda eps: True,  # as without the pull
    lambda eps: eps < 0.25,  # the endpoint at the wrong place
    lambda eps: eps < 0.16,
    lambda eps: bool(np.any(np.diff(np.linspace(eps, 1, 2001)[1:-1] ** -2) < 0)),  # the prior's share alone
    lambda eps: eps > 0.1857,  # the other way round
]
