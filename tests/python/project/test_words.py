"""Words in arguments, in the environment and in messages."""

import re

import numpy as np
import pytest

import ttlg
from ttlg._arguments.words import count_of, did_you_mean
from ttlg._machine import default_threads
from ttlg._settings import learning, result_pool
from ttlg.sparse._algorithms import read_algorithm

X = np.zeros((3, 4))
TAKE_SHAPES = {
    "plan": lambda shape: ttlg.plan(shape),
    "predict_time": lambda shape: ttlg.predict_time(shape),
    "predict_time in full": lambda shape: ttlg.predict_time(shape, full=True),
    "predict_times": lambda shape: ttlg.predict_times([(shape, None)]),
    "generate": lambda shape: ttlg.generate(shape),
    "loop_order": lambda shape: ttlg.loop_order(shape),
    "contraction": lambda shape: ttlg.contraction("ab,bc", shape, shape),
    "predict_contraction": lambda shape: ttlg.predict_contraction("ab,bc", shape, shape),
}


@pytest.mark.parametrize("name", TAKE_SHAPES)
def test_an_array_in_place_of_its_shape(name):
    message = r"shape must be a sequence of integers, not an array of shape \(3, 4\); pass array.sh"
    with pytest.raises(TypeError, match=message) as caught:
        TAKE_SHAPES[name](X)
    assert ("plan_for" in str(caught.value)) == (name == "plan")
    for wrong in (5, None, "ab"):
        with pytest.raises(TypeError, match="shape must be a sequence of integers, not "):
            TAKE_SHAPES[name](wrong)


@pytest.mark.parametrize(
    ("device", "hint"),
    [
        ("h200", "; did you mean 'nvidia-h200'?"),
        ("K40C", "; did you mean 'tesla-k40c'?"),
        ("nvidia_h200", "; did you mean 'nvidia-h200'?"),
        ("nvidia", "; did you mean 'nvidia-h100-80gb-hbm3' or 'nvidia-h200'?"),
        (" cpu", "; did you mean 'cpu'?"),
        ("gpu", ""),
        ("", ""),
    ],
)
def test_devices_that_are_nearly_named(device, hint):
    for ask in (ttlg.plan, ttlg.predict_time):
        with pytest.raises(ValueError, match="choose one of 'cpu', ") as caught:
            ask((2, 3), device=device)
        assert str(caught.value).partition("which ends in '.json'")[2] == hint


def test_other_words_that_are_nearly_named():
    with pytest.raises(TypeError, match=r"is no dtype.*; did you mean 'float32'"):
        ttlg.plan((2, 3), dtype="flaot32")
    with pytest.raises(
        ValueError, match=r"choose one of auto.*mean 'RADIX_BUCKET' or 'COUNT_RADIX'"
    ):
        read_algorithm("radix")
    assert did_you_mean("copies", ["copy", "tile"]) == ""
    assert did_you_mean("tiel", ["copy", "tile"]) == "; did you mean 'tile'?"


@pytest.mark.parametrize(
    ("ask", "listed"),
    [
        (lambda word: ttlg.plan((2, 3), kernel=word), "'strided_copy'"),
        (lambda word: ttlg.plan((2, 3), kernel=word, inplace=True), "'buffered'"),
        (lambda word: ttlg.plan((2, 3), kernel=word, device="tesla-k40c"), "'fvi_match_large'"),
        (lambda word: ttlg.plan((2, 3), tune=word), "'measure'"),
        (lambda word: ttlg.predict_time((2, 3), output=word), "'warm'"),
        (lambda word: ttlg.predict_time((2, 3), device=word), "'tesla-k40c'"),
        (lambda word: ttlg.generate((8, 8), isa=word), "avx512vbmi"),
        (lambda word: ttlg.asorder(X, word), "'F'"),
        (lambda word: ttlg.sparse.predict_time(9, (2, 3), algorithm=word), "PAR_QSORT"),
        (lambda word: ttlg.sparse.predict_time(9, (2, 3), format=word), "'csr'"),
        (lambda word: ttlg.schemes.count(word, 3, 4), "'"),
    ],
)
def test_unknown_words_list_the_valid_ones(ask, listed):
    with pytest.raises(ValueError, match=listed) as caught:
        ask("wrong")
    assert "wrong" in str(caught.value)


VARIABLES = {
    "SORT_TYPE": (lambda: read_algorithm(None), "RADIX_BUCKET", "auto"),
    "TTLG_NUM_THREADS": (default_threads.chosen_by_environment, "3", 0),
    "TTLG_LEARN": (learning._default_learning, "0", True),
    "TTLG_RESULT_POOL": (
        result_pool._default_result_pool,
        "256M",
        result_pool.room_for_waiting_results,
    ),
}


@pytest.mark.parametrize("name", VARIABLES)
def test_blanks_around_the_value_of_a_variable(monkeypatch, name):
    read, value, default = VARIABLES[name]
    monkeypatch.setenv(name, value)
    expected = read()
    assert expected != default
    for text in (f" {value}", f"{value} ", f"\t{value}\n"):
        monkeypatch.setenv(name, text)
        assert read() == expected
    for text in ("", " ", "\t"):
        monkeypatch.setenv(name, text)
        assert read() == default
    monkeypatch.setenv(name, "wr ong")
    with pytest.raises(ValueError, match=rf"{name}.*(choose one of|must be|to turn)"):
        read()


def test_blanks_around_the_simd_level(run_python):
    level = ttlg.show_config()["cpu"]["simd_found"][0]
    script = f"import ttlg; assert ttlg.show_config()['cpu']['simd_used'] == {level!r}"
    run_python(script, TTLG_SIMD_LEVEL=f" {level}\t")


def test_counts():
    assert [count_of(number, "way") for number in (0, 1, 2)] == ["0 ways", "1 way", "2 ways"]
    assert (count_of(1, "axis"), count_of(2, "axis")) == ("1 axis", "2 axes")
    assert (count_of(1, "entry"), count_of(2, "entry")) == ("1 entry", "2 entries")


def test_one_other_way_of_a_contraction(monkeypatch):
    made = ttlg.contraction("ab,bc", (2, 3), (3, 4))
    estimate = made.estimate()._replace(alternatives=((1e-3, 2e-3),))
    monkeypatch.setattr(type(made), "estimate", lambda _: estimate)
    assert "    1 other way from 2" in made.explain()


def explanations():
    """Explain plans of few of everything: elements, modes, blocks, bytes, ways and repeats."""
    for shape, axes in [((), ()), ((1,), (0,)), ((2, 2), (1, 0)), ((33, 1, 40), (2, 1, 0))]:
        for options in ({"inplace": True}, {"device": "tesla-k40c"}, {}):
            for dtype in ("u1", "f4"):
                yield ttlg.plan(shape, axes, dtype, **options).explain()
    yield ttlg.plan((3000, 5000), device="tesla-k40c", kernel="orthogonal_distinct").explain()
    for shapes in [((2, 3), (3, 4)), ((40, 50, 60), (50, 70))]:
        letters = "abc"[: len(shapes[0])], "bd"
        yield ttlg.contraction(",".join(letters), *shapes).explain()


def test_one_of_a_kind_is_not_many():
    for text in explanations():
        assert not re.search(r"(?<![\d.x+] )(?<![\d.+-])\b1 (\w+ )?\w+s\b(?! \()", text), text
