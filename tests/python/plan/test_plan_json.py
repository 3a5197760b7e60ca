"""The JSON of a plan with a wrong value in one of its fields: refused by name, for every field."""

import copy
import json
import math

import ml_dtypes
import numpy as np
import pytest

import ttlg

GPU = "tesla-k40c"
MISSING = object()
# Values of every type that JSON has, and numbers that no field holds.
OTHERS = [1.5, "x", "", [], [1.5], [[]], {}, {"x": 1}, None, True, False, math.nan, math.inf]
OTHERS += [2**200, -(2**200), MISSING]
# Integers that some fields may hold.
INTEGERS = [-(2**63), -(2**31), -7, -1, 0, 1, 2, 3, 2**31, 2**62]


def record_of(*args, measured=False, **changes):
    options = {key: changes.pop(key) for key in ("device", "inplace", "threads") if key in changes}
    record = json.loads(ttlg.plan(*args, **options).to_json()) | changes
    if measured:
        record["measured"] = [[record["kernel"], record["parameters"], 1e-3]]
    if isinstance(record["device"], dict):
        record["device"]["costs"] = {"memory.read_in_l2": 0.125}
    return copy.deepcopy(record)


RECORDS = {
    "cpu": record_of((4, 5, 6), (2, 0, 1), "f8", threads=2, measured=True),
    "cpu into out": record_of((4, 5, 6), (2, 0, 1), "f8", out_byte_strides=[160, 40, 8]),
    "cpu in place": record_of((40, 50), (1, 0), "f4", inplace=True, threads=2),
    "gpu": record_of((40, 50, 60), (2, 0, 1), "f8", device=GPU, measured=True),
    "gpu in place": record_of((40, 50), (1, 0), "f4", device=GPU, inplace=True, measured=True),
}


def paths_of(value, path=()):
    """List the way to every value in some JSON."""
    found = [path] if path else []
    parts = {list: enumerate, dict: dict.items}.get(type(value), lambda _: ())
    return found + [each for key, part in parts(value) for each in paths_of(part, (*path, key))]


def changed(record, path, value):
    record = copy.deepcopy(record)
    *outer, last = path
    parent = record
    for key in outer:
        parent = parent[key]
    if value is MISSING:
        del parent[last]
    else:
        parent[last] = value
    return json.dumps(record)


def may_hold(path, old, value):
    """Return whether a value of another type is right there."""
    name = [each for each in path if isinstance(each, str)][-1]
    if name == "ttlg":  # the version that wrote the plan
        return True
    if value is MISSING:
        optional = ("measured", "out_alignment", "band_width")
        in_model = path[0] == "device" and len(path) > 1 and name != "name"
        in_step = name == "threads" and "steps" in path
        return name in optional or path[:-1] == ("measured",) or in_model or in_step
    if isinstance(value, bool) and (isinstance(old, bool) or name == "prefetch"):
        return True
    if isinstance(old, float) and type(value) in (int, float):
        return math.isfinite(value)
    if name == "out_byte_strides":
        return value is None and not isinstance(path[-1], int)
    if (path[0] == "device" and name in ("costs", "coefficients")) or "coefficients" in path[:-1]:
        return value in ({}, {"x": 1})
    if name == "measured":
        return path == ("measured",) and value == []
    return path == ("device", "name") and value == "x"


def refusal(text):
    with pytest.raises(ValueError, match="not the JSON of a ttlg plan: ") as caught:
        ttlg.Plan.from_json(text)
    return str(caught.value)


@pytest.mark.parametrize("kind", RECORDS)
def test_a_value_of_another_type_is_refused_by_the_name_of_its_field(kind):
    record = RECORDS[kind]
    ttlg.Plan.from_json(json.dumps(record))
    count = 0
    for path in paths_of(record):
        old = record
        for key in path:
            old = old[key]
        for value in OTHERS:
            if may_hold(path, old, value) or value == old:
                continue
            message = refusal(changed(record, path, value))
            name = [each for each in path if isinstance(each, str)][-1]
            assert name in message, (path, value)
            assert "pybind11" not in message
            assert len(message) < 700
            count += 1
    assert count > 250


@pytest.mark.parametrize("kind", RECORDS)
def test_another_integer_is_refused_or_makes_a_plan_that_is_right(kind):
    record = RECORDS[kind]
    x = np.arange(math.prod(record["shape"]), dtype=record["dtype"]).reshape(record["shape"])
    for path in paths_of(record):
        old = record
        for key in path:
            old = old[key]
        if type(old) is not int:
            continue
        for value in INTEGERS:
            try:
                plan = ttlg.Plan.from_json(changed(record, path, value))
            except ValueError:
                continue
            assert ttlg.Plan.from_json(plan.to_json()) == plan
            expected = np.ascontiguousarray(x.transpose(plan.axes))
            layouts = (plan.shape, plan.strides, plan.out_strides)
            if kind.startswith("cpu") and layouts == (x.shape, x.strides, expected.strides):
                assert plan(x.copy()).tobytes() == expected.tobytes(), (path, value)


@pytest.mark.parametrize("kind", RECORDS)
@pytest.mark.parametrize(
    "name", ["nonsense", "float33", "object", "[]", "float16", "[('a', 'u1')]", "[", ""]
)
def test_a_dtype_that_is_none_or_of_another_size(kind, name):
    message = refusal(json.dumps(RECORDS[kind] | {"dtype": name}))
    assert f"dtype must name one of {RECORDS[kind]['itemsize']} bytes" in message
    assert repr(name) in message


@pytest.mark.parametrize(
    "dtype",
    [
        *("V3", "V0", "U3", "S3", "b1", "i1", ">f4", ">M8[us]", "m8[10ns]", "g", "G", "bfloat16"),
        *(ml_dtypes.int4, ml_dtypes.float8_e4m3fn, ml_dtypes.float4_e2m1fn, np.dtype(np.record)),
        [("a", "u1"), ("b", "<f4", (2,))],
        [("a", ml_dtypes.bfloat16), ("b", [("c", ">i2")])],
        [(("title", "a"), "<f4")],
        np.dtype([("a", "u1"), ("b", "<f4")], align=True),
        np.dtype({"names": ["a"], "formats": ["f4"], "offsets": [4], "itemsize": 12}),
        np.dtype((np.record, [("a", "u1")])),
        np.dtype([]),
    ],
    ids=str,
)
def test_every_dtype_that_is_planned_for_is_read_again(dtype):
    plan = ttlg.plan((2, 3), dtype=dtype)
    assert ttlg.Plan.from_json(plan.to_json()).dtype == plan.dtype


@pytest.mark.parametrize(
    ("name", "itemsize"),
    [
        *(("complex32", 4), ("quint4x2", 1), ("float4_e2m1fn_x2", 1), ("bits1x8", 1)),
        *(("float32x4", 16), ("float8_e4m3b11fnuzx2", 2), ("boolx4", 4), ("opaque64", 8)),
        ("code18", 3),
    ],
)
def test_names_of_dtypes_that_numpy_has_not(name, itemsize):
    record = json.loads(ttlg.plan((2, 3), dtype=f"V{itemsize}").to_json()) | {"dtype": name}
    assert ttlg.Plan.from_json(json.dumps(record)).dtype == name


@pytest.mark.parametrize("kind", ["cpu in place", "gpu in place"])
def test_the_kernel_of_a_plan_in_place_is_that_of_its_steps(kind):
    message = refusal(json.dumps(RECORDS[kind] | {"kernel": "square"}))
    assert "kernel is 'square', but the steps are those of" in message


def test_a_model_of_a_gpu_may_not_pass_for_the_cpu():
    record = copy.deepcopy(RECORDS["gpu"])
    record["device"]["name"] = "cpu"
    assert "device.name must be the name of a GPU, not 'cpu'" in refusal(json.dumps(record))


def test_json_nested_too_deeply():
    refusal("[" * 100_000)
