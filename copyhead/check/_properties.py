"""How a checker looks at an answer: first its kind, then one property after the other."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

Property = tuple[str, Callable[[Any], Any]]  # what must hold, and a test of it that gives True or False
Kind = Callable[[Any], str | None]  # what is wrong with the type or shape of an answer, or None

GAP = "the answer is still a gap: replace the `...`"


def verdict(answer: Any, kind: Kind, properties: Sequence[Property]) -> bool:
    """Test ``answer`` and print "Not yet: ..." for the first failure, or that all properties hold.

    An exception inside a test counts as a violation of that property, and so does any result other than true.
    Numpy's warnings are silenced while the answer runs.
    """
    with np.errstate(all="ignore"):
        problem = GAP if _is_gap(answer) else _attempt(kind, answer)
        if problem is None:
            problem = next(filter(None, (_violation(*item, answer) for item in properties)), None)
    if problem is not None:
        print(f"Not yet: {problem}.")
        return False
    count = len(properties)
    print(f"All {count} properties hold." if count != 1 else "The one property holds.")
    return True


def _is_gap(value: Any) -> bool:
    """Whether a value, or an entry of a returned tuple, was never filled in."""
    if isinstance(value, tuple | list):
        return any(_is_gap(item) for item in value)
    return value is None or value is ...


def _attempt(kind: Kind, answer: Any) -> str | None:
    try:
        return kind(answer)
    except Exception as error:
        return f"the answer could not be examined ({_name(error)})"


def _violation(description: str, test: Callable[[Any], Any], answer: Any) -> str | None:
    try:
        result = test(answer)
        holds = np.asarray(bool(result) if type(result).__module__.startswith("sympy") else result)
    except Exception as error:
        return f"{description} (your answer raised {_name(error)})"
    if holds.dtype == bool and holds.all():
        return None
    return description


def _name(error: Exception) -> str:
    text = " ".join(str(error).split())
    return f"{type(error).__name__}: {text[:200]}" if text else type(error).__name__


def _as_numbers(value: Any, what: str) -> tuple[np.ndarray | None, str | None]:
    """The value as an array of finite numbers, or what is wrong with it."""
    if _is_gap(value):
        return None, GAP
    try:
        numbers = np.asarray(value)
        if numbers.dtype == object:  # exact numbers of sympy
            numbers = numbers.astype(complex)
    except Exception:
        return None, f"expected {what}, got {type(value).__name__}"
    if numbers.dtype.kind not in "iufc":
        return None, f"expected {what}, got {type(value).__name__}"
    if not np.all(np.isfinite(numbers)):
        return None, f"expected {what}, got NaN or infinity"
    return numbers, None


def array(shape: tuple[int, ...], what: str | None = None) -> Kind:
    """Finite numbers of this shape; a tuple or list of equal parts counts as an array."""
    expected = what or f"an array of shape {shape}"

    def kind(answer: Any) -> str | None:
        numbers, problem = _as_numbers(answer, expected)
        if numbers is not None and numbers.shape != shape:
            return f"expected {expected}, got shape {numbers.shape}"
        return problem

    return kind


def number(what: str = "a number") -> Kind:
    """One finite number: Python, numpy or exact."""
    return array((), what)


def matrix(answer: Any) -> str | None:
    """Finite numbers in rows and columns, as many as there are."""
    numbers, problem = _as_numbers(answer, "a matrix")
    if numbers is not None and numbers.ndim != 2:
        return f"expected a matrix, got shape {numbers.shape}"
    return problem


def several(item: Kind, what: str, count: int | None = None) -> Kind:
    """A tuple, list or array of things of one kind, ``count`` of them or any number."""

    def kind(answer: Any) -> str | None:
        if not isinstance(answer, tuple | list) and not (isinstance(answer, np.ndarray) and answer.ndim):
            return f"expected {what}, got {type(answer).__name__}"
        if count is not None and len(answer) != count:
            return f"expected {what}, got {len(answer)} parts"
        problem = next(filter(None, map(item, answer)), None)
        return f"expected {what}; one part: {problem}" if problem else None

    return kind


def truth(answer: Any) -> str | None:
    """True or False, of Python or numpy."""
    return None if isinstance(answer, bool | np.bool_) else f"expected True or False, got {type(answer).__name__}"


def function(arguments: str, sample: Sequence[Any], result: Kind | None = None) -> Kind:
    """A function that can be called with ``sample``.

    Args:
        arguments: names of the arguments for the message, as in "r, u".
        sample: positional arguments of one call that every right answer survives.
        result: kind of what that call must return; by default anything that is not a gap.
    """

    def kind(answer: Any) -> str | None:
        if not callable(answer):
            return f"expected a function of ({arguments}), got {type(answer).__name__}"
        try:
            value = answer(*sample)
        except NameError as error:
            return f"the function is not complete: {error}"
        except Exception as error:
            if "ellipsis" in str(error):
                return "the function is not complete: replace the `...`"
            return f"the function could not be called with ({arguments}): {_name(error)}"
        if _is_gap(value):
            return "the function returns nothing yet: fill in the gap"
        problem = result(value) if result else None
        return f"the function's result: {problem}" if problem else None

    return kind


def expression(*symbols: str) -> Kind:
    """A SymPy expression (or number) in symbols of these names and no others, whatever their assumptions."""

    def kind(answer: Any) -> str | None:
        import sympy

        wanted = f"a SymPy expression in {', '.join(symbols)}" if symbols else "an exact number"
        if isinstance(answer, int | float):
            answer = sympy.sympify(answer)
        if not isinstance(answer, sympy.Expr):
            return f"expected {wanted}, got {type(answer).__name__}"
        foreign = sorted({symbol.name for symbol in answer.free_symbols} - set(symbols))
        if foreign:
            return f"expected {wanted}; the answer also contains {', '.join(foreign)}"
        if answer.has(sympy.nan, sympy.zoo, sympy.oo):
            return f"expected {wanted}, got NaN or infinity"
        return None

    return kind


def value_at(answer: Any, values: Mapping[str, float]) -> complex:
    """Value of a SymPy expression at numbers for its symbols, matched by name.

    Raises ValueError if a symbol is left over.
    """
    import sympy

    answer = sympy.sympify(answer)
    known = {symbol: values[symbol.name] for symbol in answer.free_symbols if symbol.name in values}
    found = answer.subs(known)
    if found.free_symbols:
        raise ValueError(f"no value for {found.free_symbols}")
    return complex(found.evalf())


def on_values(names: Sequence[str], properties: Sequence[Property]) -> list[Property]:
    """Properties of a function of numbers, as properties of the SymPy expression that it is the value of.

    ``names`` are those of the expression's symbols in the order of the function's arguments.
    """
    def lifted(test: Callable[[Any], Any]) -> Callable[[Any], Any]:
        def of_expression(answer: Any) -> Any:
            import sympy

            answer = sympy.sympify(answer)
            known = {symbol.name: symbol for symbol in answer.free_symbols}
            return test(sympy.lambdify([known.get(name, sympy.Symbol(name)) for name in names], answer, "numpy"))

        return of_expression

    return [(description, lifted(test)) for description, test in properties]


def same_expression(first: Any, second: Any, ranges: Mapping[str, tuple[float, float]]) -> bool:
    """Whether two expressions agree at twelve random points, to 1e-9 relative: symbols uniform in ``ranges``.

    Two different analytic functions agree at a random point with probability zero, so this decides what
    simplification may fail to.
    """
    rng = np.random.default_rng(0)
    for _ in range(12):
        point = {name: float(rng.uniform(*limits)) for name, limits in ranges.items()}
        if not close(value_at(first, point), value_at(second, point)):
            return False
    return True


def close(first: Any, second: Any, rtol: float = 1e-9, atol: float = 1e-12) -> bool:
    """Equal shapes and equal values within tolerance; NaN equals nothing."""
    a, b = np.asarray(first), np.asarray(second)
    return a.shape == b.shape and bool(np.allclose(a, b, rtol=rtol, atol=atol))
