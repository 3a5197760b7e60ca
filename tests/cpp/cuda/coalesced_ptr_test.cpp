// The header that users' kernels include, on the host: what is loaded and stored, and at what cost.
#include "ttlg/coalesced_ptr.cuh"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <cstring>
#include <numeric>
#include <random>
#include <set>
#include <type_traits>
#include <utility>
#include <vector>

#include "cuda/toy.hpp"

namespace ttlg::test {
namespace {

using in_register::Address;

template <std::size_t words, std::size_t alignment>
struct alignas(alignment) Structure {
  std::uint32_t word[words];
};

// What all lanes together did.
struct Tally {
  std::int64_t address_shuffles = 0;
  std::int64_t shuffles = 0;
  std::int64_t selects = 0;
};

// A lane of a warp on the executor. Lanes that are not active make the calls of the others, as the
// executor asks of them, and touch nothing.
class HostLanes {
 public:
  HostLanes(const HostContext& context, Toy& toy, Tally& tally, bool active)
      : context_(&context), toy_(&toy), tally_(&tally), active_(active) {}

  unsigned lane() const { return context_->thread() % kLanes; }
  bool whole() const { return all(active_); }
  void sync() const {}  // lanes access memory in the order of their calls
  bool all(bool value) const { return !context_->any(!value); }

  template <typename V>
  V shuffle(const V& value, unsigned lane) const {
    ++(std::is_same_v<V, Address> ? tally_->address_shuffles : tally_->shuffles);
    return context_->shuffle(value, lane);
  }

  template <typename W>
  W select(bool first, const W& x, const W& y) const {
    ++tally_->selects;
    return first ? x : y;
  }

  template <typename W>
  W load(const W* from) const {
    return context_->load<W>(active_, offset(from, toy_->in.bytes().data()));
  }

  template <typename W>
  void store(W* to, const W& word) const {
    context_->store(active_, offset(to, toy_->out.bytes().data()), word);
  }

 private:
  static std::int64_t offset(const void* pointer, const std::byte* origin) {
    return static_cast<std::int64_t>(reinterpret_cast<std::uintptr_t>(pointer) -
                                     reinterpret_cast<std::uintptr_t>(origin));
  }

  const HostContext* context_;
  Toy* toy_;
  Tally* tally_;
  bool active_;
};

// Two warps whose lanes each have a structure, by thread the number of it.
constexpr int kThreads = 2 * kLanes;
using Order = std::vector<std::ptrdiff_t>;

Order unit_stride() {
  Order order(kThreads);
  std::iota(order.begin(), order.end(), 0);
  return order;
}

Order random_order(unsigned seed) {
  Order order = unit_stride();
  std::ranges::shuffle(order, std::mt19937(seed));
  return order;
}

std::vector<Order> orders() {
  std::vector<Order> result{unit_stride(), random_order(1), random_order(2)};
  // The first warp's structures are consecutive but for two lanes; the second's are not touched.
  for (const std::size_t lane : {0, 1, 30}) {
    result.push_back(unit_stride());
    std::swap(result.back()[lane], result.back()[lane + 1]);
  }
  result.emplace_back(result[0].rbegin(), result[0].rend());
  return result;
}

template <typename T>
struct Structures {
  Toy toy{kThreads * sizeof(T)};
  T* in = reinterpret_cast<T*>(toy.in.bytes().data());
  T* out = reinterpret_cast<T*>(toy.out.bytes().data());
  Tally tally;

  Structures() {
    std::ranges::generate(toy.in.bytes(), [random = std::mt19937(sizeof(T))]() mutable {
      return static_cast<std::byte>(random());
    });
  }

  HostLanes lanes(const HostContext& context, bool active = true) {
    return {context, toy, tally, active};
  }
};

template <typename T>
bool same(const T& x, const T& y) {
  return std::memcmp(&x, &y, sizeof(T)) == 0;
}

constexpr std::uint64_t kAllActive = ~std::uint64_t{0};

// Each active lane copies its structure; the pointers of the others point nowhere.
template <typename T>
Report copy_structures(Structures<T>& structures, const Order& order, std::uint64_t active) {
  const auto is_active = [active](std::size_t thread) { return (active >> thread & 1) != 0; };
  for (std::size_t i = 0; i < kThreads; ++i) {
    std::uint8_t* const flags = structures.toy.expected_writes.data();
    std::fill_n(flags + static_cast<std::size_t>(order[i]) * sizeof(T), sizeof(T), is_active(i));
  }
  const Report report = structures.toy.run({.threads = kThreads}, [&](const HostContext& context) {
    const std::uint32_t thread = context.thread();
    const std::ptrdiff_t own = is_active(thread) ? order[thread] : 1 << 20;
    const HostLanes lanes = structures.lanes(context, is_active(thread));
    const T value = *coalesced_ptr(structures.in + own, lanes);
    EXPECT_TRUE(!is_active(thread) || same(value, structures.in[own]));
    *coalesced_ptr(structures.out + own, lanes) = value;
  });
  EXPECT_EQ(report.violations, std::vector<std::string>{});
  for (std::size_t i = 0; i < kThreads; ++i) {
    EXPECT_TRUE(!is_active(i) || same(structures.in[order[i]], structures.out[order[i]]));
  }
  return report;
}

// Structures as structures of words.
struct Shape {
  std::size_t words;
  std::size_t word_bytes;

  std::size_t bytes() const { return words * word_bytes; }
};

// The sectors that two warps touch if lane l takes word 32 r + l of the warp's structures together.
std::int64_t sectors(const Shape& shape, const Order& order) {
  std::set<std::array<std::size_t, 3>> touched;
  for (std::size_t warp = 0; warp < 2; ++warp) {
    for (std::size_t word = 0; word < kLanes * shape.words; ++word) {
      const auto structure = static_cast<std::size_t>(order[kLanes * warp + word / shape.words]);
      const std::size_t byte = structure * shape.bytes() + word % shape.words * shape.word_bytes;
      touched.insert({warp, word / kLanes, byte / kSectorBytes});
    }
  }
  return static_cast<std::int64_t>(touched.size());
}

bool is_unit_stride(const Order& order, std::size_t warp) {
  const auto* const first = order.data() + kLanes * warp;
  return std::adjacent_find(first, first + kLanes, [](auto x, auto y) { return y != x + 1; }) ==
         first + kLanes;
}

// Of a load and a store: every word moves once from lane to lane, and once a step of a barrel.
void expect_costs(const Shape& shape, const Counts& counts, const Tally& tally,
                  const Order& order) {
  const auto m = static_cast<std::int64_t>(shape.words);
  for (const SideCounts& side : {counts.load, counts.store}) {
    EXPECT_EQ(side.accesses, 2 * m);
    EXPECT_EQ(side.sectors, sectors(shape, order));
    if (order == unit_stride() || shape.bytes() % kSectorBytes == 0) {
      EXPECT_EQ(side.sectors, kThreads * shape.bytes() / kSectorBytes) << "each of them once";
    }
  }
  const auto ceil_log2 = [](std::size_t x) { return static_cast<int>(std::bit_width(x - 1)); };
  const int steps = ceil_log2(std::min(shape.words, std::size_t{32})) +
                    ceil_log2(std::gcd(shape.words, std::size_t{32}));
  EXPECT_EQ(tally.selects, 2 * kThreads * m * steps);
  EXPECT_EQ(tally.shuffles, m == 1 ? 0 : 2 * kThreads * m);
  const int random_warps = !is_unit_stride(order, 0) + !is_unit_stride(order, 1);
  EXPECT_EQ(tally.address_shuffles, m == 1 ? 0 : 2 * (kThreads + random_warps * kLanes * m));
}

// By thread; no warp is whole.
constexpr std::uint64_t kActive[] = {0x7fffffff00000001, 0x00000000fffffffe, 0x0ff0a5015ac30b11};

template <std::size_t words, std::size_t alignment>
void expect_copies() {
  SCOPED_TRACE(testing::Message() << words << " words, aligned to " << alignment);
  using T = Structure<words, alignment>;
  const std::size_t word_bytes = std::min<std::size_t>(alignment, 16);
  const Shape shape{sizeof(T) / word_bytes, word_bytes};
  for (const Order& order : orders()) {
    Structures<T> structures;
    const Report report = copy_structures(structures, order, kAllActive);
    expect_costs(shape, report.counts, structures.tally, order);
  }
  for (const std::uint64_t active : kActive) {
    Structures<T> structures;
    copy_structures(structures, unit_stride(), active);
    EXPECT_EQ(structures.tally.shuffles + structures.tally.address_shuffles, 0);
  }
}

// How many words a structure has beyond the first; a sample where the compiler is slow.
#ifdef TTLG_SAMPLE_RUNS
using FurtherWords = std::index_sequence<0, 1, 2, 7, 11, 30, 31, 47, 63>;
#else
using FurtherWords = std::make_index_sequence<64>;
#endif

TEST(CoalescedPtr, CopiesStructuresOfAllSizes) {
  []<std::size_t... i>(std::index_sequence<i...>) {
    (expect_copies<i + 1, 4>(), ...);
  }(FurtherWords());
}

TEST(CoalescedPtr, TakesWiderWordsWhereTheyAreAligned) {
  expect_copies<2, 8>();
  expect_copies<6, 8>();
  expect_copies<62, 8>();
  expect_copies<64, 8>();
  expect_copies<4, 16>();
  expect_copies<12, 16>();
  expect_copies<64, 16>();
  expect_copies<24, 32>();
}

TEST(CoalescedPtr, DecidesForEachWarp) {
  Structures<Structure<5, 4>> structures;
  copy_structures(structures, random_order(3), 0x3ffffffffffff);
  EXPECT_EQ(structures.tally.shuffles, 2 * 5 * kLanes) << "of the first warp";
}

TEST(CoalescedPtr, IsAPointer) {
  using T = Structure<3, 4>;
  Structures<T> structures;
  structures.toy.expect({}, {.threads = kLanes}, [&](const HostContext& context) {
    const HostLanes lanes = structures.lanes(context);
    const std::uint32_t i = context.thread();
    coalesced_ptr<const T, HostLanes> in(structures.in + i, lanes);
    coalesced_ptr<T, HostLanes> out(structures.out, lanes);
    EXPECT_EQ((out + 3).get(), structures.out + 3);
    out += i;
    out.store(in.load());
    out[32] = in[32];
    const coalesced_ptr<T, HostLanes> in_and_out(structures.in + i, lanes);
    EXPECT_TRUE(same<T>(in_and_out[1], structures.in[i + 1]));
  });
  EXPECT_TRUE(std::ranges::equal(structures.toy.in.bytes(), structures.toy.out.bytes()));
}

TEST(CoalescedRef, IsCopiedByValue) {
  using T = Structure<2, 4>;
  Structures<T> structures;
  structures.toy.expect({}, {.threads = kThreads}, [&](const HostContext& context) {
    const HostLanes lanes = structures.lanes(context);
    const std::uint32_t i = context.thread();
    const coalesced_ref<T, HostLanes> from(structures.in + i, lanes), to(structures.out + i, lanes);
    to = from;
  });
  EXPECT_TRUE(std::ranges::equal(structures.toy.in.bytes(), structures.toy.out.bytes()));
}

// Neither a constructor without arguments nor assignment is needed.
struct Fixed {
  Fixed() = delete;
  explicit Fixed(double x) : value(x), half(static_cast<float>(x / 2)), number(-1) {}
  const double value;
  const float half;
  const std::int32_t number;
};

TEST(CoalescedPtr, TakesStructuresThatCannotBeAssigned) {
  Structures<Fixed> structures;
  structures.toy.expect({}, {.threads = kThreads}, [&](const HostContext& context) {
    const HostLanes lanes = structures.lanes(context);
    const Fixed value(context.thread());
    const coalesced_ptr out(structures.out + context.thread(), lanes);
    out.store(value);
    const Fixed own =
        *coalesced_ptr<const Fixed, HostLanes>(structures.in + context.thread(), lanes);
    EXPECT_TRUE(same(own, structures.in[context.thread()]));
  });
  EXPECT_EQ(structures.out[63].value, 63);
  EXPECT_EQ(structures.out[63].half, 31.5);
  EXPECT_EQ(structures.out[63].number, -1);
}

}  // namespace
}  // namespace ttlg::test
