"""What can be tested without a GPU of when converting storage pays."""

import json
import math
import sys
import types

import pytest

torch = pytest.importorskip("torch")

import ttlg
from ttlg.benchmarks.gpu import conversion, session, structures
from ttlg.benchmarks.gpu.conversion import CONVERSIONS, Result

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


def test_accesses_after_which_it_pays():
    result = Result(7, 1000, SECONDS)
    # 40 accesses of 20 microseconds less pay for 800, and 2.67 of 300.
    assert result.accesses("update", "coalesced") == pytest.approx(40)
    assert result.accesses("update", "direct") == pytest.approx(8 / 3)
    for number, pays in ((39, False), (41, True)):
        converting = 8e-4 + number * 1e-4
        assert (converting < number * 1.2e-4) == pays
    assert result.accesses("sum", "direct") == result.accesses("sum", "coalesced") == math.inf
    equal = Result(7, 1000, {**SECONDS, "sum-direct": 3e-4})
    assert equal.accesses("sum", "direct") == math.inf


@pytest.mark.parametrize("missing", ["to-structures", "update-fields", "update-direct"])
def test_what_was_not_measured_is_unknown(missing):
    seconds = {name: each for name, each in SECONDS.items() if name != missing}
    assert math.isnan(Result(7, 1000, seconds).accesses("update", "direct"))


def test_table():
    partly = Result(3, 1000, {name: SECONDS[name] for name in ("to-fields", "sum-fields")})
    lines = [line.split() for line in conversion.table([Result(7, 1000, SECONDS), partly])]
    assert lines[1][:4] == ["bytes", *CONVERSIONS, "update-direct"]
    assert lines[2] == ["12", "300"]
    assert lines[3] == ["28", "300", "500", "400", "120", "100", "2.67", "40"]
    assert lines[6] == ["12", "300", "300"]
    assert lines[7] == ["28", "300", "500", "200", "100", "300", "never", "never"]
    assert conversion.table([]) == []


def test_the_kernels_compile(nvrtc):
    names = [name for words in (4, 7) for name in conversion.kernels(words).values()]
    assert names[:3] == ["update<Direct, 4, 16>", "update<Shuffles, 4, 16>", "update<Fields, 4, 4>"]
    assert conversion.kernels(7)["sum", "direct"] == "sum<Direct, 7, 4>"
    ptx, log = nvrtc.compile(structures.SOURCE.read_text(), *structures.OPTIONS, kernels=names)
    assert (log, ptx.count(".entry")) == ("", len(names))


class FakeCupy(types.ModuleType):
    """Kernels that do on the host what they ought to, except for those that are wrong."""

    int32 = int

    def __init__(self, wrong):
        super().__init__("cupy")
        self.wrong = wrong
        self.from_dlpack = lambda x: x

    def RawModule(self, code, options, name_expressions):  # noqa: N802
        def get_function(name):
            assert name in name_expressions

            def launch(grid, block, arguments):
                x, y, at, _ = arguments
                if name.startswith("update"):
                    y += 1
                else:
                    assert x.shape == (X.shape[::-1] if "Fields" in name else X.shape)
                    rows = x.t() if "Fields" in name else x
                    y.copy_(rows[at.long()].sum(1))
                if name in self.wrong:
                    y.view(-1)[-1] += 1

            return launch

        return types.SimpleNamespace(get_function=get_function)


@pytest.fixture
def on_the_host(monkeypatch):
    def install(wrong=()):
        monkeypatch.setitem(sys.modules, "cupy", FakeCupy(wrong))

    monkeypatch.setattr(torch.cuda, "synchronize", lambda: None)
    monkeypatch.setattr(
        ttlg, "plan", lambda *args, device, **more: plan_for(*args, device="cpu", **more)
    )
    install()
    return install


def test_accesses_are_verified(on_the_host):
    wrong = [conversion.kernels(7)[key] for key in (("update", "coalesced"), ("sum", "fields"))]
    on_the_host(wrong)
    failures = {}
    found = list(conversion._accesses(X, AT, failures))
    right = ["update-direct", "update-fields", "sum-direct", "sum-coalesced"]
    assert [each.name for each in found] == right
    assert failures == {
        name: f"WrongResultError: {name} gave a wrong result"
        for name in ("update-coalesced", "sum-fields")
    }


def test_conversions_are_in_place_and_verified(on_the_host, monkeypatch):
    failures = {}
    found = list(conversion._conversions(X, failures))
    assert [each.name for each in found] == list(CONVERSIONS)
    for each in found * 3:
        each.call(0)
    assert failures == {}

    def plan(shape, axes, dtype, device, inplace):
        assert inplace
        if shape == (7, 1000):
            return lambda x: None
        return plan_for(shape, axes, dtype, inplace=True)

    monkeypatch.setattr(ttlg, "plan", plan)
    assert [each.name for each in conversion._conversions(X, failures)] == ["to-fields"]
    assert failures == {"to-structures": "WrongResultError: to-structures gave a wrong result"}


def test_the_program(monkeypatch, tmp_path, capsys):
    monkeypatch.setattr(session, "require", lambda: None)
    monkeypatch.setattr(session, "describe", lambda command: {"command": command})
    failures = {"sum-direct": "RuntimeError: no"}
    measured = []

    def measure(words):
        measured.append(words)
        return Result(words, 1000, SECONDS, failures if words == 7 else {})

    monkeypatch.setattr(conversion, "measure", measure)
    file = tmp_path / "conversion.json"
    assert conversion.main(["--json", str(file), "--words", "3", "7", "31"]) == 1
    assert sorted(measured) == [3, 7, 31]
    found = json.loads(file.read_text())
    assert {each["words"] for each in found["results"]} == {3, 7, 31}
    assert found["table"][-1] == "failed: 28 bytes: sum-direct: RuntimeError: no"
    assert capsys.readouterr().out.splitlines()[-1] == found["table"][-1]
    assert conversion.main(["--words", "3", "--budget", "0"]) == 0
    assert "not measured: 1" in capsys.readouterr().out
