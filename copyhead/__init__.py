"""Phase transitions in attention: a Bayesian theory of copy-head emergence, and the networks that test it.

``import copyhead`` loads numpy and scipy only.  Figures, sliders and training live in submodules.
"""

from copyhead.setup import Setup

__all__ = ["Setup"]
__version__ = "0.1.0"
