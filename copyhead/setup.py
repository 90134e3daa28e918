"""The parameters of one learning problem, validated once and shared by theory and network."""

from __future__ import annotations

from dataclasses import dataclass

from copyhead.validation import positive_number, whole_number


@dataclass(frozen=True)
class Setup:
    """Sequence length, vocabulary size, noise and prior variances of the copy task.

    Variances have the large parameter chi divided out: the actual noise variance is ``sigma2 / chi`` and the
    actual prior variances are ``g_O / chi`` and ``g_W / chi``.  The posterior is ``exp(-chi * action)``.

    Parameters
    ----------
    L : int, at least 2
        Sequence length.
    V : int, at least 2
        Vocabulary size.
    sigma2 : float, positive
        Observation-noise variance (the paper's sigma^2; 30 in its Table 1).
    g_O, g_W : float, positive
        Prior variance scales of the readout and of the attention weights.

    Raises
    ------
    ValueError
        Naming the argument, its value and the allowed range.
    """

    L: int
    V: int
    sigma2: float = 30.0
    g_O: float = 1.0
    g_W: float = 1.0

    def __post_init__(self) -> None:
        for name in ("L", "V"):
            object.__setattr__(self, name, whole_number(name, getattr(self, name), minimum=2))
        for name in ("sigma2", "g_O", "g_W"):
            object.__setattr__(self, name, positive_number(name, getattr(self, name)))
