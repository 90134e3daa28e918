"""Whatever one passes to the public names, the answer is a number or an error that names the argument; never a hang."""

from __future__ import annotations

import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import copyhead
from copyhead import LinearAction, Setup, SoftmaxAction, fit_map

SECONDS = 20  # a call that takes longer hangs; the slowest honest one takes a second
QUICK = settings(deadline=None, max_examples=150, derandomize=True, suppress_health_check=[HealthCheck.too_slow])
REAL = Setup(L=6, V=3, sigma2=4.0)

numbers = st.one_of(
    st.sampled_from([0, 1, 2, -1, 0.0, -0.0, 0.5, 1e-300, 1e300, np.inf, -np.inf, np.nan, True, 10**30]),
    st.floats(),
    st.integers(-5, 300),
)
junk = st.one_of(
    numbers, st.none(), st.text(max_size=5), st.booleans(), st.complex_numbers(), st.binary(max_size=3),
    st.lists(numbers, max_size=4), st.lists(numbers, min_size=1, max_size=4).map(np.array), st.just({}), st.just(object()),
)  # fmt: skip


@contextmanager
def time_limit() -> Iterator[None]:
    def stop(*_: Any) -> None:
        raise TimeoutError(f"no answer in {SECONDS} s")

    previous = signal.signal(signal.SIGALRM, stop)
    signal.alarm(SECONDS)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, previous)


def answer(call: Callable[[], Any]) -> Any:
    """What ``call`` gives, or None where it says that its arguments are wrong."""
    with time_limit(), np.errstate(all="ignore"):
        try:
            return call()
        except (ValueError, TypeError) as error:
            assert str(error), f"{type(error).__name__} without a word"
            return None


@QUICK
@given(st.tuples(junk, junk, junk, junk, junk))
def test_a_setup_is_valid_or_refused(values: tuple[Any, ...]) -> None:
    setup = answer(lambda: Setup(*values))
    if setup is not None:
        assert setup.L >= 2 and setup.V >= 2
        assert all(np.isfinite(x) and x > 0 for x in (setup.sigma2, setup.g_O, setup.g_W))
        hash(setup)


@QUICK
@given(st.sampled_from(["action", "loss", "gradient", "hessian"]), junk, junk, junk)
def test_linear_functions(name: str, c1: Any, c_G: Any, P: Any) -> None:
    answer(lambda: getattr(LinearAction(REAL), name)(c1, c_G, P))


@QUICK
@given(st.sampled_from(["action", "loss", "gradient", "curvature"]), st.sampled_from(["exact", "paper"]), junk, junk)
def test_softmax_functions(name: str, prior: Any, a_G: Any, P: Any) -> None:
    answer(lambda: getattr(SoftmaxAction(REAL, prior=prior), name)(a_G, P))


@QUICK
@given(st.sampled_from([LinearAction, SoftmaxAction]), st.sampled_from(["minimum", "minima"]), junk)
def test_minima(kind: Any, name: str, P: Any) -> None:
    found = answer(lambda: getattr(kind(REAL), name)(P))
    if found is not None and name == "minima":
        assert found and all(np.isfinite(state.action) for state in found)
        assert [state.action for state in found] == sorted(state.action for state in found)


@settings(QUICK, max_examples=40)
@given(st.sampled_from(["softmax", "linear"]), junk, junk)
def test_fits(attention: Any, P: Any, seed: Any) -> None:
    if isinstance(P, int) and P > 300:
        P = 300
    fit = answer(lambda: fit_map(REAL, attention, P, seed=seed))
    if fit is not None:
        assert np.isfinite(fit.action) and 0 <= fit.coverage <= 1


@QUICK
@given(junk)
def test_a_wrong_kind_of_attention_or_prior(value: Any) -> None:
    if not (isinstance(value, str) and value in ("linear", "softmax")):
        with pytest.raises((ValueError, TypeError)):
            fit_map(REAL, value, 5, seed=0)
    if not (isinstance(value, str) and value in ("exact", "paper")):
        with pytest.raises((ValueError, TypeError)):
            SoftmaxAction(REAL, prior=value)


def test_every_public_name_is_here() -> None:
    """A new name at the top of the package belongs into this file."""
    called = {"Setup", "LinearAction", "SoftmaxAction", "fit_map"}
    assert set(copyhead.__all__) == called | {"FirstOrderTransition", "LinearState", "SoftmaxState"}  # what they return
