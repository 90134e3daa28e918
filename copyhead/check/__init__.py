"""Checkers for the exercises: ``from copyhead import check; check.<name>(answer)``.

A checker prints the first property that the answer violates, or that all hold, and returns the verdict.
It never raises on a wrong answer and never shows the right one.

A part of the book has its checkers in a module of its own, named in ``_modules``; ``check.<name>`` finds the
public functions that these modules define.  They are loaded on first use.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from types import ModuleType
from typing import Any

from copyhead.check._properties import (
    Kind,
    Property,
    array,
    close,
    expression,
    function,
    number,
    same_expression,
    value_at,
    verdict,
)

__all__ = [
    "Kind",
    "Property",
    "array",
    "close",
    "expression",
    "function",
    "number",
    "same_expression",
    "value_at",
    "verdict",
]


# While a module loads, ``from copyhead.check import <module>`` asks ``__getattr__`` for its name first.
_loading = False


def _modules() -> tuple[ModuleType, ...]:
    """The modules with checkers; spelled-out imports let tools read off what a chapter depends on."""
    from copyhead.check import (
        concentration,
        coverage,
        crossover,
        data,
        depth,
        diagrams,
        endpoints,
        ensembles,
        finite_width,
        first_order,
        langevin,
        linear_attention,
        many_heads,
        mixing,
        networks,
        other_tasks,
        precursors,
        primers,
        prior,
        prior_action,
        real_models,
        same_token,
        scaling,
        second_order,
        size,
        softmax_attention,
        sparse_patterns,
        sparse_tasks,
        spectrum,
        start,
        training,
        transitions,
        waiting,
    )

    landau = (concentration, second_order, first_order, crossover)
    attention = (transitions, linear_attention, softmax_attention)
    experiments = (networks, size, diagrams, ensembles, training, langevin, coverage, mixing)
    return (start, primers, *landau, prior, prior_action, data, spectrum, other_tasks, *attention, scaling, same_token,
            *experiments, endpoints, precursors, finite_width, depth, many_heads, sparse_patterns, waiting, sparse_tasks,
            real_models)


def _checkers() -> dict[str, Callable[[Any], bool]]:
    """Every checker by name.

    Raises ImportError if two modules define a checker of the same name.
    """
    global _loading
    _loading = True
    try:
        modules = _modules()
    finally:
        _loading = False
    found: dict[str, Callable[[Any], bool]] = {}
    for module in modules:
        for name, member in vars(module).items():
            if name.startswith("_") or not inspect.isfunction(member) or member.__module__ != module.__name__:
                continue
            if name in found:
                raise ImportError(f"two checkers are called {name}, in {module.__name__} too")
            found[name] = member
    return found


def __getattr__(name: str) -> Callable[[Any], bool]:
    if not _loading and not name.startswith("_") and name in (found := _checkers()):
        return found[name]
    raise AttributeError(f"there is no checker {name!r}; see dir(check)")


def __dir__() -> list[str]:
    return sorted(_checkers())
