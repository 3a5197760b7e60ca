#include "xla/handlers.hpp"

#include <algorithm>
#include <cstddef>
#include <exception>
#include <stdexcept>
#include <string>
#include <vector>

#include "call/caches.hpp"
#include "call/layout.hpp"
#include "call/run.hpp"
#include "cpu/memory/result_pool.hpp"
#include "cpu/threads/foreign_pool.hpp"
#include "plan/cpu/parameters.hpp"
#include "tensor/element_map.hpp"
#include "tensor/problem.hpp"
#include "xla/ffi.hpp"
#include "xla/frame.hpp"

namespace ttlg::xla {
namespace {

// What XLA counts as the size of a struct: up to the last member, without padding.
constexpr std::size_t kErrorArgumentsBytes =
    offsetof(ErrorArguments, code) + sizeof(ErrorArguments::code);
constexpr std::size_t kMetadataBytes = offsetof(Metadata, traits) + sizeof(Metadata::traits);

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

// `map` and its values are those of elements that change on their way.
void run(const CallFrame& frame, const Transfer& transfer, const ElementMap& map = {},
         const cpu::MapValues& values = {}) {
  const auto& [x, out, threads, order] = transfer;
  const std::int64_t elements = elements_of(x);
  if (elements == 0) return;
  const std::int64_t itemsize = itemsize_of(x.dtype);
  const std::vector<std::int64_t> byte_strides = contiguous_byte_strides(shape_of(x), itemsize);
  const call::Layout layout{
      .shape = shape_of(x), .byte_strides = byte_strides, .itemsize = itemsize};
  LayoutKey key = key_of(layout, transfer.axes(), {}, call::out_alignment(out.data));
  key.map = map;
  // Mostly just allocated, by malloc.
  cpu::prepare_new_memory(static_cast<std::byte*>(out.data),
                          static_cast<std::size_t>(elements * itemsize_of(out.dtype)));
  XlaPool pool(frame);
  const cpu::GuestOf guest(pool);
  call::run<call::NoRelease>(*call::cpu_plan_cache().get(key, {.threads = threads}),
                             static_cast<const std::byte*>(x.data),
                             static_cast<std::byte*>(out.data), values);
}

void transpose(const CallFrame& frame) {
  const Transfer transfer = read_transfer(frame, 1);
  if (transfer.out.dtype != transfer.x.dtype) {
    throw std::invalid_argument("the result has another type or shape than the permuted argument");
  }
  itemsize_of(transfer.x.dtype);  // refuses elements of no size in bytes, even where there are none
  run(frame, transfer);
}

// Without the types, which the buffers tell.
ElementMap read_map(const Attributes& attributes) {
  const auto has = [&](const char* name) { return read_integer(attributes, name) != 0; };
  const std::int64_t axis = read_integer(attributes, "axis");
  if (axis < -1 || axis >= static_cast<std::int64_t>(kMaxRank)) {
    throw std::invalid_argument("the attribute axis is no axis");
  }
  return {.conjugates = has("conjugates"),
          .scales = has("scales"),
          .adds = has("adds"),
          .saturates = has("saturates"),
          .axis = static_cast<std::int8_t>(axis)};
}

// The values that the argument at this place has for the map: `count`, or pairs of parts.
const std::byte* read_values(const Operands& arguments, std::int64_t place, const ElementMap& map,
                             std::int64_t count) {
  const Buffer& given = buffer_at(arguments, place, arguments.count, "argument");
  if (type_of(given.dtype) != map.computed_in() || elements_of(given) != count * map.parts()) {
    throw std::invalid_argument("values of another type or number than the element map has");
  }
  return static_cast<const std::byte*>(given.data);
}

void transform(const CallFrame& frame) {
  ElementMap map = read_map(frame.attributes);
  const std::int64_t arguments = 1 + int{map.scales} + int{map.adds};
  const Transfer transfer = read_transfer(frame, arguments);
  map.from = type_of(transfer.x.dtype);
  map.to = type_of(transfer.out.dtype);
  if (map.axis >= transfer.x.rank) {
    throw std::invalid_argument("the attribute axis is no axis of the argument");
  }
  const std::int64_t count =
      map.varies() ? shape_of(transfer.x)[static_cast<std::size_t>(map.axis)] : 1;
  cpu::MapValues values{.scales_are_complex =
                            read_integer(frame.attributes, "scales_are_complex") != 0};
  if (values.scales_are_complex && map.parts() == 1) {
    throw std::invalid_argument("the scales are complex, but the elements are not");
  }
  if (map.scales) values.scales = read_values(frame.arguments, 1, map, count);
  if (map.adds) values.offsets = read_values(frame.arguments, arguments - 1, map, count);
  run(frame, transfer, map, values);
}

void check_frame(const CallFrame& frame) {
  if (frame.struct_size < sizeof(CallFrame)) {
    throw std::invalid_argument("the call frame is too short for version 0.1 of XLA's FFI");
  }
  if (frame.stage != kExecuteStage) {
    throw std::invalid_argument("there is nothing to do at stage " + std::to_string(frame.stage));
  }
}

// Answers XLA's question, at registration, which version of the ABI this is. Left as it is,
// the metadata says 0.0, which XLA refuses.
void fill_in(Metadata& metadata) {
  if (metadata.struct_size < kMetadataBytes) return;
  metadata.api_version.major = kMajorVersion;
  metadata.api_version.minor = kMinorVersion;
  metadata.traits = 0;
}

// Whether the frame is a question, which has been answered then.
bool answers_question(const CallFrame& frame) {
  for (Extension* each = frame.extensions; each != nullptr; each = each->next) {
    if (each->type == kMetadataExtension) {
      fill_in(*reinterpret_cast<MetadataExtension*>(each)->metadata);
      return true;
    }
  }
  return false;
}

// Does what the call frame asks for by `act`, or answers its question.
Error* handle(const CallFrame& frame, const char* name, void (*act)(const CallFrame&)) noexcept {
  const auto make_error = [&](ErrorCode code, const char* why) {
    const std::string message = std::string(name) + ": " + why;
    ErrorArguments arguments{.struct_size = kErrorArgumentsBytes,
                             .extensions = nullptr,
                             .message = message.c_str(),
                             .code = code};
    return frame.api->create_error(&arguments);
  };
  try {
    if (answers_question(frame)) return nullptr;
    check_frame(frame);
    act(frame);
    return nullptr;
  } catch (const std::invalid_argument& error) {
    return make_error(kInvalidArgument, error.what());
  } catch (const std::exception& error) {
    return make_error(kInternal, error.what());
  }
}

}  // namespace

Error* transpose_handler(CallFrame* frame) noexcept {
  return handle(*frame, "ttlg.transpose", &transpose);
}

Error* transform_handler(CallFrame* frame) noexcept {
  return handle(*frame, "ttlg.transform", &transform);
}

}  // namespace ttlg::xla
