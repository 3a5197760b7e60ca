"""The examples in the docstrings run, and the docstrings name what the functions take."""

import doctest
import importlib
import inspect
import itertools
import pkgutil
import re
from pathlib import Path

import pytest

import ttlg

REPOSITORY = Path(__file__).parents[3]
APART = re.compile(r"ttlg\.(__main__|_core|_libraries|benchmarks|cotengra|dask|torch|zarr)\b")
MODULES = ["ttlg"] + [
    module.name
    for module in pkgutil.walk_packages(ttlg.__path__, "ttlg.")
    if not APART.match(module.name)
]
FUNCTIONS = [getattr(ttlg, name) for name in ttlg.__all__ if inspect.isroutine(getattr(ttlg, name))]
FUNCTIONS += [ttlg.schemes.count, ttlg.schemes.decode, ttlg.schemes.encode, ttlg.schemes.plot]
FUNCTIONS += [ttlg.sparse.predict_time, ttlg.sparse.transpose]
CSF = ttlg.sparse.CSF
FUNCTIONS += [CSF.from_coo, CSF.from_scipy, CSF.to_coo, CSF.to_scipy]
METHODS = [
    member for name, member in vars(ttlg.Plan).items() if name[0] != "_" or name == "__call__"
]
METHODS += [CSF.dtype, CSF.ndim, CSF.nnz]


@pytest.mark.parametrize("module", MODULES)
def test_examples(module):
    if module == "ttlg.schemes":
        pytest.importorskip("matplotlib")
    result = doctest.testmod(importlib.import_module(module))
    assert result.failed == 0


@pytest.mark.parametrize(
    ("library", "minversion", "examples", "names"),
    [
        ("torch", "2.5", 8, ["transpose", "transform"]),
        ("dask.array", None, 20, ["transpose", "store", "Target"]),
        ("cotengra", "0.7", 10, ["TimeObjective", "combo_factor"]),
    ],
)
def test_modules_for_other_libraries(library, minversion, examples, names):
    pytest.importorskip(library, minversion=minversion)
    module = importlib.import_module(f"ttlg.{library.partition('.')[0]}")
    assert doctest.testmod(module) == (0, examples)
    for name in names:
        test_docstrings_name_every_parameter(getattr(module, name))


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
    listed = re.findall(r"^\*{0,2}(\w+(?:, \w+)*) : ", section[1], re.MULTILINE) if section else []
    assert ", ".join(listed).split(", ") == (parameters or [""])


def test_the_unit_of_every_feature_is_documented():
    shapes = {(32, 40, 4): (2, 1, 0), (8, 9, 64): (1, 0, 2), (9, 10, 3): (1, 0, 2), (5,): (0,)}
    plans = [ttlg.plan(shape, axes, device="tesla-k40c") for shape, axes in shapes.items()]
    candidates = [each for plan in plans for each in plan.candidates()]
    assert len({each.kernel for each in candidates}) == 5
    documented = set(
        re.findall(r"^(\w+(?: \w+)?) +\w+", inspect.getdoc(type(candidates[0])), re.MULTILINE)
    )
    assert {name for each in candidates for name in each.features} <= documented


def test_errors_of_the_driver_say_what_to_do():
    assert "show_config" in ttlg.CudaError.__doc__


@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda f: f.__name__)
def test_docstrings_say_what_comes_back(function):
    text = inspect.getdoc(function)
    returns_something = inspect.signature(function).return_annotation is not None
    assert ("\nReturns\n" in text) == returns_something


def cited_code():
    """List the table rows of docs/papers that name code: its files, and what they hold."""
    pages = [page.read_text() for page in sorted((REPOSITORY / "docs/papers").glob("*.md"))]
    assert len(pages) == 5
    for row in itertools.chain.from_iterable(map(str.splitlines, pages)):
        quoted = re.findall("`([^`]+)`", row.rpartition(" | ")[2]) if row.startswith("|") else []
        if files := [name for name in quoted if "/" in name]:
            yield files, [name for name in quoted if "/" not in name]


def test_papers_name_code_that_is_there():
    rows = list(cited_code())
    assert len(rows) > 40
    for files, names in rows:
        text = "".join((REPOSITORY / file).read_text() for file in files)
        assert [name for name in names if name not in text] == [], files


def test_citations_can_be_looked_up():
    """A source is cited by paper and section, not by an item of some list of requirements."""
    item = re.compile(r"\b[BCGMTX]-\d\d\b|[Rr]equirement [A-Z]-")
    found = [
        f"{path.relative_to(REPOSITORY)}: {match[0]}"
        for folder in ("cpp", "python", "tests", "benchmarks", "tools", "docs")
        for path in sorted((REPOSITORY / folder).rglob("*"))
        if path.suffix in (".hpp", ".cpp", ".cu", ".cuh", ".py", ".sh", ".md")
        for match in item.finditer(path.read_text())
    ]
    assert found == []
