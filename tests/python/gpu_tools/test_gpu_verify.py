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


def test_dry_run_lists_the_stages_in_order_and_does_nothing(tmp_path):
    done = verify("--dry-run", tmp_path / "out")
    assert done.returncode == 0
    headings = [line.split(",")[0] for line in done.stdout.splitlines()[1:] if line[0] != " "]
    assert headings == STAGES
    assert "-m pytest tests/gpu" in done.stdout
    assert all(f"--tool {tool}" in done.stdout for tool in ("memcheck", "racecheck", "initcheck"))
    assert "inplace" not in done.stdout, "it has no time among all others"
    one = verify("--dry-run", tmp_path / "out", "calibrate")
    assert str(tmp_path / "out") in one.stdout
    assert "-m pytest" not in one.stdout
    assert not (tmp_path / "out").exists()


def limits(*arguments):
    lines = verify("--dry-run", *arguments).stdout.splitlines()
    return [int(line.split(", ")[1].split()[0]) for line in lines if line.endswith(" seconds:")]


def test_stages_share_the_time(tmp_path):
    assert limits(tmp_path, "build", "test") == [240, 240]
    assert limits("--seconds", 100, tmp_path, "build", "bench") == [44, 56]
    every = limits(tmp_path, *STAGES)
    assert 535 <= sum(every) <= 540
    assert max(every) - min(every) < 30
    bench = verify("--dry-run", tmp_path, "bench").stdout
    budgets = [int(budget) for budget in re.findall(r"--budget (\d+) ", bench)]
    assert budgets == [174, 43, 43], "together 40 seconds below the stage's 300"
    assert limits("--package", "p", tmp_path) == [120, 120, 150, 150]


def test_the_benchmarks_in_place_run_all_their_suites(tmp_path):
    pytest.importorskip("torch")
    from ttlg.benchmarks.gpu.inplace import SUITES

    listed = verify("--dry-run", "--package", "p", tmp_path, "bench-inplace").stdout
    assert "bench-inplace, 300 seconds:" in listed
    assert f" --suite {' '.join(SUITES)} --budget 260 " in listed


def record(recorder, folder, stage, status=0, log="first\nlast\n"):
    out = folder / "out"
    out.mkdir(exist_ok=True)
    (folder / "log").write_text(log)
    told = ["--seconds", "3", "--commit", "c0ffee", "--device", "Some GPU", "--driver", "580"]
    arguments = ["record", str(out), stage, str(folder), "--status", str(status), *told]
    code = recorder.main(arguments)
    found = json.loads((out / f"{stage}.json").read_text())
    assert found["passed"] == (code == 0)
    return found


def junit(folder, *cases):
    counts = {
        "tests": len(cases),
        "failures": sum("<failure" in case for case in cases),
        "errors": 0,
        "skipped": sum("<skipped" in case for case in cases),
    }
    text = " ".join(f'{name}="{value}"' for name, value in counts.items())
    body = "".join(f'<testcase classname="m" name="t">{case}</testcase>' for case in cases)
    (folder / "junit.xml").write_text(
        f"<testsuites><testsuite {text}>{body}</testsuite></testsuites>"
    )


def test_tests_pass_only_if_some_ran(recorder, tmp_path):
    junit(tmp_path, "", "", '<skipped message="no CuPy"/>')
    found = record(recorder, tmp_path, "test")
    assert found["passed"]
    assert (found["stage"], found["commit"], found["device"]) == ("test", "c0ffee", "Some GPU")
    assert (found["driver"], found["seconds"]) == ("580", 3)
    assert found["results"]["skip_reasons"] == ["no CuPy"]
    junit(tmp_path, '<skipped message="no GPU"/>')
    assert not record(recorder, tmp_path, "test")["passed"]
    junit(tmp_path, "", '<failure message="x"/>')
    assert record(recorder, tmp_path, "test", status=1)["results"]["failing"] == ["m::t"]


def test_sanitizers_pass_only_without_findings(recorder, tmp_path):
    (tmp_path / "memcheck.log").write_text("========= ERROR SUMMARY: 0 errors\n")
    summary = "========= RACECHECK SUMMARY: {} hazards displayed ({} errors, 0 warnings)\n"
    (tmp_path / "racecheck.log").write_text(summary.format(0, 0))
    assert record(recorder, tmp_path, "sanitize")["passed"]
    (tmp_path / "racecheck.log").write_text(summary.format(2, 2))
    found = record(recorder, tmp_path, "sanitize")
    assert not found["passed"]
    assert found["results"]["table"] == ["memcheck: 0, racecheck: 2"]
    (tmp_path / "racecheck.log").write_text("killed\n")
    assert not record(recorder, tmp_path, "sanitize")["passed"]


def test_results_of_a_program_and_of_one_that_failed(recorder, tmp_path):
    (tmp_path / "results.json").write_text(json.dumps({"table": ["a line"], "results": []}))
    assert record(recorder, tmp_path, "bench")["passed"]
    stopped = record(recorder, tmp_path, "bench", status=124)
    assert stopped["timed_out"]
    assert stopped["log"] == ["first", "last"]
    (tmp_path / "results.json").unlink()
    lost = record(recorder, tmp_path, "calibrate")
    assert not lost["passed"]
    assert "left no results" in lost["results"]["table"][0]


def test_table(recorder, tmp_path, capsys):
    (tmp_path / "results.json").write_text(json.dumps({"table": ["a line"]}))
    record(recorder, tmp_path, "bench")
    record(recorder, tmp_path, "calibrate", status=1)
    assert recorder.main(["table", str(tmp_path / "out"), "calibrate", "bench"]) == 0
    lines = [line.split() for line in capsys.readouterr().out.splitlines()]
    assert lines[1:] == [
        ["calibrate", "FAILED", "3"],
        ["a", "line"],
        ["bench", "passed", "3"],
        ["a", "line"],
    ]


def test_tests_of_a_run_without_a_report_are_read_from_its_log(recorder, tmp_path):
    log = """collected 9 items
tests/gpu/test_a.py::test_one[(3, 4)-a] PASSED                 [ 11%]
tests/gpu/test_a.py::test_two FAILED                           [ 22%]
tests/gpu/test_a.py::test_three SKIPPED (no CuPy)              [ 33%]
tests/gpu/test_a.py::test_four """
    found = record(recorder, tmp_path, "test", status=137, log=log)
    assert found["timed_out"]
    assert found["results"] == {
        "passed": 1,
        "skipped": 1,
        "failing": ["tests/gpu/test_a.py::test_two"],
        "last": "tests/gpu/test_a.py::test_four",
        "table": [
            "1 passed, 1 failed, 1 skipped",
            "ended without a report in tests/gpu/test_a.py::test_four",
        ],
    }
    assert "has run no test" in record(recorder, tmp_path, "test")["results"]["table"][0]


def test_packages_that_are_missing_or_too_old(recorder):
    required = 'requires = ["packaging>=1", "pytest>=999"]'
    version = importlib.metadata.version("pytest")
    assert recorder.unmet(["packaging", "json"], required) == []
    assert recorder.unmet(["nowhere", "pytest"], required) == ["python3 has no package nowhere"]
    assert recorder.unmet(["packaging", "pytest"], required) == [
        f"the build requires pytest>=999, and python3 has pytest {version}"
    ]
