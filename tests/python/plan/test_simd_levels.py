"""SIMD levels: which there are, how TTLG_SIMD_LEVEL caps them, and the same bits at each."""

import platform

import pytest

import ttlg
from ttlg._machine.processor import machine_facts

CPU = ttlg.show_config()["cpu"]

BATTERY = """
    import itertools
    import numpy as np
    import ttlg

    def check(shape, axes, itemsize, **options):
        count = int(np.prod(shape)) * itemsize
        raw = np.random.default_rng(0).integers(0, 256, count, np.uint8)
        x = np.ndarray(shape, f"V{itemsize}", raw)
        assert ttlg.transpose(x, axes, **options).tobytes() == x.transpose(axes).tobytes(), (
            shape, axes, itemsize)

    random = np.random.default_rng(1)
    for itemsize in (1, 2, 3, 4, 5, 6, 7, 8, 12, 16, 24, 100):
        for shape in ((33, 18), (64, 64), (100, 3), (3, 100), (1, 7), (5, 17, 19), (16, 3, 9)):
            for axes in itertools.permutations(range(len(shape))):
                check(shape, axes, itemsize)
        for shape in ((2,) * 8, (4, 3, 5, 2, 3), (7, 8, 8, 3)):
            for _ in range(20):
                check(shape, tuple(random.permutation(len(shape))), itemsize)
        check((1200, 701), (1, 0), itemsize, threads=2)
    print(ttlg.show_config()["cpu"]["simd_used"])
"""

ASK = 'import ttlg; print(ttlg.show_config()["cpu"]["simd_used"])'


def test_the_levels_found_are_the_first_of_those_built():
    built, found = CPU["simd_built"], CPU["simd_found"]
    assert found
    assert built[: len(found)] == found
    assert CPU["simd_used"] in found
    first = {"x86_64": "sse2", "aarch64": "neon"}.get(platform.machine(), "portable")
    assert built[0] == first


def test_the_levels_found_are_the_processors():
    if platform.machine() != "x86_64":
        pytest.skip("one level on this architecture")
    with open("/proc/cpuinfo") as lines:
        flags = next(line for line in lines if line.startswith("flags")).split()
    needs = {"sse2": ["sse2"], "ssse3": ["ssse3"], "avx2": ["avx2"]}
    needs["avx512"] = ["avx512f", "avx512bw", "avx512dq", "avx512vl"]
    assert set(CPU["simd_built"]) == set(needs)
    for level, wanted in needs.items():
        assert (level in CPU["simd_found"]) == set(wanted).issubset(flags), level


def test_only_a_zen_5_and_later_ones_prefetch_into_l1():
    facts = machine_facts()
    into_l1 = facts["vendor"] == "AuthenticAMD" and facts["family"] > 0x19
    assert CPU["prefetch_into"] == ("L1" if into_l1 else "L2")


@pytest.mark.parametrize("level", CPU["simd_found"])
def test_every_level_moves_the_same_bits(run_python, level):
    result = run_python(BATTERY, TTLG_SIMD_LEVEL=level, OMP_WAIT_POLICY="passive")
    assert result.stdout == f"{level}\n", result.stderr[-2000:]


def test_the_best_level_is_the_default(run_python):
    assert run_python(ASK).stdout == f"{CPU['simd_found'][-1]}\n"


@pytest.mark.parametrize("level", CPU["simd_built"])
def test_the_setting_is_a_cap(run_python, level):
    wanted = level if level in CPU["simd_found"] else CPU["simd_found"][-1]
    assert run_python(ASK, TTLG_SIMD_LEVEL=level).stdout == f"{wanted}\n"


@pytest.mark.parametrize("value", ["nope", "AVX2", "avx", "0"])
@pytest.mark.parametrize(
    "use", ["ttlg.transpose(np.zeros((3, 4)))", "ttlg.plan((3, 4))", "ttlg.show_config()"]
)
def test_an_unknown_level_is_told_at_the_first_use(run_python, value, use):
    script = f"""
        import numpy as np
        import ttlg
        print(ttlg.__version__, ttlg.get_num_threads() > 0)
        for _ in range(2):
            try:
                {use}
            except ValueError as error:
                print(error)
    """
    result = run_python(script, TTLG_SIMD_LEVEL=value)
    first, *errors = result.stdout.splitlines()
    assert first == f"{ttlg.__version__} True", result.stderr
    assert len(errors) == 2
    for error in errors:
        assert f"TTLG_SIMD_LEVEL={value} is no SIMD level of this build" in error
        assert ", ".join(CPU["simd_built"]) in error
