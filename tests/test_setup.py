"""Setup validates every parameter and is a frozen, hashable value."""

import dataclasses
import math
import subprocess
import sys

import numpy as np
import pytest

import copyhead
from copyhead import Setup


def test_is_a_frozen_hashable_value():
    setup = Setup(L=25, V=5, sigma2=30, g_O=1, g_W=1)
    assert setup == Setup(25, 5) and hash(setup) == hash(Setup(25, 5))
    assert isinstance(setup.sigma2, float)
    assert Setup(np.int64(25), 5) == setup
    with pytest.raises(dataclasses.FrozenInstanceError):
        setup.L = 3


@pytest.mark.parametrize(
    ("argument", "value", "allowed"),
    [
        ("L", 1, ">= 2"),
        ("L", 25.0, "integer"),
        ("L", True, "integer"),
        ("V", 2.5, "integer"),
        ("V", 1, ">= 2"),
        ("V", "5", "integer"),
        ("sigma2", 0, "> 0"),
        ("sigma2", -3.0, "> 0"),
        ("sigma2", math.nan, "> 0"),
        ("g_O", math.inf, "> 0"),
        ("g_W", None, "> 0"),
    ],
)
def test_names_argument_value_and_range(argument, value, allowed):
    arguments = {"L": 25, "V": 5, argument: value}
    with pytest.raises(ValueError) as error:
        Setup(**arguments)
    assert argument in str(error.value) and repr(value) in str(error.value) and allowed in str(error.value)


def test_import_loads_numpy_and_scipy_only():
    heavy = "{'torch', 'matplotlib', 'sympy', 'ipywidgets', 'IPython', 'joblib', 'tqdm'}"
    code = f"import sys, copyhead; print(sorted({heavy} & set(sys.modules)))"
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert out.stdout.strip() == "[]"


def test_public_names_exist():
    assert all(hasattr(copyhead, name) for name in copyhead.__all__)
