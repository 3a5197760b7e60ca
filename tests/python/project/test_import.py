"""What `import ttlg` costs, and that modules do not import each other in a circle."""

import ast
import graphlib
import itertools
from pathlib import Path

import ttlg

PACKAGE = Path(ttlg.__file__).resolve().parent  # the sources, where it is made of links

RARELY_USED = {
    "html",
    "matplotlib",
    "opt_einsum",
    "pathlib",
    "random",
    "tempfile",
    "tqdm",
    "urllib.parse",
} | {f"ttlg._{part}" for part in ("calibrate.run", "cli", "files.npy", "plan.text", "tune")}
PEERS = {"cotengra", "cupy", "jax", "ml_dtypes", "scipy", "sparse", "torch", "zarr"}


def test_modules_that_few_programs_need_are_not_imported(run_python):
    result = run_python("""
        import sys
        import numpy

        before = set(sys.modules)
        import ttlg

        print(*set(sys.modules) - before)
    """)
    imported = set(result.stdout.split())
    assert "ttlg._models" in imported, result.stderr
    assert not imported & (RARELY_USED | PEERS)


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
