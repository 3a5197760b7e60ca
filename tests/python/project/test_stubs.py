"""The checked-in stub of the compiled module says what the module is."""

import ast
import inspect
from pathlib import Path

import pytest

import ttlg
from ttlg import _core

STUB = ast.parse((Path(ttlg.__file__).parent / "_core.pyi").read_text())


CLASSES = {node.name: node for node in STUB.body if isinstance(node, ast.ClassDef)}


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
    stubbed -= {name for name in CLASSES if name.startswith("_")}
    assert stubbed == {*public(_core), "__version__"}


@pytest.mark.parametrize(
    "function",
    [node for node in STUB.body if isinstance(node, ast.FunctionDef)],
    ids=lambda f: f.name,
)
def test_functions_take_the_stated_arguments(function):
    assert names(function) == runtime_names(getattr(_core, function.name))


def members_of(cls: ast.ClassDef) -> list[ast.stmt]:
    """List members with those of base classes that only the stub has."""
    bases = [CLASSES.get(ast.unparse(base).partition("[")[0]) for base in cls.bases]
    shared = [members_of(base) for base in bases if base and base.name.startswith("_")]
    return [*cls.body, *(member for base in shared for member in base)]


@pytest.mark.parametrize("name", [name for name in CLASSES if not name.startswith("_")])
def test_classes_have_the_stated_members(name):
    cls, stubbed = getattr(_core, name), set()
    for member in members_of(CLASSES[name]):
        if isinstance(member, ast.FunctionDef):
            assert hasattr(cls, member.name)
            if not member.name.startswith("_"):
                stubbed.add(member.name)
                runtime = inspect.getattr_static(cls, member.name)
                assert names(member) == runtime_names(runtime)
        elif isinstance(member, ast.AnnAssign) and member.target.id != "__hash__":
            stubbed.add(member.target.id)
            assert isinstance(inspect.getattr_static(cls, member.target.id), property)
            assert ast.unparse(member.annotation).startswith("Final[")
    assert stubbed == public(cls)
