"""What this installation says of itself, and what importing it does and does not do."""

import importlib.metadata
import os

import pytest

import ttlg


def test_version():
    assert ttlg.__version__ == ttlg.show_config()["ttlg"]["version"]
    try:
        installed = importlib.metadata.version("ttlg")
    except importlib.metadata.PackageNotFoundError:
        pytest.skip("ttlg is imported from a source tree")
    assert ttlg.__version__ == installed


def test_sections():
    config = ttlg.show_config()
    assert list(config) == ["ttlg", "cpu", "cuda"]
    assert set(config["ttlg"]) == {"version", "compiler", "build_type", "python"}
    assert config["cpu"]["machine"] == os.uname().machine
    assert config["cpu"]["cores"] == os.cpu_count()
    assert config["cpu"]["last_level_cache_bytes"] >= 1 << 18
    cuda = config["cuda"]
    assert set(cuda) == {
        *("built", "toolkit", "architectures", "driver", "devices", "status", "models")
    }
    assert set(config["cpu"]["time_model"]) == {"name", "chosen"}
    assert cuda["built"] == bool(cuda["toolkit"]) == bool(cuda["architectures"])
    for device in cuda["devices"]:
        assert device["memory_bytes"] > 0
        assert device["multiprocessors"] > 0


def test_threads_are_todays():
    for n in (1, 4):
        ttlg.set_num_threads(n)
        assert ttlg.show_config()["cpu"]["threads"] == n


def test_each_answer_is_its_own():
    ttlg.show_config()["cpu"]["cores"] = -1
    assert ttlg.show_config()["cpu"]["cores"] == os.cpu_count()


def test_it_prints_as_a_list():
    ttlg.set_num_threads(1)
    lines = repr(ttlg.show_config()).splitlines()
    assert [line for line in lines if not line.startswith(" ")] == ["ttlg", "cpu", "cuda"]
    parts = [line.strip().split("  ", 1) for line in lines if line.startswith(" ")]
    assert [part for part in parts if len(part) == 1] == [["time model"]]  # a section of its own
    rows = dict(part for part in parts if len(part) == 2)
    assert rows["version"].strip() == ttlg.__version__
    assert rows["thread start us"].strip() == "none"  # as there is one
    assert rows["threads"].strip() == "1"  # True is equal to 1, and prints as yes
    assert rows["simd found"].split() == ttlg.show_config()["cpu"]["simd_found"]
    assert "None" not in repr(ttlg.show_config())


def test_it_tells_how_soon_a_second_thread_begins():
    ttlg.set_num_threads(2)
    cpu = ttlg.show_config()["cpu"]
    for key in ("thread_start_us", "thread_wakeup_us"):
        assert cpu[key] is None or 0 < cpu[key] < 10_000  # no figure where cores are too busy
    again = ttlg.show_config()["cpu"]
    assert again["thread_wakeup_us"] == cpu["thread_wakeup_us"]


def libraries_looked_for(run_python, script):
    """Return the loader's log of a script: every library it looked for, found or not."""
    result = run_python(f"import numpy as np, ttlg\n{script}", LD_DEBUG="libs")
    if "find library=" not in result.stderr:
        pytest.skip("this system's loader keeps no log")
    return result.stderr


@pytest.mark.parametrize(
    "script",
    ["", "ttlg.transpose(np.ones((1500, 1501)), threads=2)", "print(ttlg.plan((3, 4)).explain())"],
    ids=["import", "transpose", "plan"],
)
def test_no_gpu_is_touched(run_python, script):
    assert "libcuda" not in libraries_looked_for(run_python, script)


def test_show_config_asks_the_driver(run_python):
    # The control of the test above: a driver that is looked for leaves a trace.
    if not ttlg.show_config()["cuda"]["built"]:
        pytest.skip("built without CUDA")
    assert "libcuda" in libraries_looked_for(run_python, "ttlg.show_config()")


def test_empty_variables_count_as_unset(run_python):
    script = """
        import ttlg
        for line in repr(ttlg.show_config()).splitlines():
            if not line.startswith("  thread "):  # measured
                print(line)
        print(ttlg.plan((20, 30), tune="measure").axes)
    """
    names = ("TTLG_NUM_THREADS", "TTLG_SIMD_LEVEL", "TTLG_CACHE_DIR")
    unset, empty = run_python(script), run_python(script, **dict.fromkeys(names, ""))
    assert empty.stdout == unset.stdout, empty.stderr
    assert empty.stdout.endswith("(1, 0)\n")


def test_import_in_a_plain_locale(run_python):
    result = run_python("import ttlg; print(ttlg.plan((20, 30)).axes)", LC_ALL="C", PYTHONUTF8="0")
    assert result.stdout == "(1, 0)\n", result.stderr
