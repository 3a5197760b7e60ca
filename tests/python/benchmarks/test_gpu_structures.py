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
from ttlg.benchmarks.gpu import conversion, structures
from ttlg.benchmarks.gpu.conversion import CONVERSIONS
from ttlg.benchmarks.gpu.structures import CEILING, OPERATIONS, WAYS

X = torch.randint(-(1 << 31), 1 << 31, (1000, 7), dtype=torch.int32)
AT = torch.randperm(1000, dtype=torch.int32)
plan_for = ttlg.plan

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


def compiled(nvrtc, *names):
    """Return the PTX of these kernels."""
    ptx, log = nvrtc.compile(structures.SOURCE.read_text(), *structures.OPTIONS, kernels=names)
    assert (log, ptx.count(".entry")) == ("", len(names))
    return ptx


def test_the_kernels_compile(nvrtc):
    assert structures.ways(8) == list(WAYS)
    assert structures.ways(7) == ["direct", "coalesced", "shared"], "vectors need whole ones"
    names = [
        structures.kernel(operation, way, words)
        for operation in OPERATIONS
        for words in (4, 7)
        for way in structures.ways(words)
    ]
    assert names[:3] == ["store<Direct, 4, 4>", "store<Direct, 4, 16>", "store<Shuffles, 4, 4>"]
    entries = re.split(r"\.entry", compiled(nvrtc, *names))[1:]
    # All that use coalesced_ptr as it is, but those of a single word of 16 bytes.
    assert sum("shfl.sync" in each for each in entries) == 2 * len(OPERATIONS)
    names = [name for words in (4, 7) for name in conversion.kernels(words).values()]
    assert names[:3] == ["update<Direct, 4, 16>", "update<Shuffles, 4, 16>", "update<Fields, 4, 4>"]
    assert conversion.kernels(7)["sum", "direct"] == "sum<Direct, 7, 4>"
    compiled(nvrtc, *names)


@pytest.mark.parametrize(("words", "alignment"), [(7, 4), (8, 16)])
@pytest.mark.parametrize("operation", OPERATIONS)
def test_lanes_without_a_shuffle_exchange_one_register_at_a_time(
    nvrtc, operation, words, alignment
):
    shuffling, exchanging = (
        compiled(nvrtc, structures.instance(operation, access, alignment, words))
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
    stored = [[3 * i, 3 * i + 1, 3 * i + 2] for i in range(4)]
    assert structures.expected("store", x, at).tolist() == stored
    assert structures.expected("copy", x, at) is x
    assert structures.expected("gather", x, at)[:, 0].tolist() == [106, 100, 109, 103]
    assert structures.expected("scatter", x, at)[:, 0].tolist() == [103, 109, 100, 106]


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
                    assert x.shape == (X.shape[::-1] if "Fields" in name else X.shape)
                    y.copy_((x.t() if "Fields" in name else x)[at.long()].sum(1))
                else:
                    y.copy_(structures.expected(operation, x, at))
                if name in self.wrong:
                    y.view(-1)[-1] += 1

            return launch

        return types.SimpleNamespace(get_function=get_function)


@pytest.fixture
def on_the_host(monkeypatch, no_synchronize):
    def install(*wrong):
        monkeypatch.setitem(sys.modules, "cupy", FakeCupy(wrong))

    monkeypatch.setattr(
        ttlg, "plan", lambda *args, device, **more: plan_for(*args, device="cpu", **more)
    )
    install()
    return install


@pytest.mark.parametrize("operation", OPERATIONS)
def test_ways_are_verified(on_the_host, operation):
    wrong = structures.kernel(operation, "vector", 4)
    on_the_host(wrong)
    x = torch.arange(4000, dtype=torch.int32).view(1000, 4)
    failures = {}
    found = list(structures.entrants(operation, x, torch.empty_like(x), AT, failures))
    right = [way for way in WAYS if way != "vector"]
    assert [each.name for each in found] == [CEILING, *right]
    assert failures == {"vector": f"WrongResultError: {wrong} gave a wrong result"}


def test_accesses_are_verified(on_the_host):
    names = conversion.kernels(7)
    on_the_host(names["update", "coalesced"], names["sum", "fields"])
    failures = {}
    found = list(conversion._accesses(X, AT, failures))
    right = ["update-direct", "update-fields", "sum-direct", "sum-coalesced"]
    assert [each.name for each in found] == right
    wrong = "WrongResultError: {} gave a wrong result".format
    assert failures == {name: wrong(name) for name in ("update-coalesced", "sum-fields")}


def test_conversions_are_in_place_and_verified(on_the_host, monkeypatch):
    failures = {}
    found = list(conversion._conversions(X, failures))
    assert [each.name for each in found] == list(CONVERSIONS)
    for each in found * 3:
        each.call(0)
    assert failures == {}

    def plan(shape, axes, dtype, device, inplace):
        assert inplace
        return plan_for(shape, axes, dtype, inplace=True) if shape != (7, 1000) else lambda x: None

    monkeypatch.setattr(ttlg, "plan", plan)
    assert [each.name for each in conversion._conversions(X, failures)] == ["to-fields"]
    assert failures == {"to-structures": "WrongResultError: to-structures gave a wrong result"}


def test_accesses_after_which_converting_pays():
    result = conversion.Result(7, 1000, SECONDS)
    # 40 accesses of 20 microseconds less pay for 800, and 2.67 of 300.
    assert result.accesses("update", "coalesced") == pytest.approx(40)
    assert result.accesses("update", "direct") == pytest.approx(8 / 3)
    assert result.accesses("sum", "direct") == result.accesses("sum", "coalesced") == math.inf
    equal = conversion.Result(7, 1000, {**SECONDS, "sum-direct": 3e-4})
    assert equal.accesses("sum", "direct") == math.inf
    for missing in ("to-structures", "update-fields", "update-direct"):
        known = {name: each for name, each in SECONDS.items() if name != missing}
        assert math.isnan(conversion.Result(7, 1000, known).accesses("update", "direct"))


def results():
    seconds = {CEILING: 1e-3, "direct": 4e-3, "coalesced": 2e-3}
    return [
        structures.Result("copy", 7, 1_000_000, dict(seconds)),
        structures.Result("copy", 3, 1_000_000, dict(seconds)),
        structures.Result("store", 3, 1_000_000, dict(seconds), {"vector": "RuntimeError: no"}),
    ]


def test_tables():
    assert [line.split() for line in structures.table(results())] == [
        ["store,", "GB/s"],
        ["bytes", CEILING, *WAYS],
        ["12", "24", "3", "6"],
        ["copy,", "GB/s"],
        ["bytes", CEILING, *WAYS],
        ["12", "24", "6", "12"],
        ["28", "56", "14", "28"],
    ]
    partly = {name: SECONDS[name] for name in ("to-fields", "sum-fields")}
    found = [conversion.Result(7, 1000, SECONDS), conversion.Result(3, 1000, partly)]
    lines = [line.split() for line in conversion.table(found)]
    assert lines[1][:4] == ["bytes", *CONVERSIONS, "update-direct"]
    assert lines[2:4] == [
        ["12", "300"],
        ["28", "300", "500", "400", "120", "100", "2.67", "40"],
    ]
    assert lines[6:] == [
        ["12", "300", "300"],
        ["28", "300", "500", "200", "100", "300", "never", "never"],
    ]
    assert conversion.table([]) == []


@pytest.mark.parametrize("program", [structures, conversion])
def test_a_program_writes_results_tells_failures_and_keeps_its_budget(
    a_gpu, program, monkeypatch, tmp_path, capsys
):
    file = tmp_path / "record.json"

    def run(given, *options):
        """Run it on given results, behind which it is interrupted."""

        def measure(*case):
            if not given:
                raise KeyboardInterrupt
            return given.pop(0)

        monkeypatch.setattr(program, "measure", measure)
        return program.main([*options, "--json", str(file)]), json.loads(file.read_text())

    if program is structures:
        given, one, unmeasured = results(), ("--operation", "copy"), (5, 92)
        fine, failed = results()[1:], results()[2:]
    else:
        given = [conversion.Result(3, 1000, SECONDS, {"vector": "RuntimeError: no"})]
        fine, failed, one = [conversion.Result(3, 1000, SECONDS)], [*given], ()
        unmeasured = 1, len(conversion.WORDS)
    count, label = len(given), given[-1].label
    status, found = run(given, "--words", "3", "7")
    assert (status, len(found["results"])) == (130, count)
    assert " --words 3 7 --json " in found["machine"]["command"]
    last = [f"failed: {label}: vector: RuntimeError: no", f"not measured: {unmeasured[0]}"]
    assert found["table"][-2:] == capsys.readouterr().out.splitlines()[-2:] == last
    assert [run(each, *one, "--words", "3")[0] for each in (fine, failed)] == [0, 1]
    assert run([], "--budget", "0")[1]["table"] == [f"not measured: {unmeasured[1]}"]
