"""ttlg.transform of arrays that JAX traces, beside eager calls and JAX's own expressions."""

import numpy as np
import pytest

import ttlg
import ttlg.images

from . import oracle

jax = pytest.importorskip("jax")
jnp = jax.numpy

AXES = (2, 0, 1)
SHAPE = (3, 4, 5)
SCALE = {axis: np.linspace(-2, 1.5, SHAPE[axis]) for axis in range(3)}
OFFSET = {axis: np.linspace(0.25, 3, SHAPE[axis]) for axis in range(3)}


def random_array(dtype, shape=SHAPE):
    """Return elements of which some lie beyond the range of small types."""
    random = np.random.default_rng(3)
    dtype = oracle.dtype_of(dtype)
    if dtype.kind == "c":
        return (random.normal(size=shape) + 1j * random.normal(size=shape)).astype(dtype)
    if oracle.is_integral(dtype):
        limits = np.iinfo(dtype)
        return random.integers(limits.min, limits.max, shape, dtype, endpoint=True)
    return (100 * random.normal(size=shape)).astype(dtype)


def jax_array(dtype, shape=SHAPE):
    with jax.enable_x64(True):
        return jnp.asarray(random_array(dtype, shape))


def operations_of(function, *arguments):
    """Return the operations of the compiled program, as text."""
    return jax.jit(function).lower(*arguments).compile().as_text().partition("ENTRY")[2]


def assert_bits(actual, expected):
    assert (actual.dtype, actual.shape) == (expected.dtype, expected.shape)
    assert np.asarray(actual).tobytes() == np.asarray(expected).tobytes()


# Compiled programs, which call ttlg

CASES = [
    *[("uint8", {"dtype": "float32", "axis": axis}) for axis in (0, 1, 2)],
    ("uint8", {"dtype": "float16", "scale": 1 / 3}),
    ("uint8", {"dtype": "float32", "axis": 1, "scale": 0.5}),
    ("uint8", {"dtype": "float32", "axis": 1, "offset": None}),
    ("uint8", {"dtype": "float32", "axis": 1, "scale": None}),
    ("float32", {"dtype": "uint8"}),
    ("float32", {"dtype": "uint8", "saturate": False}),
    ("float32", {"dtype": "bfloat16", "scale": 1.1, "offset": 0.1}),
    ("float32", {"dtype": "float8_e4m3fn"}),
    ("float32", {"dtype": "bool"}),
    ("float32", {"dtype": "float64", "axis": 2}),
    ("float32", {"dtype": "complex64"}),
    ("int32", {"dtype": "int8"}),
    ("int32", {"dtype": "int8", "saturate": False}),
    ("int32", {"dtype": "uint16", "scale": 1e-5, "offset": 7}),
    ("int64", {"dtype": "uint32", "saturate": False}),
    ("float64", {"dtype": "int64", "scale": 1e17}),
    ("float64", {"dtype": "float32", "scale": 1 / 3}),
    ("complex64", {"conj": True}),
    ("complex64", {"conj": True, "scale": 2 - 3j, "offset": 1j}),
    ("complex64", {"scale": np.exp(1j * np.arange(4)), "offset": 1.5, "axis": -2}),
    ("complex64", {"dtype": "float32", "scale": 3}),
    ("complex64", {"dtype": "complex128", "axis": 0}),
]


def completed(options):
    """Add vectors along an axis to options that have none of their own."""
    axis = options.get("axis")
    return (
        options if axis not in SCALE else {"scale": SCALE[axis], "offset": OFFSET[axis]} | options
    )


@pytest.mark.parametrize(("source", "options"), CASES, ids=str)
def test_compiled_programs_compute_as_eager_calls(source, options):
    x, options = jax_array(source), completed(options)

    def convert(x):
        return ttlg.transform(x, AXES, **options)

    eager = convert(x)
    assert_bits(jax.jit(convert)(x), eager)
    assert "ttlg_transform" in operations_of(convert, x)
    with jax.enable_x64(source in ("int64", "float64")):
        exported = jax.export.export(jax.jit(convert))(x)
        left_to_xla = exported.call(x)
    assert "@ttlg" not in exported.mlir_module()
    assert (left_to_xla.dtype, left_to_xla.shape) == (eager.dtype, eager.shape)
    # XLA may fuse a product and a sum.
    is_exact = oracle.is_integral(np.dtype(eager.dtype))
    tolerance = 0 if is_exact else 4 * float(jnp.finfo(eager.dtype).eps)
    wide = "c16" if eager.dtype.kind == "c" else "f8"
    got, wanted = (np.asarray(each).astype(wide) for each in (left_to_xla, eager))
    np.testing.assert_allclose(got, wanted, rtol=tolerance)


@pytest.mark.parametrize("saturate", [True, False])
@pytest.mark.parametrize("target", ["int8", "int32", "uint32", "int64", "bool"])
def test_xla_rounds_to_integers_as_ttlg_does(target, saturate):
    values = np.array(
        [
            *[0.5, 1.5, -0.5, -2.5, 127.5, 300.7, -129, 2.0**31, 2.0**40 + 7, 2.0**63, -(2.0**70)],
            *[np.inf, -np.inf, np.nan, -0.0, 4.3e9, -4.3e9],
        ]
    )
    options = {"dtype": target, "saturate": saturate}
    for dtype in ("f4", "f8"):
        x = values.astype(dtype)
        struct = jax.ShapeDtypeStruct(x.shape, dtype)
        program = jax.jit(lambda x: ttlg.transform(x, **options))
        with jax.enable_x64(True):
            result = jax.export.export(program)(struct).call(x)
        assert_bits(result, ttlg.transform(x, **options))


@pytest.mark.parametrize("threads", [1, 2, 7])
def test_threads(threads):
    x = jax_array("uint8", (300, 20, 400))
    compiled = jax.jit(lambda x: ttlg.transform(x, AXES, dtype="float32", threads=threads))
    ttlg.cache_clear()
    result = compiled(x)
    # The program used the plan for this number, and leaves it to the eager call.
    assert ttlg.cache_info()[:2] == (0, 1)
    assert_bits(result, ttlg.transform(x, AXES, dtype="float32", threads=threads))


@pytest.mark.parametrize("shape", [(), (0, 4), (4, 0), (1, 1, 1)])
def test_small_arrays(shape):
    x = jax_array("float32", shape)
    options = {"dtype": "float16", "scale": 3}
    if shape:
        options |= {"scale": np.ones(shape[-1]), "axis": -1}
    assert_bits(jax.jit(lambda x: ttlg.transform(x, **options))(x), ttlg.transform(x, **options))


def test_64_bit_types_in_either_mode():
    with jax.enable_x64(True):
        x = jax_array("float64")
        result = jax.jit(lambda x: ttlg.transform(x, scale=1 / 3))(x)
    assert_bits(result, ttlg.transform(x, scale=1 / 3))


def test_symbolic_shapes_are_exported():
    options = {"dtype": "float32", "scale": SCALE[2], "offset": OFFSET[2], "axis": 2}
    program = jax.jit(lambda x: ttlg.transform(x, AXES, **options))
    symbols = jax.export.symbolic_shape("a, b, 5")
    exported = jax.export.export(program)(jax.ShapeDtypeStruct(symbols, "uint8"))
    x = jax_array("uint8")
    np.testing.assert_allclose(exported.call(x), ttlg.transform(x, AXES, **options), rtol=1e-5)


def test_programs_for_a_gpu_use_xla():
    traced = jax.jit(lambda x: ttlg.transform(x, dtype="float16")).trace(jax_array("float32"))
    lowered = traced.lower(lowering_platforms=("cuda",)).as_text()
    assert "stablehlo.transpose" in lowered
    assert "@ttlg" not in lowered


def test_several_devices(run_python):
    run_python(
        """
        import jax, numpy as np, ttlg
        from jax.sharding import NamedSharding, PartitionSpec as P

        array = np.arange(96, dtype=np.uint8).reshape(16, 6)
        mesh = jax.make_mesh((2,), ("rows",), axis_types=(jax.sharding.AxisType.Auto,))
        x = jax.device_put(array, NamedSharding(mesh, P("rows")))
        convert = lambda x: ttlg.transform(x, dtype="float32", scale=np.arange(16), axis=0)
        expected = array.T * np.arange(16, dtype=np.float32)
        compiled = jax.jit(convert)
        result = compiled(x)
        assert result.sharding.spec == P(None, "rows")
        assert (np.asarray(result) == expected).all()
        assert "all-gather" not in compiled.lower(x).compile().as_text()
        assert (np.asarray(jax.vmap(ttlg.transform, 1)(x)) == array.T).all()
        rows = lambda x: ttlg.transform(x, dtype="float32", scale=np.arange(6), axis=0)
        expected = array * np.arange(6, dtype=np.float32)
        assert (np.asarray(jax.vmap(rows)(x)) == expected).all()
        """,
        XLA_FLAGS="--xla_force_host_platform_device_count=2",
    )


# Derivatives and batches


def by_jax(x, dtype=None, scale=None, offset=None, axis=None, conj=False):
    """Compute what ttlg.transform does, by what JAX differentiates itself."""
    for name, value in (("scale", scale), ("offset", offset)):
        if value is None:
            continue
        value = jnp.asarray(value)
        if value.ndim:
            value = jnp.expand_dims(value, [each for each in range(x.ndim) if each != axis])
        x = (x.conj() if conj else x) * value if name == "scale" else x + value
    result = x.transpose(AXES)
    if dtype is not None and jnp.iscomplexobj(x) and np.dtype(dtype).kind != "c":
        result = result.real
    return result if dtype is None else result.astype(dtype)


SMOOTH = {
    "plain": ("float32", {"scale": 2.5, "offset": 1}),
    **{
        f"axis {n}": ("float32", {"scale": SCALE[n], "offset": OFFSET[n], "axis": n}) for n in SCALE
    },
    "offset alone": ("float32", {"offset": OFFSET[1], "axis": 1}),
    "to float16": ("float32", {"dtype": "float16", "scale": SCALE[0], "axis": 0}),
    "complex": ("complex64", {"scale": SCALE[1] * (1 + 2j), "offset": 1j, "axis": 1}),
    "conjugates": ("complex64", {"scale": SCALE[2] * (1 - 1j), "conj": True, "axis": 2}),
    "to complex": ("float32", {"dtype": "complex64", "scale": SCALE[2], "axis": 2}),
    "to real": ("complex64", {"dtype": "float32", "scale": -2, "offset": 3}),
}


def both(options):
    return (lambda x: ttlg.transform(x, AXES, **options)), (lambda x: by_jax(x, **options))


def loss(function):
    """Give a function to differentiate: of all elements, and no two alike."""
    weights = jnp.arange(60.0).reshape(5, 3, 4) / 7
    return lambda x: jnp.sum(jnp.sin(jnp.abs(function(x / 100)) ** 2 / 9) * weights)


TRANSFORMS = {
    "value": lambda f: f,
    "grad": lambda f: jax.grad(loss(f)),
    "jvp": lambda f: lambda x: jax.jvp(f, (x,), (x + 1,)),
    "vjp": lambda f: lambda x: jax.vjp(f, x)[1](f(x) + 1),
    "hessian": lambda f: lambda x: jax.jvp(jax.grad(loss(f)), (x,), (x + 1,))[1],
    "vmap": lambda f: lambda x: jax.vmap(f)(jnp.stack([x, x + 1])),
    "vmap of grad": lambda f: lambda x: jax.vmap(jax.grad(loss(f)))(jnp.stack([x, x + 1])),
}


# Programs that take long to compile are made for few cases.
LONG = {"hessian": ("axis 0", "conjugates"), "vmap of grad": ("axis 1", "complex")}


@pytest.mark.parametrize(
    ("case", "name"),
    [(case, name) for case in SMOOTH for name in TRANSFORMS if case in LONG.get(name, SMOOTH)],
)
def test_transformations(case, name):
    source, options = SMOOTH[case]
    x, change = jax_array(source), TRANSFORMS[name]
    by_ttlg, expression = both(options)
    expected = jax.jit(change(expression))(x)
    # Without a compiler the operations of the loss take long.
    wraps = [jax.jit] if "grad" in name or name == "hessian" else [jax.jit, lambda f: f]
    for wrap in wraps:
        got = wrap(change(by_ttlg))(x)
        assert jax.tree.structure(got) == jax.tree.structure(expected)
        for a, b in zip(jax.tree.leaves(got), jax.tree.leaves(expected), strict=True):
            assert (a.dtype, a.shape) == (b.dtype, b.shape)
            largest = max(float(np.abs(b).max()), 1e-3)
            tolerance = 5e-3 if case == "to float16" else 1e-4
            np.testing.assert_allclose(a / largest, b / largest, atol=tolerance)


@pytest.mark.parametrize("compiled", [False, True], ids=["eager", "jit"])
@pytest.mark.parametrize("in_axis", [0, 1, 2, 3, -1])
def test_every_batch_axis(in_axis, compiled):
    x = jax_array("uint8", (2, 3, 4, 5))
    wrap = jax.jit if compiled else lambda f: f
    rest = np.delete(x.shape, in_axis)
    for axis, count in enumerate(rest):
        options = {"dtype": "float32", "scale": np.arange(1.0, count + 1), "offset": 0.5}

        def convert(x, options=options, axis=axis):
            return ttlg.transform(x, AXES, axis=axis, **options)

        expected = jnp.stack([convert(each) for each in jnp.moveaxis(x, in_axis, 0)], axis=1)
        assert_bits(wrap(jax.vmap(convert, in_axis, 1))(x), expected)


@pytest.mark.parametrize("target", ["uint8", "int32", "bool"])
def test_integers_have_no_tangents(target):
    def convert(x):
        return ttlg.transform(x, AXES, dtype=target)

    x = jax_array("float32")
    primal, tangent = jax.jvp(convert, (x,), (x,))
    assert_bits(primal, convert(x))
    assert (tangent.dtype, tangent.shape) == (jax.dtypes.float0, primal.shape)
    gradient = jax.grad(lambda x: convert(x).astype("float32").sum())(x)
    assert_bits(gradient, jnp.zeros_like(x))


def test_integers_that_become_real_have_none_either():
    x = jax_array("uint8")
    zeros = np.zeros(SHAPE, jax.dtypes.float0)
    _, tangent = jax.jvp(lambda x: ttlg.transform(x, AXES, dtype="float32"), (x,), (zeros,))
    assert_bits(tangent, jnp.zeros((5, 3, 4), "float32"))


def test_what_computes_nothing_is_a_transposition():
    (equation,) = jax.make_jaxpr(lambda x: ttlg.transform(x, AXES))(jax_array("float32")).eqns
    assert equation.primitive.name == "ttlg_transpose"
    # So is the tangent where there is an offset alone.
    tangent = jax.make_jaxpr(lambda x: jax.jvp(lambda x: ttlg.transform(x, offset=1), (x,), (x,)))
    names = [equation.primitive.name for equation in tangent(jax_array("float32")).eqns]
    assert names == ["ttlg_transform", "ttlg_transpose"]


def test_programs_of_other_numbers_are_others():
    x = jax_array("float32")
    inner = jax.jit(lambda x, scale: ttlg.transform(x, scale=scale), static_argnums=1)
    assert_bits(inner(x, 2.0), ttlg.transform(x, scale=2))
    assert_bits(inner(x, 3.0), ttlg.transform(x, scale=3))
    numbers = np.ones(5)
    compiled = jax.jit(lambda x: ttlg.transform(x, scale=numbers, axis=2))
    traced = compiled.trace(x)
    numbers[:] = 7  # after which the program has the old ones still
    assert_bits(traced.lower().compile()(x), ttlg.transform(x, scale=np.ones(5), axis=2))


# Images


def test_images():
    images = jax_array("uint8", (2, 6, 5, 3))
    mean, std = (0.485, 0.456, 0.406), (0.229, 0.224, 0.225)

    def to_planes(images):
        return ttlg.images.to_planes(images, mean, std, channels=(2, 1, 0))

    def to_pixels(planes):
        return ttlg.images.to_pixels(planes, mean, std, channels=(2, 1, 0))

    planes = to_planes(images)
    assert_bits(jax.jit(to_planes)(images), planes)
    assert_bits(jax.jit(to_pixels)(planes), images)
    assert_bits(jax.jit(lambda images: to_planes(list(images)))(images), planes)
    assert_bits(jax.vmap(to_planes)(images), planes)
    floats = images.astype("float32") / 255
    weights = jax_array("float32", planes.shape)
    gradient = jax.jit(jax.grad(lambda x: (to_planes(x) * weights).sum()))(floats)
    expected = weights.transpose(0, 2, 3, 1)[..., ::-1] / np.float32(std)[::-1]
    np.testing.assert_allclose(gradient, expected, rtol=1e-5)
    back = jax.grad(lambda x: ttlg.images.to_pixels(x, mean, std, "float32").sum())(planes)
    np.testing.assert_allclose(back, np.broadcast_to(np.reshape(std, (3, 1, 1)), back.shape))


# What is refused


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"threads": 0}, ValueError, "threads must be from 1 to 1024, not 0"),
        ({"stream": 1}, ValueError, "x is being traced by JAX.*leave stream= out"),
        ({"out": np.ones((3, 2), "f4")}, BufferError, "traced.*leave out= away"),
        ({"out": np.ones((3, 2), "f4"), "beta": 1}, BufferError, "traced.*leave out= away"),
        ({"dtype": "uint64"}, TypeError, "dtype= has dtype uint64"),
        ({"scale": 1j}, TypeError, "scale is complex, but x and the result are not both"),
        ({"scale": [1, 2]}, ValueError, "scale has 2 numbers: say by axis="),
        ({"offset": [1, 2], "axis": 1}, ValueError, "x of shape.* has 3 indices along axis 1"),
        ({"axis": 2, "scale": [1, 2]}, ValueError, "axis"),
        ({"axes": (0, 0)}, ValueError, "axes"),
    ],
)
def test_arguments_are_checked_while_tracing(options, error, message):
    with pytest.raises(error, match=message):
        jax.jit(lambda x: ttlg.transform(x, **options))(jnp.ones((2, 3)))


@pytest.mark.parametrize("name", ["scale", "offset"])
def test_traced_numbers_are_refused(name):
    with pytest.raises(TypeError, match=rf"{name} is being traced by JAX.*or \w+( to)? x"):
        jax.grad(lambda n: ttlg.transform(n * jnp.ones((2, 3)), **{name: n}).sum())(2.0)


def test_elements_that_are_not_converted_are_refused():
    with pytest.raises(TypeError, match=r"x has dtype uint64, which ttlg\.transform does not"):
        jax.jit(lambda x: ttlg.transform(x, dtype="int64"))(jax_array("uint64"))


def test_an_old_jax_is_refused(monkeypatch):
    monkeypatch.setattr(jax, "__version__", "0.7.2")
    monkeypatch.setattr(jax, "__version_info__", (0, 7, 2))
    with pytest.raises(TypeError, match=r"JAX 0\.7\.2.*0\.8 or newer.*jax\.numpy here"):
        jax.jit(lambda x: ttlg.transform(x, scale=2))(jnp.ones((2, 3)))


ATTRIBUTES = {
    **{name: np.int64(0) for name in ("conjugates", "scales_are_complex", "threads")},
    **{name: np.int64(1) for name in ("scales", "adds", "saturates", "axis")},
    "axes": np.array([1, 0]),
}


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"axis": np.int64(64)}, "axis is no axis"),
        ({"axis": np.int64(2)}, "axis is no axis of the argument"),
        ({"axis": np.int64(0)}, "values of another type or number"),
        ({"scales": np.int64(0)}, "there must be 2 arguments, each a buffer"),
        ({"scales_are_complex": np.int64(1)}, "the scales are complex"),
        ({"adds": np.int32(1)}, "the attribute adds must be int64"),
        ({"offsets": np.ones(3, "f8")}, "values of another type or number"),
        ({"x": np.ones((2, 3), "u8")}, "none that ttlg converts"),
        ({"axes": np.array([0, 1])}, "another type or shape"),
    ],
)
def test_the_handler_checks_what_a_program_says(changes, message):
    given = {"x": np.ones((2, 3), "f4"), "scales": np.ones(3, "f4"), "offsets": np.ones(3, "f4")}
    arrays = [changes.get(name, given[name]) for name in ("x", "offsets")]
    arguments = [arrays[0], given["scales"], arrays[1]]
    others = {name: value for name, value in changes.items() if name not in ("x", "offsets")}
    jax.jit(lambda x: ttlg.transform(x, scale=2))(jnp.ones(2))  # after which the handler is known
    with jax.enable_x64(True):
        call = jax.ffi.ffi_call("ttlg_transform", jax.ShapeDtypeStruct((3, 2), "float32"))
        with pytest.raises(Exception, match=f"ttlg.transform: .*{message}"):
            jax.jit(lambda *arrays: call(*arrays, **(ATTRIBUTES | others)))(*arguments)
