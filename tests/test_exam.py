"""Exams: the same for the same seed, with keys that a second route confirms, and none of it on the pages of the book."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path

import exam
import nbformat
import numpy as np
import pytest
from exam_question import PARTS, Template, drawn, template, templates
from leaks import runs, words
from myst_book import load_book
from scipy.optimize import brentq, minimize, minimize_scalar
from visits import ROOT

from copyhead import Setup, patterns
from copyhead.equivalent_kernel import all_sequences, equivalent_data_term, readout_features
from copyhead.kernels import prior_action

EVERY = templates(ROOT)
SEEDS = range(12)
Numbers = tuple[float, ...]


# --- second routes: numbers instead of algebra, matrices instead of formulas -----------------------------------------------


def polynomial(r: float, w: float, u: float) -> np.ndarray:
    return np.array([u / 4, -w / 3, r / 2, 0.0, 0.0])


def states(r: float, w: float, u: float) -> np.ndarray:
    roots = np.roots([u, -w, r])
    return np.sort(roots[np.abs(roots.imag) < 1e-12].real)


def cubic_jump(w: float, u: float) -> Numbers:
    """Follow the outer minimum until it is as deep as the origin."""
    r = brentq(lambda r: np.polyval(polynomial(r, w, u), states(r, w, u)[-1]), 1e-6, 0.2499 * w**2 / u)
    return r, states(r, w, u)[-1]


def upper_spinodal(w: float, u: float) -> Numbers:
    """Halve the interval in which the two other stationary points cease to exist."""
    low, high = 0.0, w**2 / u
    while high - low > 1e-12 * high:
        middle = (low + high) / 2
        low, high = (middle, high) if len(states(middle, w, u)) == 2 else (low, middle)
    return low, states(low, w, u).mean()


def critical_isotherm(u: float, h: float) -> Numbers:
    def state(field: float) -> float:
        return brentq(lambda m: u * m**3 - field, 0, 10, xtol=1e-15)

    return state(h), (state(h * 1.0001) - state(h * 0.9999)) / (2e-4 * h)


def cost_of_copying(L: int, V: int, g_W: float, c_G: float) -> Numbers:
    """As a sum over matrix entries: B is a projection and a rest, B = (I - J/L) + V/(L+V) J/L."""
    G = c_G / np.sqrt(L) * np.eye(L, k=-1)
    G[0, -1] = c_G / np.sqrt(L)
    B = np.linalg.inv(np.eye(L) + np.ones((L, L)) / V)
    return (L**2 / (2 * g_W) * np.einsum("ab,bc,cd,ad->", B, G, B, G),)


def cost_of_copy_weight(L: int, m: float, g_W: float) -> Numbers:
    ell = brentq(lambda gap: np.exp(gap) / (L - 1 + np.exp(gap)) - m, -30, 30, xtol=1e-14)
    cost = minimize_scalar(lambda c1: prior_action(patterns.pattern(c1, ell / np.sqrt(L), L), 5, g_W)).fun
    return ell, cost


def kernel(L: int, V: int, c1: float, c_G: float) -> np.ndarray:
    """The readout kernel of all sequences, as a matrix."""
    psi = readout_features(all_sequences(L, V), patterns.pattern(c1, c_G, L)).reshape(V**L * L, -1)
    return psi @ psi.T


def readout_spectrum(L: int, V: int, c1: float, c_G: float) -> Numbers:
    """Values of the quotient of Rayleigh on vectors of the three kinds, each an eigenvector of the matrix."""
    K, X = kernel(L, V, c1, c_G), all_sequences(L, V)
    G = patterns.pattern(c1, c_G, L)
    token = (G @ X)[..., 0] - (G @ X)[..., 1]
    wave = np.broadcast_to(np.exp(2j * np.pi * np.arange(L) / L), token.shape)
    found = []
    for vector in (np.ones_like(token), token, wave):
        flat = vector.ravel().astype(complex)
        value = np.vdot(flat, K @ flat) / np.vdot(flat, flat)
        assert np.allclose(K @ flat, value * flat)
        found.append(value.real)
    return tuple(found)


def readout_fluctuations(L: int, V: int, c1: float, c_G: float, sigma2: float) -> Numbers:
    K = kernel(L, V, c1, c_G)
    return (V / 2 * np.linalg.slogdet(np.eye(len(K)) + K / sigma2)[1],)


def heat_in_the_loss(L: int, V: int, c_G: float, sigma2: float, chi: float) -> Numbers:
    """Posterior variance of the output, V channels a token."""
    K = kernel(L, V, 0.5, c_G)
    return (V * np.trace(K - K @ np.linalg.solve(K + sigma2 * np.eye(len(K)), K)) / (chi * len(K)),)


def linear_threshold(L: int, V: int, sigma2: float) -> Numbers:
    """Where the softest direction at the origin changes sign, from matrices and finite differences."""
    setup = Setup(L, V, sigma2)

    def action(c1: float, c_G: float, P: float) -> float:
        G = patterns.pattern(c1, c_G, L)
        return prior_action(G, V) + equivalent_data_term(setup, G, P)

    def softest(P: float, step: float = 1e-3) -> float:
        at = {(i, j): action(i * step, j * step, P) for i in (-1, 0, 1) for j in (-1, 0, 1)}
        one, two = (at[1, 0] + at[-1, 0] - 2 * at[0, 0]), (at[0, 1] + at[0, -1] - 2 * at[0, 0])
        both = (at[1, 1] + at[-1, -1] - at[1, -1] - at[-1, 1]) / 4
        return np.linalg.eigvalsh(np.array([[one, both], [both, two]]) / step**2)[0]

    return (brentq(softest, 1e-3 * sigma2, 1e3 * sigma2, xtol=1e-6),)


def softmax_action(setup: Setup, ell: float, P: float) -> float:
    """Prior of the gap, and the data term of the attention matrix that it makes."""
    logits = ell * patterns.G_star(setup.L)
    A = np.exp(logits - logits.max())
    A /= A.sum(axis=1, keepdims=True)
    return (setup.L - 1) * ell**2 / 2 + equivalent_data_term(setup, A, P)


def valleys(setup: Setup, P: float) -> list[tuple[float, float]]:
    """(action, gap) of the minima that a walk over gaps finds."""
    gaps = np.linspace(-0.05, 3 * np.log(setup.L), 120)
    values = [softmax_action(setup, gap, P) for gap in gaps]
    found = []
    for i in range(1, len(gaps) - 1):
        if values[i] < min(values[i - 1], values[i + 1]):
            best = minimize_scalar(lambda gap: softmax_action(setup, gap, P), bounds=(gaps[i - 1], gaps[i + 1]),
                                   method="bounded", options={"xatol": 1e-10})
            found.append((float(best.fun), float(best.x)))
    return found


def softmax_jump(L: int, V: int, sigma2: float) -> Numbers:
    setup = Setup(L, V, sigma2)

    def lead(P: float) -> float:
        """Action of the later valley minus that of the earlier."""
        found = valleys(setup, P)
        return found[-1][0] - found[0][0]

    both = [P for P in np.geomspace(5 * sigma2, 15 * sigma2, 120) if len(valleys(setup, P)) == 2]
    P = brentq(lead, both[0], both[-1], xtol=1e-6)
    gaps = [gap for _, gap in valleys(setup, P)]
    assert len(gaps) == 2
    return (P, *(float(np.exp(gap) / (L - 1 + np.exp(gap))) for gap in gaps))


def threshold_in_other_units(factor: float, share: float) -> Numbers:
    (first,), (second,) = (linear_threshold(8, 3, sigma2) for sigma2 in (10.0, 10.0 * factor))
    return (second / first / np.sqrt(share),)


def effective_draws(n: int, phi: float) -> Numbers:
    lags = np.abs(np.subtract.outer(np.arange(n), np.arange(n)))
    return (1 / (phi**lags).mean(),)


def variance_of_copying(L: int, V: int, P: float, chi: float) -> Numbers:
    """The curvature in the gap, which chain rule and slope translate; at a minimum only the first factor counts."""
    setup = Setup(L, V)
    ell = min(valleys(setup, P))[1]

    def order(gap: float) -> float:
        m = np.exp(gap) / (L - 1 + np.exp(gap))
        return np.sqrt(L) * (L * m - 1) / (L - 1)

    step = 1e-3
    bend = (softmax_action(setup, ell + step, P) + softmax_action(setup, ell - step, P)
            - 2 * softmax_action(setup, ell, P)) / step**2
    slope = (order(ell + step) - order(ell - step)) / (2 * step)
    return (slope**2 / (chi * bend),)


def censored_waiting(stop: int, seen: list[int], lost: int) -> Numbers:
    def loss(x: np.ndarray) -> float:
        """Minus the logarithm of the likelihood of a mean exp(x)."""
        mean = float(np.exp(x[0]))
        return sum(np.log(mean) + time / mean for time in seen) + lost * stop / mean

    best = minimize(loss, [np.log(stop)], method="Nelder-Mead", options={"xatol": 1e-9, "fatol": 1e-12})
    return (float(np.exp(best.x[0])),)


ROUTES: dict[str, Callable[..., Numbers]] = {
    route.__name__: route
    for route in (
        cubic_jump, upper_spinodal, critical_isotherm, cost_of_copying, cost_of_copy_weight, readout_spectrum,
        readout_fluctuations, heat_in_the_loss, linear_threshold, softmax_jump, threshold_in_other_units, effective_draws,
        variance_of_copying, censored_waiting,
    )
}
DIGITS = {"softmax_jump": 1e-4, "variance_of_copying": 1e-4, "linear_threshold": 1e-4, "threshold_in_other_units": 1e-4}
FEW = {"softmax_jump": 3, "effective_draws": 4, "threshold_in_other_units": 6}  # slow routes see fewer seeds


@pytest.mark.parametrize("entry", EVERY, ids=lambda entry: entry.name)
def test_keys_agree_with_a_second_route(entry: Template) -> None:
    for seed in list(SEEDS)[: FEW.get(entry.name, len(SEEDS))]:
        question = drawn(entry, seed)
        expected = ROUTES[entry.name](**question.parameters)
        assert np.allclose(question.values, expected, rtol=DIGITS.get(entry.name, 1e-6), atol=0), (seed, question, expected)


def test_there_are_enough_templates_of_every_part() -> None:
    assert len(EVERY) >= 12 and {entry.part for entry in EVERY} == set(PARTS)
    assert set(ROUTES) == {entry.name for entry in EVERY}


@pytest.mark.parametrize("entry", EVERY, ids=lambda entry: entry.name)
def test_parameters_stand_in_the_question_and_answers_do_not(entry: Template) -> None:
    texts = set()
    for seed in SEEDS:
        question = drawn(entry, seed)
        assert question == drawn(entry, seed)
        assert len(question.asked) == len(question.values) and np.all(np.isfinite(question.values))
        assert not any(f"{value:.5g}" in question.text for value in question.values if value != round(value))
        texts.add(question.text)
    assert len(texts) > len(SEEDS) // 2


# --- the exam ------------------------------------------------------------------------------------------------------------


@pytest.fixture
def root(tmp_path: Path) -> Path:
    (tmp_path / "course").symlink_to(ROOT / "course")
    (tmp_path / "vendor").symlink_to(ROOT / "vendor")
    return tmp_path


def read(folder: Path) -> dict[str, str]:
    return {path.name: path.read_text("utf-8") for path in folder.iterdir()}


def test_exam_is_that_of_its_seed(root: Path) -> None:
    for seed in ("1", "2", "1"):
        assert exam.main(["--root", str(root), "--seed", seed]) == 0
        if seed == "1":
            first = read(root / "dist/exam/1")
    assert read(root / "dist/exam/1") == first
    other = read(root / "dist/exam/2")
    assert set(first) == {"questions.md", "questions.html", "questions.ipynb", "key.md", "key.html"}
    assert all(first[name] != other[name] for name in first)
    nbformat.validate(json.loads(first["questions.ipynb"]))
    assert first["questions.md"].count("\n## ") == first["key.md"].count("\n## ") == exam.QUESTIONS
    assert (root / "dist/exam/mathjax/tex-mml-chtml.js").exists()
    assert "https://" not in first["questions.html"].replace("https://www.w3.org", "")


def test_key_is_not_in_the_questions(root: Path) -> None:
    exam.main(["--root", str(root), "--seed", "3"])
    found = read(root / "dist/exam/3")
    values = [word for word in found["key.md"].split("**")[1::2] if len(word) > 4]
    assert len(values) > 4 and not any(value in found["questions.md"] for value in values)


def test_every_part_is_asked() -> None:
    for seed in SEEDS:
        chosen = exam.choose(EVERY, seed, 8)
        assert {entry.part for entry in chosen} == set(PARTS) and len(set(chosen)) == 8


@pytest.mark.parametrize("options", ["--seed -1", "--seed 1 --questions 2", "--seed 1 --questions 99"])
def test_impossible_exams_are_refused(root: Path, options: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert exam.main(["--root", str(root), *options.split()]) == 1
    assert "must be" in capsys.readouterr().err and not (root / "dist").exists()


@pytest.mark.parametrize("wrong", [("poetry", "x", 1, 1), ("landau", "x", 0, 1), ("landau", "x", 1, 0)])
def test_templates_that_an_exam_cannot_use_are_refused(wrong: tuple[str, str, int, int]) -> None:
    with pytest.raises(ValueError, match="must be"):
        template(*wrong)


def test_assessment_is_not_in_the_book() -> None:
    """What a template asks stands on no page; course/ is not read."""
    assert not any(name.startswith("course") for name in load_book(ROOT).pages)
    assert '"course/**"' in (ROOT / "_config.yml").read_text("utf-8")
    pages = {run for page in load_book(ROOT).pages.values() for run in runs(words(page.text))}
    for entry in EVERY:
        question = drawn(entry, 0)
        asked = [run for run in runs(words(re.sub(r"\$[^$]*\$", " ", question.text))) if run in pages]
        assert not asked, (entry.name, asked[:3])


@pytest.mark.browser
def test_exam_is_not_on_the_built_pages(site: Path) -> None:
    index = (site / "searchindex.js").read_text("utf-8")
    assert '"course' not in index and not (site / "course").exists()
    assert not list(site.rglob("*exam_question*"))
