"""Options of the command line whose values begin with a minus sign."""

import argparse

from ttlg import _cli


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
