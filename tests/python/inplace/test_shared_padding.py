"""Elements whose bytes between the fields may be others' do not move in place."""

import numpy as np
import pytest

import ttlg

from ..arrays import bits, random_array

RECORD = np.dtype([("x", "f4"), ("mass", "f4"), ("y", "f4")])
ALIGNED = np.dtype([("a", "u1"), ("b", "u4"), ("c", "u2")], align=True)
REFUSED = r"x of shape \(4, 6\) and dtype .* between its fields .* x\.view\('V12'\)"


@pytest.mark.parametrize(
    "move",
    [
        ttlg.transpose_inplace,
        lambda x: ttlg.asorder(x, "F", inplace=True),
        lambda x: ttlg.plan_for(x, inplace=True)(x),
        lambda x: ttlg.plan(x.shape, dtype=x.dtype, inplace=True)(x),
        ttlg.aos_to_soa,
    ],
    ids=["transpose_inplace", "asorder", "plan_for", "plan", "aos_to_soa"],
)
def test_views_of_some_fields_are_refused(move):
    records = random_array((4, 6), RECORD).copy()
    before = bits(records)
    with pytest.raises(ValueError, match=REFUSED):
        move(records[["x", "y"]])
    assert bits(records) == before


def test_gaps_of_nested_structures():
    """Each of the two structures has a gap, in one of which another field of the records lies."""
    pair = np.dtype({"names": ["p"], "formats": ["u2"], "itemsize": 4})
    record = np.dtype(
        {"names": ["a", "b", "other"], "formats": [pair, pair, "u2"], "offsets": [0, 4, 2]}
    )
    records = random_array((20,), record).copy()
    before = bits(records)
    with pytest.raises(ValueError, match="between its fields"):
        ttlg.aos_to_soa(records[["a", "b"]])
    assert bits(records) == before
    pairs = records[["a", "b"]].copy()  # which has its padding to itself
    fields = ttlg.aos_to_soa(pairs)
    assert (fields["b"]["p"] == records["b"]["p"]).all()


def test_what_has_the_order_already_is_returned():
    x = random_array((4, 6), RECORD).copy()[["x", "y"]]
    assert ttlg.asorder(x, "C", inplace=True) is x


def test_padding_moves_where_it_is_the_arrays():
    x = random_array((4, 6), ALIGNED).copy()
    expected = bits(x.T)
    assert bits(ttlg.transpose_inplace(x)) == expected
    x = random_array((8, 6), ALIGNED).copy()
    expected = bits(x[4:].T)
    assert bits(ttlg.transpose_inplace(x[4:])) == expected


def test_as_the_message_says():
    records = random_array((4, 6), RECORD).copy()
    expected = bits(records.T)
    ttlg.transpose_inplace(records[["x", "y"]].view("V12"))
    assert bits(records) == expected
