"""`--part K/N` splits the tests that are chosen."""

from types import SimpleNamespace

import pytest

from ..conftest import pytest_collection_modifyitems


def part(names, text):
    """Return what is kept of tests of these names; the others must have been reported."""
    reported = []
    hook = SimpleNamespace(pytest_deselected=lambda items: reported.extend(items))
    config = SimpleNamespace(getoption=lambda name: text, hook=hook)
    items = [SimpleNamespace(nodeid=name) for name in names]
    every = [*items]
    pytest_collection_modifyitems(config, items)
    assert sorted(map(id, items + reported)) == sorted(map(id, every))
    return [item.nodeid for item in items]


def test_parts_are_disjoint_balanced_together_all_and_stay():
    names = [f"tests/python/a/test_{n % 7}.py::test_{n}[{n % 3}]" for n in range(300)]
    parts = [part(names, f"{number}/3") for number in (1, 2, 3)]
    assert sorted(name for each in parts for name in each) == sorted(names)
    assert all(60 < len(each) < 140 for each in parts)
    assert part(names, "1/1") == names
    assert part(names[50:], "2/3") == [name for name in parts[1] if name in names[50:]]
    for wrong in ("0/3", "4/3", "3", "a/b", ""):
        with pytest.raises(pytest.UsageError, match="K from 1 to N"):
            part(names, wrong)
