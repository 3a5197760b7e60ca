"""Paths through networks by predicted time: opt_einsum's and cotengra's searches, and their results."""

import pickle

import numpy as np
import opt_einsum
import pytest

import ttlg
from ttlg._contract.nodes import NodeCosts, node_costs
from ttlg.opt_einsum import TimeOptimizer

FLOPS = 2e10


def ring(bonds, extent):
    """Return an equation of tensors in a ring, each with an open index, and arrays for it."""
    inner = "".join(opt_einsum.get_symbol(number) for number in range(bonds))
    outer = "".join(opt_einsum.get_symbol(bonds + number) for number in range(bonds))
    terms = [inner[i - 1] + outer[i] + inner[i] for i in range(bonds)]
    generator = np.random.default_rng(0)
    arrays = [generator.random((extent, 3, extent)) for _ in terms]
    return ",".join(terms) + "->" + outer, arrays


@pytest.fixture
def nodes():
    return node_costs("float64", "cpu", 1, FLOPS)


def test_what_lies_right_is_not_moved(nodes):
    sizes = dict(zip("abcd", (40, 50, 60, 70), strict=True))
    assert nodes.seconds("abc", "dc", "abd", sizes) == nodes.seconds("abc", "cd", "abd", sizes) > 0


def test_a_transposition_counts(nodes):
    sizes = dict.fromkeys("abcdef", 24)
    together = nodes.seconds("abcd", "cdef", "abef", sizes)
    apart = nodes.seconds("cabd", "cdef", "abef", sizes)
    moving = ttlg.predict_time((24, 576, 24), (1, 0, 2), "float64", threads=1, output="warm")
    assert together < apart
    assert apart == pytest.approx(together + moving)


def test_extents_of_one_cost_nothing(nodes):
    sizes = {"a": 40, "b": 1, "c": 60, "d": 70}
    assert nodes.seconds("cba", "cd", "abd", sizes) == nodes.seconds("ca", "cd", "ad", sizes)


def test_tensors_that_fit_into_no_memory_have_a_time(nodes):
    sizes = dict.fromkeys("abcde", 2**14)
    apart = nodes.seconds("abcde", "bd", "ace", sizes)
    assert apart > nodes.seconds("abcd", "bd", "ac", sizes) > 1e6


def test_the_node_costs_are_kept():
    first = node_costs("float64", "cpu", 1, FLOPS)
    assert isinstance(first, NodeCosts)
    assert node_costs("float64", "cpu", 1, FLOPS) is first
    ttlg.cache_clear()
    assert node_costs("float64", "cpu", 1, FLOPS) is not first


@pytest.mark.parametrize("bonds", [3, 6])
def test_opt_einsum_takes_the_search(bonds):
    equation, arrays = ring(bonds, 5)
    search = TimeOptimizer(flops=FLOPS, max_repeats=8)
    expected = np.einsum(equation, *arrays, optimize=True)
    assert np.allclose(opt_einsum.contract(equation, *arrays, optimize=search), expected)
    assert np.allclose(ttlg.einsum(equation, *arrays, optimize=search), expected)


def test_the_search_finds_no_slower_path_than_its_first():
    equation, arrays = ring(7, 6)
    shapes = [x.shape for x in arrays]
    seconds = []
    for repeats in (1, 32):
        search = TimeOptimizer(flops=FLOPS, max_repeats=repeats)
        opt_einsum.contract_path(equation, *shapes, shapes=True, optimize=search)
        seconds.append(search.best["flops"])  # in whose place the seconds are
    assert 0 < seconds[1] <= seconds[0] < 1


class TestCotengra:
    """With the smallest networks that its optimizers do something to."""

    @pytest.fixture(autouse=True)
    def cotengra(self):
        return pytest.importorskip("cotengra", minversion="0.7")

    @pytest.fixture
    def network(self, cotengra):
        inputs, output, _, sizes = cotengra.utils.rand_equation(14, 3, n_out=2, seed=3, d_max=4)
        return inputs, output, sizes

    @pytest.fixture
    def objective(self):
        from ttlg.cotengra import TimeObjective

        return TimeObjective(threads=1, flops=FLOPS)

    @pytest.mark.parametrize(
        "options",
        [
            {},
            {"reconf_opts": {}},
            {"slicing_opts": {"target_size": 2**4}},
            {"slicing_reconf_opts": {"target_size": 2**4}},
            {"simulated_annealing_opts": {"tsteps": 2, "numiter": 2}},
        ],
        ids=lambda options: next(iter(options), "plain"),
    )
    def test_optimizers(self, cotengra, network, objective, options):
        search = cotengra.HyperOptimizer(
            minimize=objective,
            methods=["greedy"],
            max_repeats=4,
            parallel=False,
            optlib="random",
            **options,
        )
        tree = cotengra.array_contract_tree(*network, optimize=search)
        inputs, _, sizes = network
        arrays = cotengra.utils.make_arrays_from_inputs(inputs, sizes)
        found = tree.contract(arrays, implementation=(ttlg.einsum, ttlg.tensordot))
        assert np.allclose(found, tree.contract(arrays))
        assert (tree.multiplicity > 1) == any("slicing" in name for name in options)

    def test_the_score_is_the_time_of_all_slices(self, cotengra, network, objective):
        tree = cotengra.array_contract_tree(*network, optimize="greedy")
        whole = objective({"tree": tree})
        nodes = [objective.cost_local_tree_node(tree, node) for node in tree.children]
        seconds = sum(nodes) * objective._nodes.multiplication
        assert whole == pytest.approx(np.log2(1 + 1e9 * seconds))
        sliced = tree.slice(target_slices=4)
        assert sliced.multiplicity >= 4
        assert objective({"tree": sliced}) > 0

    def test_scores_are_real_and_grow(self, objective):
        few = objective.score_local(flops=[100, 200], size=[10])
        many = objective.score_local(flops=10**9, size=10**6)
        assert 0 <= few < many

    def test_it_can_be_sent_and_compared_by_its_text(self, objective):
        again = pickle.loads(pickle.dumps(objective))
        assert hash(again) == hash(objective)
        assert repr(again) == repr(objective)

    def test_the_factor_is_what_cotengra_reads(self, cotengra, network, objective):
        from ttlg.cotengra import combo_factor

        factor = combo_factor("float64", threads=1, flops=FLOPS)
        assert objective.get_dynamic_programming_minimize() == f"combo-{factor}"
        slower = combo_factor("float64", threads=1, flops=FLOPS / 10)
        assert factor >= slower >= 1
        search = cotengra.HyperOptimizer(
            minimize=f"combo-{factor}",
            methods=["greedy"],
            max_repeats=2,
            parallel=False,
            optlib="random",
        )
        assert cotengra.array_contract_tree(*network, optimize=search).is_complete()
