"""The command line: what it prints, and its exit status."""

import json
import os
import re
import subprocess
import sys

import numpy as np
import pytest

import ttlg
from ttlg import _cli, _demo
from ttlg._arguments.sizes import parse_size
from ttlg.benchmarks import cli as bench_cli

ASAN = "asan" in os.environ.get("LD_PRELOAD", "")


def run(*args, prelude="", **options):
    """Run the command line in a process of its own, after the lines of `prelude`."""
    start = ["-m", "ttlg"]
    if prelude:
        start = ["-c", f"{prelude}\nimport sys\nfrom ttlg._cli import main\nsys.exit(main())"]
    options = {"capture_output": True, "text": True, "timeout": 120} | options
    return subprocess.run([sys.executable, *start, *map(str, args)], check=False, **options)


def main(line):
    return _cli.main(line.split())


@pytest.fixture
def source(tmp_path):
    path = tmp_path / "in.npy"
    np.save(path, np.arange(2 * 30 * 40 * 3, dtype="<f4").reshape(2, 30, 40, 3))
    return path


def failure(capsys, *args):
    assert _cli.main(list(map(str, args))) == 1
    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith("ttlg: ")
    assert err.count("\n") == 1
    return err


def test_info(capsys):
    assert main("info") == 0
    assert capsys.readouterr().out == f"{ttlg.show_config()}\n"
    assert main("info --json") == 0
    assert json.loads(capsys.readouterr().out) == ttlg.show_config()


def test_version(capsys):
    with pytest.raises(SystemExit, match=r"^0$"):
        main("--version")
    assert capsys.readouterr().out == f"ttlg {ttlg.__version__}\n"


def test_demo():
    # It does without the benchmarks.
    prelude = "import sys; sys.modules['ttlg.benchmarks'] = None"
    done = run("demo", "--threads", 1, prelude=prelude)
    assert (done.returncode, done.stderr) == (0, "")
    head, _, unit, *rows = done.stdout.splitlines()
    assert ttlg.show_config()["cpu"]["model"] in head
    assert "ttlg on 1 thread (" in head
    assert re.search(r"\b\d+ cores?, load average \d+\.\d ", head)
    assert unit.split() == ["milliseconds", "NumPy", "ttlg", "a", "copy", "x", "NumPy"]
    for number, case in enumerate(_demo.CASES):
        name, *times = rows[3 * number : 3 * number + 3]
        assert name == f"{case.name}, {case.bytes / 1e6:.1f} MB"
        for line, label in zip(times, ("a new array", "into out="), strict=True):
            assert line.startswith(f"  {label} ")
            assert all(float(number) > 0 for number in line.removeprefix(f"  {label}").split())
    assert "does not help" in done.stdout


def test_the_demo_leads_with_what_people_gain_most_from():
    first, second = _demo.CASES
    assert (first.dtype, first.axes, first.shape[-1]) == ("uint8", (0, 3, 1, 2), 3)
    assert (second.dtype, len(second.shape)) == ("float64", 6)


def test_commands_that_the_demo_names(capsys):
    lines = _demo.table([]).splitlines()
    commands = [line.split()[3:] for line in lines if line.startswith("  python -m ttlg ")]
    explain, bench = commands
    assert _cli.main(explain) == 0
    case = _demo.CASES[0]
    explanation = ttlg.plan(case.shape, case.axes, case.dtype).explain()
    assert capsys.readouterr().out == f"{explanation}\n"
    # Parsed only: `--list` stops before anything is measured.
    assert _cli.main([*bench, "--list"]) == 0


def test_demo_numbers():
    case = _demo.Case("small", (1000, 500), (1, 0), "float32")
    new, out = _demo.Times(8e-3, 4e-3, 1e-3), _demo.Times(6e-3, 2e-3, 5e-4)
    name, *rows = _demo.table([_demo.Result(case, new, out)]).splitlines()[1:4]
    assert name == "small, 2.0 MB"
    assert " ".join(rows[0].split()) == "a new array 8.0 4.0 1.0 2.0"
    assert " ".join(rows[1].split()) == "into out= 6.0 2.0 0.5 3.0"


@pytest.mark.parametrize("wrong", ["new array", "out="])
def test_demo_fails_when_the_bits_differ(monkeypatch, capsys, wrong):
    small = _demo.Case("small", (30, 20, 10), (2, 0, 1), "float64")
    monkeypatch.setattr(_demo, "CASES", (small,))
    assert main("demo") == 0
    assert "small, 0.0 MB" in capsys.readouterr().out

    def one_bit_off(x, axes, *, out=None, threads=None):
        result = ttlg.transpose(x, axes, out=out)
        if (out is None) == (wrong == "new array"):
            result.reshape(-1).view(np.uint8)[777] ^= 1
        return result

    monkeypatch.setattr(_demo, "transpose", one_bit_off)
    assert main("demo") == 1
    out, err = capsys.readouterr()
    assert "x NumPy" not in out
    assert err.startswith("ttlg: wrong result for small")


@pytest.mark.parametrize(
    ("line", "problem"),
    [
        (
            "--shape 64,56,56,3 --axes 0,3,1,2 --dtype u2 --threads 3",
            {"shape": (64, 56, 56, 3), "axes": (0, 3, 1, 2), "dtype": "u2", "threads": 3},
        ),
        (
            "--shape 4,5,6 --axes -1,0,1 --strides -120,24,4",
            {"shape": (4, 5, 6), "axes": (2, 0, 1), "strides": (-120, 24, 4)},
        ),
        (
            "--shape=4,5,6 --axes=-1,0,1 --strides=-120,24,4",
            {"shape": (4, 5, 6), "axes": (2, 0, 1), "strides": (-120, 24, 4)},
        ),
        ("--shape 8,9 --element-strides -9,1", {"shape": (8, 9), "element_strides": (-9, 1)}),
        (
            "--shape 64,128 --dtype f8 --device tesla-k40c",
            {"shape": (64, 128), "dtype": "f8", "device": "tesla-k40c"},
        ),
    ],
)
def test_explain(capsys, line, problem):
    plan = ttlg.plan(**problem)
    assert main(f"explain {line}") == 0
    assert capsys.readouterr().out == f"{plan.explain()}\n"
    assert main(f"explain {line} --json") == 0
    assert ttlg.Plan.from_json(capsys.readouterr().out) == plan


@pytest.mark.parametrize(
    ("args", "message"),
    [
        ("", "required: COMMAND"),
        ("explode", "invalid choice: 'explode'"),
        ("explain", "required: --shape"),
        ("explain --shape 2,x", "'2,x' is not a list of integers"),
        ("explain --shape 2,3 --axes 0,0", "axis 0 appears twice"),
        ("explain --shape 2,3 --dtype float33", "'float33' is no dtype"),
        ("explain --shape 2,3 --strides 4,x", "'4,x' is not a list of integers"),
        ("explain --shape -1,2", "shape (-1, 2) has a negative"),
        ("explain --shape=-1,2", "shape (-1, 2) has a negative"),
        ("explain --shape 2,3 --strides 3,1", "pass these as --element-strides=, or --strides="),
        ("explain --shape 8,9 --strides 36,4 --element-strides 9,1", "not allowed with"),
        ("explain --shape 2,3 --device abacus", "cannot plan for device 'abacus'"),
        ("explain --shape 2,3 --device h200", "did you mean 'nvidia-h200'?"),
        ("explain --shape 2,3 --device tesla-k40c --threads 2", "--threads= is for device 'cpu'"),
        ("generate --shape 8,8 --name 8x", "--name='8x' cannot be the name"),
        ("explain --shape 2,3 --threads 0", "'0' is not a number from 1 up"),
        ("explain --shape 2,3 --threads ²", "'²' is not a number from 1 up"),
        ("calibrate --reset --force", "not allowed with"),
        ("transpose in.npy", "required: OUT.npy"),
        ("transpose in.npy out.npy --axes 1;0", "'1;0' is not a list of integers"),
        ("transpose in.npy out.npy --memory lots", "'lots' is not a size such as 268435456"),
        ("transpose in.npy out.npy --memory -1G", "'-1G' is not a size"),
        ("transpose in.npy out.npy --memory 1,5G", "or 1.5G"),
        ("transpose in.npy out.npy --threads two", "'two' is not a number"),
    ],
)
def test_wrong_usage(capsys, args, message):
    with pytest.raises(SystemExit, match=r"^2$"):
        main(args)
    out, err = capsys.readouterr()
    assert out == ""
    assert message in err


def test_transpose(source, tmp_path):
    target = tmp_path / "out.npy"
    done = run("transpose", source, target, "--axes", "-4,3,1,-2", "--threads", 2, "--memory", "1m")
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    np.testing.assert_array_equal(np.load(target), np.load(source).transpose(0, 3, 1, 2))


def test_transpose_passes_its_options_on(monkeypatch):
    seen = []
    monkeypatch.setattr(_cli, "transpose_file", lambda *args, **kwargs: seen.append((args, kwargs)))
    main("transpose a b")
    main("transpose a b --axes 1,0 --dtype float16 --threads 5 --memory 2G --no-clobber")
    assert seen == [
        (("a", "b", None), {"dtype": None, "threads": None, "memory": None, "overwrite": True}),
        (
            ("a", "b", (1, 0)),
            {"dtype": "float16", "threads": 5, "memory": 2 << 30, "overwrite": False},
        ),
    ]


@pytest.mark.parametrize(
    ("text", "bytes_meant"),
    [
        ("268435456", 256 << 20),
        ("0", 0),
        ("77B", 77),
        ("1.5 mb", 1_500_000),
        ("1.5G", 3 << 29),
        ("2048k", 2 << 20),
        ("200MB", 200_000_000),
        ("200MiB", 200 << 20),
        ("0.25T", 1 << 38),
        ("1.0000001M", 1 << 20),
        ("9007199254740993", 9007199254740993),
        ("9" * 400, int("9" * 400)),
    ],
)
def test_sizes(text, bytes_meant):
    assert parse_size(text) == bytes_meant


def test_failures_are_one_line(capsys, source, tmp_path):
    failure(capsys, "explain", "--shape", "8,9", "--device", "cuda:999")
    target = tmp_path / "out.npy"
    assert "No such file" in failure(capsys, "transpose", tmp_path / "none.npy", target)
    assert "do not fit shape" in failure(capsys, "transpose", source, target, "--axes", "1,0")
    for size in ("10", "1023k", "0.9M"):
        message = failure(capsys, "transpose", source, target, "--memory", size)
        assert "is too little" in message
        assert "pass at least 1048576 bytes" in message
    source.write_bytes(source.read_bytes()[:-1])
    assert "truncated" in failure(capsys, "transpose", source, target)
    assert [path.name for path in tmp_path.iterdir()] == ["in.npy"]


def test_a_full_disk(source, tmp_path):
    # A limit on the size of files stands in for a disk that has room for half of the result.
    limit = source.stat().st_size // 2
    prelude = f"import resource\nresource.setrlimit(resource.RLIMIT_FSIZE, ({limit}, {limit}))"
    target = tmp_path / "out.npy"
    done = run("transpose", source, target, prelude=prelude)
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr == f"ttlg: [Errno 27] File too large: '{target}'\n"
    assert [path.name for path in tmp_path.iterdir()] == ["in.npy"]


def test_an_error_without_a_message_is_named(monkeypatch, capsys):
    def fail(*args, **options):
        raise MemoryError

    monkeypatch.setattr(_cli, "transpose_file", fail)
    assert failure(capsys, "transpose", "a", "b") == "ttlg: MemoryError\n"


def test_progress_on_a_terminal(source, tmp_path, terminal):
    status, printed = terminal("-m", "ttlg", "transpose", source, tmp_path / "out.npy")
    assert status == 0
    assert "100%" in printed


def test_a_reader_that_has_left():
    reader, writer = os.pipe()
    os.close(reader)
    # Without a buffer of Python's own it would be noticed at the first line, and not at the end.
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONUNBUFFERED"}
    done = run("info", capture_output=False, stdout=writer, stderr=subprocess.PIPE, env=environment)
    os.close(writer)
    assert (done.returncode, done.stderr) == (1, "")


def test_bench_gets_its_arguments_unparsed_or_says_what_to_install(monkeypatch, capsys):
    seen = []
    monkeypatch.setattr(bench_cli, "main", lambda argv: seen.append(argv) or 3)
    assert main("bench --quick x --json y --help") == 3
    assert seen == [["--quick", "x", "--json", "y", "--help"]]
    monkeypatch.setitem(sys.modules, "ttlg.benchmarks", None)
    assert "needs the package ttlg.benchmarks" in failure(capsys, "bench", "--quick")


@pytest.mark.slow
@pytest.mark.skipif(ASAN, reason="AddressSanitizer needs terabytes of address space")
def test_a_file_larger_than_the_address_space(tmp_path):
    source, target = tmp_path / "in.npy", tmp_path / "out.npy"
    shape, axes = (40, 1024, 1366, 3), (0, 3, 1, 2)
    x = np.arange(np.prod(shape), dtype=np.uint32).reshape(shape)
    np.save(source, x)
    limit = 512 << 20
    prelude = f"""
import resource
resource.setrlimit(resource.RLIMIT_AS, ({limit}, {limit}))
import numpy, sys
try:
    numpy.load(sys.argv[2], mmap_mode="r")
except OSError:
    pass  # as it should: the file is too large to be mapped
else:
    sys.exit("the limit does not bite")
"""
    # A thread's stack and heap take address space too, and a machine may have many cores.
    few = {**os.environ, "OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "2"}
    command = ("transpose", source, target, "--axes", "0,3,1,2", "--memory", "64M")
    done = run(*command, prelude=prelude, env=few)
    assert (done.returncode, done.stderr) == (0, "")
    y = np.load(target, mmap_mode="r")
    assert all(np.array_equal(y[i], x[i].transpose(2, 0, 1)) for i in range(len(x)))
    assert y.shape == tuple(shape[axis] for axis in axes)
