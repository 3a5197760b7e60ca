// Kernels that users might write with the public header.
#include <ttlg/coalesced_ptr.cuh>

template <int words, int alignment>
struct alignas(alignment) Structure {
  unsigned word[words];
};

// Blocks may have two dimensions.
__device__ int own_number() {
  return (blockIdx.x * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x;
}

template <int words, int alignment>
__global__ void gather(const Structure<words, alignment>* from, Structure<words, alignment>* to,
                       const int* at, int n) {
  const int i = own_number();
  if (i >= n || at[i] < 0) return;
  ttlg::coalesced_ptr<Structure<words, alignment>> out(to + i);
  *out = ttlg::coalesced_ptr<const Structure<words, alignment>>(from)[at[i]];
}

template <int words, int alignment>
__global__ void scatter(const Structure<words, alignment>* from, Structure<words, alignment>* to,
                        const int* at, int n) {
  const int i = own_number();
  if (i >= n || at[i] < 0) return;
  const ttlg::coalesced_ptr<Structure<words, alignment>> out(to);
  out[at[i]] = ttlg::coalesced_ptr<const Structure<words, alignment>>(from + i).load();
}

struct Particle {
  double mass;
  float position[3];
  int kind;
};

extern "C" __global__ void split(const Particle* particles, int n, double* mass, float* position,
                                 int* kind) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const Particle particle = *ttlg::coalesced_ptr<const Particle>(particles + i);
  mass[i] = particle.mass;
  for (int k = 0; k < 3; ++k) position[k * n + i] = particle.position[k];
  kind[i] = particle.kind;
}

extern "C" __global__ void advance(Particle* particles, int n, float distance) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  ttlg::coalesced_ptr<Particle> p(particles + i);
  Particle particle = *p;
  for (int k = 0; k < 3; ++k) particle.position[k] += distance;
  *p = particle;
}
