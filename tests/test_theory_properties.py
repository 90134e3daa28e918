"""Properties that hold at every parameter: symmetries, derivatives, no missed minimum, thermodynamic identities."""

import math

import numpy as np
import pytest
import symbolic
import sympy as sp
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st

from copyhead import LinearAction, Setup, SoftmaxAction

settings.register_profile("theory", deadline=None, max_examples=40, derandomize=True)
settings.load_profile("theory")


def log_uniform(low, high):
    return st.floats(math.log10(low), math.log10(high)).map(lambda x: 10**x)


def log_integers(low, high):
    return st.floats(math.log(low), math.log(high)).map(lambda x: round(math.exp(x)))


setups = st.builds(
    Setup,
    L=log_integers(2, 10_000),
    V=log_integers(2, 1_000),
    sigma2=log_uniform(1e-2, 1e3),
    g_O=log_uniform(1e-2, 1e2),
    g_W=log_uniform(1e-2, 1e2),
)
decades = log_uniform(1e-5, 1e5)  # P / sigma2
signed = st.floats(-3, 3)


def numbers(setup, P, **order_parameters):
    """Exact rational substitution, so that SymPy evaluates the printed form without rounding."""
    values = {"L": setup.L, "V": setup.V, "P": P, "s2": setup.sigma2, "g_O": setup.g_O, "g_W": setup.g_W}
    return {getattr(symbolic, name): sp.Rational(value) for name, value in {**values, **order_parameters}.items()}


# --- the exact scaling symmetries -------------------------------------------------------------------------------------


@given(setups, decades, signed, signed, log_uniform(1e-3, 1e3))
def test_P_enters_only_through_P_over_sigma2(setup, p, c1, c_G, scale):
    other = Setup(setup.L, setup.V, setup.sigma2 * scale, setup.g_O, setup.g_W)
    a_G = math.tanh(c1) * math.sqrt(setup.L) / setup.L
    for one, two, at in (
        (LinearAction(setup), LinearAction(other), (c1, c_G)),
        (SoftmaxAction(setup), SoftmaxAction(other), (a_G,)),
    ):
        assert one.action(*at, p * setup.sigma2) == pytest.approx(two.action(*at, p * other.sigma2), rel=1e-12)
        assert one.loss(*at, p * setup.sigma2) == pytest.approx(two.loss(*at, p * other.sigma2), rel=1e-12)
    assert LinearAction(other).critical_P == pytest.approx(scale * LinearAction(setup).critical_P, rel=1e-12)


@given(setups, decades, signed, signed, log_uniform(1e-2, 1e2))
def test_linear_action_depends_on_the_product_of_variances(setup, p, c1, c_G, scale):
    P = p * setup.sigma2
    other = Setup(setup.L, setup.V, setup.sigma2, setup.g_O / scale**2, setup.g_W * scale**2)
    one, two = LinearAction(setup), LinearAction(other)
    assert two.action(scale * c1, scale * c_G, P) == pytest.approx(one.action(c1, c_G, P), rel=1e-11)
    assert two.critical_P == pytest.approx(one.critical_P, rel=1e-12)
    assert two.minimum(P).loss == pytest.approx(one.minimum(P).loss, rel=1e-8)


@given(log_integers(7, 2000), log_integers(2, 1000), log_uniform(1e-2, 1e2), log_uniform(1e-2, 1e2), log_uniform(0.1, 10))
def test_softmax_transition_scales_with_sigma2_over_g_O(L, V, g_O, ratio, scale):
    one = SoftmaxAction(Setup(L, V, 1.0, g_O, g_O * ratio)).first_order_transition()
    two = SoftmaxAction(Setup(L, V, 7.0, g_O * scale, g_O * ratio * scale)).first_order_transition()
    assert (one is None) == (two is None)
    if one is not None and two is not None:
        assert two.P * scale / 7.0 == pytest.approx(one.P, rel=1e-10)


@given(setups, decades, signed, signed)
def test_linear_action_is_even(setup, p, c1, c_G):
    linear = LinearAction(setup)
    assert linear.action(-c1, -c_G, p * setup.sigma2) == linear.action(c1, c_G, p * setup.sigma2)


# --- values and derivatives against SymPy on the printed form --------------------------------------------------------


@settings(max_examples=12)
@given(setups, decades, signed, signed)
def test_linear_derivatives_match_sympy(setup, p, c1, c_G):
    P, linear = p * setup.sigma2, LinearAction(setup)
    S, at = symbolic.linear_action(), numbers(setup, P, c1=c1, c_G=c_G)
    variables = (symbolic.c1, symbolic.c_G)
    exact = [float(sp.diff(S, x).subs(at).evalf(30)) for x in variables]
    second = [[float(sp.diff(S, x, y).subs(at).evalf(30)) for y in variables] for x in variables]
    assert linear.action(c1, c_G, P) == pytest.approx(float(S.subs(at).evalf(30)), rel=1e-12)
    assert linear.loss(c1, c_G, P) == pytest.approx(float(symbolic.loss(S).subs(at).evalf(30)), rel=1e-10)
    size = np.abs(linear.hessian(c1, c_G, P)).max()
    assert linear.gradient(c1, c_G, P) == pytest.approx(exact, rel=1e-9, abs=1e-12 * size)
    assert linear.hessian(c1, c_G, P) == pytest.approx(np.array(second), rel=1e-8, abs=1e-10 * size)


@settings(max_examples=12)
@given(setups, decades, st.floats(-0.99, 0.99), st.sampled_from(["exact", "paper"]))
def test_softmax_derivatives_match_sympy(setup, p, position, prior):
    P, softmax, root = p * setup.sigma2, SoftmaxAction(setup, prior=prior), math.sqrt(setup.L)
    a_G = position * (root if position > 0 else root / (setup.L - 1))
    S, at = symbolic.softmax_action(prior), numbers(setup, P, a_G=a_G)
    first, second = (float(sp.diff(S, symbolic.a_G, n).subs(at).evalf(30)) for n in (1, 2))
    assert softmax.action(a_G, P) == pytest.approx(float(S.subs(at).evalf(30)), rel=1e-11)
    assert softmax.loss(a_G, P) == pytest.approx(float(symbolic.loss(S).subs(at).evalf(30)), rel=1e-10)
    assert softmax.gradient(a_G, P) == pytest.approx(first, rel=1e-8, abs=1e-10 * softmax.stiffness)
    assert softmax.curvature(a_G, P) == pytest.approx(second, rel=1e-8, abs=1e-10 * abs(second))


# --- no missed and no spurious minimum, against scans that share no code with the package ----------------------------


FAN = np.concatenate([-np.logspace(12, -12, 3000), np.logspace(-12, 12, 3000)])  # h / rho with rho > 0


def linear_scan(setup, P, t=FAN):
    """Actions along a fan of rays, each minimised exactly by bisection on its convex profile in x = t^2."""
    L, V, p = setup.L, setup.V, P / setup.sigma2
    q, w = setup.g_O * p, 1 / (setup.L - 1)
    norm = np.sqrt(1 + t**2)
    rho, h = 1 / norm, t / norm
    stiff = ((L * V / (L + V)) ** 2 * rho**2 + L**2 * w * h**2) / setup.g_W / 2
    shared, kappa = p * L / (2 * V), q * rho**2 * (L / V + 1)
    gain, delta = (V - 1) * p * q * (rho + h) ** 2 / (2 * V**2), q * (rho**2 + w * h**2) / V

    def slope(x):
        return stiff - shared * kappa / (1 + kappa * x) ** 2 - gain / (1 + delta * x) ** 2

    low, high = np.full_like(t, -60.0), np.full_like(t, 60.0)
    for _ in range(70):
        middle = (low + high) / 2
        up = slope(np.exp(middle)) < 0
        low, high = np.where(up, middle, low), np.where(up, high, middle)
    x = np.where(slope(0.0) < 0, np.exp(low), 0.0)
    return stiff * x + shared / (1 + kappa * x) - gain * x / (1 + delta * x) + (V - 1) * p * L / (2 * V), x


def zoom(setup, P, i):
    """Lowest action between the rays beside ray ``i``: far above the critical point a valley is narrower than the fan."""
    low, high = FAN[max(i - 1, 0)], FAN[min(i + 1, len(FAN) - 1)]
    for _ in range(3):
        t = np.linspace(low, high, 400)
        values, _x = linear_scan(setup, P, t)
        best = np.argmin(values)
        low, high = t[max(best - 1, 0)], t[min(best + 1, len(t) - 1)]
    return values[best]


def near(P, *points):
    return any(point is not None and abs(P / point - 1) < 0.02 for point in points)


@given(setups, decades)
def test_linear_minimum_is_global(setup, p):
    P, linear = p * setup.sigma2, LinearAction(setup)
    values, _ = linear_scan(setup, P)
    lowest = min(values.min(), zoom(setup, P, np.argmin(values)))
    rounding = 1e-15 * p * setup.L  # the scan subtracts two numbers of size P L / sigma2
    assert lowest * (1 - 1e-6) - rounding <= linear.minimum(P).action <= lowest * (1 + 1e-12) + rounding


@given(log_integers(3, 3000), log_integers(2, 50), log_uniform(0.3, 30))
@example(5, 51, 1.32049)  # two sectors of ordered rays with c1 < 0 < c_G, and none between them
def test_linear_minima_match_the_fan(L, V, relative):
    """Relative to the crossover scale, where pooled, copy and mirror states coexist in some cases."""
    setup = Setup(L, V, sigma2=1.0)
    linear = LinearAction(setup)
    P = relative * linear.copy_P
    t = linear.first_order_transition()
    assume(not near(P, linear.critical_P, *((t.lower_spinodal, t.upper_spinodal) if t else ())))
    values, x = linear_scan(setup, P)
    ring = np.concatenate([values[-1:], values, values[:1]])  # h/rho = +inf and -inf are the same ray
    bottoms = np.flatnonzero((ring[1:-1] < ring[:-2]) & (ring[1:-1] < ring[2:]) & (x > 0))
    depth = [min(values[: i + 1].max(), values[i:].max()) - values[i] for i in bottoms]
    clear = [i for i, d in zip(bottoms, depth, strict=True) if d > 1e-9 * values.max()]
    states = linear.minima(P)
    for i in clear:
        bottom = min(values[i], zoom(setup, P, i))
        assert any(bottom * (1 - 1e-6) <= state.action <= bottom * (1 + 1e-9) for state in states), bottom
    for state in states:
        hessian = linear.hessian(state.c1, state.c_G, P)
        assert np.linalg.eigvalsh(hessian)[0] > 0
        size = np.abs(hessian) @ np.abs([state.c1, state.c_G])
        assert np.all(np.abs(linear.gradient(state.c1, state.c_G, P)) <= 1e-8 * size + 1e-300)
    assert all(a.action <= b.action for a, b in zip(states[:-1], states[1:], strict=True))


@given(log_integers(2, 10_000), log_integers(2, 1_000), log_uniform(1e-2, 1e2), log_uniform(1e-2, 1e4))
def test_softmax_minima_match_a_scan(L, V, ratio, q):
    setup = Setup(L, V, 1.0, 1.0, ratio)
    softmax = SoftmaxAction(setup)
    t = softmax.first_order_transition()
    assume(not near(q, *((t.lower_spinodal, t.upper_spinodal) if t else ())))
    states = softmax.minima(q)
    ell = np.concatenate([np.geomspace(1e-12, 1, 12_000), np.linspace(1, 50, 40_000)[1:]])
    m, rest = 1 / (1 + (L - 1) * np.exp(-ell)), 1 / (1 + np.exp(ell) / (L - 1))
    u2 = L * (m**2 + rest**2 / (L - 1))
    gain = (V - 1) * q**2 * L**2 * m**2 / (2 * V * (V + q * u2))
    values = (L - 1) / (2 * ratio) * ell**2 - gain
    bottoms = np.flatnonzero((values[1:-1] < values[:-2]) & (values[1:-1] < values[2:])) + 1
    noise = 1e-13 * gain.max()
    clear = [i for i in bottoms if min(values[:i].max(), values[i:].max()) - values[i] > noise]
    found = np.array([state.ell for state in states])
    for i in clear:  # every minimum that the scan sees is in the list
        assert np.min(np.abs(np.log(found / ell[i]))) < 0.02
    best = values.min()
    at_states = np.interp(found, ell, values)
    assert at_states.min() <= best + 1e-6 * gain.max() + 1e-6
    if t is not None:
        assert len(states) == (2 if t.lower_spinodal < q < t.upper_spinodal else 1)
    else:
        assert len(states) == 1
    for state in states:
        assert softmax.curvature(state.a_G, q) > 0 or state.a_G > math.sqrt(L) * (1 - 1e-9)


@given(setups, decades)
def test_softmax_minimum_is_global(setup, p):
    P, softmax, root = p * setup.sigma2, SoftmaxAction(setup), math.sqrt(setup.L)
    grid = np.concatenate([np.linspace(-root / (setup.L - 1), 0, 200)[1:-1], np.linspace(0, root, 20_000)[:-1]])
    assert softmax.minimum(P).action <= softmax.action(grid, P).min() * (1 + 1e-12)


# --- thermodynamics --------------------------------------------------------------------------------------------------


@given(setups)
def test_equilibrium_loss_never_rises_with_P(setup):
    P = setup.sigma2 * np.logspace(-5, 5, 400)
    for action in (LinearAction(setup), SoftmaxAction(setup), SoftmaxAction(setup, prior="paper")):
        loss = action.minimum(P).loss
        assert np.all(np.isfinite(loss)) and np.all(loss > 0) and np.all(loss <= 1)
        assert np.all(np.diff(loss) <= 1e-12)


@given(setups, decades)
def test_slope_of_the_minimum_is_the_loss(setup, p):
    """dS_min/dP = L loss / (2 sigma2); a central difference, away from transitions."""
    P = p * setup.sigma2
    for action in (LinearAction(setup), SoftmaxAction(setup)):
        t = action.first_order_transition()
        if near(P, t.P if t else None, LinearAction(setup).critical_P):
            continue
        step = 1e-4 * P
        low, high = action.minimum(P - step), action.minimum(P + step)
        slope = (high.action - low.action) / (2 * step)
        expected = setup.L * action.minimum(P).loss / (2 * setup.sigma2)
        assert slope == pytest.approx(expected, rel=1e-5, abs=1e-11 * high.action / step)


def test_latent_heat_is_the_loss_jump():
    setup = Setup(25, 5)
    t = SoftmaxAction(setup).first_order_transition()
    softmax, step = SoftmaxAction(setup), 1e-3
    below = (softmax.minimum(t.P - step).action - softmax.minimum(t.P - 2 * step).action) / step
    above = (softmax.minimum(t.P + 2 * step).action - softmax.minimum(t.P + step).action) / step
    assert below - above == pytest.approx(setup.L * t.loss_jump / (2 * setup.sigma2), rel=1e-3)


# --- shapes and errors -----------------------------------------------------------------------------------------------


def test_shapes():
    setup = Setup(25, 5)
    linear, softmax = LinearAction(setup), SoftmaxAction(setup)
    assert isinstance(linear.action(0.1, 0.2, 100), float) and isinstance(softmax.loss(0.1, 100), float)
    c1, P = np.linspace(-1, 1, 4)[:, None], np.array([10.0, 100.0, 500.0])
    assert linear.action(c1, 0.1, P).shape == (4, 3)
    assert linear.gradient(c1, 0.1, P).shape == (4, 3, 2) and linear.hessian(c1, 0.1, P).shape == (4, 3, 2, 2)
    assert softmax.action(c1 / 10, P).shape == (4, 3) and softmax.curvature(0.1, P).shape == (3,)
    grid = P.reshape(3, 1)
    for state in (linear.minimum(grid), softmax.minimum(grid)):
        assert state.action.shape == state.loss.shape == (3, 1)
    assert isinstance(linear.minimum(100).c1, float) and isinstance(softmax.minimum(100).m, float)
    for i, value in enumerate(P):
        assert linear.minimum(P).c1[i] == pytest.approx(linear.minimum(value).c1, rel=1e-13)
        assert softmax.minimum(P).a_G[i] == pytest.approx(softmax.minimum(value).a_G, rel=1e-13)


BAD = [
    (lambda a, s: SoftmaxAction(a.setup, prior="flat"), "prior", "'flat'", "exact"),
    (
        lambda a, s: SoftmaxAction("setup"),  # type: ignore[arg-type]
        "setup",
        "'setup'",
        "Setup",
    ),
    (
        lambda a, s: LinearAction(None),  # type: ignore[arg-type]
        "setup",
        "None",
        "Setup",
    ),
    (lambda a, s: a.action(0, 0, 0), "P", "0.0", "> 0"),
    (lambda a, s: a.action(math.nan, 0, 1), "c1", "nan", "finite"),
    (lambda a, s: a.action(0, "x", 1), "c_G", "'x'", "finite"),
    (lambda a, s: a.minimum(-5), "P", "-5", "> 0"),
    (lambda a, s: a.minimum(math.inf), "P", "inf", "> 0"),
    (lambda a, s: a.minimum(1e30), "P", "1e+30", "< 3e+21"),
    (lambda a, s: a.minima([1, 2]), "P", "(2,)", "one number"),
    (lambda a, s: s.action(5.0, 10), "a_G", "5.0", "< 5"),
    (lambda a, s: s.action([0.1, -0.5], 10), "a_G", "-0.5", "> -0.208333"),
    (lambda a, s: s.gradient(0.1, [1.0, -1.0]), "P", "-1.0", "> 0"),
    (lambda a, s: s.minimum(None), "P", "None", "> 0"),
    (lambda a, s: s.minimum(1 + 2j), "P", "(1+2j)", "> 0"),
]


@pytest.mark.parametrize("case", BAD, ids=range(len(BAD)))
def test_bad_input_names_argument_value_and_range(case):
    call, argument, value, allowed = case
    setup = Setup(25, 5)
    with pytest.raises(ValueError) as error:
        call(LinearAction(setup), SoftmaxAction(setup))
    message = str(error.value)
    assert argument in message and value in message and allowed in message
