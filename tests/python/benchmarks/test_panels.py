"""Panels show every value, and no more names than can be read."""

import pytest

from ttlg.benchmarks.panels import Panel, draw


def panel(count, title="some"):
    labels = [f"case {number} of a name that is longer than that" for number in range(count)]
    values = {"a": [*range(1, count + 1)], "b": [None, *range(2, count + 1)]}
    return Panel(title, labels, values, "seconds", "log")


def test_a_curve_for_each_contender_with_gaps(tmp_path, drawn):
    draw([panel(4)], tmp_path / "figure.svg")
    (axes,) = drawn[0].axes
    lines = {line.get_label(): line.get_xydata().tolist() for line in axes.lines}
    assert lines == {"a": [[0, 1], [1, 2], [2, 3], [3, 4]], "b": [[1, 2], [2, 3], [3, 4]]}
    assert (axes.get_title(), axes.get_ylabel(), axes.get_yscale()) == ("some", "seconds", "log")
    assert axes.get_xticklabels()[0].get_text() == "case 0 of a name that is ..."


def test_many_cases_are_not_named(tmp_path, drawn):
    draw([panel(200)], tmp_path / "figure.svg")
    (axes,) = drawn[0].axes
    assert not any("case" in label.get_text() for label in axes.get_xticklabels())


@pytest.mark.parametrize(("count", "shape"), [(1, (1, 1)), (3, (1, 3)), (5, (2, 3)), (9, (3, 3))])
def test_panels_side_by_side(tmp_path, drawn, count, shape):
    draw([panel(2, str(number)) for number in range(count)], tmp_path / "figure.png")
    axes = drawn[0].axes
    assert [each.get_title() for each in axes[:count]] == [*map(str, range(count))]
    assert len(axes) == shape[0] * shape[1]
    assert not any(each.axison for each in axes[count:])
