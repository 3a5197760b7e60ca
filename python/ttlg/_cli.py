"""The command line: ``ttlg`` and ``python -m ttlg``."""

import argparse
import json
import os
import re
import signal
import sys
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from types import FrameType
from typing import NoReturn

from ttlg import CudaError, __version__, calibrate, generate, reset_calibration, transpose_file
from ttlg._arguments.sizes import parse_size
from ttlg._core import isas
from ttlg._planning.plan import plan
from ttlg._settings.config import show_config
from ttlg._settings.threads import get_num_threads


def _integers(text: str) -> tuple[int, ...]:
    try:
        return tuple(int(part) for part in text.split(",")) if text.strip() else ()
    except ValueError:
        raise argparse.ArgumentTypeError(
            f"{text!r} is not a list of integers such as 0,3,1,2"
        ) from None


def _count(text: str) -> int:
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"{text!r} is not a number from 1 up")
    return int(text)


def _size(text: str) -> int:
    try:
        return parse_size(text)
    except ValueError as error:
        raise argparse.ArgumentTypeError(str(error)) from None


@contextmanager
def _raising_on_signals() -> Iterator[None]:
    """Let the signals that end a process by default raise KeyboardInterrupt with their number.

    So what is half done is removed on the way out. Signals that are ignored, as SIGHUP is under
    nohup, and those that have a handler stay as they are.
    """
    default = (signal.SIG_DFL, signal.default_int_handler)
    ending = (signal.SIGHUP, signal.SIGINT, signal.SIGTERM)
    caught = [number for number in ending if signal.getsignal(number) in default]

    def interrupt(number: int, frame: FrameType | None) -> None:
        for each in caught:  # A second one must not cut the cleaning up short.
            signal.signal(each, signal.SIG_IGN)
        raise KeyboardInterrupt(number)

    before = {number: signal.signal(number, interrupt) for number in caught}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _end_by_signal(number: int) -> int:
    """End this process as the signal does by default, so that its parent sees which it was."""
    with suppress(OSError):  # A terminal that has hung up takes no message.
        print(f"ttlg: interrupted by {signal.Signals(number).name}", file=sys.stderr)
    signal.signal(number, signal.SIG_DFL)
    signal.raise_signal(number)
    return 128 + number  # Where the signal is blocked, what a shell makes of it.


def _info(args: argparse.Namespace) -> int:
    config = show_config()
    print(json.dumps(config, indent=2) if args.json else config)
    return 0


def _run_demo(args: argparse.Namespace) -> int:
    from ttlg import _demo

    threads = args.threads or get_num_threads()
    print(_demo.machine(threads), end="\n\n", flush=True)
    try:
        print(_demo.table(_demo.run(threads)))
    except _demo.WrongResultError as error:
        print(f"ttlg: {error}", file=sys.stderr)
        return 1
    return 0


def _transpose(args: argparse.Namespace) -> int:
    with _raising_on_signals():
        transpose_file(
            args.src,
            args.dst,
            args.axes,
            dtype=args.dtype,
            threads=args.threads,
            memory=args.memory,
            overwrite=not args.no_clobber,
        )
    return 0


def _end_by_usage(args: argparse.Namespace, error: Exception) -> NoReturn:
    """End with a message about arguments, in which they are options."""
    names = "|".join(vars(args))
    text = re.sub(rf"\b({names})=", lambda match: f"--{match[1].replace('_', '-')}=", str(error))
    parser: argparse.ArgumentParser = args.parser
    parser.error(text)


def _explain(args: argparse.Namespace) -> int:
    try:
        made = plan(
            args.shape,
            args.axes,
            args.dtype,
            strides=args.strides,
            element_strides=args.element_strides,
            device=args.device,
            threads=args.threads,
        )
    except (TypeError, ValueError) as error:
        _end_by_usage(args, error)
    print(made.to_json() if args.json else made.explain())
    return 0


def _generate(args: argparse.Namespace) -> int:
    try:
        code = generate(args.shape, args.axes, args.dtype, isa=args.isa, name=args.name)
    except (TypeError, ValueError) as error:
        _end_by_usage(args, error)
    print(code, end="")
    return 0


def _show_warning(message: Warning | str, *_: object) -> None:
    print(f"ttlg: {message}", file=sys.stderr)


def _calibrate(args: argparse.Namespace) -> int:
    if args.reset:
        file = reset_calibration()
        removed = "there is no calibrated model of this machine to remove"
        print(
            removed if file is None else f"removed the calibrated model of this machine in {file}"
        )
        print("in use: {name}, {chosen}".format_map(show_config()["cpu"]["time_model"]))
        return 0
    with warnings.catch_warnings():
        warnings.showwarning = _show_warning  # type: ignore[assignment]
        # What stops a calibration is in its report; by force it goes on for a minute first.
        warnings.simplefilter("always" if args.force else "ignore", RuntimeWarning)
        report = calibrate(args.device, budget=args.budget, force=args.force)
    if report.comparison is None:
        print(f"ttlg: {report}", file=sys.stderr)
        return 1
    print(report)
    return 0


def _bench(argv: Sequence[str]) -> int:
    """Run the benchmarks, an optional part of ttlg that is imported nowhere else."""
    try:
        from ttlg.benchmarks import cli
    except ModuleNotFoundError as error:
        if error.name != "ttlg.benchmarks":
            raise
        raise ImportError(
            "'ttlg bench' needs the package ttlg.benchmarks, which this installation is without; "
            "pip install ttlg brings it"
        ) from error
    return cli.main(argv)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="ttlg",
        description="Permute the axes of tensors.",
        epilog="Exit status: 0 done, 1 failed, 2 wrong usage.",
    )
    parser.add_argument("--version", action="version", version=f"ttlg {__version__}")
    commands = parser.add_subparsers(title="commands", metavar="COMMAND", required=True)

    def add(
        name: str, run: Callable[[argparse.Namespace], int], text: str
    ) -> argparse.ArgumentParser:
        command = commands.add_parser(name, help=text, description=text)
        command.set_defaults(run=run, parser=command)
        return command

    def add_axes(command: argparse.ArgumentParser) -> None:
        command.add_argument(
            "--axes",
            type=_integers,
            metavar="0,3,1,2",
            help="the input's axes in the order of the output, reversed by default",
        )

    def add_threads(command: argparse.ArgumentParser) -> None:
        command.add_argument(
            "--threads",
            type=_count,
            metavar="N",
            help="the most threads to use; default $TTLG_NUM_THREADS, else $OMP_NUM_THREADS, else all",
        )

    info = add("info", _info, "Tell what ttlg was built with and finds on this machine.")
    info.add_argument("--json", action="store_true", help="print JSON")

    demo = add(
        "demo", _run_demo, "Transpose two tensors, check every bit, and time it beside NumPy."
    )
    add_threads(demo)

    convert = add("transpose", _transpose, "Transpose a .npy file, which may exceed memory.")
    convert.add_argument("src", metavar="IN.npy")
    convert.add_argument(
        "dst",
        metavar="OUT.npy",
        help="appears whole or not at all, and replaces a file that is there",
    )
    add_axes(convert)
    add_threads(convert)
    convert.add_argument("--dtype", help="convert elements to this one; default that of IN.npy")
    convert.add_argument(
        "--memory",
        type=_size,
        metavar="SIZE",
        help="bytes for the buffers, at least 1M; K, M, G and T are powers of 1024, as in 1.5G, "
        "and KB, MB, GB and TB of 1000; default 256M",
    )
    convert.add_argument(
        "--no-clobber", action="store_true", help="fail rather than replace a file that is there"
    )

    explain = add("explain", _explain, "Tell how a transposition would be done and why.")
    explain.add_argument("--shape", type=_integers, required=True, metavar="64,56,56,3")
    add_axes(explain)
    explain.add_argument("--dtype", default="float32", help="default float32")
    steps = explain.add_mutually_exclusive_group()
    steps.add_argument(
        "--strides",
        type=_integers,
        metavar="37632,672,12,4",
        help="the input's strides in bytes, C-contiguous by default",
    )
    steps.add_argument(
        "--element-strides",
        type=_integers,
        metavar="9408,168,3,1",
        help="the same in elements",
    )
    explain.add_argument(
        "--device",
        default="cpu",
        help="cpu (default), cuda or cuda:1 for a GPU of this machine, a model of one such as "
        "tesla-k40c, or the file of a model, which ends in .json",
    )
    add_threads(explain)
    explain.add_argument("--json", action="store_true", help="print the plan as JSON")

    writing = add(
        "generate", _generate, "Write a C++ function that permutes the axes of arrays of one shape."
    )
    writing.add_argument("--shape", type=_integers, required=True, metavar="8,8")
    add_axes(writing)
    writing.add_argument("--dtype", default="float32", help="default float32")
    writing.add_argument(
        "--isa",
        choices=isas(),
        help="the instruction set; default the one in use on this machine",
    )
    writing.add_argument("--name", default="permute", help="the function's name; default permute")

    fitting = add(
        "calibrate",
        _calibrate,
        "Fit the planner's time model to this machine, and keep it if it is better.",
    )
    fitting.add_argument("--device", default="cpu", help="cpu, the default and so far the only one")
    fitting.add_argument(
        "--budget",
        type=float,
        default=60.0,
        metavar="SECONDS",
        help="how long to measure; default 60",
    )
    outcome = fitting.add_mutually_exclusive_group()
    outcome.add_argument(
        "--force",
        action="store_true",
        help="measure a busy machine too, and keep the model even if it is not better",
    )
    outcome.add_argument(
        "--reset",
        action="store_true",
        help="remove the model that was kept, and use the shipped one",
    )

    # Here for the list of commands; main hands its arguments over unparsed.
    commands.add_parser("bench", help="Run the benchmarks; 'ttlg bench --help' lists the options.")
    return parser


def _join_negative(arguments: Sequence[str]) -> list[str]:
    """Join options and values that begin with a minus sign, which argparse takes for options."""
    joined: list[str] = []
    for number, argument in enumerate(arguments):
        if argument == "--":
            return [*joined, *arguments[number:]]
        if re.match(r"-\d", argument) and joined and re.fullmatch(r"--[^=]+", joined[-1]):
            joined[-1] += f"={argument}"
        else:
            joined.append(argument)
    return joined


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command line.

    Parameters
    ----------
    argv : sequence of str, optional
        The arguments; those of the process by default.

    Returns
    -------
    int
        The exit status: 0 done, 1 failed. Wrong usage raises SystemExit(2); SIGINT, and with
        ``transpose`` SIGTERM and SIGHUP, end the process once it has cleaned up.
    """
    arguments = sys.argv[1:] if argv is None else list(argv)
    try:
        if arguments[:1] == ["bench"]:
            return _bench(arguments[1:])
        args = _parser().parse_args(_join_negative(arguments))
        status: int = args.run(args)
        sys.stdout.flush()
        return status
    except BrokenPipeError:
        # The reader, such as head, has left, and flushing at exit would report that as an error.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1
    except (OSError, ImportError, TypeError, ValueError, MemoryError, CudaError) as error:
        text = " ".join(str(error).split()) or type(error).__name__
        print(f"ttlg: {text}", file=sys.stderr)
        return 1
    except KeyboardInterrupt as interrupt:
        return _end_by_signal(*interrupt.args or (signal.SIGINT,))
