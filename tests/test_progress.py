"""The progress bar shows itself in a session and nowhere in a page."""

from __future__ import annotations

import pytest

from copyhead.progress import bar, in_page


@pytest.mark.parametrize("static, show, visible", [
    ("", True, True), ("0", True, True), ("1", True, False), ("", False, False),
], ids=["session", "switched off", "page", "not wanted"])
def test_bar(static: str, show: bool, visible: bool, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture) -> None:
    monkeypatch.setenv("COPYHEAD_STATIC", static)
    with bar(3, done=1, show=show, name="chain") as shown:
        shown.update(2)
    assert ("chain" in capsys.readouterr().err) is visible
    assert in_page() is (static == "1")
