"""Networks under a teacher, and the minimal transformer on the Markov chain."""

from __future__ import annotations

import numpy as np
import torch

from copyhead import Setup
from copyhead.flow import flow
from copyhead.heads_network import HeadsAction
from copyhead.markov import MarkovTask, train_markov
from copyhead.multi import MultiAction
from copyhead.task import sequences
from copyhead.teacher import Teacher, copy_teacher, orthogonal_values
from copyhead.teacher_network import TeacherAction, train_heads

SMALL = Setup(8, 4, sigma2=5.0)


def test_the_copy_teacher_gives_the_copy_task() -> None:
    tokens = sequences(8, 4, 30, seed=0)
    M = np.random.default_rng(0).standard_normal((2, 12, 12))
    mine, theirs = TeacherAction(SMALL, "softmax", tokens, copy_teacher(8, 4), 2), HeadsAction(SMALL, "softmax", tokens, 2)
    assert np.isclose(mine.value(M), theirs.value(M), rtol=1e-13)


def test_planted_weights_have_the_attention_of_the_theory() -> None:
    teacher = Teacher(8, orthogonal_values(4, 2))
    action, model = TeacherAction(SMALL, "softmax", sequences(8, 4, 5, 0), teacher, 2), MultiAction(SMALL, teacher, 2)
    x = np.array([[1.0, -0.5], [0.3, 2.0]])
    np.testing.assert_allclose(action.weights(action.planted(x)), model.weights(x)[:, 1:], rtol=1e-10)
    prior = np.vdot(x @ model.stiffness, x) / 2
    assert np.isclose(np.sum(action.planted(x) ** 2) / 2 / prior, 1, atol=0.2)      # row shifts are not minimised out


def test_training_ends_at_a_minimum_of_the_action() -> None:
    teacher, tokens = Teacher(8, orthogonal_values(4, 2)), sequences(8, 4, 100, 0)
    path = train_heads(SMALL, teacher, tokens, heads=2, speed=1.0, step=0.004, times=[4.0, 12.0], size=0.1,
                       start=np.array([[1.0, 0.0], [0.0, 1.0]]))
    action = TeacherAction(SMALL, "softmax", tokens, teacher, 2)
    best = action.descend(action.planted(np.diag([2.0, 2.0])))
    np.testing.assert_allclose(path.weights[-1], action.weights(best), atol=0.01)


def test_training_follows_the_flow() -> None:
    """The first rise of attention on plenty of data, against the population flow; two heads that begin apart."""
    setup, teacher = Setup(8, 4, sigma2=60.0), Teacher(8, orthogonal_values(4, 2))
    start, times = np.array([[0.5, 0.0], [0.0, 0.3]]), np.array([0.4, 1.0, 2.0])
    path = train_heads(setup, teacher, sequences(8, 4, 1200, 0), heads=2, speed=0.5, step=0.01, times=times, start=start,
                       size=1e-6)
    theory = flow(MultiAction(setup, teacher, 2), 1200.0, times, x=start, speed=0.5)
    np.testing.assert_allclose(path.weights, theory.weights, atol=0.03)
    assert np.ptp(theory.weights[:, 0, 0]) > 0.2


def test_the_chain_is_drawn_from_its_own_probabilities() -> None:
    """Mean log probability of drawn tokens against minus the entropy: 20,000 draws, five standard errors."""
    task, generator = MarkovTask(V=6, window=6, strength=6.0), torch.Generator().manual_seed(0)
    A = task.matrices(1, generator)
    for k in range(3):
        np.testing.assert_allclose(A[0, k] @ A[0, k].mT, np.eye(6) * (6.0 / 1.7**k) ** 2, atol=1e-4)
    context, token = task.draw(A, 20_000, generator)
    log_p = torch.log_softmax(task.logits(A, context), dim=-1)
    drawn = torch.gather(log_p, 2, token[..., None]).numpy()
    expected = (log_p.exp() * log_p).sum(dim=-1).mean().item()
    assert abs(drawn.mean() - expected) < 5 * drawn.std() / np.sqrt(20_000)


def test_students_learn_their_chains() -> None:
    """Two heads start alike on a small chain, attend to one span together, and approach the whole chain."""
    found = train_markov(MarkovTask(V=6, window=6, strength=10.0), heads=2, seeds=2, steps=600, data=3000, record_every=20,
                         lr=0.05)
    assert found.kl.shape == (2, 31, 3) and found.weights.shape == (2, 31, 2, 3)
    np.testing.assert_allclose(found.loss[:, 0], np.log(6), rtol=1e-5)
    np.testing.assert_allclose(found.weights[:, 0], 1 / 3, rtol=1e-5)
    assert np.abs(found.weights[:, 5, 0] - found.weights[:, 5, 1]).max() < 0.01
    assert np.all(found.kl[:, -1, 2] < 0.7 * found.kl[:, 0, 2])
