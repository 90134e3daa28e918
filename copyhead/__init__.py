"""Phase transitions in attention: a Bayesian theory of copy-head emergence, and the networks that test it.

``import copyhead`` loads numpy and scipy only.  Figures, sliders and checkers live in submodules.
"""

from copyhead.fit import fit_map
from copyhead.linear import LinearAction, LinearState
from copyhead.setup import Setup
from copyhead.softmax import SoftmaxAction, SoftmaxState
from copyhead.transition import FirstOrderTransition

__all__ = ["FirstOrderTransition", "LinearAction", "LinearState", "Setup", "SoftmaxAction", "SoftmaxState", "fit_map"]
__version__ = "0.7.0"
