"""JAX arrays, and what transposes them: JAX's own line and ttlg's."""

import jax.numpy as jnp
import numpy as np

import ttlg

AXES = (2, 0, 1)
SHAPE = (3, 4, 5)


def by_ttlg(x):
    return ttlg.transpose(x, AXES)


def by_jax(x):
    return jnp.transpose(x, AXES)


def floats(shape=SHAPE):
    return jnp.asarray(np.random.default_rng(1).standard_normal(shape, np.float32))
