r"""Langevin sampling of a network in all its weights: what the literature calls SGLD, here with the full batch.

The posterior of the weights theta is exp(-chi S(theta)), S = ``network.action``.  One step is

    theta <- theta - eta chi grad S(theta) + sqrt(2 eta) xi,     xi standard Gaussian,

the Euler step of the Langevin equation whose stationary density is the posterior.  In the usual words of training: loss
E = ||Y - f||^2 / 2, temperature tau = sigma2 / chi, weight decay tau / (prior variance), step eta / tau.  The step leaves
a bias of order eta, and stability needs eta chi lambda < 2 for the largest curvature lambda of S.

``sampling.sample`` with the readout integrated out mixes far better.  This module is for the paper's procedure itself.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import numpy as np
import torch
from numpy.typing import ArrayLike

from copyhead.diagnostics import Samples
from copyhead.networks import CopyNetwork, Encoded, Network
from copyhead.patterns import global_sign, order_parameters
from copyhead.progress import bar
from copyhead.validation import positive_number, whole_number


def sgld(networks: Sequence[Network], tokens: ArrayLike, *, eta: float | Mapping[str, float], steps: int,
         burn_in: int = 0, record_every: int = 10, seed: int = 0, progress: bool = True) -> Samples:
    """Run one chain from every network as it is; the networks are changed in place.

    Parameters
    ----------
    networks : sequence of Network
        The starts, with equal chi and shapes; they should be in different states.  chi is theirs.
    tokens : integers, (P, L)
    eta : float, or one for each weight by name
        Step size.  Weights of different prior width want steps in proportion to their variance: {"W_G": eta,
        "W_O": eta / d_model} moves both by the same share of their width.
    steps, burn_in, record_every : int
        Steps in all, how many of them are forgotten, and the steps between two records.
    seed : int
        Chain i draws its noise from the i-th child of ``SeedSequence(seed)``.

    Returns
    -------
    Samples
        Draws of c1 and c_G (linear, sign fixed by T >= 0 at each record) or a_G (softmax), the loss per token of the
        sampled weights, thermal part included, and the potential chi S.  ``last`` holds the weights, flattened.

    Raises
    ------
    ValueError
        Naming the argument, its value and the allowed range; also for trained embeddings, which have no prior here.
    FloatingPointError
        When the action stops being finite.
    """
    steps = whole_number("steps", steps, 1)
    burn_in, record_every = whole_number("burn_in", burn_in, 0), whole_number("record_every", record_every, 1)
    if burn_in + record_every > steps:
        raise ValueError(f"burn_in must leave at least record_every = {record_every} of the {steps} steps, got {burn_in}")
    if not networks or len({(network.chi, network.attention_kind) for network in networks}) > 1:
        raise ValueError(f"networks must be one or more of equal chi and attention, got {len(networks)}")
    if any(isinstance(network, CopyNetwork) and network.E.requires_grad for network in networks):
        raise ValueError("networks must have frozen embeddings: the action has no prior for them")
    seeds = np.random.SeedSequence(whole_number("seed", seed, 0)).spawn(len(networks))
    chains = [_chain(network, tokens, eta, steps, burn_in, record_every, int(child.generate_state(1)[0]), progress)
              for network, child in zip(networks, seeds, strict=True)]
    vectors = [torch.nn.utils.parameters_to_vector(network.parameters()).detach() for network in networks]
    first = eta if not isinstance(eta, Mapping) else max(eta.values())
    ones = np.ones(len(networks))
    draws = {name: np.array([chain[name] for chain in chains]) for name in chains[0]}
    last = np.stack([vector.cpu().double().numpy() for vector in vectors])
    return Samples(draws, last, "sgld", math.sqrt(2 * first) * ones, ones, np.zeros(len(networks), dtype=np.int64),
                   steps * len(networks))


def _chain(network: Network, tokens: ArrayLike, eta: float | Mapping[str, float], steps: int, burn_in: int,
           record_every: int, seed: int, progress: bool) -> dict[str, list[float]]:
    weights = {name: weight for name, weight in network.named_parameters() if weight.requires_grad}
    if isinstance(eta, Mapping) and set(eta) != set(weights):
        raise ValueError(f"eta must be a number, or have the keys {sorted(weights)}, got {dict(eta)!r}")
    rates = {name: positive_number("eta", eta[name] if isinstance(eta, Mapping) else eta) for name in weights}
    generators = {}
    for i, (name, weight) in enumerate(weights.items()):
        generators[name] = torch.Generator(weight.device).manual_seed(seed + i)
    data = network.encode(tokens)
    record: dict[str, list[float]] = {}
    with bar(steps, show=progress) as shown:
        for step in range(steps + 1):
            network.zero_grad()
            action = network.action(data)
            if not math.isfinite(value := action.item()):
                raise FloatingPointError(f"the action is {value} at step {step} with eta = {eta}; try a smaller eta")
            if step > burn_in and (step - burn_in) % record_every == 0:
                _note(record, network, data, value)
            if step == steps:
                break
            action.backward()
            with torch.no_grad():
                for name, weight in weights.items():
                    assert weight.grad is not None
                    noise = torch.empty_like(weight).normal_(generator=generators[name])
                    weight.add_(weight.grad, alpha=-rates[name] * network.chi).add_(noise, alpha=math.sqrt(2 * rates[name]))
            shown.update()
    return record


@torch.no_grad()
def _note(record: dict[str, list[float]], network: Network, data: Encoded, action: float) -> None:
    c1, c_G = order_parameters(network.attention(data).mean(dim=0).cpu().double().numpy())
    values = {"potential": network.chi * action, "loss": network.loss(data).item()}
    if network.attention_kind == "softmax":
        values["a_G"] = float(c_G)
    else:
        sign = float(global_sign(c1, c_G, network.setup.L))
        values |= {"c1": sign * float(c1), "c_G": sign * float(c_G)}
    for name, value in values.items():
        record.setdefault(name, []).append(value)
