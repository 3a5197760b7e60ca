"""Where the headers are that CUDA C++ code may include."""

import os


def get_include() -> str:
    """Return the directory of the headers that CUDA C++ code may include.

    Its ``ttlg/coalesced_ptr.cuh`` lets the threads of a warp load and store structures of up to 64
    words with coalesced accesses and without shared memory (Catanzaro et al., PPoPP 2014,
    section 6.2). nvcc and NVRTC compile it, and no other part of ttlg is needed.

    Returns
    -------
    str
        An absolute path, for the compiler's option ``-I``.

    Examples
    --------
    >>> import os, ttlg
    >>> os.listdir(os.path.join(ttlg.get_include(), "ttlg"))
    ['coalesced_ptr.cuh']

    Each thread gets its own particle, in a kernel that CuPy compiles:

    >>> source = r'''
    ... #include <ttlg/coalesced_ptr.cuh>
    ...
    ... struct Particle { float position[3], velocity[3], mass; };
    ...
    ... extern "C" __global__ void advance(Particle* particles, int n, float seconds) {
    ...   const int i = blockIdx.x * blockDim.x + threadIdx.x;
    ...   if (i >= n) return;
    ...   ttlg::coalesced_ptr<Particle> p(particles + i);
    ...   Particle particle = *p;
    ...   for (int k = 0; k < 3; ++k) particle.position[k] += seconds * particle.velocity[k];
    ...   *p = particle;
    ... }
    ... '''
    >>> options = ("-std=c++17", f"-I{ttlg.get_include()}")
    >>> module = cupy.RawModule(code=source, options=options)  # doctest: +SKIP
    """
    return os.path.join(os.path.dirname(os.path.abspath(__file__)), "include")
