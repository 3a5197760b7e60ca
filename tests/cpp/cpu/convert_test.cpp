// Elements that are converted: the kernels of every SIMD level, and every way to plan for them.
#include "cpu/convert.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cfenv>
#include <cstdint>
#include <cstring>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include "cpu/buffers.hpp"
#include "cpu/execute.hpp"
#include "cpu/executions.hpp"
#include "plan/cpu/planner.hpp"
#include "requests.hpp"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace ttlg::cpu {
namespace {

using Raw = std::vector<std::byte>;

template <typename T>
void append(Raw& raw, T value) {
  const auto bytes = std::bit_cast<std::array<std::byte, sizeof(T)>>(value);
  raw.insert(raw.end(), bytes.begin(), bytes.end());
}

// Elements of that many bytes: any bits, and numbers near those that round half way.
Raw hostile_elements(std::int64_t bytes, int count) {
  std::mt19937_64 random(static_cast<std::uint64_t>(bytes));
  Raw raw;
  for (int i = 0; i < count; ++i) {
    const std::uint64_t bits = random();
    const std::uint64_t few = bits & (0xfff0'0000'0000'0000 | bits << 20 >> 8);
    const double near = static_cast<double>(static_cast<std::int64_t>(bits) >> (bits % 60)) / 4;
    switch (i % 3) {
      case 0:
        append(raw, bits);
        break;
      case 1:
        append(raw, bytes == 8 ? few : few >> 32);
        break;
      default:
        if (bytes == 8) append(raw, near);
        if (bytes < 8)
          append(raw, std::uint64_t{std::bit_cast<std::uint32_t>(static_cast<float>(near))});
    }
    raw.resize(static_cast<std::size_t>((i + 1) * bytes));
  }
  return raw;
}

constexpr int kCount = 3000;

TEST(ConvertKernels, AgreeOnEveryLevel) {
  const Kernels& first = *usable_levels().front();
  int compared = 0;
  for (std::size_t computed = 0; computed < kComputedTypes; ++computed) {
    const std::int64_t part = computed % 2 == 0 ? 4 : 8;
    for (std::size_t type = 0; type < kTypes; ++type) {
      const std::int64_t bytes = bytes_of(static_cast<Type>(type));
      for (const Kernels* level : usable_levels()) {
        const ConvertKernels& expected = first.convert[computed];
        const ConvertKernels& actual = level->convert[computed];
        ASSERT_EQ(expected.load[type] == nullptr, actual.load[type] == nullptr);
        if (actual.load[type] == nullptr) continue;
        const std::string name = std::string(level->name) + ", type " + std::to_string(type);
        // Of any address, and of numbers of elements that vectors do not divide.
        for (const auto& [begin, count] : {std::pair{0, kCount}, {1, 37}, {3, 1}, {0, 0}}) {
          const Raw in = hostile_elements(bytes, kCount + 1);
          for (const bool swaps : {false, true}) {
            Raw wanted(static_cast<std::size_t>(count * part + 1));
            Raw got = wanted;
            expected.load[type](in.data() + begin, wanted.data(), count, swaps);
            actual.load[type](in.data() + begin, got.data(), count, swaps);
            EXPECT_EQ(got, wanted) << name;
          }
          const Raw values = hostile_elements(part, kCount + 1);
          for (auto save : {&ConvertKernels::save, &ConvertKernels::save_saturated}) {
            Raw wanted(static_cast<std::size_t>(count * bytes + 1));
            Raw got = wanted;
            (expected.*save)[type](values.data() + begin, wanted.data(), count);
            (actual.*save)[type](values.data() + begin, got.data(), count);
            EXPECT_EQ(got, wanted) << name;
          }
          ++compared;
        }
      }
    }
  }
  EXPECT_EQ(compared, 152 * std::ssize(usable_levels()));
}

// A product and a sum are rounded one after the other, whatever instructions a level has.
TEST(ConvertKernels, FuseNoProductAndSum) {
  constexpr float kValue = 1 + 0x1p-12F;  // whose square has more bits than a float
  for (const Kernels* level : usable_levels()) {
    const Conversion conversion{
        .map = {.from = Type::float32, .to = Type::float32, .scales = true, .adds = true},
        .from_bytes = 4,
        .to_bytes = 4};
    const float offset = -(kValue * kValue);
    const MapValues values{.scales = reinterpret_cast<const std::byte*>(&kValue),
                           .offsets = reinterpret_cast<const std::byte*>(&offset)};
    std::vector<float> in(100, kValue);
    std::vector<float> out(in.size(), 1);
    RowConverter(conversion, values, *level, false)
        .move(reinterpret_cast<const std::byte*>(in.data()),
              reinterpret_cast<std::byte*>(out.data()), std::ssize(in), {});
    EXPECT_EQ(out, std::vector<float>(in.size(), 0)) << level->name;
  }
}

// Whatever the arithmetic of the thread is that calls.
TEST(Convert, KeepsSubnormalNumbers) {
  const Conversion conversion{
      .map = {.from = Type::float32, .to = Type::float64}, .from_bytes = 4, .to_bytes = 8};
  const std::vector<float> in(40, std::numeric_limits<float>::denorm_min());
  std::vector<double> out(in.size());
  std::fenv_t before;
  std::fegetenv(&before);
#if defined(__x86_64__)
  constexpr unsigned kFlushesToZero = 0x8040;
  _mm_setcsr(_mm_getcsr() | kFlushesToZero);
#else
  std::fesetround(FE_UPWARD);
#endif
  RowConverter(conversion, {}, *usable_levels().back(), false)
      .move(reinterpret_cast<const std::byte*>(in.data()), reinterpret_cast<std::byte*>(out.data()),
            std::ssize(in), {});
#if defined(__x86_64__)
  EXPECT_EQ(_mm_getcsr() & kFlushesToZero, kFlushesToZero) << "as it was";
#else
  EXPECT_EQ(std::fegetround(), FE_UPWARD);
#endif
  std::fesetenv(&before);
  EXPECT_EQ(out, std::vector<double>(in.size(), 0x1p-149));
}

// What random maps do to random layouts, whose elements are no NaN.
struct Drawn {
  Request request;
  std::vector<double> wide;
  std::vector<float> narrow;
  double beta;
  float narrow_beta;

  MapValues values() const {
    const auto bytes = [](const auto& of) { return reinterpret_cast<const std::byte*>(of.data()); };
    const bool is_wide = request.map.computed_in() == Type::float64;
    const std::byte* const numbers = is_wide ? bytes(wide) : bytes(narrow);
    return {.scales = numbers,
            .offsets = numbers,
            .beta = is_wide ? reinterpret_cast<const std::byte*>(&beta)
                            : reinterpret_cast<const std::byte*>(&narrow_beta)};
  }
};

Drawn draw(test::Random& random, Request request) {
  constexpr std::array kFrom{Type::uint8, Type::int16, Type::int32, Type::int8, Type::uint16};
  constexpr std::array kTo{Type::float32, Type::float64, Type::float16,
                           Type::int16,   Type::uint8,   Type::bfloat16};
  const auto one_of = [&](const auto& types) {
    return types[static_cast<std::size_t>(test::pick(random, 0, std::ssize(types) - 1))];
  };
  const Type from = one_of(kFrom);
  const std::int64_t old = request.itemsize;
  request.itemsize = bytes_of(from);
  request.map = {.from = from, .to = one_of(kTo)};
  for (std::int64_t& stride : request.in_byte_strides) stride = stride * request.itemsize / old;
  for (std::int64_t& stride : request.out_byte_strides) {
    stride = stride / old * request.out_itemsize();
  }
  request.map.scales = test::pick(random, 0, 1) == 0;
  request.map.adds = test::pick(random, 0, 1) == 0;
  request.map.accumulates = test::pick(random, 0, 3) == 0;
  request.map.saturates = test::pick(random, 0, 1) == 0;
  const auto rank = std::ssize(request.shape);
  if (rank > 0 && test::pick(random, 0, 3) > 0) {
    request.map.axis = static_cast<std::int8_t>(test::pick(random, 0, rank - 1));
  }
  if (from == request.map.to) request.map.scales = true;
  Drawn drawn{.request = request, .wide = {}, .narrow = {}, .beta = 0.5, .narrow_beta = 0.5F};
  for (std::int64_t i = 0; i < 400; ++i) {
    drawn.wide.push_back(static_cast<double>(test::pick(random, -999, 999)) / 64);
    drawn.narrow.push_back(static_cast<float>(drawn.wide.back()));
  }
  return drawn;
}

void expect_as_reference(const Drawn& drawn, const Plan& plan) {
  const Request& request = drawn.request;
  const test::Span in_span = test::in_span_of(request);
  const test::Span out_span = test::out_span_of(request);
  const test::GuardedInput input(in_span.bytes(), {test::Placement::Side::after, 0});
  const std::byte* const in = input.data() - in_span.first;
  const auto run = [&](const Plan& way, const Kernels& level, std::size_t alignment) {
    test::SentinelOutput out(out_span.bytes(), alignment);
    execute(way, in, out.data() - out_span.first, level, {}, drawn.values());
    const auto all = out.surroundings();
    return Raw(all.begin(), all.end());
  };
  const Plan reference = build_plan(request, {.kernel = Kernel::reference});
  for (const std::size_t alignment : {0, 8}) {
    const Raw expected = run(reference, *usable_levels().front(), alignment);
    for (const Kernels* level : usable_levels()) {
      EXPECT_EQ(run(plan, *level, alignment), expected)
          << level->name << ", kernel " << kernel_name(plan.parameters.kernel) << ", from "
          << type_number(request.map.from) << " to " << type_number(request.map.to) << ", axis "
          << int{request.map.axis} << ", scales " << request.map.scales << ", adds "
          << request.map.adds << ", beta " << request.map.accumulates << ", "
          << test::describe(plan);
    }
  }
}

void expect_as_reference(test::Random& random, const Request& request) {
  const Drawn drawn = draw(random, request);
  if (!is_free_of_self_overlap(drawn.request.out_shape(), drawn.request.resolved_out_byte_strides(),
                               drawn.request.out_itemsize())) {
    return;
  }
  std::vector<Candidate> ways = candidates(drawn.request, Machine{}, 2);
  std::ranges::shuffle(ways, random);
  ways.resize(std::min<std::size_t>(ways.size(), 3));
  for (const Candidate& way : ways) {
    expect_as_reference(drawn, build_plan(drawn.request, way.parameters));
  }
}

TEST(Convert, MatchesTheReferenceOnRandomLayouts) {
  test::Random random(71);
  test::for_random_requests(
      random, 300, [&](const Request& request, int) { expect_as_reference(random, request); });
}

TEST(Convert, MatchesTheReferenceOnLongRuns) {
  test::Random random(72);
  for (int i = 0; i < 100; ++i) expect_as_reference(random, test::long_runs_request(random));
}

// Vectors of values along every axis of images, in blocks and chunks that begin anywhere.
TEST(Convert, FindsItsValuesAlongEveryAxis) {
  test::Random random(73);
  for (const std::vector<std::int64_t>& shape :
       {std::vector<std::int64_t>{2, 40, 61, 3}, {3, 2, 40, 61}, {2500, 3}, {3, 2500}}) {
    test::for_each_permutation(shape.size(), [&](const std::vector<int>& axes) {
      for (std::size_t axis = 0; axis < shape.size(); ++axis) {
        for (const bool is_reversed : {false, true}) {
          Request request = test::contiguous_request(shape, axes, 1);
          request.map = {.from = Type::uint8,
                         .to = Type::float32,
                         .scales = true,
                         .adds = true,
                         .axis = static_cast<std::int8_t>(axis)};
          if (is_reversed) request.in_byte_strides[axis] *= -1;
          Drawn drawn{.request = request, .wide = {}, .narrow = {}, .beta = 0, .narrow_beta = 0};
          for (int i = 0; i < 2500; ++i) drawn.narrow.push_back(static_cast<float>(i) + 0.5F);
          expect_as_reference(drawn, make_plan(request, Machine{}, 1));
        }
      }
    });
  }
}

// Short runs that begin within lines and go on from block to block, and others that do not; in
// place of what they were gathered as, or on their way out.
TEST(Convert, StreamsRunsOfEveryKind) {
  struct Pair {
    Type from;
    Type to;
  };
  for (const auto& [from, to] : {Pair{Type::float32, Type::float32},
                                 {Type::float32, Type::uint8},
                                 {Type::float64, Type::float32},
                                 {Type::float64, Type::float16},
                                 {Type::float64, Type::uint8},
                                 {Type::int32, Type::int16},
                                 {Type::complex64, Type::float32},
                                 {Type::uint8, Type::float32}}) {
    for (const std::int64_t rows : {333, 512, 1600}) {
      Request request = test::contiguous_request({rows, 50}, {1, 0}, bytes_of(from));
      // Computed, or converted as they are.
      request.map = {
          .from = from, .to = to, .scales = rows == 512 || from == to, .saturates = true};
      Drawn drawn{.request = request, .wide = {0.5}, .narrow = {0.5F}, .beta = 0, .narrow_beta = 0};
      for (const std::int64_t run : {160, 256, 1600}) {
        for (const std::vector<int>& order : {std::vector<int>{0, 1}, {1, 0}}) {
          Parameters parameters{.kernel = Kernel::tile,
                                .block = {16, std::min(rows, run)},
                                .loop_order = order,
                                .staged = true,
                                .streaming = true,
                                .prefetch = 1};
          if (run >= rows) parameters.loop_order = {0};
          if (16 * run * bytes_of(from) > kStagingBytes / 2) continue;
          expect_as_reference(drawn, build_plan(request, parameters));
        }
      }
    }
  }
}

// Elements of one type that are added to at once, long ones without a buffer.
TEST(Convert, AddsToElementsOfItsType) {
  for (const Type type : {Type::float32, Type::float64, Type::complex64, Type::complex128}) {
    for (const std::int64_t inner : {1, 5, 90, 400}) {
      for (const bool scales : {false, true}) {
        Request request = test::contiguous_request({7, 30, inner}, {1, 0, 2}, bytes_of(type));
        request.map = {.from = type, .to = type, .scales = scales, .accumulates = true};
        const Drawn drawn{.request = request,
                          .wide = {-3, -3},
                          .narrow = {-3, -3},
                          .beta = 0.5,
                          .narrow_beta = 0.5};
        for (const Candidate& way : candidates(request, Machine{}, 1)) {
          expect_as_reference(drawn, build_plan(request, way.parameters));
        }
      }
    }
  }
}

}  // namespace
}  // namespace ttlg::cpu
