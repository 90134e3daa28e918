"""The network at finite embedding dimension d, with frozen embeddings and with embeddings that learn.

Parts, joined:

``direct``     small networks sampled in all their weights E, W_G, W_O, beside the Bartlett chain of the same posterior
``learned``    order parameters of fits to sequences at fixed nu = d / chi: what the posterior concentrates on
``threshold``  P at which the uniform and the copy state of softmax attention cost the same, at fixed nu
``frozen``     the same P for frozen embeddings, draw by draw
``onset``      linear attention: P at which pooling pays, and P at which zero becomes unstable
``infinite``   and at d = infinity
``limit``      the posterior itself with embeddings that learn, on the way to large chi and d at one nu
``sampled``    the posterior at chi = 30 over d, learned and frozen
``decay``      networks trained by Adam with weight decay on all weights, E included
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from copyhead.bartlett import Bartlett, FactorAction, FrozenPosterior, WidthPosterior, fit_factor
from copyhead.metric import MetricAction, most_probable, random_metric
from copyhead.patterns import G_star, J, global_sign, order_parameters, pattern
from copyhead.reduced import Attention, planted
from copyhead.results import Result, join, scratch
from copyhead.sampling import sample
from copyhead.setup import Setup
from copyhead.starts import copying, softest_mode, wrong_sign_tokens
from copyhead.sweep import cell_seed, sweep
from copyhead.task import sequences
from copyhead.width import WidthAction

Matrix = NDArray[np.float64]
SETUP, CHI = Setup(25, 5), 30.0
SMALL, SMALL_CHI, SMALL_P = Setup(5, 3, sigma2=3.0), 5.0, 60
POINT, POINT_P = Setup(25, 5, sigma2=15.0), 150                # P / sigma2 of the paper's P = 300, at half the cost
RATIOS = (10_000 / 30, 4096 / 30, 1024 / 30, 512 / 30, 256 / 30)

# --- all weights of a small network against the Bartlett chain -------------------------------------------------------


def direct(attention: Attention, d: int, draws: int) -> Mapping[str, Any]:
    """Means, standard errors, R-hat and ESS of two chains in all weights ("full") and of two Bartlett chains ("short").

    Order parameter (linear: |c1| + |c_G| would mix signs, so T = c1 + sqrt(L) c_G >= 0), loss of the sampled readout,
    which the short chain has averaged over the readout, mean diagonal entry of C, and its largest eigenvalue.
    """
    full, short = _SmallNetwork(attention, d), WidthPosterior(SMALL, attention, _small_tokens(), SMALL_CHI, d)
    seed = cell_seed(attention=attention, d=d)
    generator = np.random.default_rng(seed)
    values: dict[str, Any] = {}
    for name, target, observe, starts in (
        ("full", full, full.observe, [generator.standard_normal(full.size) for _ in range(2)]),
        ("short", short, partial(_small_numbers, short), [short.draw(generator) for _ in range(2)]),
    ):
        samples = sample(target, starts, observe=observe, tune=60 + draws // 3, draws=draws, leapfrogs=12, seed=seed,
                         progress=False)
        for what in ("order", "loss", "length", "largest"):
            values |= {f"{name}_mean_{what}": samples.mean(what), f"{name}_error_{what}": samples.standard_error(what),
                       f"{name}_sd_{what}": samples.sd(what),
                       f"{name}_rhat_{what}": samples.rhat[what], f"{name}_ess_{what}": samples.ess[what]}
    return values


def _small_tokens() -> NDArray[np.intp]:
    return sequences(SMALL.L, SMALL.V, SMALL_P, 0)


def _order(G: Matrix, attention: Attention) -> float:
    c1, c_G = order_parameters(G)
    return float(c_G) if attention == "softmax" else float(abs(c1 + math.sqrt(len(G)) * c_G))


def _small_numbers(posterior: WidthPosterior, z: Matrix) -> dict[str, float]:
    """The observables of ``direct`` from M and R, the loss averaged over the Gaussian readout."""
    M, R = posterior.split(z)
    G = posterior.attention(R.T @ M @ R)
    A, _ = posterior.normal_equations(posterior.features(G))
    noise = SMALL.sigma2 / SMALL.g_O
    inner = R @ A @ R.T
    thermal = SMALL.V * SMALL.sigma2 / SMALL_CHI * float(np.trace(np.linalg.solve(inner + noise * np.eye(len(R)), inner)))
    C = R.T @ R
    return {"order": _order(G.mean(axis=0), posterior.attention_kind),
            "loss": posterior.observables(M, R)["loss"] + thermal / (SMALL_P * SMALL.L),
            "length": float(np.trace(C) / len(C)), "largest": float(np.linalg.eigvalsh(C)[-1])}


class _SmallNetwork:
    """-ln of the posterior of all weights of ``networks.CopyNetwork``, each in units of its prior width."""

    def __init__(self, attention: Attention, d: int) -> None:
        import torch

        from copyhead.networks import CopyNetwork

        self.network = CopyNetwork(SMALL, attention, d, SMALL_CHI, train_embeddings=True, dtype=torch.float64)
        self.weights = [self.network.E, self.network.W_G, self.network.W_O]
        widths = (1.0, math.sqrt(SMALL.g_W / SMALL_CHI), math.sqrt(SMALL.g_O / (SMALL_CHI * d)))
        self.width = np.concatenate([np.full(w.numel(), s) for w, s in zip(self.weights, widths, strict=True)])
        self.size, self.data = len(self.width), self.network.encode(_small_tokens())

    def set(self, z: Matrix) -> None:
        import torch

        at = 0
        with torch.no_grad():
            for weight in self.weights:
                weight.copy_(torch.from_numpy((self.width * z)[at : at + weight.numel()].reshape(weight.shape)))
                at += weight.numel()

    def __call__(self, z: Matrix) -> tuple[float, Matrix]:
        import torch

        self.set(z)
        self.network.zero_grad()
        U = SMALL_CHI * self.network.action(self.data)
        U.backward()
        E = self.network.E.detach().numpy()
        slope = self.width * np.concatenate([torch.as_tensor(w.grad).numpy().ravel() for w in self.weights])
        slope[: E.size] += E.ravel()                               # the prior of E, which has no chi
        return float(U.detach()) + float(np.vdot(E, E)) / 2, slope

    def observe(self, z: Matrix) -> dict[str, float]:
        self.set(z)
        C = self.network.metric()
        G = self.network.attention(self.data).detach().numpy().mean(axis=0)
        return {"order": _order(G, self.network.attention_kind), "loss": float(self.network.loss(self.data).detach()),
                "length": float(np.trace(C) / len(C)), "largest": float(np.linalg.eigvalsh(C)[-1])}


# --- fits at fixed nu ---------------------------------------------------------------------------------------------

NUMBERS = ("action", "loss", "c1", "c_G", "zeta", "alpha", "gamma")


def learned(attention: Attention, P: int, nu: float, seed: int) -> Mapping[str, float]:
    """The minimum over attention and metric: ``NUMBERS``, c_G being a_G for softmax attention."""
    action = FactorAction(SETUP, attention, sequences(SETUP.L, SETUP.V, P, seed), np.float32)
    starts = [planted(_logits(attention, state), SETUP.V) for state in WidthAction(SETUP, attention, nu).minima(P)]
    starts = [M if M.any() else planted(0.1 * J(SETUP.L), SETUP.V) for M in starts]        # data may be ahead of the theory
    return min((_fitted(action, nu, M) for M in starts), key=lambda found: found["action"])


def _logits(attention: Attention, state: Any) -> Matrix:
    L = SETUP.L
    return state.ell * (G_star(L) - J(L) / L) if attention == "softmax" else L * pattern(state.c1, state.c_G, L)


def _fitted(action: FactorAction, nu: float, M: Matrix) -> dict[str, float]:
    value, M, R = fit_factor(action, nu, M)
    if action.attention_kind == "linear" and len(wrong := wrong_sign_tokens(R.T @ M @ R, SETUP.V)):
        signs = np.ones(len(M))
        signs[wrong] = -1
        T = (R.T @ M @ R) * signs
        inverse = np.linalg.inv(R)
        other = fit_factor(action, nu, inverse.T @ T @ inverse, R)
        value, M, R = min((value, M, R), other, key=lambda found: found[0])
    seen = action.observables(M, R)
    zeta, alpha, gamma = scales(R)
    return {"action": value, "loss": seen["loss"], "c1": seen.get("c1", math.nan), "zeta": zeta, "alpha": alpha,
            "gamma": gamma, "c_G": seen["c_G" if action.attention_kind == "linear" else "a_G"]}


def scales(R: Matrix) -> tuple[float, float, float]:
    """zeta, alpha, gamma of C = R^T R at the paper's L and V: mean feature, tokens and positions against each other."""
    V, L = SETUP.V, SETUP.L
    C = R.T @ R
    z = np.concatenate([np.full(V, 1 / V), np.full(L, 1 / L)])
    tokens, positions = np.eye(V) - 1 / V, np.eye(L) - 1 / L
    return (float(z @ C @ z / (z @ z)), float(np.vdot(tokens, C[:V, :V]) / (V - 1)),
            float(np.vdot(positions, C[V:, V:]) / (L - 1)))


def threshold(nu: float, seed: int) -> Mapping[str, float]:
    """P of equal action for embeddings that learn, and a_G and gamma of both states there."""
    found = WidthAction(SETUP, "softmax", nu).transition(100, 330)
    assert found is not None

    def fit(P: int, high: bool) -> dict[str, float]:
        action = FactorAction(SETUP, "softmax", sequences(SETUP.L, SETUP.V, P, seed), np.float32)
        return _fitted(action, nu, copying(action, (found.high if high else found.low).ell))

    return _equal_action(fit, round(found.P))


def frozen(d: int, draw: int, seed: int = 0) -> Mapping[str, float]:
    """P of equal action for one draw of frozen embeddings; the sequences of ``seed``.  d = 0 is d = infinity."""
    n = SETUP.V + SETUP.L
    C = random_metric(SETUP.V, SETUP.L, d, draw) if d else np.eye(n)

    def fit(P: int, high: bool) -> dict[str, float]:
        action = MetricAction(SETUP, "softmax", sequences(SETUP.L, SETUP.V, P, seed), C, np.float32)
        M = most_probable(action, copying(action, 1.7 if high else 0.35))
        a_G = float(order_parameters(action.attention(action.kernel(M)).mean(axis=0))[1])
        return {"action": action.value(M), "loss": action.loss(M), "c_G": a_G, "gamma": 1.0}

    return _equal_action(fit, 270)


def _equal_action(fit: Callable[[int, bool], dict[str, float]], P: int, rounds: int = 5) -> dict[str, float]:
    """Newton's method for S_high(P) = S_low(P) with dS/dP = L loss / (2 sigma2); NaN where one of the states is lost."""
    for _ in range(rounds):
        low, high = fit(P, False), fit(P, True)
        if high["c_G"] < low["c_G"] + 0.1:
            low["c_G"] = math.nan
            break
        slope = SETUP.L / (2 * SETUP.sigma2) * (low["loss"] - high["loss"])
        step = (high["action"] - low["action"]) / slope
        at, P = P + step, max(60, round(P + float(np.clip(step, -25, 25))))
        if abs(step) < 0.75:
            break
    lost = math.isnan(low["c_G"])
    return {"P": math.nan if lost else float(at), "low_a_G": low["c_G"], "high_a_G": high["c_G"],
            "low_gamma": low["gamma"], "high_gamma": high["gamma"]}


def bend(direction: int, seed: int = 0, P: int = 269, step: float = 0.01) -> Mapping[str, float]:
    """Second derivative of the actions of the uniform and the copy state along C = 1 + t H, halved, for one random H.

    Their means over H are d times the mean actions that frozen embeddings of dimension d add (``full_size.expansion``);
    ``gap`` is the difference, and ``slope`` its decrease by one more sequence.
    """
    n = SETUP.V + SETUP.L
    half = np.random.default_rng(direction).standard_normal((n, n))
    H, tokens = (half + half.T) / np.sqrt(2), sequences(SETUP.L, SETUP.V, P, seed)
    found, losses = [], []
    for ell in (0.35, 1.7):
        centre = MetricAction(SETUP, "softmax", tokens, np.eye(n))
        M = most_probable(centre, copying(centre, ell), 1e-5)
        actions = [MetricAction(SETUP, "softmax", tokens, np.eye(n) + t * H) for t in (-step, step)]
        sides = [action.value(most_probable(action, M, 1e-5)) for action in actions]
        found.append((sum(sides) - 2 * centre.value(M)) / (2 * step**2))
        losses.append(centre.loss(M))
    return {"low": found[0], "high": found[1], "gap": found[1] - found[0],
            "slope": SETUP.L / (2 * SETUP.sigma2) * (losses[0] - losses[1])}


def onset(nu: float, seed: int) -> Mapping[str, float]:
    """Linear attention on nested sequences, P near its onset.

    ``P`` where the best pooled state costs as much as zero, ``unstable`` where zero stops being a minimum, both by linear
    interpolation over the P at hand, and ``c1`` of the pooled state at the first P where it pays.
    """
    grid = np.arange(12, 33)
    gain, strength, c1 = [], [], []
    for P in grid:
        action = FactorAction(SETUP, "linear", sequences(SETUP.L, SETUP.V, int(P), seed))
        found = _fitted(action, nu, planted(0.35 * J(SETUP.L), SETUP.V))
        zero = action.value(np.zeros((SETUP.V + SETUP.L,) * 2))
        gain.append(zero - found["action"])
        strength.append(softest_mode(action)[0])
        c1.append(found["c1"] if gain[-1] > 1e-4 else 0.0)
    first = int(np.argmax(np.array(gain) > 1e-4))
    pays = grid[first] - (gain[first] / max(gain[first + 1] - gain[first], 1e-9) if first else 0.0)
    return {"P": float(max(pays, grid[max(first - 1, 0)])), "c1": c1[first],
            "unstable": float(np.interp(1.0, strength, grid)), "profile": np.array(c1), "at": grid.astype(float)}   # type: ignore[dict-item]


# --- the posterior at finite chi -------------------------------------------------------------------------------------


def sampled(chi: float, d: int, embeddings: str, draws: int) -> Mapping[str, Any]:
    """Softmax attention at P / sigma2 = 10, two chains from the copy state; embeddings "learn" or "frozen" (draw 0)."""
    tokens = sequences(POINT.L, POINT.V, POINT_P, 0)
    seed = cell_seed(chi=chi, d=d, embeddings=embeddings)
    bartlett = Bartlett(POINT.V + POINT.L, d)
    learning = WidthPosterior(POINT, "softmax", tokens, chi, d, np.float32)
    if embeddings == "learn":
        best, M, R = fit_factor(learning, d / chi, copying(learning, 1.9))
        target, start, first = learning, learning.join(M, R), learning.observables(M, R)
    else:
        R = bartlett.factor(bartlett.draw(np.random.default_rng(seed)))
        target = FrozenPosterior(POINT, "softmax", tokens, chi, R, np.float32)                    # type: ignore[assignment]
        action = MetricAction(POINT, "softmax", tokens, R.T @ R, np.float32)
        root = R @ np.linalg.inv(action.root)                                                  # R = rotation C^(1/2)
        start = root @ most_probable(action) @ root.T
        first = target.observables(start, R)
    samples = sample(target, [start, start], observe=target.observe, tune=60 + draws // 3, draws=draws, seed=seed,
                     progress=False)
    values: dict[str, Any] = {"mixed": samples.mixed}
    for name in ("a_G", "loss", "length"):
        constant = float(np.ptp(samples.draws[name])) == 0
        values |= {f"map_{name}": first[name], f"mean_{name}": samples.mean(name), f"sd_{name}": samples.sd(name),
                   f"error_{name}": 0.0 if constant else samples.standard_error(name),
                   f"rhat_{name}": 1.0 if constant else samples.rhat[name],
                   f"ess_{name}": math.inf if constant else samples.ess[name]}
    return values


def limit(chi: float, draws: int) -> Mapping[str, Any]:
    """``sampled`` with embeddings that learn, at nu = 1024 / 30."""
    return sampled(chi, round(1024 / 30 * chi), "learn", draws)


# --- weight decay on the embeddings ----------------------------------------------------------------------------------


def decayed(attention: Attention, P: int, d: int, steps: int) -> Mapping[str, float]:
    """Adam on S + nu / (2 d) ||E||^2, nu = d / 30, the weight-space posterior of all weights at chi = 30.

    ``action`` is that sum; ``zeta``, ``alpha``, ``gamma`` belong to the trained E; ``rank`` counts
    eigenvalues of C above 0.01.
    """
    import torch

    from copyhead.networks import CopyNetwork

    torch.set_num_threads(1)
    network = CopyNetwork(SETUP, attention, d, seed=0, train_embeddings=True)
    data = network.encode(sequences(SETUP.L, SETUP.V, P, 0))
    lr = 0.1 / d
    adam = torch.optim.Adam([{"params": [network.W_G, network.W_O], "lr": lr}, {"params": [network.E], "lr": 0.003}])
    for step in range(steps):
        for group in adam.param_groups:
            group["lr"] *= 0.1 if step == 3 * steps // 4 else 1.0
        adam.zero_grad()
        value = network.action(data) + network.E.square().sum() / (2 * CHI)
        value.backward()
        adam.step()
    C = network.metric()
    G = network.attention(data).detach().double().numpy().mean(axis=0)
    c1, c_G = order_parameters(G)
    sign = global_sign(c1, c_G, SETUP.L) if attention == "linear" else 1.0
    zeta, alpha, gamma = scales(np.asarray(network.E.detach().double().numpy() / math.sqrt(d)))
    return {"action": float(value.detach()), "loss": float(network.loss(data).detach()), "c1": float(sign * c1),
            "c_G": float(sign * c_G), "zeta": zeta, "alpha": alpha, "gamma": gamma, "length": float(np.trace(C) / len(C)),
            "rank": float((np.linalg.eigvalsh(C) > 0.01).sum())}


# --- what the chapter shows --------------------------------------------------------------------------------------------


def experiment(*, dimensions: tuple[int, ...], small_draws: int, points: tuple[int, ...], ratios: tuple[float, ...],
               seeds: int, frozen_d: tuple[int, ...], frozen_draws: int, narrow: tuple[float, ...], chis: tuple[float, ...],
               widths: tuple[int, ...], draws: int, decay: tuple[int, int], keep: bool) -> Result:
    """The parts, joined; ``decay`` is d and the number of steps."""
    def folder(name: str) -> Any:
        return scratch("finite_width") / name if keep else None

    both = ("linear", "softmax")
    return join(
        learned=sweep(learned, {"attention": both, "P": points, "nu": ratios, "seed": range(seeds)},
                      folder=folder("learned")),
        threshold=sweep(threshold, {"nu": RATIOS if keep else ratios, "seed": range(seeds)}, folder=folder("threshold")),
        infinite=sweep(partial(frozen, 0, 0), {"seed": range(seeds)}, folder=folder("infinite")),
        frozen=sweep(frozen, {"d": frozen_d, "draw": range(frozen_draws)}, folder=folder("frozen")),
        onset=sweep(onset, {"nu": narrow, "seed": range(seeds)}, folder=folder("onset")),
        decay=sweep(partial(decayed, d=decay[0], steps=decay[1]), {"attention": both, "P": (300,)}, folder=folder("decay")),
        direct=sweep(partial(direct, draws=small_draws), {"attention": both, "d": dimensions}, folder=folder("direct")),
        limit=sweep(partial(limit, draws=draws), {"chi": chis}, folder=folder("limit")),
        sampled=sweep(partial(sampled, CHI, draws=draws), {"d": widths, "embeddings": ("learn", "frozen")},
                      folder=folder("sampled")),
    )


def quick() -> Result:
    """Two small networks, one nu, two draws: half a minute."""
    return experiment(dimensions=(8,), small_draws=60, points=(60, 300), ratios=(1024 / 30,), seeds=1, frozen_d=(1024,),
                      frozen_draws=2, narrow=(5.0,), chis=(30.0,), widths=(1024,), draws=30, decay=(64, 150), keep=False)


def full() -> Result:
    """All of it: some six CPU minutes."""
    return experiment(dimensions=(6, 12, 24), small_draws=500, points=(20, 60, 100, 200, 300, 400, 500, 600, 800),
                      ratios=(10_000 / 30, 1024 / 30, 256 / 30), seeds=2, frozen_d=(256, 1024, 4096, 10_000),
                      frozen_draws=10, narrow=(3.0, 5.0, 10.0, 17.0, 40.0), chis=(30.0, 100.0, 300.0),
                      widths=(256, 10_000), draws=160, decay=(256, 1000), keep=True)


def quick_bias() -> Result:
    """``bend`` along two directions."""
    return join(bias=sweep(bend, {"direction": range(2)}))


def full_bias() -> Result:
    """``bend`` along 24 directions."""
    return join(bias=sweep(bend, {"direction": range(24)}, folder=scratch("finite_width-bias") / "bias"))
