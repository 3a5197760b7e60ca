"""The examples in the docstrings run, and the docstrings name what the functions take."""

import doctest
import importlib
import inspect
import pkgutil
import re
from pathlib import Path

import pytest

import ttlg

MODULES = ["ttlg"] + [
    f"ttlg.{module.name}"
    for module in pkgutil.iter_modules(ttlg.__path__)
    if module.name not in ("__main__", "_core") and not module.ispkg
]
FUNCTIONS = [getattr(ttlg, name) for name in ttlg.__all__ if inspect.isroutine(getattr(ttlg, name))]
METHODS = [
    member for name, member in vars(ttlg.Plan).items() if name[0] != "_" or name == "__call__"
]


@pytest.mark.parametrize("module", MODULES)
def test_examples(module):
    result = doctest.testmod(importlib.import_module(module))
    assert result.failed == 0


def test_examples_of_the_readme():
    readme = Path(__file__).parents[2] / "README.md"
    result = doctest.testfile(str(readme), module_relative=False)
    assert result.attempted > 0
    assert result.failed == 0


def test_there_are_examples():
    finder = doctest.DocTestFinder(exclude_empty=True)
    documented = {
        test.name.rpartition(".")[2]
        for module in MODULES
        for test in finder.find(importlib.import_module(module))
        if test.examples
    }
    assert {"transpose", "permute_dims", "plan", "show_config", "explain"} <= documented


@pytest.mark.parametrize("function", FUNCTIONS + METHODS, ids=lambda f: getattr(f, "__name__", "?"))
def test_docstrings_name_every_parameter(function):
    text = inspect.getdoc(function)
    assert text
    assert text.splitlines()[0].endswith(".")
    if isinstance(function, property):
        return
    if isinstance(function, classmethod):
        function = function.__func__
    parameters = [
        name for name in inspect.signature(function).parameters if name not in ("self", "cls")
    ]
    section = re.search(r"^Parameters\n-+\n(.*?)(?:^\w+\n-+\n|\Z)", text, re.MULTILINE | re.DOTALL)
    documented = re.findall(r"^(\w+) : ", section[1], re.MULTILINE) if section else []
    assert documented == parameters


@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda f: f.__name__)
def test_docstrings_say_what_comes_back(function):
    text = inspect.getdoc(function)
    returns_something = inspect.signature(function).return_annotation is not None
    assert ("\nReturns\n" in text) == returns_something
