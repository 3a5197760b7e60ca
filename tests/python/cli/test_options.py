"""Options of the command line: lists that begin with a minus sign, and the names in messages."""

import argparse

import pytest

import ttlg
from ttlg import _cli


def usage(capsys, line):
    with pytest.raises(SystemExit) as caught:
        _cli.main(line.split())
    assert caught.value.code == 2
    return capsys.readouterr().err


def options():
    """List every option of every command that takes a value."""
    (commands,) = (
        each for each in _cli._parser()._actions if isinstance(each, argparse._SubParsersAction)
    )
    return [
        (name, option)
        for name, command in commands.choices.items()
        for action in command._actions
        if action.nargs is None
        for option in action.option_strings
    ]


def test_every_option_takes_a_value_that_begins_with_a_minus_sign():
    found = options()
    assert {("transpose", "--axes"), ("explain", "--strides"), ("generate", "--shape")} <= {*found}
    for name, option in found:
        for value in ("-1,0,1", "-4,8", "-1", "-1G", "-1.5"):
            joined = _cli._join_negative([name, option, value, "--json"])
            assert joined == [name, f"{option}={value}", "--json"]


def test_what_is_no_value_of_an_option_is_left_alone():
    for line in (
        ["transpose", "--", "-1.npy", "-2.npy"],
        ["transpose", "--", "--axes", "-1"],
        ["transpose", "in.npy", "-1.npy"],
        ["explain", "--axes=-1,0", "-1"],
        ["explain", "--axes", "--json"],
        ["-1,0"],
    ):
        assert _cli._join_negative(line) == line


@pytest.mark.parametrize("between", [" ", "="])
def test_lists_that_begin_with_a_minus_sign(capsys, between):
    line = f"explain --shape 4,5,6 --axes{between}-1,0,1 --strides{between}-120,24,4"
    assert _cli.main(line.split()) == 0
    plan = ttlg.plan((4, 5, 6), (-1, 0, 1), strides=(-120, 24, 4))
    assert capsys.readouterr().out == f"{plan.explain()}\n"
    assert _cli.main(f"generate --shape 8,8 --axes{between}-1,0".split()) == 0
    assert capsys.readouterr().out == ttlg.generate((8, 8), (1, 0))
    assert "shape (-1, 2) has a negative" in usage(capsys, f"explain --shape{between}-1,2")


def test_strides_in_elements(capsys):
    assert _cli.main(["explain", "--shape", "8,9", "--element-strides", "-9,1"]) == 0
    plan = ttlg.plan((8, 9), element_strides=(-9, 1))
    assert capsys.readouterr().out == f"{plan.explain()}\n"
    message = usage(capsys, "explain --shape 8,9 --strides 36,4 --element-strides 9,1")
    assert "not allowed with" in message


@pytest.mark.parametrize(
    ("line", "advice"),
    [
        ("explain --shape 2,3 --strides 3,1", "pass these as --element-strides=, or --strides="),
        ("explain --shape 2,3 --device tesla-k40c --threads 2", "--threads= is for device 'cpu'"),
        ("explain --shape 2,3 --device h200", "did you mean 'nvidia-h200'?"),
        ("generate --shape 8,8 --name 8x", "--name='8x' cannot be the name"),
    ],
)
def test_messages_advise_options_that_the_command_has(capsys, line, advice):
    assert advice in usage(capsys, line)
