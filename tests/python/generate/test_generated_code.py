"""Generated functions, compiled for every instruction set and run, permute every byte."""

import itertools
import random
import re
import subprocess

import pytest

from ttlg import _core

from .compiled import Case, compile_program, compiler, is_arm, runner, source

GENTT_SHAPES = (
    (2,) * 6,
    (2,) * 10,
    (8, 32, 32, 4),
    (4, 4, 8, 8, 4, 4),
    (7, 32, 32, 3),
    (5, 3, 7, 8, 4, 4),
)

# Where AVX-512 stores parts of registers that do not begin at their first lane, and where an
# instruction that extracted such a part would reach behind the last array.
MASKED = (
    Case((6, 9), (1, 0), 3),
    Case((8, 5, 6, 5, 7), (4, 0, 2, 1, 3), 1),
    Case((3, 3, 3, 48), (3, 2, 1, 0), 8),
)


def random_case(generator):
    """Draw a case of rank 2 to 16: identities, reversals and mixed maps."""
    rank = generator.randint(2, 16)
    pool = generator.choice(
        ((2,), (2, 4, 8), (1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 17), (3, 5, 7), (2, 3, 4), (16, 33, 5, 2))
    )
    shape, elements = [], 1
    for _ in range(rank):
        extent = generator.choice(pool)
        shape.append(extent if elements * extent <= 60_000 else 1)
        elements *= shape[-1]
    axes = list(range(rank))
    if generator.random() < 0.2:
        axes.reverse()
    elif generator.random() < 0.95:
        generator.shuffle(axes)
    itemsize = generator.choice((1, 2, 3, 4, 4, 6, 8, 8, 12, 16))
    return Case(tuple(shape), tuple(axes), itemsize, generator.randint(1, 3))


def special_cases():
    yield Case((), (), 4)
    yield Case((1, 1), (1, 0), 2)
    yield Case((5, 0, 3), (2, 0, 1), 4)
    yield Case((7,), (0,), 1)
    yield Case((3, 5), (1, 0), 1000)
    yield Case((2,) * 20, tuple(range(19, -1, -1)), 1)
    yield Case((1,) * 60 + (5, 7, 1, 9), tuple(range(63, -1, -1)), 2)
    yield from MASKED
    for shape in GENTT_SHAPES:
        yield Case(shape, tuple(reversed(range(len(shape)))), 4)
    for channels, itemsize in itertools.product((2, 3, 4), (1, 2, 4, 8)):
        yield Case((100, channels), (1, 0), itemsize)
        yield Case((channels, 100), (1, 0), itemsize)


def skip_unless_runs(isa):
    if runner(isa) is None or compiler(isa) is None:
        pytest.skip(f"nothing here compiles and runs {isa}")


def check(cases, isa, directory, *flags, compiler_name="g++"):
    """Compile and run the functions of all cases."""
    path = compiler(isa, compiler_name)
    program = compile_program(source(cases, isa), isa, directory, path, *flags)
    run = subprocess.run([*runner(isa), program], check=False, capture_output=True, text=True)
    wrong = [cases[int(number)] for number in re.findall(r"wrong: case (\d+)", run.stdout)]
    assert not wrong
    assert run.returncode == 0, run.stderr
    assert f"{len(cases)} cases, 0 wrong" in run.stdout


@pytest.mark.parametrize(
    "isa",
    [
        isa if isa == _core.isa_in_use() else pytest.param(isa, marks=pytest.mark.rotating)
        for isa in _core.isas()
    ],
)
def test_functions_permute(isa, tmp_path):
    skip_unless_runs(isa)
    generator = random.Random(isa)
    check([*special_cases(), *(random_case(generator) for _ in range(130))], isa, tmp_path, "-O1")


@pytest.mark.rotating
@pytest.mark.parametrize("isa", [isa for isa in _core.isas() if not is_arm(isa)])
def test_functions_are_free_of_undefined_behaviour(isa, tmp_path):
    skip_unless_runs(isa)
    generator = random.Random(f"{isa}, edges")
    cases = [random_case(generator) for _ in range(30)]
    flags = ("-O1", "-fsanitize=address,undefined", "-fno-sanitize-recover=all")
    check(cases, isa, tmp_path, *flags)


@pytest.mark.rotating
@pytest.mark.parametrize("isa", [isa for isa in _core.isas() if not is_arm(isa)])
def test_clang_takes_them(isa, tmp_path):
    if compiler(isa, "clang++") is None or runner(isa) is None:
        pytest.skip("no Clang here")
    generator = random.Random(f"{isa}, clang")
    cases = [*special_cases(), *(random_case(generator) for _ in range(20))]
    check(cases, isa, tmp_path, "-O1", compiler_name="clang++")
