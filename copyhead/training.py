"""Full-batch training of a network on its action, and the record of the way it takes.

The loss that is minimised is the whole action of ``networks.py``, data term plus Gaussian prior: the prior is an L2
penalty whose decay rates are the inverse prior variances, and enters the gradient before Adam divides by its running
scale.  A stationary point of training is then a stationary point of the posterior.  Decay that is *decoupled* from the
gradient (AdamW) has other stationary points.

Every step works on all sequences, so that a run is a deterministic function of its initial weights, and a run resumed
from its checkpoint gives the same numbers to the last bit as one that was never interrupted.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import numpy as np
import torch
from numpy.typing import ArrayLike, NDArray

from copyhead.checkpoint import Saver
from copyhead.networks import Encoded, Network
from copyhead.patterns import global_sign, order_parameters
from copyhead.progress import bar
from copyhead.validation import positive_number, whole_number

Tokens = ArrayLike | torch.Tensor | Encoded
Stopped = Literal["steps", "patience", "asked"]
FIELDS = ("step", "action", "loss", "test_loss", "c1", "c_G")
WARMUP_FROM = 0.01             # a warm-up begins at this share of the learning rate


@dataclass(frozen=True, eq=False)
class TrainingRun:
    """The way of one network, recorded every so many steps.

    Attributes
    ----------
    attention : "linear" or "softmax"
    step : ndarray of int, (n,)
        Number of updates made before the record; 0 is the initial network.
    action : ndarray, (n,)
        Data term plus prior of the weights as they are, chi divided out.  It lies above the MAP action also because
        the readout is not the best one until training ends.
    loss, test_loss : ndarray, (n,)
        Squared error per token on the training and on the held-out sequences; NaN without held-out sequences.
    c1, c_G : ndarray, (n,)
        Order parameters of the mean attention.  The one global sign of a linear run makes T = c1 + sqrt(L) c_G
        positive at its last record, so that the trajectory is one curve.
    stopped : "steps", "patience" or "asked"
        What ended the run.
    seconds : float
        Time spent, with that of the interrupted runs it continues.
    """

    attention: str
    step: NDArray[np.int64]
    action: NDArray[np.float64]
    loss: NDArray[np.float64]
    test_loss: NDArray[np.float64]
    c1: NDArray[np.float64]
    c_G: NDArray[np.float64]
    stopped: Stopped
    seconds: float

    @property
    def a_G(self) -> NDArray[np.float64]:
        """The order parameter of softmax attention, the ``c_G`` of its attention matrix; shape (n,)."""
        if self.attention != "softmax":
            raise AttributeError("a_G belongs to softmax attention; a linear run has c1 and c_G")
        return self.c_G


def learning_rate(network: Network) -> float:
    """Adam's step size that suits a network: 0.01 for the reduced one, 0.1 / d_model for the full one.

    Adam moves every entry of W_G by about the learning rate, whatever the size of the gradient.  The logits add up
    d_model^2 such moves over embeddings whose products have size d_model, and so move by d_model times as much.
    At d_model = 10,000 the rule gives the 1e-5 of the paper's Table 1.
    """
    d_model = getattr(network, "d_model", None)
    return 0.01 if d_model is None else 0.1 / d_model


def warmup_factor(step: int, warmup: int) -> float:
    """Share of the learning rate at a step: from 1/100 at step 0 linearly to 1 at step ``warmup`` and later."""
    return 1.0 if step >= warmup else WARMUP_FROM + (1 - WARMUP_FROM) * step / warmup


def train(
    network: Network,
    tokens: Tokens,
    *,
    steps: int = 1500,
    lr: float | Mapping[str, float] | None = None,
    optimizer: Literal["adam", "gd"] = "adam",
    warmup: int = 0,
    patience: int | None = None,
    held_out: Tokens | None = None,
    record_every: int = 10,
    checkpoint: str | Path | None = None,
    checkpoint_every: float = 30.0,
    progress: bool = True,
    on_record: Callable[[int, Mapping[str, float]], Any] | None = None,
) -> TrainingRun:
    """Minimise ``network.action(tokens)`` from where the network is; its weights are changed in place.

    Parameters
    ----------
    network : ReducedNetwork or CopyNetwork
    tokens : integers, (P, L)
        Training sequences; every step uses all of them.
    steps : int, at least 1
        Number of updates.
    lr : float, positive, or one for each parameter by name; by default ``learning_rate(network)``
        Rates by name are for weights of different nature: {"W_G": eta, "W_O": eta / d_model} makes gradient descent on
        the full network equal to that of the reduced one, and trained embeddings want a rate of their own.
    optimizer : "adam" or "gd"
        Adam with its usual constants (0.9, 0.999, 1e-8), or gradient descent without momentum.
    warmup : int, at least 0
        Steps over which the learning rate grows from 1/100 of ``lr`` to ``lr``, linearly.
    patience : int, optional
        Stop when the held-out loss has had no new minimum for this many steps.  It is looked at in the records only,
        and the network stays as it is at the end, not at its minimum.
    held_out : integers, (P', L), optional
        Held-out sequences, for ``test_loss`` and ``patience``.
    record_every : int, at least 1
        Steps between two records; the first and the last state are recorded too.
    checkpoint : path, optional
        File to resume from if it exists, and to write at the end and about every ``checkpoint_every`` seconds.
    progress : bool
        Whether to show a bar, which vanishes at the end.
    on_record : function of (step, values), optional
        Called with each record, a mapping with the names of ``TrainingRun``; returning False stops the run.

    Raises
    ------
    ValueError
        Naming the argument, its value and the allowed range; for a checkpoint, also when it belongs to another run.
    FloatingPointError
        As soon as the action is not finite.  The last checkpoint stays.
    """
    steps, warmup = whole_number("steps", steps, minimum=1), whole_number("warmup", warmup, minimum=0)
    record_every = whole_number("record_every", record_every, minimum=1)
    weights = {name: p for name, p in network.named_parameters() if p.requires_grad}
    rates = _rates(learning_rate(network) if lr is None else lr, weights)
    if optimizer not in ("adam", "gd"):
        raise ValueError(f"optimizer must be 'adam' or 'gd', got {optimizer!r}")
    if patience is not None:
        patience = whole_number("patience", patience, minimum=1)
        if held_out is None:
            raise ValueError(f"patience must be None where there are no held_out sequences, got {patience}")
    groups: list[dict[str, Any]] = [{"params": [weights[name]], "lr": rate} for name, rate in rates.items()]
    adam = optimizer == "adam"
    method = torch.optim.Adam(groups, fused=True) if adam else torch.optim.SGD(groups)
    run = Run(network, tokens, held_out, method)
    saver = None
    if checkpoint is not None:
        rule = dict(lr=rates, optimizer=optimizer, warmup=warmup, patience=patience, record_every=record_every)
        saver = Saver(Path(checkpoint), positive_number("checkpoint_every", checkpoint_every), run, rule)
        if run.now > steps:
            raise ValueError(f"steps must be >= {run.now}, where the checkpoint {checkpoint} is, got {steps}")

    with bar(steps, done=run.now, show=progress) as shown:
        while True:
            action = network.action(run.data)
            if not math.isfinite(value := action.item()):
                raise FloatingPointError(f"the action is {value} at step {run.now} with lr = {_shown(rates)}: training has "
                                         "diverged; try a smaller lr" + (f" ({checkpoint} stays)" if saver else ""))
            stopped: Stopped | None = "steps" if run.now == steps else None
            if run.now % record_every == 0 or stopped:
                go_on = run.record(value, on_record)
                stopped = "asked" if not go_on else "patience" if run.stale(patience) else stopped
                if saver:
                    saver.save(force=stopped is not None)
            if stopped:
                break
            for group, rate in zip(method.param_groups, rates.values(), strict=True):
                group["lr"] = rate * warmup_factor(run.now, warmup)
            method.zero_grad()
            action.backward()
            method.step()
            run.now += 1
            shown.update()
    return run.result(stopped)


def _rates(lr: object, weights: Mapping[str, object]) -> dict[str, float]:
    """A learning rate for each weight that is trained."""
    if not isinstance(lr, Mapping):
        return dict.fromkeys(weights, positive_number("lr", lr))
    if set(lr) != set(weights):
        raise ValueError(f"lr must be a number, or have the keys {sorted(weights)}, got {dict(lr)!r}")
    return {name: positive_number(f"lr[{name!r}]", lr[name]) for name in weights}


def _shown(rates: Mapping[str, float]) -> str:
    values = set(rates.values())
    return f"{values.pop():g}" if len(values) == 1 else str(dict(rates))


class Run:
    """What changes during a run: the network, the optimiser's memory, the step, the records, the clock."""

    def __init__(self, network: Network, tokens: Tokens, held_out: Tokens | None, method: torch.optim.Optimizer) -> None:
        self.network, self.method, self.data = network, method, network.encode(tokens)
        self.held_out = None if held_out is None else network.encode(held_out)
        self.now, self.began = 0, time.perf_counter()
        self.records: list[list[float]] = []

    @torch.no_grad()
    def record(self, action: float, on_record: Callable[[int, Mapping[str, float]], Any] | None) -> bool:
        """Append a record unless the checkpoint had it; False if the caller wants to stop."""
        if self.records and self.records[-1][0] == self.now:
            return True
        network = self.network
        loss = float(network.loss(self.data))
        test = math.nan if self.held_out is None else float(network.loss(self.held_out))
        c1, c_G = order_parameters(network.attention(self.data).mean(dim=0).cpu().numpy())
        self.records.append([float(self.now), action, loss, test, float(c1), float(c_G)])
        if on_record is None:
            return True
        sign = self.sign()
        numbers = (self.now, action, loss, test, sign * float(c1), sign * float(c_G))
        values: dict[str, float] = dict(zip(FIELDS, numbers, strict=True))
        return on_record(self.now, values) is not False

    def sign(self) -> float:
        """The global sign of linear attention by its last record."""
        c1, c_G = self.records[-1][4:]
        return float(global_sign(c1, c_G, self.network.setup.L))

    def stale(self, patience: int | None) -> bool:
        """Whether the held-out loss had its minimum ``patience`` or more steps ago."""
        best = min(self.records, key=lambda record: record[3])
        return patience is not None and self.now - best[0] >= patience

    def result(self, stopped: Stopped) -> TrainingRun:
        step, action, loss, test, c1, c_G = np.array(self.records).T
        return TrainingRun(self.network.attention_kind, step.astype(np.int64), action, loss, test, self.sign() * c1,
                           self.sign() * c_G, stopped, time.perf_counter() - self.began)

