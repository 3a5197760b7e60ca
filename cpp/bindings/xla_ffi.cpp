#include "bindings/xla_ffi.hpp"

#include <algorithm>
#include <array>
#include <exception>
#include <functional>
#include <numeric>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

#include "bindings/planned_layout.hpp"
#include "bindings/run.hpp"
#include "cpu/execute.hpp"
#include "cpu/memory/result_pool.hpp"
#include "cpu/threads/foreign_pool.hpp"
#include "cpu/threads/threads.hpp"
#include "plan/cpu/parameters.hpp"
#include "tensor/axes.hpp"
#include "tensor/problem.hpp"

namespace ttlg::bindings {
namespace {

// What XLA counts as the size of a struct: up to the last member, without padding.
constexpr std::size_t kErrorArgumentsBytes =
    offsetof(xla::ErrorArguments, code) + sizeof(xla::ErrorArguments::code);
constexpr std::size_t kMetadataBytes =
    offsetof(xla::Metadata, traits) + sizeof(xla::Metadata::traits);

std::int64_t itemsize_of(std::int32_t dtype) {
  switch (dtype) {
    case xla::kPred:
    case xla::kS8:
    case xla::kU8:
    case xla::kF8E3M4:
    case xla::kF8E4M3:
    case xla::kF8E4M3B11FNUZ:
    case xla::kF8E4M3FN:
    case xla::kF8E4M3FNUZ:
    case xla::kF8E5M2:
    case xla::kF8E5M2FNUZ:
    case xla::kF8E8M0FNU:
      return 1;
    case xla::kS16:
    case xla::kU16:
    case xla::kF16:
    case xla::kBF16:
      return 2;
    case xla::kS32:
    case xla::kU32:
    case xla::kF32:
      return 4;
    case xla::kS64:
    case xla::kU64:
    case xla::kF64:
    case xla::kC64:
      return 8;
    case xla::kC128:
      return 16;
    default:
      throw std::invalid_argument("elements of XLA's type " + std::to_string(dtype) +
                                  " have no size in bytes that ttlg knows");
  }
}

std::span<const std::int64_t> shape_of(const xla::Buffer& buffer) {
  return {buffer.shape, static_cast<std::size_t>(buffer.rank)};
}

const xla::Buffer& only_buffer(const xla::Operands& operands, const std::string& what) {
  if (operands.count != 1 || operands.types[0] != xla::kBufferType) {
    throw std::invalid_argument("there must be one " + what + ", a buffer");
  }
  return *static_cast<const xla::Buffer*>(operands.values[0]);
}

const void* find_attribute(const xla::Attributes& attributes, std::string_view name,
                           xla::AttributeType type) {
  for (std::int64_t i = 0; i < attributes.count; ++i) {
    if (*attributes.names[i] == name && attributes.types[i] == type) return attributes.values[i];
  }
  throw std::invalid_argument("the attribute " + std::string(name) +
                              " is missing or of another kind");
}

void check_is_int64(std::int32_t dtype, const std::string& name) {
  if (dtype != xla::kS64) throw std::invalid_argument("the attribute " + name + " must be int64");
}

// Reads the attribute into `axes`, whose size is the rank.
void read_axes(const xla::Attributes& attributes, std::span<int> axes) {
  const auto& given =
      *static_cast<const xla::Array*>(find_attribute(attributes, "axes", xla::kArray));
  check_is_int64(given.dtype, "axes");
  const std::span numbers(static_cast<const std::int64_t*>(given.data), given.size);
  if (normalize_axes(numbers, axes).error != AxesError::none) {
    throw std::invalid_argument("the attribute axes is no permutation of the " +
                                std::to_string(axes.size()) + " axes");
  }
}

int read_threads(const xla::Attributes& attributes) {
  const auto& given =
      *static_cast<const xla::Scalar*>(find_attribute(attributes, "threads", xla::kScalar));
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
  explicit XlaPool(const xla::CallFrame& frame) : api_(*frame.api), context_(frame.context) {}

  int threads() const override {
    if (api_.struct_size < sizeof(xla::Api)) return 1;  // an older XLA
    std::int64_t threads = 1;
    xla::NumThreadsArguments arguments{.struct_size = sizeof arguments,
                                       .extensions = nullptr,
                                       .context = context_,
                                       .num_threads = &threads};
    if (!succeeds(api_.count_threads(&arguments))) return 1;
    return static_cast<int>(std::clamp<std::int64_t>(threads, 1, cpu::kMaxThreads));
  }

  bool schedule(void (*task)(void*), void* data) override {
    xla::ScheduleArguments arguments{.struct_size = sizeof arguments,
                                     .extensions = nullptr,
                                     .context = context_,
                                     .task = task,
                                     .data = data};
    return succeeds(api_.schedule(&arguments));
  }

 private:
  bool succeeds(xla::Error* error) const {
    if (error == nullptr) return true;
    xla::DestroyErrorArguments arguments{
        .struct_size = sizeof arguments, .extensions = nullptr, .error = error};
    api_.destroy_error(&arguments);
    return false;
  }

  const xla::Api& api_;
  xla::Context* context_;
};

void transpose(const xla::CallFrame& frame) {
  if (frame.struct_size < sizeof(xla::CallFrame)) {
    throw std::invalid_argument("the call frame is too short for version 0.1 of XLA's FFI");
  }
  if (frame.stage != xla::kExecuteStage) {
    throw std::invalid_argument("there is nothing to do at stage " + std::to_string(frame.stage));
  }
  const xla::Buffer& x = only_buffer(frame.arguments, "argument");
  const xla::Buffer& out = only_buffer(frame.results, "result");
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
  const LayoutKey key{.shape = shape,
                      .in_byte_strides = byte_strides,
                      .axes = axes,
                      .itemsize = itemsize,
                      .out_alignment = out_alignment(out.data)};
  // Mostly just allocated, by malloc.
  cpu::prepare_new_memory(static_cast<std::byte*>(out.data), static_cast<std::size_t>(bytes));
  XlaPool pool(frame);
  const cpu::GuestOf guest(pool);
  cpu::execute(*cpu_plan_cache().get(key, choice), static_cast<const std::byte*>(x.data),
               static_cast<std::byte*>(out.data));
}

// Answers XLA's question, at registration, which version of the ABI this is. Left as it is,
// the metadata says 0.0, which XLA refuses.
void fill_in(xla::Metadata& metadata) {
  if (metadata.struct_size < kMetadataBytes) return;
  metadata.api_version.major = xla::kMajorVersion;
  metadata.api_version.minor = xla::kMinorVersion;
  metadata.traits = 0;
}

void handle_call(const xla::CallFrame& frame) {
  for (xla::Extension* each = frame.extensions; each != nullptr; each = each->next) {
    if (each->type == xla::kMetadataExtension) {
      return fill_in(*reinterpret_cast<xla::MetadataExtension*>(each)->metadata);
    }
  }
  transpose(frame);
}

xla::Error* make_error(const xla::Api& api, xla::ErrorCode code, const char* why) {
  const std::string message = std::string("ttlg.transpose: ") + why;
  xla::ErrorArguments arguments{.struct_size = kErrorArgumentsBytes,
                                .extensions = nullptr,
                                .message = message.c_str(),
                                .code = code};
  return api.create_error(&arguments);
}

}  // namespace

xla::Error* xla_transpose(xla::CallFrame* frame) noexcept {
  try {
    handle_call(*frame);
    return nullptr;
  } catch (const std::invalid_argument& error) {
    return make_error(*frame->api, xla::kInvalidArgument, error.what());
  } catch (const std::exception& error) {
    return make_error(*frame->api, xla::kInternal, error.what());
  }
}

}  // namespace ttlg::bindings
