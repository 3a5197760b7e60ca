"""The checked-in stub of the compiled module says what the module is."""

import ast
import inspect
from pathlib import Path

import pytest

import ttlg
from ttlg import _core

STUB = ast.parse((Path(ttlg.__file__).parent / "_core.pyi").read_text())


def names(function: ast.FunctionDef) -> list[str]:
    arguments = function.args
    every = [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs]
    return [argument.arg for argument in every]


def runtime_names(function) -> list[str]:
    """Argument names from the signature that pybind11 writes into the first line of a docstring."""
    signature = inspect.getdoc(function).splitlines()[0]
    return names(ast.parse(f"def {signature}: ...").body[0])


def public(namespace) -> set[str]:
    return {name for name in vars(namespace) if not name.startswith("_")}


def test_the_stub_names_everything_and_nothing_else():
    stubbed = {node.name for node in STUB.body if isinstance(node, ast.FunctionDef | ast.ClassDef)}
    stubbed |= {node.target.id for node in STUB.body if isinstance(node, ast.AnnAssign)}
    assert stubbed == {*public(_core), "__version__"}


@pytest.mark.parametrize(
    "function",
    [node for node in STUB.body if isinstance(node, ast.FunctionDef)],
    ids=lambda f: f.name,
)
def test_functions_take_the_stated_arguments(function):
    assert names(function) == runtime_names(getattr(_core, function.name))


@pytest.mark.parametrize(
    "cls", [node for node in STUB.body if isinstance(node, ast.ClassDef)], ids=lambda c: c.name
)
def test_classes_have_the_stated_members(cls):
    members = [node for node in cls.body if isinstance(node, ast.FunctionDef)]
    stubbed = {member.name for member in members if not member.name.startswith("_")}
    assert stubbed == public(getattr(_core, cls.name))
    for member in members:
        runtime = inspect.getattr_static(getattr(_core, cls.name), member.name)
        is_property = any(ast.unparse(mark) == "property" for mark in member.decorator_list)
        assert isinstance(runtime, property) == is_property
        if not is_property and not member.name.startswith("_"):
            assert names(member) == runtime_names(runtime)
