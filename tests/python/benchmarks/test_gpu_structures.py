"""What can be tested without a GPU of the programs on structures that threads load and store.

Of `structures`, which accesses them, and of `conversion`: when converting their storage pays.
"""

import json
import math
import re
import sys
import types

import pytest

torch = pytest.importorskip("torch")

import ttlg
from ttlg.benchmarks.gpu import baselines, conversion, draw, structures
from ttlg.benchmarks.gpu.structures import CEILING, OPERATIONS, WAYS

SECONDS = {
    "to-fields": 3e-4,
    "to-structures": 5e-4,
    "update-direct": 4e-4,
    "update-coalesced": 1.2e-4,
    "update-fields": 1e-4,
    "sum-direct": 2e-4,
    "sum-coalesced": 1e-4,
    "sum-fields": 3e-4,
}


def compiled(nvrtc, names, module=structures):
    """Return the PTX of these kernels."""
    ptx, log = nvrtc.compile(module.SOURCE.read_text(), *module.OPTIONS, kernels=names)
    assert (log, ptx.count(".entry")) == ("", len(names))
    return ptx


def test_the_kernels_compile(nvrtc):
    names = [
        structures.kernel(operation, way, words)
        for operation in OPERATIONS
        for words in (4, 7)
        for way in structures.ways(words)
    ]
    entries = re.split(r"\.entry", compiled(nvrtc, names))[1:]
    # All that use coalesced_ptr as it is, but those of a single word of 16 bytes.
    assert sum("shfl.sync" in each for each in entries) == 2 * len(OPERATIONS)
    compiled(nvrtc, [name for words in (4, 7) for name in conversion.kernels(words).values()])
    compiled(nvrtc, list(baselines.kernels().values()), baselines)


@pytest.mark.parametrize(("words", "alignment"), [(7, 4), (8, 16)])
@pytest.mark.parametrize("operation", OPERATIONS)
def test_lanes_without_a_shuffle_exchange_one_register_at_a_time(
    nvrtc, operation, words, alignment
):
    shuffling, exchanging = (
        compiled(nvrtc, [structures.instance(operation, access, alignment, words)])
        for access in ("Shuffles", "SharedMemory")
    )
    assert "shfl" not in exchanging
    # Of each thread.
    sizes = re.findall(r"\.shared \.align 4 \.b8 \S+\[(\d+)\]", exchanging)
    assert sizes == [str(4 * structures.THREADS)]
    shuffles = shuffling.count("shfl.sync")
    assert shuffles > 0
    assert exchanging.count("st.shared.u32") == exchanging.count("ld.shared.u32") == shuffles


def test_expected_results():
    x, at = torch.arange(100, 112).view(4, 3), torch.tensor([2, 0, 3, 1])
    found = {each: structures.expected(each, x, at).tolist() for each in OPERATIONS}
    assert found["store"] == [[0, 1, 2], [3, 4, 5], [6, 7, 8], [9, 10, 11]]
    assert found["copy"] == x.tolist()
    assert [row[0] for row in found["gather"]] == [106, 100, 109, 103]
    assert [row[0] for row in found["scatter"]] == [103, 109, 100, 106]


class FakeCupy(types.ModuleType):
    """Kernels that do on the host what they ought to, except for those that are wrong."""

    int32 = int

    def __init__(self, wrong=()):
        super().__init__("cupy")
        self.wrong = wrong
        self.from_dlpack = lambda x: x

    def RawModule(self, code, options, name_expressions):  # noqa: N802
        assert "coalesced_ptr" in code
        assert any(option.startswith("-I") for option in options)

        def get_function(name):
            assert name in name_expressions
            operation = name.partition("<")[0]

            def launch(grid, block, arguments):
                x, y, at, count = arguments
                assert (grid[0] - 1) * block[0] < count <= grid[0] * block[0]
                if operation == "update":
                    y += 1
                elif operation == "sum":
                    y.copy_((x.t() if "Fields" in name else x)[at.long()].sum(1))
                else:
                    y.copy_(structures.expected(operation, x, at))
                if name in self.wrong:
                    y.view(-1)[-1] += 1

            return launch

        return types.SimpleNamespace(get_function=get_function)


WRONG = [
    *("store<Direct, 4, 16>", "copy<Direct, 4, 16>", "gather<Direct, 4, 16>"),
    *("scatter<Direct, 4, 16>", "update<Shuffles, 4, 16>", "sum<Fields, 4, 4>"),
]


@pytest.fixture
def run(host_device, monkeypatch, tmp_path):
    """Run a program on structures of 16 bytes; return its status and what it has recorded."""
    monkeypatch.setattr(structures, "BYTES", 16000)
    monkeypatch.setitem(sys.modules, "cupy", FakeCupy())
    file = tmp_path / "record.json"

    def run(program, *options):
        status = program.main(["--words", "4", *options, "--json", str(file)])
        return status, json.loads(file.read_text())

    return run


def test_ways_are_verified_and_measured(run, monkeypatch):
    status, found = run(structures)
    assert status == 0
    assert {each["operation"] for each in found["results"]} == set(OPERATIONS)
    assert all(each["seconds"].keys() == {CEILING, *WAYS} for each in found["results"])
    monkeypatch.setitem(sys.modules, "cupy", FakeCupy(WRONG))
    status, found = run(structures)
    assert status == 1
    for each in found["results"]:
        wrong = f"WrongResultError: {each['operation']}<Direct, 4, 16> gave a wrong result"
        assert each["failures"] == {"vector": wrong}
        assert each["seconds"].keys() == {CEILING, *WAYS} - {"vector"}
    assert structures.ways(7) == ["direct", "coalesced", "shared"], "vectors need whole ones"


def test_accesses_and_conversions_in_place_are_verified_and_measured(run, monkeypatch):
    status, found = run(conversion)
    assert (status, found["results"][0]["seconds"].keys()) == (0, SECONDS.keys())
    monkeypatch.setitem(sys.modules, "cupy", FakeCupy(WRONG))
    plan = ttlg.plan

    def one_way(shape, axes, dtype, device, inplace):
        assert inplace
        return plan(shape, axes, dtype, inplace=True) if shape != (4, 1000) else lambda x: None

    monkeypatch.setattr(ttlg, "plan", one_way)
    status, found = run(conversion)
    (result,) = found["results"]
    wrong = {"to-structures", "update-coalesced", "sum-fields"}
    assert result["failures"] == {
        name: f"WrongResultError: {name} gave a wrong result" for name in wrong
    }
    assert (status, result["seconds"].keys()) == (1, SECONDS.keys() - wrong)
    assert conversion.kernels(7)["sum", "direct"] == "sum<Direct, 7, 4>"


@pytest.mark.parametrize("program", [structures, conversion])
def test_a_program_tells_failures_and_what_it_has_not_measured(
    run, program, monkeypatch, tmp_path, capsys, drawn
):
    monkeypatch.setitem(sys.modules, "cupy", FakeCupy(WRONG))
    figure = ("--plot", str(tmp_path / "figure.svg"))
    status, found = run(program, *figure)
    assert (status, len(drawn)) == (1, 1)
    assert draw.main([str(tmp_path / "record.json"), figure[1]]) == 0
    assert found["table"][-1].startswith("failed: ")
    assert found["table"] == capsys.readouterr().out.splitlines()[-len(found["table"]) :]
    assert {"16", "bytes"} <= {line.split()[0] for line in found["table"]}
    count = len(found["results"])
    assert run(program, *figure, "--budget", "0")[1]["table"] == [f"not measured: {count}"]
    assert len(drawn) == 2, "there is nothing to draw"

    def interrupted(*case):
        raise KeyboardInterrupt

    monkeypatch.setattr(program, "measure", interrupted)
    assert run(program)[0] == 130


def test_accesses_after_which_converting_pays():
    result = conversion.Result(7, 1000, SECONDS)
    # 40 accesses of 20 microseconds less pay for 800, and 2.67 of 300.
    assert result.accesses("update", "coalesced") == pytest.approx(40)
    assert result.accesses("update", "direct") == pytest.approx(8 / 3)
    equal = conversion.Result(7, 1000, {**SECONDS, "sum-direct": 3e-4})
    assert equal.accesses("sum", "direct") == result.accesses("sum", "direct") == math.inf
    for missing in ("to-structures", "update-fields", "update-direct"):
        known = {name: each for name, each in SECONDS.items() if name != missing}
        assert math.isnan(conversion.Result(7, 1000, known).accesses("update", "direct"))
