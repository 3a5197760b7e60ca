#include "xla/ffi.hpp"

#include <algorithm>
#include <array>
#include <exception>
#include <functional>
#include <numeric>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

#include "call/caches.hpp"
#include "call/layout.hpp"
#include "call/run.hpp"
#include "cpu/memory/result_pool.hpp"
#include "cpu/threads/foreign_pool.hpp"
#include "cpu/threads/threads.hpp"
#include "plan/cpu/parameters.hpp"
#include "tensor/axes.hpp"
#include "tensor/problem.hpp"

namespace ttlg::xla {
namespace {

// What XLA counts as the size of a struct: up to the last member, without padding.
constexpr std::size_t kErrorArgumentsBytes =
    offsetof(ErrorArguments, code) + sizeof(ErrorArguments::code);
constexpr std::size_t kMetadataBytes = offsetof(Metadata, traits) + sizeof(Metadata::traits);

struct TypeSize {
  std::int32_t dtype;
  std::int64_t bytes;
};

constexpr TypeSize kTypeSizes[] = {
    {kPred, 1},          {kS8, 1},       {kU8, 1},         {kF8E3M4, 1}, {kF8E4M3, 1},
    {kF8E4M3B11FNUZ, 1}, {kF8E4M3FN, 1}, {kF8E4M3FNUZ, 1}, {kF8E5M2, 1}, {kF8E5M2FNUZ, 1},
    {kF8E8M0FNU, 1},     {kS16, 2},      {kU16, 2},        {kF16, 2},    {kBF16, 2},
    {kS32, 4},           {kU32, 4},      {kF32, 4},        {kS64, 8},    {kU64, 8},
    {kF64, 8},           {kC64, 8},      {kC128, 16}};

std::int64_t itemsize_of(std::int32_t dtype) {
  const auto* const found = std::ranges::find(kTypeSizes, dtype, &TypeSize::dtype);
  if (found != std::end(kTypeSizes)) return found->bytes;
  throw std::invalid_argument("elements of XLA's type " + std::to_string(dtype) +
                              " have no size in bytes that ttlg knows");
}

std::span<const std::int64_t> shape_of(const Buffer& buffer) {
  return {buffer.shape, static_cast<std::size_t>(buffer.rank)};
}

const Buffer& only_buffer(const Operands& operands, const std::string& what) {
  if (operands.count != 1 || operands.types[0] != kBufferType) {
    throw std::invalid_argument("there must be one " + what + ", a buffer");
  }
  return *static_cast<const Buffer*>(operands.values[0]);
}

const void* find_attribute(const Attributes& attributes, std::string_view name,
                           AttributeType type) {
  for (std::int64_t i = 0; i < attributes.count; ++i) {
    if (*attributes.names[i] == name && attributes.types[i] == type) return attributes.values[i];
  }
  throw std::invalid_argument("the attribute " + std::string(name) +
                              " is missing or of another kind");
}

void check_is_int64(std::int32_t dtype, const std::string& name) {
  if (dtype != kS64) throw std::invalid_argument("the attribute " + name + " must be int64");
}

// Reads the attribute into `axes`, whose size is the rank.
void read_axes(const Attributes& attributes, std::span<int> axes) {
  const auto& given = *static_cast<const Array*>(find_attribute(attributes, "axes", kArray));
  check_is_int64(given.dtype, "axes");
  const std::span numbers(static_cast<const std::int64_t*>(given.data), given.size);
  if (normalize_axes(numbers, axes).error != AxesError::none) {
    throw std::invalid_argument("the attribute axes is no permutation of the " +
                                std::to_string(axes.size()) + " axes");
  }
}

int read_threads(const Attributes& attributes) {
  const auto& given = *static_cast<const Scalar*>(find_attribute(attributes, "threads", kScalar));
  check_is_int64(given.dtype, "threads");
  const std::int64_t threads = *static_cast<const std::int64_t*>(given.value);
  if (threads == 0) return cpu::num_threads();
  if (!cpu::is_thread_count(threads)) {
    throw std::invalid_argument("the attribute threads must be from 0 to " +
                                std::to_string(cpu::kMaxThreads));
  }
  return static_cast<int>(threads);
}

// The threads that XLA computes with, one of which calls.
class XlaPool : public cpu::ForeignPool {
 public:
  explicit XlaPool(const CallFrame& frame) : api_(*frame.api), context_(frame.context) {}

  int threads() const override {
    if (api_.struct_size < sizeof(Api)) return 1;  // an older XLA
    std::int64_t threads = 1;
    NumThreadsArguments arguments{.struct_size = sizeof arguments,
                                  .extensions = nullptr,
                                  .context = context_,
                                  .num_threads = &threads};
    if (!succeeds(api_.count_threads(&arguments))) return 1;
    return static_cast<int>(std::clamp<std::int64_t>(threads, 1, cpu::kMaxThreads));
  }

  bool schedule(void (*task)(void*), void* data) override {
    ScheduleArguments arguments{.struct_size = sizeof arguments,
                                .extensions = nullptr,
                                .context = context_,
                                .task = task,
                                .data = data};
    return succeeds(api_.schedule(&arguments));
  }

 private:
  bool succeeds(Error* error) const {
    if (error == nullptr) return true;
    DestroyErrorArguments arguments{
        .struct_size = sizeof arguments, .extensions = nullptr, .error = error};
    api_.destroy_error(&arguments);
    return false;
  }

  const Api& api_;
  Context* context_;
};

void transpose(const CallFrame& frame) {
  if (frame.struct_size < sizeof(CallFrame)) {
    throw std::invalid_argument("the call frame is too short for version 0.1 of XLA's FFI");
  }
  if (frame.stage != kExecuteStage) {
    throw std::invalid_argument("there is nothing to do at stage " + std::to_string(frame.stage));
  }
  const Buffer& x = only_buffer(frame.arguments, "argument");
  const Buffer& out = only_buffer(frame.results, "result");
  const std::span<const std::int64_t> shape = shape_of(x);
  if (shape.size() > kMaxRank) {
    throw std::invalid_argument("rank " + std::to_string(shape.size()) + " exceeds the limit of " +
                                std::to_string(kMaxRank));
  }
  std::array<int, kMaxRank> buffer;
  const std::span axes(buffer.data(), shape.size());
  read_axes(frame.attributes, axes);
  const auto has_extent = [&](int axis, std::int64_t extent) {
    return shape[static_cast<std::size_t>(axis)] == extent;
  };
  if (out.dtype != x.dtype || !std::ranges::equal(axes, shape_of(out), has_extent)) {
    throw std::invalid_argument("the result has another type or shape than the permuted argument");
  }
  const std::int64_t itemsize = itemsize_of(x.dtype);
  const cpu::Planning::Choice choice{.threads = read_threads(frame.attributes)};
  if (std::ranges::find(shape, 0) != shape.end()) return;
  const std::vector<std::int64_t> byte_strides = contiguous_byte_strides(shape, itemsize);
  const std::int64_t bytes =
      std::accumulate(shape.begin(), shape.end(), itemsize, std::multiplies<>());
  const call::Layout layout{.shape = shape, .byte_strides = byte_strides, .itemsize = itemsize};
  const LayoutKey key = key_of(layout, axes, {}, call::out_alignment(out.data));
  // Mostly just allocated, by malloc.
  cpu::prepare_new_memory(static_cast<std::byte*>(out.data), static_cast<std::size_t>(bytes));
  XlaPool pool(frame);
  const cpu::GuestOf guest(pool);
  call::run<call::NoRelease>(*call::cpu_plan_cache().get(key, choice),
                             static_cast<const std::byte*>(x.data),
                             static_cast<std::byte*>(out.data));
}

// Answers XLA's question, at registration, which version of the ABI this is. Left as it is,
// the metadata says 0.0, which XLA refuses.
void fill_in(Metadata& metadata) {
  if (metadata.struct_size < kMetadataBytes) return;
  metadata.api_version.major = kMajorVersion;
  metadata.api_version.minor = kMinorVersion;
  metadata.traits = 0;
}

void handle_call(const CallFrame& frame) {
  for (Extension* each = frame.extensions; each != nullptr; each = each->next) {
    if (each->type == kMetadataExtension) {
      return fill_in(*reinterpret_cast<MetadataExtension*>(each)->metadata);
    }
  }
  transpose(frame);
}

Error* make_error(const Api& api, ErrorCode code, const char* why) {
  const std::string message = std::string("ttlg.transpose: ") + why;
  ErrorArguments arguments{.struct_size = kErrorArgumentsBytes,
                           .extensions = nullptr,
                           .message = message.c_str(),
                           .code = code};
  return api.create_error(&arguments);
}

}  // namespace

Error* transpose_handler(CallFrame* frame) noexcept {
  try {
    handle_call(*frame);
    return nullptr;
  } catch (const std::invalid_argument& error) {
    return make_error(*frame->api, kInvalidArgument, error.what());
  } catch (const std::exception& error) {
    return make_error(*frame->api, kInternal, error.what());
  }
}

}  // namespace ttlg::xla
