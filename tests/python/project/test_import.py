"""What `import ttlg` costs, and that modules do not import each other in a circle."""

import ast
import graphlib
import importlib
import itertools
import sys
from pathlib import Path

import pytest

import ttlg

PACKAGE = Path(ttlg.__file__).resolve().parent  # the sources, where it is made of links

# The parts of ttlg that `import ttlg` loads.
LOADED = {"core", "arguments", "functions", "libraries", "machine", "model_files", "models"}
LOADED |= {"settings", "typing"}
RARELY_USED = {
    "decimal",
    "fractions",
    "html",
    "pathlib",
    "random",
    "tempfile",
    "urllib.parse",
    "ttlg._settings.config",
}
FOR_LIBRARIES = {
    "cotengra": "cotengra",
    "dask": "dask.array",
    "opt_einsum": "opt_einsum",
    "threadpools": "threadpoolctl",
    "torch": "torch",
    "zarr": "zarr",
}


def test_modules_that_few_programs_need_are_not_imported(run_python):
    result = run_python("""
        import sys
        import numpy

        before = set(sys.modules)
        import ttlg

        print(*set(sys.modules) - before)
    """)
    imported = set(result.stdout.split())
    assert imported & RARELY_USED == set()
    packages = {name.partition(".")[0] for name in imported}
    assert packages - sys.stdlib_module_names == {"ttlg"}  # and so no opt_einsum, SciPy or tqdm
    parts = {".".join(name.split(".")[:2]) for name in imported if name.startswith("ttlg")}
    assert parts == {"ttlg", *(f"ttlg._{part}" for part in LOADED)}


def imported_for_type_checkers():
    """Name what the package imports only where types are checked, each with its module."""
    for node in ast.parse(Path(ttlg.__file__).read_text()).body:
        if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING":
            for each in node.body:
                yield from ((alias.name, each.module) for alias in each.names)


def test_lazy_names_are_those_that_type_checkers_are_told():
    told = dict(imported_for_type_checkers())
    modules = {name for name, module in told.items() if module == "ttlg"}
    assert modules == {*ttlg._LAZY_MODULES, *ttlg._FOR_LIBRARIES}
    objects = {name: module for name, module in told.items() if name not in modules}
    assert objects == {name: f"ttlg.{module}" for name, module in ttlg._LAZY.items()}
    for name, module in objects.items():
        assert getattr(ttlg, name) is getattr(importlib.import_module(module), name)


def test_names_are_there_after_import_ttlg_alone(run_python):
    run_python("""
        import inspect
        import ttlg

        listed = dir(ttlg)
        assert listed == sorted(listed) and set(ttlg.__all__) < set(listed)
        for name in ttlg.__all__:
            value = getattr(ttlg, name)
            assert vars(ttlg)[name] is value, name  # no longer asked for
        for name in ("einsum", "plan", "calibrate", "show_config"):
            assert inspect.isfunction(getattr(ttlg, name)) and getattr(ttlg, name).__doc__, name
        assert ttlg.sparse.transpose.__doc__ and ttlg.schemes.encode.__doc__
        names = {}
        exec("from ttlg import *", names)
        assert set(ttlg.__all__) <= set(names) and "dask" not in names
    """)


@pytest.mark.parametrize(("name", "library"), FOR_LIBRARIES.items())
def test_modules_for_libraries_are_attributes(monkeypatch, name, library):
    pytest.importorskip(library)
    monkeypatch.delitem(vars(ttlg), name, raising=False)  # where another test has imported it
    assert name in dir(ttlg)
    assert getattr(ttlg, name) is importlib.import_module(f"ttlg.{name}")


def test_modules_for_libraries_that_are_missing(run_python):
    run_python(f"""
        import inspect
        import pydoc
        import sys
        import ttlg

        names = {list(FOR_LIBRARIES)}
        sys.modules.update(dict.fromkeys([*names, "threadpoolctl"]))  # None: not to be had
        for name in names:
            assert not hasattr(ttlg, name) and name not in dir(ttlg), name
            try:
                getattr(ttlg, name)
            except AttributeError as error:
                assert str(error).startswith(f"ttlg.{{name}} needs "), error
                assert "pip install " in str(error), error
                assert isinstance(error.__cause__, ModuleNotFoundError), name
            try:
                exec(f"from ttlg import {{name}}")
            except ModuleNotFoundError as error:
                assert error.name and not error.name.startswith("ttlg"), error
            else:
                raise AssertionError(name)
        members = dict(inspect.getmembers(ttlg))
        assert set(ttlg.__all__) <= set(members)
        text = pydoc.plain(pydoc.render_doc(ttlg))
        assert all(name in text for name in ttlg.__all__ if name != "__version__")
    """)


def test_a_fork_while_another_thread_imports(run_python):
    run_python(
        """
        import os
        import sys
        import threading
        import time
        import ttlg

        begun = threading.Event()

        class Slow:
            def find_spec(self, name, path, target=None):
                if name == "ttlg._contract.functions" and not begun.is_set():
                    begun.set()
                    time.sleep(0.2)

        sys.meta_path.insert(0, Slow())
        thread = threading.Thread(target=lambda: ttlg.einsum)
        thread.start()
        begun.wait()
        child = os.fork()
        if child == 0:
            os._exit(0 if callable(ttlg.einsum) else 1)
        assert os.waitpid(child, 0)[1] == 0
        thread.join()
        """,
        timeout=30,
    )


def test_names_that_are_not_there():
    with pytest.raises(AttributeError, match=r"^module 'ttlg' has no attribute 'transpos'$"):
        _ = ttlg.transpos
    with pytest.raises(ImportError, match="transpos"):
        from ttlg import transpos  # noqa: F401


def test_a_fault_in_a_module_for_a_library_is_not_taken_for_a_missing_library(monkeypatch):
    pytest.importorskip("opt_einsum")
    monkeypatch.delitem(vars(ttlg), "opt_einsum", raising=False)
    monkeypatch.delitem(sys.modules, "ttlg.opt_einsum", raising=False)
    monkeypatch.setitem(sys.modules, "ttlg._contract.nodes", None)
    with pytest.raises(ModuleNotFoundError, match=r"ttlg\._contract\.nodes"):
        _ = ttlg.opt_einsum


def imports_of(file):
    """Name what a file imports anywhere, but for type checkers."""
    nodes = [ast.parse(file.read_text())]
    while nodes:
        node = nodes.pop()
        if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING":
            continue
        nodes += ast.iter_child_nodes(node)
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def module_of(name, modules):
    """Find the module that `name` is, or is in; none outside of ttlg."""
    while name and name not in modules:
        name = name.rpartition(".")[0]
    return name


def test_no_module_imports_what_imports_it():
    """Not even inside a function."""
    files = {}
    for file in itertools.chain(PACKAGE.rglob("*.py"), PACKAGE.glob("*.pyi")):
        parts = file.relative_to(PACKAGE.parent).with_suffix("").parts
        if "benchmarks" not in parts:
            files[".".join(parts).removesuffix(".__init__")] = file
    graph = {
        name: {module_of(each, files) for each in imports_of(file)} - {""}
        for name, file in files.items()
    }
    assert len(graph) > 60
    order = list(graphlib.TopologicalSorter(graph).static_order())
    assert order.index("ttlg._libraries") < order.index("ttlg._plan.plan") < order.index("ttlg")
