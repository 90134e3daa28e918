"""Static sliders in Chromium: moved by keyboard, pointer and touch, and judged by what the figure then holds."""

from __future__ import annotations

import io
import re
from collections.abc import Iterator
from html import escape
from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from PIL import Image
from slider_examples import SLOPES, line, line_slider
from visits import Visit, silent_visit, visit_page

from copyhead import figures
from copyhead.inline import panels_html, stylesheet

if TYPE_CHECKING:
    from playwright.sync_api import Browser

pytestmark = pytest.mark.browser

HEAD = (
    "<!doctype html><html lang=en><meta charset=utf-8><meta name=viewport content='width=device-width, initial-scale=1'>"
    "<title>Sliders</title><style>body{font-family:sans-serif;margin:16px}main{max-width:700px}"
    "@media(prefers-color-scheme:dark){body{background:#121212;color:#ced6dd;color-scheme:dark}}</style><main>"
)

# What slider number n shows: visible texts of its figure, the height of the ball, and the state it announces.
STATE = """n => { const root = document.querySelectorAll('.copyhead-slider')[n];
  const visible = e => e.getClientRects().length > 0 && !e.closest('[display=none]');
  const balls = [...root.querySelectorAll('[data-gid=ball]')].filter(visible).map(e => e.getBoundingClientRect());
  return {texts: [...root.querySelectorAll('[data-text^=slope]')].filter(visible).map(e => e.dataset.text),
    ticks: [...root.querySelectorAll('[data-text="5"]')].filter(visible).length,
    images: [...root.querySelectorAll('image')].filter(visible).map(e => e.getAttribute('href')),
    balls: balls.map(b => b.y + b.height / 2 - root.querySelector('.copyhead-panels').getBoundingClientRect().y),
    value: root.dataset.value, output: root.querySelector('output').textContent,
    said: root.querySelector('input').getAttribute('aria-valuetext'),
    alt: root.querySelector('[role=img]').getAttribute('aria-label'),
    box: [root.offsetWidth, root.offsetHeight, root.offsetTop], page: document.documentElement.scrollHeight}; }"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A folder with ``page.html``: two equal sliders, and text between and after them."""
    path = tmp_path_factory.mktemp("sliders")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("COPYHEAD_STATIC", "1")
        (path / "page.html").write_text(
            f"{HEAD}{line_slider().html}<p>Between.</p>{line_slider().html}<p>After.</p>", "utf-8"
        )
    yield path


@pytest.fixture
def visit(browser: Browser, folder: Path, request: pytest.FixtureRequest) -> Iterator[Visit]:
    """The page, opened with the options of the test's parameter; at the end it must have been silent and local."""
    with silent_visit(browser, folder, "page", **getattr(request, "param", {})) as opened:
        yield opened


def state(visit: Visit, number: int = 0) -> dict[str, Any]:
    return visit.page.evaluate(STATE, number)


def assert_shows(found: dict[str, Any], slope: int) -> None:
    assert found["texts"] == [f"slope {slope}"]
    assert found["value"] == found["output"] == str(slope)
    assert found["said"] == f"slope = {slope}"
    assert found["alt"] == f"A line that rises to {slope} at the right end"
    assert found["ticks"] == (1 if slope >= 5 else 0)
    assert len(found["images"]) == 1
    assert len(found["balls"]) == 1
    # the ball's place on the page, from the axes: 3.4 x 2.6 in, 96 pixels each, margins .46 and .28, -1 to 11
    assert found["balls"][0] == pytest.approx(96 * (2.6 - 0.46 - (2.6 - 0.46 - 0.28) * (slope + 1) / 12), abs=0.5)


def test_start_frame(visit: Visit) -> None:
    assert_shows(state(visit), 1)


def test_keyboard_moves_the_figure(visit: Visit) -> None:
    page = visit.page
    page.locator("input").first.focus()
    for key, slope in [
        ("ArrowRight", 2),
        ("ArrowUp", 5),
        ("End", 10),
        ("ArrowRight", 10),
        ("ArrowLeft", 5),
        ("Home", 0),
        ("ArrowDown", 0),
        ("PageUp", 1),
        ("PageDown", 0),
    ]:
        page.keyboard.press(key)
        assert_shows(state(visit), slope)


def test_pointer_moves_the_figure(visit: Visit) -> None:
    control = visit.page.locator("input").first
    box = control.bounding_box()
    assert box is not None
    control.click(position={"x": box["width"] - 9, "y": 4})  # anywhere in the height of the target
    assert_shows(state(visit), 10)
    visit.page.mouse.move(box["x"] + box["width"] - 9, box["y"] + 22)
    visit.page.mouse.down()
    visit.page.mouse.move(box["x"] + box["width"] / 2, box["y"] + 22, steps=5)
    assert_shows(state(visit), 2)
    visit.page.mouse.up()


def test_touch_moves_the_figure(browser: Browser, folder: Path) -> None:
    context = browser.new_context(viewport={"width": 390, "height": 800}, has_touch=True, is_mobile=True)
    page = context.new_page()
    page.goto((folder / "page.html").as_uri())
    control = page.locator("input").first
    box = control.bounding_box()
    assert box is not None and box["height"] >= 44
    page.touchscreen.tap(box["x"] + 9, box["y"] + 40)
    assert page.locator(".copyhead-slider").first.get_attribute("data-value") == "0"
    assert page.evaluate(STATE, 0)["texts"] == ["slope 0"]
    context.close()


@pytest.mark.parametrize("visit", [{"width": 390}, {"width": 1280}], indirect=True)
def test_every_value_has_its_frame_and_nothing_else_moves(visit: Visit) -> None:
    boxes, images = [], set()
    for i, slope in enumerate(SLOPES):
        visit.page.locator("input").first.evaluate(
            "(e, i) => { e.value = i; e.dispatchEvent(new Event('input', {bubbles: true})); }", i
        )
        found = state(visit)
        if visit.page.viewport_size == {"width": 1280, "height": 900}:
            assert_shows(found, slope)
        assert found["texts"] == [f"slope {slope}"]
        boxes.append((found["box"], found["page"]))
        images |= set(found["images"])
    assert all(box == boxes[0] for box in boxes)
    assert len(images) == len(SLOPES)
    assert visit.page.evaluate("document.documentElement.scrollWidth - innerWidth") <= 0


def test_equal_sliders_are_independent(visit: Visit) -> None:
    before = state(visit, 0)
    visit.page.locator("input").nth(1).focus()
    visit.page.keyboard.press("End")
    assert_shows(state(visit, 1), 10)
    assert state(visit, 0) == before


@pytest.mark.parametrize(("width", "side_by_side"), [(390, False), (1280, True)])
def test_panels_stand_side_by_side_or_stacked(browser: Browser, folder: Path, width: int, side_by_side: bool) -> None:
    visit, context = visit_page(browser, folder, "page", width=width)
    first, second = (visit.page.locator(".copyhead-panels").first.locator("svg").nth(i).bounding_box() for i in (0, 1))
    assert first is not None and second is not None
    assert (first["y"] == second["y"]) == side_by_side
    assert first["width"] >= 320 and first["width"] / first["height"] == pytest.approx(3.4 / 2.6, rel=0.01)
    context.close()


def test_focus_is_visible_and_the_control_has_a_name(visit: Visit) -> None:
    page = visit.page
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.type") == "range"
    style = page.evaluate(
        "() => { const s = getComputedStyle(document.activeElement); return [s.outlineStyle, parseFloat(s.outlineWidth)]; }"
    )
    assert style[0] == "solid" and style[1] >= 2
    assert page.get_by_role("slider", name="slope").count() == 2
    assert page.get_by_role("img", name="A line that rises to 1 at the right end").count() == 2


def test_the_alt_text_is_announced_once_after_a_burst_of_moves(visit: Visit) -> None:
    page = visit.page
    page.evaluate(
        "() => { window.said = []; const e = document.querySelector('[role=status]');"
        "new MutationObserver(() => said.push(e.textContent)).observe(e, {childList: true, characterData: true}); }"
    )
    page.locator("input").first.focus()
    for key in ("Home", "ArrowRight", "ArrowRight", "End"):
        page.keyboard.press(key)
    page.wait_for_function("said.length > 0", timeout=5000)
    page.wait_for_timeout(300)
    assert page.evaluate("said") == ["A line that rises to 10 at the right end"]


@pytest.mark.parametrize("visit", [{"javascript": False}], indirect=True)
def test_without_javascript_the_start_frame_and_a_sentence_are_shown(visit: Visit) -> None:
    root = visit.page.locator(".copyhead-slider").first
    assert not root.locator("input").is_visible()
    note = root.locator(".copyhead-note")
    assert note.is_visible()
    assert "slope = 1." in note.inner_text() and "JavaScript" in note.inner_text()
    drawn = [e for e in root.locator("[data-text^=slope]").all() if e.is_visible()]
    assert [e.get_attribute("data-text") for e in drawn] == ["slope 1"]


def test_on_paper_the_frame_on_screen_and_its_value_are_printed(visit: Visit) -> None:
    root = visit.page.locator(".copyhead-slider").first
    assert not root.locator(".copyhead-note").is_visible()
    visit.page.locator("input").first.press("End")
    visit.page.emulate_media(media="print")
    assert not root.locator("input").is_visible()
    assert root.locator(".copyhead-note").is_visible()
    assert "slope = 10." in root.locator(".copyhead-note").inner_text()
    assert state(visit)["texts"] == ["slope 10"]


@pytest.mark.parametrize("visit", [{"scheme": "light"}, {"scheme": "dark"}], indirect=True)
def test_texts_and_axes_take_the_colour_of_the_page(visit: Visit) -> None:
    colours = visit.page.evaluate(
        "() => ({page: getComputedStyle(document.body).color,"
        " text: getComputedStyle(document.querySelector('[data-text=\"line\"]')).fill,"
        " axes: [...document.querySelectorAll('.copyhead-panels path')].map(e => getComputedStyle(e).stroke)})"
    )
    assert colours["text"] == colours["page"]
    assert colours["page"] in colours["axes"]


def test_dark_theme_of_the_book_leaves_the_figure_alone(browser: Browser, tmp_path: Path) -> None:
    theme = resources.files("pydata_sphinx_theme") / "theme/pydata_sphinx_theme/static/styles/pydata-sphinx-theme.css"
    figure = panels_html([figures.render(line(2))], "A line and a heat map on a dark page")
    cell = '<div class="bd-content"><div class="cell_output"><div class="output text_html"{}>{}</div></div></div>'
    (tmp_path / "dark.html").write_text(
        f"<!doctype html><html data-theme=dark><meta charset=utf-8><style>{theme.read_text('utf-8')}</style>"
        + cell.format("", f'<div class="copyhead-figure">{stylesheet()}{figure}</div>')
        + cell.format(" id=other", "<p>Another output.</p>"),
        "utf-8",
    )
    visit, context = visit_page(browser, tmp_path, "dark")
    style = "e => [getComputedStyle(e).backgroundColor, getComputedStyle(e).color, getComputedStyle(e).filter]"
    ours = visit.page.locator(".text_html").first.evaluate(style)
    other = visit.page.locator("#other").evaluate(style)
    assert ours[0] == "rgba(0, 0, 0, 0)" and ours[1] == visit.page.locator("body").evaluate(style)[1]
    assert other[0] != "rgba(0, 0, 0, 0)"  # the theme's rule is there, and would have painted ours
    for selector in (".copyhead-panels", ".copyhead-panels svg", ".copyhead-panels image"):
        assert visit.page.locator(selector).first.evaluate(style)[2] == "none"
    context.close()


def test_minimising_does_not_change_the_picture(browser: Browser, tmp_path: Path) -> None:
    def paint() -> Any:
        fig, ax = figures.panel("curves", r"$\hat a_G / \sqrt{L}$", r"$\frac{P}{\sigma^2}$", width=4, height=3, right=0.75)
        x = np.linspace(0, 1, 200)
        ax.fill_between(x, x**2, x, alpha=0.3)
        for k in range(1, 5):
            ax.plot(x, x**k, "o--" if k == 2 else "-", markevery=20, label=f"power {k}")
        ax.errorbar(x[::40], 1 - x[::40], yerr=0.1, fmt="s", color="tab:red")
        ax.contour(x[::10], x[::10], np.add.outer(np.sin(6 * x[::10]), x[::10]), linewidths=1)
        ax.annotate("here", (0.5, 0.5), (0.7, 0.2), arrowprops={"arrowstyle": "->", "hatch": "//"})
        ax.legend()
        figures.colorbar(ax, figures.heatmap(ax.inset_axes((0.5, 0.7, 0.25, 0.25)), np.eye(5)), "map")
        return fig

    buffer = io.StringIO()
    with figures.style():
        paint().savefig(buffer, format="svg", transparent=True)
    raw = re.sub(r'width="288pt" height="216pt"', 'width="384" height="288"', buffer.getvalue())
    raw = raw.replace(figures.INK, "#000000").replace("#smooth", "")
    raw = re.sub(r'style="image-rendering:[^"]*"(?=[^>]*>\s*</g>\s*</a>)', "", raw)  # what url=SMOOTH asks for
    ours = panels_html([figures.render(paint())], escape("the same picture, minimised"))
    head = "<!doctype html><meta charset=utf-8><style>body{margin:0;color:#000}svg{display:block}</style>"
    pictures = []
    for name, body in (
        ("raw", raw[raw.index("<svg") :]),
        ("ours", f"{stylesheet()}<div class=copyhead-figure>{ours}</div>"),
    ):
        (tmp_path / f"{name}.html").write_text(head + body, "utf-8")
        visit, context = visit_page(browser, tmp_path, name, width=384, height=288)
        pictures.append(np.asarray(Image.open(io.BytesIO(visit.page.screenshot())).convert("L"), float))
        context.close()
    assert np.abs(pictures[0] - 255).mean() > 5  # there is a picture
    assert np.abs(pictures[0] - pictures[1]).mean() < 0.5
    assert np.mean(np.abs(pictures[0] - pictures[1]) > 40) < 0.002
