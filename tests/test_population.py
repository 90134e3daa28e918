# mypy: allow-untyped-defs
"""The exact average over sequences at any M, its Hessian, the sectors of the symmetry, and fits preconditioned by it."""

import itertools

import numpy as np
import pytest

from copyhead import LinearAction, Setup
from copyhead.fit import descend
from copyhead.patterns import order_parameters, pattern
from copyhead.population import PopulationAction
from copyhead.preconditioned import ChunkedAction, descend_preconditioned
from copyhead.reduced import ReducedAction, planted
from copyhead.sectors import is_symmetric, sector_blocks, softest, symmetric_matrix
from copyhead.task import sequences

SIZES = [(2, 2), (3, 2), (3, 3), (4, 2), (4, 3)]


def everything(L, V):
    """Setup, action over all V^L sequences, the population's, and some M."""
    tokens = np.array(list(itertools.product(range(V), repeat=L)))
    setup = Setup(L, V, 0.15 * len(tokens), 1.3, 0.8)
    M = np.random.default_rng(0).normal(size=(V + L, V + L))
    return ReducedAction(setup, "linear", tokens), PopulationAction(setup, len(tokens)), M


@pytest.mark.parametrize("L, V", SIZES)
def test_it_is_the_sum_over_all_sequences(L, V):
    data, population, M = everything(L, V)
    (value, gradient), (average, slope) = data.value_and_gradient(M), population.value_and_gradient(M)
    assert average == pytest.approx(value, rel=1e-13) and population.value(M) == average
    assert slope == pytest.approx(gradient, rel=1e-11, abs=1e-12)
    assert population.loss(M) == pytest.approx(data.loss(M), rel=1e-12)


@pytest.mark.parametrize("L, V", SIZES)
def test_hessian_is_the_slope_of_the_gradient_over_all_sequences(L, V):
    data, population, M = everything(L, V)
    D = np.random.default_rng(1).normal(size=M.shape)
    up, down = (data.value_and_gradient(M + h * D)[1] for h in (1e-5, -1e-5))
    hessian = population.hessian(M)
    bent = hessian.apply(D)
    assert bent == pytest.approx((up - down) / 2e-5, rel=1e-6, abs=1e-7)
    assert hessian.solve(bent) == pytest.approx(D, rel=1e-9, abs=1e-10)
    both = np.stack([D, M])
    turned = planted(L * pattern(0.4, 0.3, L), V)              # the shortcut for rotated queries that read alike
    up, down = (data.value_and_gradient(turned + h * D)[1] for h in (1e-5, -1e-5))
    assert population.hessian(turned).apply(D) == pytest.approx((up - down) / 2e-5, rel=1e-6, abs=1e-7)
    assert hessian.apply(both)[1] == pytest.approx(hessian.apply(M))
    assert hessian.solve(both)[0] == pytest.approx(hessian.solve(D))


@pytest.mark.parametrize("L, V, P", [(10, 3, 12.0), (25, 5, 16.667), (8, 2, 7.0)])
def test_newtons_method_over_all_of_M_ends_in_the_complete_closure(L, V, P):
    """From the minimum of the paper's closure; only the starting point knows about closures."""
    setup = Setup(L, V, 1.0)
    start, goal = LinearAction(setup).minimum(P), LinearAction(setup, closure="complete").minimum(P)
    population, M = PopulationAction(setup, P), planted(L * pattern(start.c1, start.c_G, L), V)
    for _ in range(8):
        M = M - population.hessian(M).solve(population.value_and_gradient(M)[1])
    assert np.abs(population.value_and_gradient(M)[1]).max() < 1e-10 and is_symmetric(M, V)
    assert population.value(M) == pytest.approx(goal.action, rel=1e-12)
    assert population.loss(M) == pytest.approx(goal.loss, rel=1e-10)


@pytest.mark.parametrize("L, V", [(4, 3), (5, 2), (6, 4)])
def test_sectors_hold_all_modes(L, V):
    hessian = PopulationAction(Setup(L, V, 1.0), 9.0).hessian(planted(L * pattern(0.4, 0.3, L), V))
    n = V + L
    dense = hessian.apply(np.eye(n * n).reshape(-1, n, n)).reshape(n * n, -1)
    blocks = sector_blocks(hessian)
    assert len(blocks) == V * L and all(np.allclose(block, block.conj().T) for block in blocks.values())
    pieces = np.sort(np.concatenate([np.linalg.eigvalsh(block) for block in blocks.values()]))
    assert pieces == pytest.approx(np.linalg.eigvalsh(dense), abs=1e-11)
    assert softest(hessian).min() == pytest.approx(pieces[0])


def test_symmetry_of_an_attention_matrix_is_recognised():
    M = planted(5 * pattern(0.4, 0.3, 5), 3)
    assert is_symmetric(M, 3)
    for place in ((0, 0), (0, 4), (4, 0), (5, 6)):
        changed = M.copy()
        changed[place] += 1e-3
        assert not is_symmetric(changed, 3)


def test_both_states_of_the_linear_jump_are_stable_against_every_deformation():
    """(L, V) = (100, 2): smallest eigenvalues and losses from an independent computation in another parametrisation."""
    setup, P = Setup(100, 2, 1.0), 24.515992
    population = PopulationAction(setup, P)
    states = sorted(LinearAction(setup, closure="complete").minima(P), key=lambda state: state.c_G)
    for state, eigenvalue, loss in zip(states, (0.2096, 0.1289), (0.489601, 0.431499), strict=True):
        M = symmetric_matrix(100, 2, state.c1, state.c_G, state.tau, state.kappa)
        assert np.abs(population.value_and_gradient(M)[1]).max() < 1e-8                 # stationary in all of M
        least = softest(population.hessian(M))
        assert population.loss(M) == pytest.approx(loss, abs=2e-6) and least[0, 0] == pytest.approx(eigenvalue, abs=1e-4)
        assert np.sort(least.ravel())[1] > 1 - 1e-9


def test_chunks_add_up():
    setup, tokens = Setup(8, 3, 5.0), sequences(8, 3, 45, 0)
    M = np.random.default_rng(2).normal(size=(11, 11))
    whole = ReducedAction(setup, "linear", tokens)
    value, gradient = whole.value_and_gradient(M)
    for chunk in (7, 45, 100):
        parts = ChunkedAction(setup, tokens, chunk)
        assert parts.value_and_gradient(M)[0] == pytest.approx(value, rel=1e-13)
        assert parts.value_and_gradient(M)[1] == pytest.approx(gradient, rel=1e-11, abs=1e-12)
        assert parts.attention(M) == pytest.approx(whole.attention(M).mean(axis=0))
        assert parts.loss(M) == pytest.approx(whole.loss(M))


def test_the_population_hessian_saves_passes_and_leads_to_the_same_minimum():
    L, V, s2 = 12, 3, 40.0
    setup, P = Setup(L, V, s2), 600
    state = LinearAction(setup).minimum(float(P))
    M = planted(L * pattern(state.c1, state.c_G, L), V)
    data = ReducedAction(setup, "linear", sequences(L, V, P, 0))
    plain = descend(data, M, 1e-6)
    fast = descend_preconditioned(data, M, PopulationAction(setup, P).hessian(M), tolerance=1e-9)
    assert fast.converged and fast.action == pytest.approx(plain.action, abs=1e-7)
    assert fast.evaluations < plain.evaluations / 3
    ours, theirs = (order_parameters(data.attention(x).mean(axis=0)) for x in (fast.M, plain.M))
    assert np.ravel(ours) == pytest.approx(np.ravel(theirs), abs=1e-4)
    short = descend_preconditioned(data, M, PopulationAction(setup, P).hessian(M), tolerance=1e-9, evaluations=2)
    assert not short.converged and short.evaluations == 2


def test_bad_arguments_are_named():
    with pytest.raises(ValueError, match="setup must be a copyhead.Setup"):
        PopulationAction("setup", 3.0)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="P must be a finite number > 0, got -1"):
        PopulationAction(Setup(3, 2), -1)
    with pytest.raises(ValueError, match="chunk must be an integer >= 1, got 0"):
        ChunkedAction(Setup(3, 2), sequences(3, 2, 4, 0), 0)
    population = PopulationAction(Setup(3, 2), 1.0)
    with pytest.raises(ValueError, match="tolerance must be"):
        descend_preconditioned(ChunkedAction(Setup(3, 2), sequences(3, 2, 4, 0)), np.zeros((5, 5)),
                               population.hessian(np.zeros((5, 5))), tolerance=0.0)
