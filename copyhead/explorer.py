"""The explorer: sliders for P, L, V and sigma2 on a page that evaluates the closed forms itself.

Unlike ``slider_figure``, which shows frames that Python prepared, the HTML of ``explorer`` carries the theory in
JavaScript (``theory.js``, tested equal to this package), so that a reader without a kernel can leave the paper's
parameters.  It is the same in the built book and in a live notebook, and it fetches nothing.
"""

from __future__ import annotations

import json

import numpy as np

from copyhead.figures import HIGHLIGHT, LINEAR, SOFTMAX
from copyhead.inline import asset, stylesheet, unique_id
from copyhead.linear import LinearAction
from copyhead.setup import Setup
from copyhead.sliders import StaticSlider
from copyhead.softmax import SoftmaxAction
from copyhead.transition import FirstOrderTransition
from copyhead.validation import positive_number


def _round_numbers(*ranges: tuple[float, float, float]) -> list[float]:
    """Values from first to last of each range by its step; whole ones as int, so that they are written without a point."""
    values = np.unique(np.round(np.concatenate([np.arange(a, b + step / 2, step) for a, b, step in ranges]), 6))
    return [int(v) if v == int(v) else float(v) for v in values]


_DECADES = [100, 1_000, 10_000]
# The positions of each slider: round numbers, roughly even on a logarithmic scale.
VALUES: dict[str, list[float]] = {
    "P": _round_numbers(
        (1, 100, 1),
        *((d, 3 * d, d / 100) for d in _DECADES),
        *((3 * d, 10 * d, d / 20) for d in _DECADES),
    ),
    "L": _round_numbers((2, 40, 1), (40, 100, 2), (100, 200, 5), (200, 400, 10)),
    "V": _round_numbers((2, 30, 1), (30, 60, 2), (60, 100, 5)),
    "sigma2": _round_numbers((1, 3, 0.5), (3, 10, 1), (10, 30, 2), (30, 100, 5), (100, 300, 10)),
}
_LABELS = {"P": ("P", "sequences"), "L": ("L", "positions"), "V": ("V", "tokens"), "sigma2": ("σ²", "noise")}
_TABLE = [(25, 5, 30.0), (12, 5, 30.0), (100, 2, 30.0), (200, 20, 30.0)]


def explorer(L: int = 25, V: int = 5, sigma2: float = 30.0, P: float = 275) -> StaticSlider:
    """Return the explorer as HTML, with g_O = g_W = 1; end a cell with it.

    Parameters
    ----------
    L, V, sigma2, P
        Where the sliders stand first: each at its position closest to the argument, in ratio.

    Raises
    ------
    ValueError
        Naming the argument, its value and the allowed range.
    """
    setup = Setup(L, V, sigma2)
    start = {"P": positive_number("P", P), "L": setup.L, "V": setup.V, "sigma2": setup.sigma2}
    for name, value in start.items():
        low, high = VALUES[name][0], VALUES[name][-1]
        if not low <= value <= high:
            raise ValueError(f"{name} must be between {low} and {high} in the explorer, got {value!r}")
    identifier = unique_id(f"explorer {start}")
    dials = "".join(_dial(f"{identifier}-{name}", name, value) for name, value in start.items())
    colours = f"--linear:{LINEAR};--softmax:{SOFTMAX};--highlight:{HIGHLIGHT}"
    return StaticSlider(
        f'<div class="copyhead-figure copyhead-explorer" role="group" aria-label="Explorer of the theory" style="{colours}">'
        f"{stylesheet()}<style>{asset('explorer.css')}</style>"
        f'<div class="copyhead-dials" hidden>{dials}</div>'
        '<div class="copyhead-panels" role="img" aria-label="Curves of both actions, drawn by JavaScript" hidden></div>'
        f"{_LEGEND}{_READOUT}{_fallback()}"
        '<p class="copyhead-status" role="status" aria-live="polite"></p>'
        f'<script type="application/json">{json.dumps(VALUES, separators=(",", ":"))}</script>'
        f"<script>{{{asset('theory.js')}{asset('explorer.js')}}}</script></div>"
    )


def _dial(identifier: str, name: str, value: float) -> str:
    symbol, meaning = _LABELS[name]
    position = int(np.argmin(np.abs(np.log(VALUES[name]) - np.log(value))))
    return (
        f'<div class="copyhead-dial"><label for="{identifier}">{symbol} <span>{meaning}</span></label>'
        f'<output for="{identifier}">{VALUES[name][position]}</output>'
        f'<input type="range" id="{identifier}" name="{name}" data-symbol="{symbol}" min="0" '
        f'max="{len(VALUES[name]) - 1}" step="1" value="{position}" autocomplete="off"></div>'
    )


_LEGEND = (
    '<div class="copyhead-legend" hidden>'
    '<span style="--line:2px solid var(--linear)">linear attention, pooling</span>'
    '<span style="--line:2px dashed var(--linear)">linear, copying</span>'
    '<span style="--line:2px solid var(--softmax)">softmax attention, copying</span>'
    '<span style="--line:1px solid currentColor">thin: a state that is not the deepest</span></div>'
)
_READOUT = (
    '<div class="copyhead-readout" hidden><p class="copyhead-setting"></p>'
    '<p class="copyhead-linear"></p><p class="copyhead-softmax"></p></div>'
)


def _fallback() -> str:
    """A sentence and a table that stand in for the explorer without JavaScript and on paper."""
    rows = "".join(_row(*parameters) for parameters in _TABLE)
    return (
        '<div class="copyhead-fallback"><p>On a screen and with JavaScript, four sliders stand here: they move P, L, V and '
        "σ² and show the loss, the order parameters and both actions for the values you choose. "
        "The transitions of some sets of parameters:</p>"
        '<table><thead><tr><th scope="col">L</th><th scope="col">V</th><th scope="col">σ²</th>'
        '<th scope="col">linear switches on at P</th><th scope="col">linear turns to copying at P</th>'
        f'<th scope="col">softmax turns to copying at P</th></tr></thead><tbody>{rows}</tbody></table></div>'
    )


def _row(L: int, V: int, sigma2: float) -> str:
    setup = Setup(L, V, sigma2)
    linear, softmax = LinearAction(setup), SoftmaxAction(setup)
    crossover = f"around {digits(linear.copy_P)} (crossover)"
    cells = [
        *map(digits, (L, V, sigma2)),
        f"{digits(linear.critical_P)} (second order)",
        _jump(linear.first_order_transition()) or crossover,
        _jump(softmax.first_order_transition()) or "no jump (crossover)",
    ]
    return f"<tr>{''.join(f'<td>{cell}</td>' for cell in cells)}</tr>"


def _jump(transition: FirstOrderTransition | None) -> str:
    return f"{digits(transition.P)} (first order)" if transition else ""


def digits(x: float) -> str:
    """Return ``x`` with four significant digits and no exponent, as ``explorer.js`` writes it."""
    return np.format_float_positional(float(f"{x:.4g}"), trim="-")
