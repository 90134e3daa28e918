"""The explorer in Chromium: every slider moved by keyboard, pointer and touch, its numbers held against Python."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from visits import Visit, silent_visit

from copyhead import LinearAction, Setup, SoftmaxAction
from copyhead.explorer import VALUES, digits, explorer

if TYPE_CHECKING:
    from playwright.sync_api import Browser

pytestmark = pytest.mark.browser

HEAD = (
    "<!doctype html><html lang=en><meta charset=utf-8><meta name=viewport content='width=device-width, initial-scale=1'>"
    "<title>Explorer</title><style>body{font-family:sans-serif;margin:16px}main{max-width:760px}"
    "@media(prefers-color-scheme:dark){body{background:#121212;color:#ced6dd;color-scheme:dark}}</style><main>"
)
FIRST: dict[str, float] = {"P": 275, "L": 25, "V": 5, "sigma2": 30}
SECOND: dict[str, Any] = {"P": 800, "L": 100, "V": 2, "sigma2": 30}

# What explorer number n holds, after the frame in which a move is drawn.
STATE = """async n => {
  await new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)));
  const root = document.querySelectorAll('.copyhead-explorer')[n], find = s => root.querySelector(s);
  const all = (s, f) => [...root.querySelectorAll(s)].map(f), text = s => find(s).textContent;
  const ball = e => [Number(e.getAttribute('cx')), Number(e.getAttribute('cy')), e.getAttribute('fill')];
  return {
    numbers: Object.fromEntries(all('data', e => [e.dataset.name, [Number(e.value), e.textContent]])),
    outputs: Object.fromEntries(all('input', e => [e.name, text(`output[for="${e.id}"]`)])),
    said: all('input', e => e.getAttribute('aria-valuetext')), setting: text('.copyhead-setting'),
    linear: text('.copyhead-linear'), softmax: text('.copyhead-softmax'), status: text('[role=status]'),
    alt: find('[role=img]').getAttribute('aria-label'), drawing: find('.copyhead-panels').innerHTML,
    balls: all('svg', e => [...e.querySelectorAll('circle')].map(ball)),
    box: [root.offsetWidth, find('.copyhead-panels').offsetHeight]};
}"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with ``page.html``: two explorers at different parameters, and text between and after them."""
    path = tmp_path_factory.mktemp("explorer")
    (path / "page.html").write_text(f"{HEAD}{explorer().html}<p>Between.</p>{explorer(**SECOND).html}<p>After.</p>", "utf-8")
    return path


@pytest.fixture
def visit(browser: Browser, folder: Path, request: pytest.FixtureRequest) -> Iterator[Visit]:
    """The page, opened with the options of the test's parameter; at the end it must have been silent and local."""
    with silent_visit(browser, folder, "page", **getattr(request, "param", {})) as opened:
        yield opened


def state(visit: Visit, number: int = 0) -> dict[str, Any]:
    return visit.page.evaluate(STATE, number)


def expected_numbers(setup: Setup, P: float) -> dict[str, float]:
    linear, softmax, root = LinearAction(setup), SoftmaxAction(setup), setup.L**0.5
    now, soft = linear.minimum(P), softmax.minimum(P)
    numbers = {"linear.critical_P": linear.critical_P, "linear.loss": now.loss, "softmax.loss": soft.loss}
    numbers["softmax.copying"] = float(soft.a_G) / root
    if now.c1:
        numbers |= {"linear.c1": now.c1, "linear.copying": float(now.c_G) / root}
    for name, jump in (("linear", linear.first_order_transition()), ("softmax", softmax.first_order_transition())):
        if jump is not None:
            numbers |= {f"{name}.{field}": getattr(jump, field) for field in ("P", "lower_spinodal", "upper_spinodal")}
        elif name == "linear":
            numbers["linear.copy_P"] = linear.copy_P
    return numbers  # type: ignore[return-value]


def assert_shows(found: dict[str, Any], P: float, L: float, V: float, sigma2: float) -> None:
    """Every number, word and ball of the explorer is that of Python at these parameters."""
    setup = Setup(int(L), int(V), float(sigma2))
    expected = expected_numbers(setup, P)
    assert {name: value for name, (value, _) in found["numbers"].items()} == pytest.approx(expected, rel=1e-9, abs=1e-300)
    for name, (value, words) in found["numbers"].items():
        assert float(words) == float(f"{value:.4g}"), name
    assert found["outputs"] == {"P": str(P), "L": str(L), "V": str(V), "sigma2": str(sigma2)}
    assert found["said"] == [f"P = {P}", f"L = {L}", f"V = {V}", f"σ² = {sigma2}"]
    assert found["setting"] == f"P = {P}, L = {L}, V = {V}, σ² = {sigma2}."
    jumps = {"linear": "linear.P" in expected, "softmax": "softmax.P" in expected}
    for name in ("linear", "softmax"):
        assert ("first-order" in found[name], "crossover" in found[name]) == (jumps[name], not jumps[name])
        assert f"At P\xa0=\xa0{digits(P)}" in found[name]
    assert ("it is off" in found["linear"]) == ("linear.c1" not in expected)
    wells = len(SoftmaxAction(setup).minima(P))
    assert ("two wells" in found["softmax"]) == (wells == 2)
    softmax, linear = found["balls"][2:]
    assert [len(softmax), len(linear)] == [wells, sum(s.c1 >= 0 for s in LinearAction(setup).minima(P))]
    assert [fill == "none" for _, _, fill in softmax + linear].count(False) == 2  # one deepest state each
    # the loss panel: from loss 0 at y = 198 to 1.05 at y = 26
    heights = [198 - 172 * expected[f"{name}.loss"] / 1.05 for name in ("softmax", "linear")]
    assert [y for _, y, _ in found["balls"][0]] == pytest.approx(heights, abs=0.06)
    assert "NaN" not in found["drawing"] and "undefined" not in found["drawing"] + found["alt"]
    assert f"mark at P = {digits(P)}" in found["alt"] and len(found["alt"]) > 100


def test_start(visit: Visit) -> None:
    assert_shows(state(visit), **FIRST)
    assert_shows(state(visit, 1), **SECOND)


@pytest.mark.parametrize("name", list(VALUES))
def test_keyboard(visit: Visit, name: str) -> None:
    values, now = VALUES[name], {**FIRST}
    at = values.index(now[name])
    visit.page.locator(f"input[name={name}]").first.focus()
    for key, index in [
        ("ArrowRight", at + 1),
        ("ArrowUp", at + 2),
        ("ArrowLeft", at + 1),
        ("Home", 0),
        ("ArrowDown", 0),
        ("End", len(values) - 1),
        ("ArrowLeft", len(values) - 2),
    ]:
        visit.page.keyboard.press(key)
        now[name] = values[index]
        assert_shows(state(visit), **now)
    assert_shows(state(visit, 1), **SECOND)  # the other explorer stays where it is


@pytest.mark.parametrize("name", list(VALUES))
def test_pointer(visit: Visit, name: str) -> None:
    control = visit.page.locator(f"input[name={name}]").nth(1)
    control.scroll_into_view_if_needed()
    box = control.bounding_box()
    assert box is not None and box["height"] >= 44
    before = state(visit, 1)
    visit.page.mouse.move(box["x"] + box["width"] * 0.2, box["y"] + 3)  # anywhere in the height of the target
    visit.page.mouse.down()
    visit.page.mouse.move(box["x"] + box["width"] * 0.7, box["y"] + 22, steps=7)
    visit.page.mouse.up()
    after = state(visit, 1)
    chosen = {key: float(value) for key, value in after["outputs"].items()}
    now = {key: int(value) if value.is_integer() else value for key, value in chosen.items()}
    assert now[name] != SECOND[name]
    assert VALUES[name].index(now[name]) / len(VALUES[name]) == pytest.approx(0.7, abs=0.05)
    assert_shows(after, **now)
    assert after["drawing"] != before["drawing"]
    assert_shows(state(visit), **FIRST)


def test_touch(browser: Browser, folder: Path) -> None:
    context = browser.new_context(viewport={"width": 390, "height": 800}, has_touch=True, is_mobile=True)
    page = context.new_page()
    page.goto((folder / "page.html").as_uri())
    for name in VALUES:
        control = page.locator(f"input[name={name}]").first
        box = control.bounding_box()
        assert box is not None and box["height"] >= 44
        page.touchscreen.tap(box["x"] + 4, box["y"] + 40)
    found = page.evaluate(STATE, 0)
    assert_shows(found, **{name: values[0] for name, values in VALUES.items()})
    context.close()


@pytest.mark.parametrize("visit", [{"width": 390}, {"width": 1280}], indirect=True)
def test_the_page_neither_jumps_nor_scrolls_sideways_over_all_of_every_range(visit: Visit) -> None:
    boxes = set()
    for name, values in VALUES.items():
        for index in {*range(0, len(values), max(1, len(values) // 6)), len(values) - 1}:
            visit.page.locator(f"input[name={name}]").first.evaluate(
                "(e, i) => { e.value = i; e.dispatchEvent(new Event('input', {bubbles: true})); }", index
            )
            found = state(visit)
            assert "NaN" not in found["drawing"]
            boxes.add(tuple(found["box"]))
            assert visit.page.evaluate("document.documentElement.scrollWidth - innerWidth") <= 0
    assert len(boxes) == 1


def test_a_screen_reader_hears_the_result_once_the_slider_rests(visit: Visit) -> None:
    page = visit.page
    assert page.locator(".copyhead-explorer [aria-live]").count() == 2  # the readout itself is silent
    page.evaluate(
        """() => { window.heard = []; const status = document.querySelector('.copyhead-explorer [role=status]');
        new MutationObserver(() => heard.push(status.textContent)).observe(status, {childList: true}); }"""
    )
    page.locator("input[name=P]").first.focus()
    for _ in range(5):
        page.keyboard.press("ArrowRight")
    page.wait_for_function("heard.length > 0", timeout=5000)
    (said,) = page.evaluate("heard")
    assert (
        said.startswith("P = 280, L = 25, V = 5, σ² = 30. Linear attention switches on")
        and "At P\xa0=\xa0280 " in said
        and "first-order" in said
    )


def test_labels_and_focus(visit: Visit) -> None:
    for label in ("P sequences", "L positions", "V tokens", "σ² noise"):
        assert visit.page.get_by_role("slider", name=label, exact=True).count() == 2
    visit.page.locator("input").first.focus()
    visit.page.keyboard.press("ArrowRight")  # focus is shown to keyboard users
    width = visit.page.locator("input").first.evaluate("e => parseFloat(getComputedStyle(e).outlineWidth)")
    assert width >= 2


@pytest.mark.parametrize("visit", [{"javascript": False}], indirect=True)
def test_without_scripts_a_sentence_and_a_table_stand_in(visit: Visit) -> None:
    page = visit.page
    assert page.locator(".copyhead-fallback:visible").count() == 2
    assert page.locator(".copyhead-dials:visible, .copyhead-panels:visible, .copyhead-readout:visible").count() == 0
    assert "four sliders" in page.locator(".copyhead-fallback p").first.inner_text()
    assert page.locator(".copyhead-fallback").first.locator("tbody tr:visible").count() >= 3


def test_on_paper_the_sliders_give_way_to_the_table(visit: Visit) -> None:
    page = visit.page
    assert page.locator(".copyhead-fallback:visible").count() == 0
    page.emulate_media(media="print")
    assert page.locator(".copyhead-dials:visible").count() == 0
    assert page.locator(".copyhead-fallback:visible").count() == 2
    assert re.search(r"P = 275, L = 25", page.locator(".copyhead-readout:visible").first.inner_text())


@pytest.mark.parametrize("visit", [{"scheme": "light"}, {"scheme": "dark"}], indirect=True)
def test_lines_stand_out_in_both_themes(visit: Visit) -> None:
    colours = visit.page.evaluate(
        """() => { const lines = document.querySelectorAll('.copyhead-explorer :is(path, circle)');
          const text = getComputedStyle(document.querySelector('.copyhead-explorer text')).fill;
          return [text, ...new Set([...lines].map(e => getComputedStyle(e).stroke))]; }"""
    )
    background = (0x12,) * 3 if visit.page.evaluate("matchMedia('(prefers-color-scheme:dark)').matches") else (255,) * 3

    def luminance(colour: tuple[int, ...]) -> float:
        linear = [v / 255 / 12.92 if v <= 10 else ((v / 255 + 0.055) / 1.055) ** 2.4 for v in colour]
        return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]

    assert len(colours) >= 5
    for colour in colours:
        found = tuple(int(v) for v in re.findall(r"\d+", colour)[:3])
        low, high = sorted([luminance(found), luminance(background)])
        assert (high + 0.05) / (low + 0.05) >= 3, colour
