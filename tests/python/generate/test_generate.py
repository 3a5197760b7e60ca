"""The function that writes functions: defaults, errors and the command line."""

import re

import pytest

import ttlg
from ttlg import _cli, _core
from ttlg._planning.generate import generate_with_counts


def test_code_says_what_it_does():
    code = ttlg.generate((8, 32, 4), (2, 0, 1), "float32", isa="avx2", name="turn")
    assert "Permutes the axes of C-contiguous arrays of shape (8, 32, 4) and dtype float32" in code
    assert "(4, 8, 32), and its axis i is the input's axis (2, 0, 1)[i]." in code
    assert "GenTT" in code
    assert "Instruction set: avx2" in code
    assert re.search(r"^// r\d+ = load in\+\d+$", code, re.MULTILINE)
    assert re.search(r"^// store out\+\d+ = r\d+$", code, re.MULTILINE)
    assert code.count("\nvoid turn(") == 1
    assert "#include <ttlg" not in code


def test_axes_are_reversed_and_float32_by_default():
    assert ttlg.generate((3, 40)) == ttlg.generate((3, 40), (1, 0), "float32")
    assert ttlg.generate([3, 40], [-1, -2]) == ttlg.generate((3, 40), (1, 0))


def test_the_instruction_set_in_use_is_the_default():
    assert f"Instruction set: {_core.isa_in_use()} " in ttlg.generate((16, 16))
    assert _core.isa_in_use() in _core.isas()


@pytest.mark.parametrize("isa", _core.isas())
def test_counts_are_those_of_the_program(isa):
    made = generate_with_counts((8, 32, 32, 4), (3, 2, 1, 0), "float32", isa=isa)
    lines = made["program"].splitlines()
    assert made["loads"] <= sum(" = load " in line for line in lines)
    assert made["stores"] == sum(line.startswith("store ") for line in lines)
    shuffles = sum(bool(re.search(" = (shuffle|merge) ", line)) for line in lines)
    assert made["shuffles"] == shuffles
    assert made["self_shuffles"] == sum(" = self-shuffle " in line for line in lines)
    assert made["lanes"] * made["element_bytes"] == made["vector_bytes"]
    assert all(f"// {line}" in made["code"] for line in lines)


def test_unrolling_and_order_can_be_changed_for_experiments():
    def made(**options):
        return generate_with_counts((64, 32, 32), (2, 1, 0), "float64", isa="ssse3", **options)

    once, twice = made(unroll=1), made(unroll=2)
    assert twice["elements"] == 2 * once["elements"]
    assert twice["loads"] == 2 * once["loads"]
    kinds = [line.partition(" = ")[2].split()[0] for line in made(unroll=2)["program"].splitlines()]
    loads = kinds.count("load")
    assert kinds[:loads] == ["load"] * loads
    kinds = [
        line.partition(" = ")[2].split()[0]
        for line in made(unroll=2, reorder=False)["program"].splitlines()
    ]
    assert kinds[:loads] != ["load"] * loads
    assert made(vector_bytes=16)["vector_bytes"] == 16


@pytest.mark.parametrize(
    ("arguments", "options", "error", "text"),
    [
        (((4, 4), (0, 0)), {}, ValueError, "axis 0 appears twice"),
        (((4, -1),), {}, ValueError, "-1"),
        (((4, 4), (1, 0), "object"), {}, TypeError, "Python objects"),
        (((4, 4), (1, 0), "no dtype"), {}, TypeError, "is no dtype"),
        (((4, 4),), {"isa": "mmx"}, ValueError, "isa='mmx' is no instruction set .* ssse3, avx2"),
        (((4, 4),), {"isa": 512}, TypeError, "isa must be a name, not 512"),
        (((4, 4),), {"name": "3d"}, ValueError, "name='3d' cannot be the name"),
        (((4, 4),), {"name": "while"}, ValueError, "name='while' cannot be the name"),
        (((4, 4),), {"name": "a__b"}, ValueError, "name='a__b' cannot be the name"),
        (((4, 4),), {"name": None}, TypeError, "name must be a string, not None"),
        (((2,) * 65,), {}, ValueError, "rank 65"),
    ],
)
def test_errors(arguments, options, error, text):
    with pytest.raises(error, match=text):
        ttlg.generate(*arguments, **options)


def test_command_line(capsys):
    assert (
        _cli.main(
            ["generate", "--shape", "8,8", "--dtype", "uint8", "--isa", "neon", "--name", "turn"]
        )
        == 0
    )
    written = capsys.readouterr().out
    assert written == ttlg.generate((8, 8), None, "uint8", isa="neon", name="turn")


@pytest.mark.parametrize("options", [["--isa", "mmx"], ["--name", "3d"], ["--axes", "0,0"]])
def test_wrong_usage(options, capsys):
    with pytest.raises(SystemExit) as stop:
        _cli.main(["generate", "--shape", "8,8", *options])
    assert stop.value.code == 2
    assert "usage: ttlg generate" in capsys.readouterr().err
