"""Two heads, and two layers: the most probable networks on data, beside their theory.

    idle        one linear head fitted to P sequences: does a second help (``strength``), and what is gained when it joins
    heads       two softmax heads, fitted from the pooled and from the copy state
    ring        the two-layer network on the ring, from the pooled state of the theory and from its circuit
    causal      the causal one, from small weights and from both circuits of the theory
    theory      the states of the causal theory from the same starts
    training    Adam on the causal network from small weights: order parameters and action step by step

Copy task: L = 25, V = 5, sigma2 = 30.  Bigrams: L = 8, V = 10.  P of the two-layer parts is given in units of sigma2.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np

from copyhead.bigram import bigrams
from copyhead.fit import fit_map
from copyhead.heads import idle_head
from copyhead.induction import InductionAction
from copyhead.patterns import G_star, J
from copyhead.reduced import Attention, ReducedAction, planted
from copyhead.results import Result, join, scratch
from copyhead.setup import Setup
from copyhead.sweep import sweep
from copyhead.task import sequences

COPY = Setup(25, 5, 30.0)
BIGRAM: dict[str, Any] = dict(L=8, V=10)
TOLERANCE = 1e-2                      # largest gradient entry at the end of a fit; the action is then good to about 1e-4
STRONG = {"softmax": 3.0, "linear": 5.0}                      # of a planted circuit, where theory starts its search


def idle(P: int, seed: int) -> Mapping[str, Any]:
    """One and two linear heads on the same data: strength, action, action_two, and Q (2, 2) of the two."""
    from copyhead.heads_network import HeadsAction

    one, tokens = fit_map(COPY, "linear", P, seed, tolerance=1e-3), sequences(COPY.L, COPY.V, P, seed)
    strength, mode = idle_head(ReducedAction(COPY, "linear", tokens), one.M)
    network = HeadsAction(COPY, "linear", tokens, 2)
    M = network.descend(np.stack([one.M, 0.3 * mode]), TOLERANCE)
    c = network.order_parameters(M)
    return dict(strength=strength, action=one.action, action_two=network.value(M), Q=c.T @ c)


def heads(P: int, seed: int) -> Mapping[str, Any]:
    """Two softmax heads from (pooled, copy beside pooled, two copies): action, loss (3,) and a_G (3, 2), larger first."""
    from copyhead.heads_network import HeadsAction

    network = HeadsAction(COPY, "softmax", sequences(COPY.L, COPY.V, P, seed), 2)
    noise = 1e-3 * np.random.default_rng(seed).standard_normal(network.shape)
    copying = planted(1.65 * (G_star(COPY.L) - J(COPY.L) / COPY.L), COPY.V)
    starts = [noise + np.stack([x * copying, y * copying]) for x, y in ((0, 0), (1, 0), (1, 1))]
    ends = [network.descend(start, TOLERANCE) for start in starts]
    order = [np.sort(network.order_parameters(M)[:, 1])[::-1] for M in ends]
    return dict(action=[network.value(M) for M in ends], loss=[network.loss(M) for M in ends], a_G=order)


def ring(p: float, seed: int, attention: Attention, sigma2: float) -> Mapping[str, Any]:
    """The two-layer network on the ring at P = p sigma2: order (2, 3), action and loss (2,), from pooled and circuit."""
    from copyhead.two_layer import TwoLayerAction
    from copyhead.two_layer_theory import TwoLayerTheory

    setup, P = Setup(sigma2=sigma2, **BIGRAM), round(p * sigma2)
    theory = TwoLayerTheory(setup, attention, "ring")
    network = TwoLayerAction(setup, attention, *bigrams(**BIGRAM, P=P, seed=seed, cyclic=True), "ring")
    strong = theory.copy_then_match(STRONG[attention], STRONG[attention])
    circuit = theory.minimum(theory.minimum(strong, 5 * P, 1e-3).weights, P, 1e-4).weights
    return _measured(network, [theory.spread(theory.small()), theory.spread(circuit)], seed)


def causal(p: float, seed: int, attention: Attention, sigma2: float) -> Mapping[str, Any]:
    """The causal network at P = p sigma2: order (3, 3), action and loss (3,), from small weights and both circuits."""
    from copyhead.two_layer import TwoLayerAction
    from copyhead.two_layer_theory import TwoLayerTheory

    setup, P = Setup(sigma2=sigma2, **BIGRAM), round(p * sigma2)
    theory = TwoLayerTheory(setup, attention, "causal")
    network = TwoLayerAction(setup, attention, *bigrams(P=P, seed=seed, cyclic=False, **BIGRAM), "causal")
    return _measured(network, [theory.spread(start) for start in _starts(theory, attention)], seed)


def theory_of_causal(p: float, attention: Attention) -> Mapping[str, Any]:
    """What ``causal`` gives for endless data."""
    from copyhead.two_layer_theory import TwoLayerTheory

    theory = TwoLayerTheory(Setup(sigma2=1.0, **BIGRAM), attention, "causal")
    states = [theory.minimum(start, p, 1e-4) for start in _starts(theory, attention)]
    order = [(state.copy, state.match, state.found) for state in states]
    return dict(order=order, action=[s.action for s in states], loss=[s.loss for s in states])


def training(p: float, seed: int, sigma2: float, steps: int, every: int = 5, rate: float = 0.02) -> Mapping[str, Any]:
    """Adam on the causal softmax network from weights of 0.01: order (steps / every, 3) and action after each ``every``."""
    from copyhead.two_layer import TwoLayerAction

    setup, P = Setup(sigma2=sigma2, **BIGRAM), round(p * sigma2)
    network = TwoLayerAction(setup, "softmax", *bigrams(P=P, seed=seed, cyclic=False, **BIGRAM), "causal")
    weights = 0.01 * np.random.default_rng(seed).standard_normal(network.weights)
    mean, square = np.zeros_like(weights), np.zeros_like(weights)
    order, action = [], []
    for step in range(1, steps + 1):
        S, slope = network.value_and_gradient(weights)
        if step % every == 1:
            order.append(network.order_parameters(weights))
            action.append(S)
        mean, square = 0.9 * mean + 0.1 * slope, 0.999 * square + 0.001 * slope**2
        weights = weights - rate * mean / (1 - 0.9**step) / (np.sqrt(square / (1 - 0.999**step)) + 1e-8)
    return dict(order=order, action=action)


def transition(attention: Attention) -> float:
    """P* / sigma2 of the theory on the ring."""
    low, high = {"softmax": (150.0, 250.0), "linear": (300.0, 500.0)}[attention]
    return InductionAction(Setup(sigma2=1.0, **BIGRAM), attention).transition(low, high).P


def _starts(theory: Any, attention: Attention) -> list[Any]:
    strength = STRONG[attention]
    return [theory.small(), theory.copy_then_match(strength, strength), theory.match_then_shift(strength, strength)]


def _measured(network: Any, starts: Sequence[Any], seed: int) -> Mapping[str, Any]:
    """Fits from the starts, with a little noise that lets them leave a saddle."""
    noise = 1e-2 * np.random.default_rng(seed).standard_normal(network.weights)
    ends = [network.descend(start + noise, TOLERANCE, 2000) for start in starts]
    return dict(order=[network.order_parameters(x) for x in ends], action=[network.value(x) for x in ends],
                loss=[network.loss(x) for x in ends])


def _parts(seeds: int, P_idle: Sequence[int], P_heads: Sequence[int], p: Mapping[str, Sequence[float]], sigma2: float,
           noises: Sequence[float], steps: int, keep: bool) -> Result:
    home = scratch("deeper")

    def over(name: str, function: Any, **grid: Any) -> Result:
        return sweep(function, grid, folder=home / name if keep else None)

    parts = {"idle": over("idle", idle, P=P_idle, seed=range(seeds))}
    parts["heads"] = over("heads", heads, P=P_heads, seed=range(seeds))
    for kind in ("softmax", "linear"):
        parts[f"ring_{kind}"] = over(f"ring_{kind}", partial(ring, attention=kind, sigma2=sigma2), p=p[f"ring_{kind}"],
                                     seed=range(seeds))
        parts[f"causal_{kind}"] = over(f"causal_{kind}", partial(causal, attention=kind, sigma2=sigma2),
                                       p=p[f"causal_{kind}"], seed=range(seeds))
        parts[f"theory_{kind}"] = over(f"theory_{kind}", partial(theory_of_causal, attention=kind), p=p[f"causal_{kind}"])
    at_transition = partial(ring, p=transition("softmax"), attention="softmax")
    parts["scaled"] = over("scaled", at_transition, seed=range(seeds), sigma2=noises)
    parts["training"] = over("training", partial(training, sigma2=sigma2, steps=steps), p=p["training"], seed=range(seeds))
    return join(**parts)


def quick() -> Result:
    """Few points, one data set for each."""
    p = dict(ring_softmax=(150, 184, 220), ring_linear=(370, 450), causal_softmax=(100, 160, 200, 300), causal_linear=(400,),
             training=(200,))
    return _parts(1, (300, 500), (235, 250, 400), p, 1.0, (1.0, 2.0), 100, keep=False)


def full() -> Result:
    """Five data sets; sigma2 = 2 for the two-layer parts."""
    p = dict(ring_softmax=(120, 150, 165, 184, 200, 230, 300, 400), ring_linear=(280, 330, 370, 400, 450, 600),
             causal_softmax=(60, 100, 120, 140, 160, 180, 200, 220, 250, 300, 400), causal_linear=(250, 300, 350, 450, 600),
             training=(200, 300))
    return _parts(5, (300, 400, 450, 500, 600), (235, 250, 260, 280, 400), p, 2.0, (2.0, 4.0, 8.0, 16.0), 150, keep=True)
