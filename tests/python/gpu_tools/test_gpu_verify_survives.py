"""`tools/gpu_verify.sh` with programs that hang, crash, refuse or are killed: what is left."""

import json
import os
import shutil
import signal
import sys
import tarfile
import time

import pytest

from .gpu_machine import ROOT, Machine, has_ended

pytestmark = pytest.mark.skipif(not (ROOT / "tools").is_dir(), reason="needs a checkout")

OTHER_PROGRAMS = ("structures", "conversion")
ONLY_OTHERS = 'case "$*" in *gpu.[sc]*) write-results "$@" ;; *) exit 3 ;; esac'


@pytest.fixture
def machine(tmp_path):
    return Machine(tmp_path)


def test_results_of_a_killed_program_are_kept(machine):
    machine.run_parts(bench='write-results "$@"; exec hang')
    start = time.monotonic()
    assert machine.verify("build", "bench", "calibrate", seconds=4) == 1
    assert time.monotonic() - start < 10
    found = machine.record("bench")
    assert found["results"]["table"] == ["3 cases"]
    assert (found["timed_out"], found["passed"], found["status"]) == (True, False, 137)
    assert found["commit"] == machine.record("build")["commit"] == "c0ffee"
    assert machine.record("calibrate")["passed"], "a stage that hangs does not stop the others"
    assert machine.left() == [
        "bench.json",
        "build.json",
        "calibrate.json",
        "gpu_verify.log",
        "ttlg-package.tar.gz",
    ]


def test_programs_are_asked_to_end_once_and_their_children_are_ended(machine):
    script = machine.folder / "program.py"
    script.write_text(f"""
import os, subprocess, time
child = subprocess.Popen(["sleep", "30"], start_new_session=False)
open({str(machine.folder / "child")!r}, "w").write(str(child.pid))
asked = 0
for _ in range(2):
    try:
        time.sleep(30 if not asked else 0.2)
    except KeyboardInterrupt:
        asked += 1
print("asked", asked, "times, child", child.poll(), flush=True)
""")
    machine.run_parts(test=f"exec {sys.executable} {script}")
    machine.verify("build", "test", seconds=2)
    assert "asked 1 times, child None" in machine.log()
    assert machine.record("test")["status"] == 124
    assert has_ended(machine.folder / "child")


def test_all_that_was_learnt_is_there_when_the_script_is_killed(machine):
    machine.run_parts(bench='write-results "$@"; echo $$ >pid; echo case 3; exec hang')
    process = machine.start_and_hang("build", "bench")
    os.killpg(process.pid, signal.SIGKILL)
    os.killpg(os.getpgid(int((machine.folder / "pid").read_text())), signal.SIGKILL)
    process.communicate()
    assert "case 3" in machine.log()
    assert json.loads((machine.out / "bench/results.json").read_text())["table"] == ["3 cases"]
    assert machine.record("build")["passed"]
    machine.run_parts()
    assert machine.verify("bench", "bench-inplace") == 0
    assert machine.record("bench")["passed"]
    assert machine.record("bench-inplace")["results"]["table"] == ["3 cases"]
    for program in OTHER_PROGRAMS:
        assert json.loads((machine.out / f"{program}.json").read_text())["table"] == ["3 cases"]
    assert "case 3" in machine.log(), "a later call continues the log"


def test_an_ended_script_ends_its_programs(machine):
    machine.run_parts(bench="echo $$ >pid; exec hang")
    process = machine.start_and_hang("build", "bench")
    process.terminate()
    process.communicate(timeout=10)
    assert process.returncode == 143
    assert has_ended(machine.folder / "pid")


def test_crashes_do_not_stop_later_stages(machine):
    line = "tests/gpu/test_a.py::test_one PASSED"
    machine.run_parts(test=f"echo {line}; kill -SEGV $$", bench=ONLY_OTHERS)
    assert machine.verify("build", "test", "bench", "calibrate") == 1
    assert machine.record("test")["results"]["passed"] == 1
    assert "left no results" in machine.record("bench")["results"]["table"][0]
    assert machine.record("bench")["status"] == 3
    others = {f"{program}.json" for program in OTHER_PROGRAMS}
    assert others < set(machine.left()), "one benchmark does not stop the others"
    assert machine.record("calibrate")["passed"]
    machine.run_parts(build="exit 1")
    assert machine.verify("build") == 1
    assert machine.left().count("ttlg-package.tar.gz") == 1, "that of the last build"


@pytest.mark.parametrize(
    "refusal",
    [
        "echo Device not supported >&2; exit 1",
        "echo Device not supported",
        "echo Device not supported; exec hang",
    ],
    ids=["fails", "does nothing", "hangs"],
)
def test_a_sanitizer_that_does_not_work_is_no_failure(machine, refusal):
    machine.program("compute-sanitizer", refusal)
    assert machine.verify("build", "sanitize", seconds=4) == 0
    found = machine.record("sanitize")
    assert "does not work here" in found["not_run"]
    assert not found["passed"]
    assert "not run" in machine.printed
    assert "memcheck" not in machine.log()
    assert "Device not supported" in machine.log()


def test_no_sanitizer(machine):
    (machine.folder / "bin/compute-sanitizer").unlink()
    if shutil.which("compute-sanitizer", path="/usr/bin:/bin:/usr/local/cuda/bin"):
        pytest.skip("there is one")
    assert machine.verify("build", "sanitize") == 0
    assert machine.record("sanitize")["not_run"] == "there is no compute-sanitizer"


def test_sanitizers_are_read_each_and_one_that_hangs_leaves_time_to_the_others(machine):
    machine.run_parts(memcheck="exec hang", racecheck='echo killed >"$2"; kill -KILL $$')
    assert machine.verify("build", "sanitize", seconds=6) == 1
    found = machine.record("sanitize")
    tools = found["results"]["tools"]
    assert {name: tool["findings"] for name, tool in tools.items()} == {
        "initcheck": 0,
        "memcheck": 0,
        "racecheck": None,
    }
    assert found["seconds"] <= 4
    machine.run_parts()
    assert machine.verify("sanitize") == 0
    assert machine.record("sanitize")["passed"]


def test_a_package_stands_in_for_the_build(machine, tmp_path):
    assert machine.verify("build") == 0
    package = shutil.move(machine.out / "ttlg-package.tar.gz", tmp_path / "built.tar.gz")
    machine.run_parts(
        build="exit 1", bench='cat build/gpu/site/ttlg/_core.x.so; write-results "$@"'
    )
    shutil.rmtree(machine.folder / "build")
    (machine.folder / "bin/nvcc").unlink()
    assert machine.verify("bench", options=["--package", package]) == 0
    assert "made\n" in machine.log()
    assert "warning" not in machine.printed
    shutil.rmtree(machine.folder / "build")
    shutil.copy(package, machine.out / "ttlg-package.tar.gz")
    machine.program("git", "echo deadbeef")
    assert machine.verify("bench") == 0, "a package in OUTDIR is found"
    assert "was built from commit c0ffee, and this is deadbeef" in machine.log()
    machine.program("nvidia-smi", 'echo "Other GPU, 580.1, 8.0"')
    assert machine.verify("bench", options=["--package", package]) == 2
    assert "is for architecture 90, and this device's is 80" in machine.printed


def test_packages_that_are_none(machine, tmp_path):
    broken = tmp_path / "broken.tar.gz"
    broken.write_bytes(b"\x1f\x8b broken")
    other = tmp_path / "other.tar.gz"
    (tmp_path / "built").write_text("c0ffee 90\n")
    with tarfile.open(other, "w:gz") as archive:
        archive.add(tmp_path / "built", "built")
    for package in (tmp_path / "missing", broken, other):
        assert machine.verify("bench", options=["--package", package]) == 2
        assert f"gpu_verify: {package} is no package" in machine.printed


def test_missing_packages_end_it(machine):
    machine.run_parts(check="echo gpu_verify: python3 has no package cupy >&2; exit 2")
    assert machine.verify("build") == 2
    assert "no package cupy" in machine.printed
    assert not machine.out.exists()


@pytest.mark.rotating
def test_only_warnings_of_ttlg_fail_a_test(machine):
    test = machine.folder / "test_warning.py"
    test.write_text("""
import pytest
import warnings

@pytest.mark.parametrize("module", ["ttlg", "ttlg._api", "ttlgx", "jax.x"])
def test_warning(module):
    warnings.warn_explicit("old", DeprecationWarning, "a.py", 1, module=module)
""")
    machine.run_parts(test=f'shift 3; exec {sys.executable} -m pytest {test} "$@" --rootdir .')
    assert machine.verify("build", "test") == 1
    found = machine.record("test")["results"]
    assert (found["passed"], len(found["failing"])) == (2, 2)
    assert [name.rpartition("::")[2] for name in found["failing"]] == [
        "test_warning[ttlg]",
        "test_warning[ttlg._api]",
    ]
