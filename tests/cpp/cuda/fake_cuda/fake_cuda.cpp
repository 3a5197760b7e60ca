#include "cuda/fake_cuda/fake_cuda.hpp"

#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <iterator>
#include <mutex>
#include <utility>

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
  FakeCuda::stack.clear();
  FakeCuda::mode = cudaStreamCaptureModeGlobal;
  FakeCuda::last_error = cudaSuccess;
  fake_cuda().retained = before.retained;
  for (int device = 0; device < FakeCuda::kDevices; ++device) {
    fake_cuda().is_active[device] = before.retained[device] > 0;
  }
}

}  // namespace ttlg::test

namespace {

using Lock = std::lock_guard<std::recursive_mutex>;
std::recursive_mutex mutex;  // held in all that follows

// An error of the runtime, which the thread's next query finds.
cudaError_t failed(cudaError_t error) {
  FakeCuda::last_error = error;
  return error;
}

StreamNumber number_of(cudaStream_t stream) {
  return static_cast<StreamNumber>(reinterpret_cast<std::uintptr_t>(stream));
}

cudaError_t failure_of(const char* function) {
  const auto found = fake_cuda().failures.find(function);
  return found == fake_cuda().failures.end() ? cudaSuccess : failed(found->second);
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

// The same for a function about events.
cudaError_t begin_event(const char* function) {
  fake_cuda().events_under.insert(FakeCuda::mode);
  return begin(function);
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
  const Lock lock(mutex);
  fake_cuda().is_active[device] = true;
  ++fake_cuda().retained[device];
  *context = &fake_cuda().primary[device];
  return CUDA_SUCCESS;
}

CUresult cuCtxGetDevice(CUdevice* device) {
  const Lock lock(mutex);
  if (fake_cuda().stack.empty()) return CUDA_ERROR_INVALID_CONTEXT;
  *device = fake_cuda().stack.back()->device;
  return CUDA_SUCCESS;
}

CUresult cuCtxPushCurrent(CUcontext context) {
  const Lock lock(mutex);
  if (failure_of("cuCtxPushCurrent") != cudaSuccess) return CUDA_ERROR_NOT_INITIALIZED;
  fake_cuda().stack.push_back(context);
  return CUDA_SUCCESS;
}

CUresult cuCtxPopCurrent(CUcontext* context) {
  const Lock lock(mutex);
  if (fake_cuda().stack.empty()) return CUDA_ERROR_INVALID_CONTEXT;
  *context = fake_cuda().stack.back();
  fake_cuda().stack.pop_back();
  return CUDA_SUCCESS;
}

cudaError_t cudaGetLastError() { return std::exchange(FakeCuda::last_error, cudaSuccess); }
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
  const Lock lock(mutex);
  const bool is_host = pointer == fake_cuda().host_pointer;
  *attributes = {.type = is_host ? cudaMemoryTypeHost : cudaMemoryTypeDevice,
                 .device = fake_cuda().memory_of};
  return begin("cudaPointerGetAttributes");
}

cudaError_t cudaThreadExchangeStreamCaptureMode(cudaStreamCaptureMode* mode) {
  const Lock lock(mutex);
  std::swap(*mode, fake_cuda().mode);
  return begin("cudaThreadExchangeStreamCaptureMode");
}

cudaError_t cudaStreamIsCapturing(cudaStream_t stream, cudaStreamCaptureStatus* status) {
  const Lock lock(mutex);
  const StreamNumber number = number_of(stream);
  if (number == 1 && fake_cuda().default_stream_is_blocked) {
    return failed(cudaErrorStreamCaptureImplicit);
  }
  *status = fake_cuda().captured.contains(number) ? cudaStreamCaptureStatusActive
                                                  : cudaStreamCaptureStatusNone;
  return begin("cudaStreamIsCapturing");
}

cudaError_t cudaMalloc(void** memory, std::size_t bytes) {
  const Lock lock(mutex);
  constexpr std::size_t kBoundary = 256;
  if (const cudaError_t error = begin("cudaMalloc"); error != cudaSuccess) return error;
  std::size_t sum = bytes;
  for (const auto& [each, size] : fake_cuda().allocated) sum += size;
  if (sum > fake_cuda().most_allocated) return failed(cudaErrorMemoryAllocation);
  *memory = std::aligned_alloc(kBoundary, (bytes + kBoundary - 1) / kBoundary * kBoundary);
  fake_cuda().allocated[*memory] = bytes;
  return cudaSuccess;
}

cudaError_t cudaFree(void* memory) {
  const Lock lock(mutex);
  if (fake_cuda().allocated.erase(memory) == 0) return failed(cudaErrorInvalidValue);
  std::free(memory);
  return begin("cudaFree");
}

cudaError_t cudaMemcpy(void* to, const void* from, std::size_t bytes, cudaMemcpyKind) {
  const Lock lock(mutex);
  const auto after = fake_cuda().allocated.upper_bound(to);
  if (after == fake_cuda().allocated.begin()) return failed(cudaErrorInvalidValue);
  const auto& [begin_of, size] = *std::prev(after);
  const auto first =
      static_cast<std::size_t>(static_cast<std::byte*>(to) - static_cast<std::byte*>(begin_of));
  if (first + bytes > size) return failed(cudaErrorInvalidValue);
  std::memcpy(to, from, bytes);
  return begin("cudaMemcpy");
}

cudaError_t cudaStreamSynchronize(cudaStream_t stream) {
  const Lock lock(mutex);
  note("synchronize " + std::to_string(number_of(stream)));
  return begin("cudaStreamSynchronize");
}

cudaError_t cudaEventCreateWithFlags(cudaEvent_t* event, unsigned flags) {
  const Lock lock(mutex);
  static std::uintptr_t handles = 0;
  const cudaError_t error = begin_event("cudaEventCreateWithFlags");
  if (error != cudaSuccess) return error;
  *event = reinterpret_cast<cudaEvent_t>(++handles);
  fake_cuda().events[*event] = {.is_timed = flags != cudaEventDisableTiming,
                                .context = FakeCuda::stack.back()};
  return cudaSuccess;
}

cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream) {
  const Lock lock(mutex);
  FakeCuda::Event& recorded = fake_cuda().events.at(event);
  if (recorded.context != FakeCuda::stack.back()) return failed(cudaErrorInvalidResourceHandle);
  recorded.recorded_by = number_of(stream);
  recorded.seconds = fake_cuda().now += FakeCuda::kEventSeconds;
  note("record " + std::to_string(number_of(stream)));
  return begin_event("cudaEventRecord");
}

cudaError_t cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event, unsigned) {
  const Lock lock(mutex);
  note(std::to_string(number_of(stream)) + " waits for " +
       std::to_string(fake_cuda().events.at(event).recorded_by));
  return begin("cudaStreamWaitEvent");
}

cudaError_t cudaEventQuery(cudaEvent_t event) {
  const Lock lock(mutex);
  if (!fake_cuda().events.contains(event)) return failed(cudaErrorInvalidResourceHandle);
  const cudaError_t error = begin_event("cudaEventQuery");
  return error == cudaSuccess && !fake_cuda().events_are_ready ? failed(cudaErrorNotReady) : error;
}

cudaError_t cudaEventElapsedTime(float* milliseconds, cudaEvent_t start, cudaEvent_t end) {
  const Lock lock(mutex);
  const FakeCuda::Event& first = fake_cuda().events.at(start);
  const FakeCuda::Event& last = fake_cuda().events.at(end);
  if (!first.is_timed || !last.is_timed) return failed(cudaErrorInvalidResourceHandle);
  if (!fake_cuda().events_are_ready) return failed(cudaErrorNotReady);
  *milliseconds = static_cast<float>(1e3 * (last.seconds - first.seconds));
  return begin_event("cudaEventElapsedTime");
}

cudaError_t cudaEventDestroy(cudaEvent_t event) {
  const Lock lock(mutex);
  fake_cuda().events.erase(event);
  return begin_event("cudaEventDestroy");
}

namespace ttlg::cuda {

namespace {

cudaError_t launch(const char* kernel, const Launch& what, const std::byte* in, std::byte* out,
                   cudaStream_t stream) {
  const Lock lock(mutex);
  const cudaError_t error = begin("launch");
  note("launch on " + std::to_string(number_of(stream)));
  fake_cuda().launches.push_back({kernel, in, out});
  fake_cuda().launched_in.push_back(fake_cuda().stack.back());
  fake_cuda().launched_under.push_back(fake_cuda().mode);
  if (error == cudaSuccess && fake_cuda().seconds_of)
    fake_cuda().now += fake_cuda().seconds_of(kernel, what);
  return error;
}

}  // namespace

#define TTLG_FAKE_KERNEL(name, Arguments)                             \
  cudaError_t enqueue_kernel(const Arguments&, const Launching& to) { \
    return launch(name, to.launch, to.in, to.out, to.stream);         \
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
TTLG_FAKE_KERNEL("skinny", SkinnyArguments)
TTLG_FAKE_KERNEL("skinny_heads", SkinnyHeadsArguments)
#undef TTLG_FAKE_KERNEL

}  // namespace ttlg::cuda
