"""JAX's transformations, compiled or not: what jax.numpy.transpose gives under each of them."""

import numpy as np
import pytest

import ttlg

from ..arrays import bits, random_array

jax = pytest.importorskip("jax")
jnp = jax.numpy

from .jax_arrays import AXES, SHAPE, by_jax, by_ttlg, floats
from .test_jax import check_same, random_jax


def loss(transpose):
    """Give a function to differentiate: of all elements, and no two alike."""
    return lambda x: jnp.sum(jnp.sin(transpose(x)) * jnp.arange(x.size).reshape(5, 3, 4))


TRANSFORMS = {
    "grad": lambda f: jax.grad(loss(f)),
    "value_and_grad": lambda f: jax.value_and_grad(loss(f)),
    "jvp": lambda f: lambda x: jax.jvp(f, (x,), (x + 1,)),
    "vjp": lambda f: lambda x: jax.vjp(f, x)[1](by_jax(x) + 1),
    "linearize": lambda f: lambda x: jax.linearize(f, x)[1](x + 1),
    "linear_transpose": lambda f: lambda x: jax.linear_transpose(f, x)(by_jax(x) + 1),
    "jacfwd": lambda f: lambda x: jax.jacfwd(f)(x[:2, :2]),
    "jacrev": lambda f: lambda x: jax.jacrev(f)(x[:2, :2]),
    "hessian": lambda f: lambda x: jax.hessian(lambda y: jnp.sum(f(y) ** 3))(x[:2, :2]),
    "checkpoint": lambda f: jax.grad(loss(jax.checkpoint(f))),
    "scan": lambda f: lambda x: jax.lax.scan(lambda c, y: (f(y) + c.sum(), f(c)), x, x[None] + 1),
    "scan backwards": lambda f: jax.grad(
        lambda x: jax.lax.scan(lambda c, _: (f(f(f(jnp.sin(c)))), None), x, length=3)[0].sum()
    ),
    "cond": lambda f: lambda x: jax.lax.cond(x.sum() > 0, f, lambda y: f(y + 1), x),
    "map": lambda f: lambda x: jax.lax.map(f, jnp.stack([x, x + 1])),
    "vmap": lambda f: lambda x: jax.vmap(f)(jnp.stack([x, x + 1])),
    "vmap of grad": lambda f: lambda x: jax.vmap(jax.grad(loss(f)))(jnp.stack([x, x + 1])),
    "vmap of jit": lambda f: lambda x: jax.vmap(jax.jit(jax.grad(loss(f))))(jnp.stack([x, x + 1])),
    "grad of vmap": lambda f: jax.grad(lambda x: jax.vmap(f)(jnp.stack([x, x**2])).sum()),
    "vmap of vmap": lambda f: (
        lambda x: jax.vmap(jax.vmap(f, 1, 2), 0, 3)(jnp.arange(120.0).reshape(2, 5, 3, 2, 2))
    ),
}


@pytest.mark.parametrize("compiled", [False, True], ids=["eager", "jit"])
@pytest.mark.parametrize("name", TRANSFORMS)
def test_transform(name, compiled):
    x = floats((3, 3, 3) if name.startswith("scan") else SHAPE)
    wrap = jax.jit if compiled else lambda f: f
    expected = wrap(TRANSFORMS[name](by_jax))(x)
    transformed = TRANSFORMS[name](by_ttlg)
    assert "ttlg_transpose" in str(jax.make_jaxpr(transformed)(x))
    got = wrap(transformed)(x)
    assert jax.tree.structure(got) == jax.tree.structure(expected)
    for a, b in zip(jax.tree.leaves(got), jax.tree.leaves(expected), strict=True):
        assert a.shape == b.shape
        np.testing.assert_allclose(a, b, rtol=1e-5)


@pytest.mark.parametrize("compiled", [False, True], ids=["eager", "jit"])
@pytest.mark.parametrize("out_axis", [0, 1, 2, 3, -1])
@pytest.mark.parametrize("in_axis", [0, 1, 2, 3, -1])
def test_every_batch_axis(in_axis, out_axis, compiled):
    x, _ = random_jax((2, 3, 4, 5), "uint16")
    wrap = jax.jit if compiled else lambda f: f
    check_same(
        wrap(jax.vmap(by_ttlg, in_axis, out_axis))(x), jax.vmap(by_jax, in_axis, out_axis)(x)
    )


def test_unbatched_argument():
    x = floats()
    batched = jax.vmap(lambda x, n: by_ttlg(x) + n, in_axes=(None, 0))
    check_same(
        jax.jit(batched)(x, jnp.arange(3.0)), by_jax(x) + jnp.arange(3.0).reshape(3, 1, 1, 1)
    )


def test_integers_have_no_gradient():
    x = jnp.arange(60).reshape(SHAPE)
    zeros = np.zeros(SHAPE, jax.dtypes.float0)
    primal, tangent = jax.jvp(by_ttlg, (x,), (zeros,))
    check_same(primal, by_jax(x))
    assert tangent.dtype == jax.dtypes.float0
    assert tangent.shape == (5, 3, 4)


def test_64_bit_arrays_where_jax_makes_none():
    with jax.enable_x64(True):
        x, array = random_jax(SHAPE, "float64")
    assert bits(np.asarray(jax.vmap(ttlg.transpose)(x))) == bits(array.transpose(0, 2, 1))


def test_numpy_arguments():
    x = random_array(SHAPE, "f4")
    for transform in (jax.vmap, lambda f: lambda x: jax.jvp(f, (x,), (x,)), jax.jit):
        check_same(transform(ttlg.transpose)(x), transform(jnp.transpose)(x))


# Programs that are not run here


def test_make_jaxpr():
    (equation,) = jax.make_jaxpr(by_ttlg)(floats()).eqns
    assert equation.primitive.name == "ttlg_transpose"
    assert equation.params == {"axes": AXES, "threads": None}
    (equation,) = jax.make_jaxpr(jax.vmap(by_ttlg, 1))(floats((3, 2, 4, 5))).eqns
    assert equation.params["axes"] == (1, 3, 0, 2)


def test_eval_shape():
    x = jax.ShapeDtypeStruct((10**6, 10**6, 5), jnp.bfloat16)  # too large to make
    result = jax.eval_shape(by_ttlg, x)
    assert (result.shape, result.dtype) == ((5, 10**6, 10**6), jnp.bfloat16)


def test_weak_types_stay_weak():
    assert jax.eval_shape(lambda: by_ttlg(jnp.broadcast_to(2.0, SHAPE))).weak_type


# What is refused


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        ({"threads": 0}, ValueError, "threads must be from 1 to 1024, not 0"),
        ({"threads": "2"}, TypeError, "threads must be an integer"),
        ({"stream": 1}, ValueError, "x is being traced by JAX.*leave stream= out"),
        ({"out": np.ones((3, 2), "f4")}, TypeError, "x is being traced by JAX.*without out="),
    ],
)
def test_arguments_are_checked_while_tracing(arguments, error, message):
    with pytest.raises(error, match=message):
        jax.jit(lambda x: ttlg.transpose(x, **arguments))(jnp.ones((2, 3)))


def test_plans_and_results_need_memory():
    x = np.ones((2, 3), "f4")
    with pytest.raises(TypeError, match=r"x is being traced by JAX.*without a plan"):
        jax.jit(lambda x: ttlg.plan((2, 3))(x))(x)
    with pytest.raises(TypeError, match=r"out is being traced by JAX"):
        jax.jit(lambda out: ttlg.transpose(x, out=out))(x.T)


def test_an_old_jax_is_refused(monkeypatch):
    monkeypatch.setattr(jax, "__version__", "0.7.2")
    monkeypatch.setattr(jax, "__version_info__", (0, 7, 2))
    with pytest.raises(TypeError, match=r"JAX 0\.7\.2.*0\.8 or newer.*jax\.numpy\.transpose"):
        jax.jit(ttlg.transpose)(jnp.ones((2, 3)))
