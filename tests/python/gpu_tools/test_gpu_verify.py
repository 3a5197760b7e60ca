"""`tools/gpu_verify.sh` refuses wrong usage, lists what it would do, and records what came of it."""

import importlib.metadata
import importlib.util
import json
import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

TOOLS = Path(__file__).resolve().parents[3] / "tools"
STAGES = ["build", "test", "sanitize", "calibrate", "bench"]

pytestmark = pytest.mark.skipif(not TOOLS.is_dir(), reason="needs a checkout")


@pytest.fixture(scope="module")
def recorder():
    spec = importlib.util.spec_from_file_location("gpu_record", TOOLS / "gpu_record.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def verify(*arguments, **environment):
    return subprocess.run(
        [shutil.which("bash"), str(TOOLS / "gpu_verify.sh"), *map(str, arguments)],
        check=False,
        capture_output=True,
        text=True,
        env={**os.environ, **environment},
    )


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([], "no OUTDIR given"),
        (
            ["out", "tset"],
            "unknown stage tset; choose of build test sanitize calibrate bench bench-inplace",
        ),
        (["test"], "the first argument is OUTDIR, and test is a stage"),
        (["--fast", "out"], "unknown option --fast"),
        (["--seconds", "soon", "out"], "--seconds needs a number"),
        (["out", "--seconds"], "--seconds needs a number"),
        (["out", "--package"], "--package needs a file"),
        (["--package", "p", "out", "build"], "--package is used instead of the stage build"),
    ],
)
def test_wrong_usage(arguments, message):
    done = verify(*arguments)
    assert done.returncode == 2
    assert f"gpu_verify: {message}" in done.stderr


def programs(folder, *names, **scripts):
    """Make a folder for the PATH with links to programs, and with scripts."""
    folder.mkdir()
    for name in names:
        (folder / name).symlink_to(shutil.which(name))
    for name, script in scripts.items():
        path = folder / name.replace("_", "-")
        path.write_text(f"#!/bin/sh\n{script}\n")
        path.chmod(0o755)
    return str(folder)


@pytest.mark.parametrize(
    ("missing", "scripts"),
    [
        ("nvcc", {}),
        ("GPU", {"nvcc": "", "nvidia_smi": "exit 9"}),
        ("GPU", {"nvcc": "", "nvidia_smi": "echo No devices were found"}),
    ],
)
def test_no_compiler_or_gpu(tmp_path, missing, scripts):
    if missing == "nvcc" and Path("/usr/local/cuda/bin").is_dir():
        pytest.skip("that is where nvcc is found")
    done = verify(
        tmp_path / "out", PATH=programs(tmp_path / "bin", "dirname", "realpath", **scripts)
    )
    assert done.returncode == 2
    assert done.stderr.startswith(f"gpu_verify: no {missing}")
    assert not (tmp_path / "out").exists()


def dry_run(*arguments):
    """List the stages with their seconds, and return what was printed."""
    done = verify("--dry-run", *arguments)
    assert done.returncode == 0
    lines = [line.split() for line in done.stdout.splitlines() if line.endswith(" seconds:")]
    return {name.rstrip(","): int(seconds) for name, seconds, _ in lines}, done.stdout


def test_dry_run_lists_the_stages_in_order_and_does_nothing(tmp_path):
    out = tmp_path / "out"
    every, printed = dry_run(out)
    assert [*every] == STAGES, "in place has no time among all others"
    assert "-m pytest tests/gpu" in printed
    assert all(f"--tool {tool}" in printed for tool in ("memcheck", "racecheck", "initcheck"))
    assert 535 <= sum(every.values()) <= 540
    assert max(every.values()) - min(every.values()) < 30
    one, printed = dry_run(out, "bench")
    assert one.keys() <= {"build", "bench"}
    assert "-m pytest" not in printed
    assert not out.exists()
    assert str(out) in printed
    budgets = [int(budget) for budget in re.findall(r"--budget (\d+) ", printed)]
    assert budgets == [174, 43, 43], "together 40 seconds below the stage's 300"


def test_stages_share_the_time(tmp_path):
    assert dry_run(tmp_path, "build", "test")[0] == {"build": 240, "test": 240}
    assert dry_run("--seconds", 100, tmp_path, "build", "bench")[0] == {"build": 44, "bench": 56}
    built, _ = dry_run("--package", "p", tmp_path)
    assert built == {"test": 120, "sanitize": 120, "calibrate": 150, "bench": 150}
    pytest.importorskip("torch")
    from ttlg.benchmarks.gpu.inplace import SUITES

    own, printed = dry_run("--package", "p", tmp_path, "bench-inplace")
    assert own == {"bench-inplace": 300}
    assert f" --suite {' '.join(SUITES)} --budget 260 " in printed


def junit(*cases):
    counts = {"tests": len(cases), "errors": 0}
    for name in ("failure", "skipped"):
        counts[name.replace("ure", "ures")] = sum(f"<{name}" in case for case in cases)
    text = " ".join(f'{name}="{value}"' for name, value in counts.items())
    body = "".join(f'<testcase classname="m" name="t">{case}</testcase>' for case in cases)
    return f"<testsuites><testsuite {text}>{body}</testsuite></testsuites>"


SUMMARY = {
    "memcheck.log": "========= ERROR SUMMARY: 0 errors\n",
    "racecheck.log": "========= RACECHECK SUMMARY: {0} hazards displayed ({0} errors, 0 warnings)\n",
}
SKIPPED, FAILED = '<skipped message="no GPU"/>', '<failure message="x"/>'
RESULTS = json.dumps({"table": ["a line"], "results": []})
CRASHED = """collected 9 items
tests/gpu/test_a.py::test_one[(3, 4)-a] PASSED                 [ 11%]
tests/gpu/test_a.py::test_two FAILED                           [ 22%]
tests/gpu/test_a.py::test_three SKIPPED (no CuPy)              [ 33%]
tests/gpu/test_a.py::test_four """


@pytest.mark.parametrize(
    ("stage", "files", "status", "passed", "table"),
    [
        ("test", {"junit.xml": junit("", "", SKIPPED)}, 0, True, "2 passed, 0 failed, 1 skipped"),
        ("test", {"junit.xml": junit(SKIPPED)}, 0, False, "0 passed, 0 failed, 1 skipped"),
        ("test", {"junit.xml": junit("", FAILED)}, 1, False, "1 passed, 1 failed, 0 skipped"),
        ("test", {"log": CRASHED}, 137, False, "1 passed, 1 failed, 1 skipped"),
        ("test", {}, 0, False, "left no results: pytest has run no test"),
        ("sanitize", SUMMARY, 0, True, "memcheck: 0, racecheck: 0"),
        ("sanitize", SUMMARY, 9, False, "memcheck: 0, racecheck: 2"),
        ("sanitize", SUMMARY | {"memcheck.log": "killed"}, 0, False, "memcheck: no summary, "),
        ("bench", {"results.json": RESULTS}, 0, True, "a line"),
        ("bench", {"results.json": RESULTS}, 124, False, "a line"),
        ("calibrate", {}, 0, False, "left no results"),
    ],
)
def test_a_stage_passes_only_if_its_results_say_so(
    recorder, tmp_path, capsys, stage, files, status, passed, table
):
    files = {"log": "first\nlast\n"} | files
    for name, text in files.items():
        (tmp_path / name).write_text(text.format(2 if status else 0) if "check" in name else text)
    told = ["--seconds", "3", "--commit", "c0ffee", "--device", "Some GPU", "--driver", "580"]
    arguments = ["record", str(tmp_path), stage, str(tmp_path), "--status", str(status), *told]
    assert recorder.main(arguments) == (not passed)
    found = json.loads((tmp_path / f"{stage}.json").read_text())
    assert (found["stage"], found["passed"], found["seconds"]) == (stage, passed, 3)
    assert [found[name] for name in ("commit", "device", "driver")] == ["c0ffee", "Some GPU", "580"]
    assert found["results"]["table"][0].startswith(table)
    assert found["timed_out"] == (status in (124, 137))
    assert found.get("log") == (None if passed else files["log"].splitlines())
    assert recorder.main(["table", str(tmp_path), stage]) == 0
    outcome = "passed" if passed else "timed" if found["timed_out"] else "FAILED"
    lines = capsys.readouterr().out.splitlines()
    assert lines[1].split()[:2] == [stage, outcome]
    assert lines[2].strip().startswith(table)
    if files["log"] == CRASHED:
        assert found["results"]["last"] == "tests/gpu/test_a.py::test_four"
        assert found["results"]["failing"] == ["tests/gpu/test_a.py::test_two"]


def test_packages_that_are_missing_or_too_old(recorder):
    required = 'requires = ["packaging>=1", "pytest>=999"]'
    version = importlib.metadata.version("pytest")
    assert recorder.unmet(["packaging", "json"], required) == []
    assert recorder.unmet(["nowhere", "pytest"], required) == ["python3 has no package nowhere"]
    assert recorder.unmet(["packaging", "pytest"], required) == [
        f"the build requires pytest>=999, and python3 has pytest {version}"
    ]
