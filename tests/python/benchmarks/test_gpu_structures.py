"""What can be tested without a GPU of the benchmark of structures that threads load and store."""

import json
import re
import sys
import types

import pytest

torch = pytest.importorskip("torch")

from ttlg.benchmarks.gpu import session, structures
from ttlg.benchmarks.gpu.structures import CEILING, OPERATIONS, WAYS, WORDS, Result

X = torch.arange(100, 112, dtype=torch.int32).view(4, 3)
AT = torch.tensor([2, 0, 3, 1], dtype=torch.int32)


def test_vectors_need_whole_ones():
    assert structures.ways(8) == list(WAYS)
    assert structures.ways(7) == ["direct", "coalesced", "shared"]
    assert {len(structures.ways(words)) for words in WORDS} == {3, 6}


def compiled(nvrtc, *names):
    """Return the PTX of these kernels."""
    ptx, log = nvrtc.compile(structures.SOURCE.read_text(), *structures.OPTIONS, kernels=names)
    assert log == ""
    assert ptx.count(".entry") == len(names)
    return ptx


def test_the_kernels_compile(nvrtc):
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
    assert structures.expected("store", X, AT).tolist() == [
        [3 * i, 3 * i + 1, 3 * i + 2] for i in range(4)
    ]
    assert structures.expected("copy", X, AT) is X
    gathered = structures.expected("gather", X, AT)
    assert gathered[:, 0].tolist() == [106, 100, 109, 103]
    scattered = structures.expected("scatter", X, AT)
    assert scattered[:, 0].tolist() == [103, 109, 100, 106]


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
            def launch(grid, block, arguments):
                x, y, at, count = arguments
                assert (grid[0] - 1) * block[0] < count <= grid[0] * block[0]
                y.copy_(structures.expected(name.split("<")[0], x, at))
                if name in self.wrong:
                    y[-1, -1] += 1

            assert name in name_expressions
            return launch

        return types.SimpleNamespace(get_function=get_function)


@pytest.fixture
def on_the_host(monkeypatch):
    def install(wrong=()):
        monkeypatch.setitem(sys.modules, "cupy", FakeCupy(wrong))

    monkeypatch.setattr(torch.cuda, "synchronize", lambda: None)
    return install


@pytest.mark.parametrize("operation", OPERATIONS)
def test_ways_are_verified(on_the_host, operation):
    wrong = structures.kernel(operation, "vector", 4)
    on_the_host([wrong])
    x = torch.arange(4000, dtype=torch.int32).view(1000, 4)
    at = torch.randperm(1000, dtype=torch.int32)
    failures = {}
    found = list(structures.entrants(operation, x, torch.empty_like(x), at, failures))
    right = [way for way in WAYS if way != "vector"]
    assert [each.name for each in found] == [CEILING, *right]
    assert failures == {"vector": f"WrongResultError: {wrong} gave a wrong result"}


def results():
    seconds = {CEILING: 1e-3, "direct": 4e-3, "coalesced": 2e-3}
    return [
        Result("copy", 7, 1_000_000, dict(seconds)),
        Result("copy", 3, 1_000_000, dict(seconds)),
        Result("store", 3, 1_000_000, dict(seconds), {"vector": "RuntimeError: no"}),
    ]


def test_table():
    assert [line.split() for line in structures.table(results())] == [
        ["store,", "GB/s"],
        ["bytes", CEILING, *WAYS],
        ["12", "24", "3", "6"],
        ["copy,", "GB/s"],
        ["bytes", CEILING, *WAYS],
        ["12", "24", "6", "12"],
        ["28", "56", "14", "28"],
    ]


@pytest.fixture
def run(monkeypatch, tmp_path):
    """Run the program on given results, behind which it is interrupted."""

    def run(given, *options):
        def measure(operation, words):
            if not given:
                raise KeyboardInterrupt
            return given.pop(0)

        monkeypatch.setattr(structures, "measure", measure)
        file = tmp_path / "structures.json"
        status = structures.main([*options, "--json", str(file)])
        return status, json.loads(file.read_text())

    monkeypatch.setattr(session, "require", lambda: None)
    monkeypatch.setattr(session, "describe", lambda command: {"command": command})
    return run


def test_results_are_written_and_failures_told(run, capsys):
    status, found = run(results(), "--words", "3", "7")
    assert status == 130
    assert " --words 3 7 --json " in found["machine"]["command"]
    assert [each["words"] for each in found["results"]] == [7, 3, 3]
    last = ["failed: store of 12 bytes: vector: RuntimeError: no", "not measured: 5"]
    assert found["table"][-2:] == last
    assert capsys.readouterr().out.splitlines()[-2:] == last
    one = ("--operation", "copy", "--words", "3")
    assert [run(results()[i:], *one)[0] for i in (1, 2)] == [0, 1]


def test_budget_is_kept(run):
    assert run(results(), "--budget", "0")[1]["table"] == ["not measured: 92"]
