#include "cuda/fake_cuda/fake_cuda.hpp"

#include <cstdint>

#include "cuda/enqueue.hpp"

using ttlg::test::fake_cuda;
using ttlg::test::FakeCuda;
using ttlg::test::StreamNumber;

namespace ttlg::test {

FakeCuda& fake_cuda() {
  static FakeCuda state;
  return state;
}

void reset_fake_cuda() {
  const FakeCuda before = fake_cuda();
  fake_cuda() = {};
  fake_cuda().retained = before.retained;
  for (int device = 0; device < FakeCuda::kDevices; ++device) {
    fake_cuda().is_active[device] = before.retained[device] > 0;
  }
}

}  // namespace ttlg::test

namespace {

StreamNumber number_of(cudaStream_t stream) {
  return static_cast<StreamNumber>(reinterpret_cast<std::uintptr_t>(stream));
}

cudaError_t failure_of(const char* function) {
  const auto found = fake_cuda().failures.find(function);
  return found == fake_cuda().failures.end() ? cudaSuccess : found->second;
}

// A function of the runtime that needs a context: on a thread without one, it takes device 0.
cudaError_t begin(const char* function) {
  FakeCuda& state = fake_cuda();
  if (state.stack.empty()) {
    state.is_active[0] = true;
    state.stack.push_back(state.primary.data());
  }
  return failure_of(function);
}

void note(const std::string& text) { fake_cuda().done.push_back(text); }

}  // namespace

CUresult cuInit(unsigned) { return CUDA_SUCCESS; }

CUresult cuDeviceGetCount(int* count) {
  *count = FakeCuda::kDevices;
  return CUDA_SUCCESS;
}

CUresult cuDeviceGet(CUdevice* device, int ordinal) {
  *device = ordinal;
  return ordinal < FakeCuda::kDevices ? CUDA_SUCCESS : CUDA_ERROR_INVALID_DEVICE;
}

CUresult cuDevicePrimaryCtxRetain(CUcontext* context, CUdevice device) {
  fake_cuda().is_active[device] = true;
  ++fake_cuda().retained[device];
  *context = &fake_cuda().primary[device];
  return CUDA_SUCCESS;
}

CUresult cuCtxGetDevice(CUdevice* device) {
  if (fake_cuda().stack.empty()) return CUDA_ERROR_INVALID_CONTEXT;
  *device = fake_cuda().stack.back()->device;
  return CUDA_SUCCESS;
}

CUresult cuCtxPushCurrent(CUcontext context) {
  if (failure_of("cuCtxPushCurrent") != cudaSuccess) return CUDA_ERROR_NOT_INITIALIZED;
  fake_cuda().stack.push_back(context);
  return CUDA_SUCCESS;
}

CUresult cuCtxPopCurrent(CUcontext* context) {
  if (fake_cuda().stack.empty()) return CUDA_ERROR_INVALID_CONTEXT;
  *context = fake_cuda().stack.back();
  fake_cuda().stack.pop_back();
  return CUDA_SUCCESS;
}

cudaError_t cudaGetLastError() { return cudaSuccess; }
const char* cudaGetErrorString(cudaError_t) { return "an error"; }
const char* cudaGetErrorName(cudaError_t) { return "cudaErrorOfTheTest"; }

cudaError_t cudaDriverGetVersion(int* version) {
  *version = CUDART_VERSION;
  return cudaSuccess;
}

cudaError_t cudaGetDriverEntryPointByVersion(const char* name, void** function, unsigned,
                                             unsigned long long, cudaDriverEntryPointQueryResult*) {
  static const std::map<std::string, void*> functions{
      {"cuInit", reinterpret_cast<void*>(&cuInit)},
      {"cuDeviceGetCount", reinterpret_cast<void*>(&cuDeviceGetCount)},
      {"cuDeviceGet", reinterpret_cast<void*>(&cuDeviceGet)},
      {"cuDevicePrimaryCtxRetain", reinterpret_cast<void*>(&cuDevicePrimaryCtxRetain)},
      {"cuCtxGetDevice", reinterpret_cast<void*>(&cuCtxGetDevice)},
      {"cuCtxPushCurrent", reinterpret_cast<void*>(&cuCtxPushCurrent)},
      {"cuCtxPopCurrent", reinterpret_cast<void*>(&cuCtxPopCurrent)}};
  const auto found = functions.find(name);
  *function = found == functions.end() ? nullptr : found->second;
  return cudaSuccess;
}

cudaError_t cudaDeviceGetAttribute(int*, cudaDeviceAttr, int) { return cudaErrorInvalidValue; }
cudaError_t cudaGetDeviceProperties(cudaDeviceProp*, int) { return cudaErrorInvalidValue; }

cudaError_t cudaPointerGetAttributes(cudaPointerAttributes* attributes, const void* pointer) {
  const bool is_host = pointer == fake_cuda().host_pointer;
  *attributes = {.type = is_host ? cudaMemoryTypeHost : cudaMemoryTypeDevice,
                 .device = fake_cuda().memory_of};
  return begin("cudaPointerGetAttributes");
}

cudaError_t cudaThreadExchangeStreamCaptureMode(cudaStreamCaptureMode* mode) {
  std::swap(*mode, fake_cuda().mode);
  return begin("cudaThreadExchangeStreamCaptureMode");
}

cudaError_t cudaStreamIsCapturing(cudaStream_t stream, cudaStreamCaptureStatus* status) {
  const StreamNumber number = number_of(stream);
  if (number == 1 && fake_cuda().default_stream_is_blocked) return cudaErrorStreamCaptureImplicit;
  *status = fake_cuda().captured.contains(number) ? cudaStreamCaptureStatusActive
                                                  : cudaStreamCaptureStatusNone;
  return begin("cudaStreamIsCapturing");
}

cudaError_t cudaStreamSynchronize(cudaStream_t stream) {
  note("synchronize " + std::to_string(number_of(stream)));
  return begin("cudaStreamSynchronize");
}

cudaError_t cudaEventCreateWithFlags(cudaEvent_t* event, unsigned flags) {
  static std::uintptr_t handles = 0;
  if (flags != cudaEventDisableTiming) return cudaErrorInvalidValue;
  const cudaError_t error = begin("cudaEventCreateWithFlags");
  if (error != cudaSuccess) return error;
  *event = reinterpret_cast<cudaEvent_t>(++handles);
  fake_cuda().events[*event] = 0;
  return cudaSuccess;
}

cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream) {
  fake_cuda().events.at(event) = number_of(stream);
  note("record " + std::to_string(number_of(stream)));
  return begin("cudaEventRecord");
}

cudaError_t cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event, unsigned) {
  note(std::to_string(number_of(stream)) + " waits for " +
       std::to_string(fake_cuda().events.at(event)));
  return begin("cudaStreamWaitEvent");
}

cudaError_t cudaEventDestroy(cudaEvent_t event) {
  fake_cuda().events.erase(event);
  return begin("cudaEventDestroy");
}

namespace ttlg::cuda {

namespace {

cudaError_t launch(const char* kernel, const std::byte* in, std::byte* out, cudaStream_t stream) {
  const cudaError_t error = begin("launch");
  note("launch on " + std::to_string(number_of(stream)));
  fake_cuda().launches.push_back({kernel, in, out});
  fake_cuda().launched_in.push_back(fake_cuda().stack.back());
  fake_cuda().launched_under.push_back(fake_cuda().mode);
  return error;
}

}  // namespace

#define TTLG_FAKE_KERNEL(name, Arguments)                                                \
  cudaError_t enqueue_kernel(const Arguments&, const Launch&, const LaunchGrid&,         \
                             const std::byte* in, std::byte* out, cudaStream_t stream) { \
    return launch(name, in, out, stream);                                                \
  }
TTLG_FAKE_KERNEL("copy", CopyArguments)
TTLG_FAKE_KERNEL("match_large", MatchLargeArguments)
TTLG_FAKE_KERNEL("match_large_shifted", MatchLargeShiftedArguments)
TTLG_FAKE_KERNEL("match_small", MatchSmallArguments)
TTLG_FAKE_KERNEL("distinct", DistinctArguments)
TTLG_FAKE_KERNEL("arbitrary", ArbitraryArguments)
TTLG_FAKE_KERNEL("arbitrary_packed", PackedArguments)
TTLG_FAKE_KERNEL("square", SquareArguments)
TTLG_FAKE_KERNEL("runs", RunsArguments)
TTLG_FAKE_KERNEL("row_shuffle", RowShuffleArguments)
TTLG_FAKE_KERNEL("column_shuffle", ColumnShuffleArguments)
TTLG_FAKE_KERNEL("row_gather", RowGatherArguments)
TTLG_FAKE_KERNEL("column_gather", ColumnGatherArguments)
TTLG_FAKE_KERNEL("cut_cells", CutCellsArguments)
TTLG_FAKE_KERNEL("cells", CellsArguments)
#undef TTLG_FAKE_KERNEL

}  // namespace ttlg::cuda
