// Functions that the host and a kernel share: nvcc compiles them for both.
#pragma once

#ifdef __CUDACC__
#define TTLG_HOST_DEVICE __host__ __device__ __forceinline__
#else
#define TTLG_HOST_DEVICE inline
#endif
