#include "xla/frame.hpp"

#include <algorithm>
#include <functional>
#include <numeric>
#include <stdexcept>

#include "cpu/threads/threads.hpp"
#include "plan/cpu/parameters.hpp"
#include "tensor/axes.hpp"

namespace ttlg::xla {
namespace {

struct KnownType {
  std::int32_t dtype;
  std::int64_t bytes;
  Type type = Type::bits;  // which the engine moves alone
};

constexpr KnownType kKnownTypes[] = {{kPred, 1, Type::boolean},
                                     {kS8, 1, Type::int8},
                                     {kU8, 1, Type::uint8},
                                     {kF8E3M4, 1},
                                     {kF8E4M3, 1},
                                     {kF8E4M3B11FNUZ, 1},
                                     {kF8E4M3FN, 1, Type::float8_e4m3fn},
                                     {kF8E4M3FNUZ, 1},
                                     {kF8E5M2, 1, Type::float8_e5m2},
                                     {kF8E5M2FNUZ, 1},
                                     {kF8E8M0FNU, 1},
                                     {kS16, 2, Type::int16},
                                     {kU16, 2, Type::uint16},
                                     {kF16, 2, Type::float16},
                                     {kBF16, 2, Type::bfloat16},
                                     {kS32, 4, Type::int32},
                                     {kU32, 4, Type::uint32},
                                     {kF32, 4, Type::float32},
                                     {kS64, 8, Type::int64},
                                     {kU64, 8},
                                     {kF64, 8, Type::float64},
                                     {kC64, 8, Type::complex64},
                                     {kC128, 16, Type::complex128}};

const KnownType& known_type(std::int32_t dtype) {
  const auto* const found = std::ranges::find(kKnownTypes, dtype, &KnownType::dtype);
  if (found != std::end(kKnownTypes)) return *found;
  throw std::invalid_argument("elements of XLA's type " + std::to_string(dtype) +
                              " have no size in bytes that ttlg knows");
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
  const std::int64_t threads = read_integer(attributes, "threads");
  if (threads == 0) return cpu::num_threads();
  if (!cpu::is_thread_count(threads)) {
    throw std::invalid_argument("the attribute threads must be from 0 to " +
                                std::to_string(cpu::kMaxThreads));
  }
  return static_cast<int>(threads);
}

}  // namespace

std::int64_t itemsize_of(std::int32_t dtype) { return known_type(dtype).bytes; }

Type type_of(std::int32_t dtype) {
  const Type type = known_type(dtype).type;
  if (type != Type::bits) return type;
  throw std::invalid_argument("elements of XLA's type " + std::to_string(dtype) +
                              " are none that ttlg converts");
}

std::int64_t elements_of(const Buffer& buffer) {
  const std::span<const std::int64_t> shape = shape_of(buffer);
  return std::accumulate(shape.begin(), shape.end(), std::int64_t{1}, std::multiplies<>());
}

const Buffer& buffer_at(const Operands& operands, std::int64_t place, std::int64_t count,
                        const std::string& what) {
  if (operands.count != count || operands.types[place] != kBufferType) {
    const std::string wanted =
        count == 1 ? "one " + what : std::to_string(count) + " " + what + "s";
    throw std::invalid_argument("there must be " + wanted + ", each a buffer");
  }
  return *static_cast<const Buffer*>(operands.values[place]);
}

std::int64_t read_integer(const Attributes& attributes, const std::string& name) {
  const auto& given = *static_cast<const Scalar*>(find_attribute(attributes, name, kScalar));
  check_is_int64(given.dtype, name);
  return *static_cast<const std::int64_t*>(given.value);
}

Transfer read_transfer(const CallFrame& frame, std::int64_t arguments) {
  const Buffer& x = buffer_at(frame.arguments, 0, arguments, "argument");
  const Buffer& out = buffer_at(frame.results, 0, 1, "result");
  const std::span<const std::int64_t> shape = shape_of(x);
  if (shape.size() > kMaxRank) {
    throw std::invalid_argument("rank " + std::to_string(shape.size()) + " exceeds the limit of " +
                                std::to_string(kMaxRank));
  }
  Transfer transfer{.x = x, .out = out, .threads = read_threads(frame.attributes), .order = {}};
  const std::span axes = std::span(transfer.order).first(shape.size());
  read_axes(frame.attributes, axes);
  const auto has_extent = [&](int axis, std::int64_t extent) {
    return shape[static_cast<std::size_t>(axis)] == extent;
  };
  if (!std::ranges::equal(axes, shape_of(out), has_extent)) {
    throw std::invalid_argument("the result has another type or shape than the permuted argument");
  }
  return transfer;
}

}  // namespace ttlg::xla
