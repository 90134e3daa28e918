"""Runs ``copyhead/theory.js`` on many parameters at once: in Node where there is one, else in Chromium."""

from __future__ import annotations

import json
import shutil
import subprocess
from typing import Any

import pytest

from copyhead.inline import asset

# From a list of {L, V, sigma2, P: [...], share: [...]} to plain numbers of both actions.
EVALUATE = """points => points.map(({L, V, sigma2, P, share}) =>
  Object.fromEntries(["linear", "softmax"].map(name => {
    const action = copyheadTheory[name]({L, V, sigma2});
    return [name, {critical_P: action.critical_P, pooling_P: action.pooling_P, copy_P: action.copy_P,
      transition: action.transition, minimum: P.map(action.minimum), minima: P.map(action.minima),
      profile: P.map(one => share.map(s => action.profile(s, one))),
      curve: action.curve(Math.min(...P), Math.max(...P)).map(states => states.filter((_, i) => i % 50 === 7))}];
  })))"""


def evaluate(points: list[dict[str, Any]], request: pytest.FixtureRequest) -> list[Any]:
    """Return for each point the dictionary {"linear": ..., "softmax": ...} that ``EVALUATE`` describes."""
    if node := shutil.which("node"):
        program = f"{asset('theory.js')}; process.stdout.write(JSON.stringify(({EVALUATE})({json.dumps(points)})))"
        return json.loads(subprocess.run([node, "-"], input=program, capture_output=True, text=True, check=True).stdout)
    page = request.getfixturevalue("browser").new_page()
    page.evaluate(f"() => {{ {asset('theory.js')}; window.evaluatePoints = {EVALUATE}; }}")
    result = page.evaluate("points => evaluatePoints(points)", points)
    page.close()
    return result
