// Toy kernels that make one wrong access each: the executor must name it.
#include "cuda/memory.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <limits>
#include <string>

#include "cuda/toy.hpp"

namespace ttlg::test {
namespace {

using Word = std::uint32_t;

// What the executor says of a wrong access.
std::string told(std::uint32_t thread, const std::string& what, int bytes, std::int64_t offset,
                 int block = 0) {
  return "block " + std::to_string(block) + ", thread " + std::to_string(thread) + ": " + what +
         " (" + std::to_string(bytes) + " bytes at offset " + std::to_string(offset) + ")";
}

TEST(GlobalMemory, MustNotBeLoadedOutOfBounds) {
  for (const std::int64_t offset :
       {std::int64_t{-4}, std::int64_t{128}, std::int64_t{126},
        std::numeric_limits<std::int64_t>::min(), std::numeric_limits<std::int64_t>::max()}) {
    const Report report = Toy(kRow).run({}, [offset](const HostContext& context) {
      copy_word(context);
      EXPECT_EQ(context.load<Word>(context.thread() == 7, offset), 0U);
    });
    EXPECT_EQ(report.violations, Violations{told(7, "loads out of bounds", 4, offset)});
    EXPECT_EQ(report.counts.load.accesses, 1) << "the bad one is not counted";
  }
}

TEST(GlobalMemory, MayBeSmallerThanAWord) {
  Toy(0).expect({told(0, "loads out of bounds", 4, 0)}, {},
                [](const HostContext& context) { context.load<Word>(context.thread() == 0, 0); });
}

TEST(GlobalMemory, MustNotBeStoredToOutOfBounds) {
  Toy(kRow).expect({told(31, "stores out of bounds", 4, 128)}, {}, [](const HostContext& context) {
    copy_word(context);
    context.store(context.thread() == 31, 128, Word{1});
  });
}

TEST(GlobalMemory, MustBeLoadedAtAlignedAddresses) {
  Toy(kRow, 2).expect(
      {told(2, "loads from a misaligned address", 4, 4)}, {}, [](const HostContext& context) {
        for (std::int64_t half = 0; half < 2; ++half) {
          const std::int64_t offset = 4 * context.thread() + 2 * half;
          context.store(true, offset, context.load<std::uint16_t>(true, offset));
        }
        context.load<Word>(context.thread() == 1, 2);  // aligned, as the array is not
        context.load<Word>(context.thread() == 2, 4);
      });
}

TEST(GlobalMemory, MustBeStoredToAtAlignedAddresses) {
  Toy toy(kRow);
  std::ranges::fill(std::span(toy.expected_writes).subspan(8, 8), std::uint8_t{0});
  toy.expect({told(0, "stores to a misaligned address", 8, 4)}, {}, [](const HostContext& context) {
    const std::int64_t offset = 4 * context.thread();
    context.store(offset < 8 || offset >= 16, offset, Word{1});
    context.store(context.thread() == 0, 4, std::uint64_t{1});
  });
}

TEST(GlobalMemory, MustNotBeWrittenBesideTheResult) {
  Toy toy(kRow);
  toy.expected_writes[43] = 0;
  toy.expect({told(11, "stores to a byte that is none of the result's", 1, 43)}, {},
             [](const HostContext& context) {
               for (std::int64_t i = 0; i < 4; ++i) {
                 context.store(true, 32 * i + context.thread(), std::byte{1});
               }
             });
}

TEST(GlobalMemory, MustBeWrittenOnceByAllBlocksTogether) {
  Toy(kRow).expect({told(2, "stores to a byte that was written before", 4, 8, 1)}, {.blocks = 2},
                   [](const HostContext& context) {
                     const std::int64_t offset = 4 * context.thread();
                     context.store(context.block() == 0 || offset == 8, offset, Word{1});
                   });
}

TEST(GlobalMemory, MustBeWrittenEverywhere) {
  Toy(kRow + 2).expect(
      {"byte 128 of the result is never written", "byte 129 of the result is never written"}, {},
      copy_word);
  Toy shifted(4);
  EXPECT_EQ(run_kernel({}, {{}, shifted.out.bytes(), shifted.expected_writes, 0, 3},
                       [](const HostContext& context) {
                         context.store(context.thread() < 3, std::int64_t{context.thread()} - 2,
                                       std::byte{1});
                       })
                .violations,
            Violations{"byte -3 of the result is never written"});
}

// Words of an array in place change places with those of the lane that is so much further.
Kernel move_words(std::uint32_t lanes, bool waits) {
  return [lanes, waits](const HostContext& context) {
    const std::uint32_t begin = kLanes * context.block();
    const auto from = std::int64_t{4} * (begin + (context.thread() + lanes) % kLanes);
    const Word word = context.load<Word>(true, from);
    if (waits) context.barrier();
    context.store(true, std::int64_t{4} * (begin + context.thread()), word);
  };
}

TEST(GlobalMemory, MayBeTransposedInPlace) {
  EXPECT_EQ(Toy(2 * kRow).run_inplace({.blocks = 2}, move_words(1, true)).violations, Violations{});
  EXPECT_EQ(Toy(2 * kRow).run_inplace({.blocks = 2}, move_words(0, false)).violations,
            Violations{});
}

TEST(GlobalMemory, MustNotBeTransposedInPlaceInARace) {
  EXPECT_EQ(Toy(kRow).run_inplace({}, move_words(1, false)).violations.front(),
            told(1, "stores to a byte in a race with a thread that loads it", 4, 4));
}

TEST(GlobalMemory, MustNotBeLoadedAfterItIsStoredInPlace) {
  Toy toy(2 * kRow);
  const auto load_first = [](const HostContext& context) {
    context.load<Word>(context.thread() == 5, 12);
    context.barrier();
    context.store(true, std::int64_t{4} * (kLanes * context.block() + context.thread()), Word{1});
  };
  EXPECT_EQ(toy.run_inplace({.blocks = 2}, load_first).violations,
            Violations{told(5, "loads a byte that was stored before", 4, 12, 1)});
  // The other way round, the one that stores is at fault.
  EXPECT_EQ(toy.run_inplace({.blocks = 2, .backwards = true}, load_first).violations.front(),
            told(3, "stores to a byte that another block loads", 4, 12));
}

TEST(SharedMemory, MustNotBeAccessedOutOfBounds) {
  const Violations expected{told(3, "is out of the bounds of shared memory", 1, 256),
                            told(4, "is out of the bounds of shared memory", 4, 4294967292)};
  expect_shared(expected, 32, [](const HostContext& context) {
    context.shared_store(context.thread() == 3, 256, std::byte{1});
    context.shared_load<Word>(context.thread() == 4, UINT32_MAX - 3);
  });
}

TEST(SharedMemory, MustBeAccessedAtAlignedOffsets) {
  expect_shared({told(3, "is misaligned in shared memory", 8, 4)}, 32,
                [](const HostContext& context) {
                  context.shared_store(context.thread() == 3, 4, std::uint64_t{1});
                });
}

TEST(SharedMemory, MustBeWrittenByTheBlockThatReadsIt) {
  const Grid grid{.blocks = 2, .shared_bytes = 256};
  Toy(0).expect({told(9, "reads shared memory before it is written", 4, 36, 1)}, grid,
                [](const HostContext& context) {
                  context.shared_store(context.block() == 0, 4 * context.thread(), Word{1});
                  context.barrier();
                  context.shared_load<Word>(context.block() == 0 || context.thread() == 9, 36);
                });
}

TEST(SharedMemory, MayBeWrittenAndReadByOneThreadWithoutABarrier) {
  expect_shared({}, 64, [](const HostContext& context) {
    for (Word value = 0; value < 3; ++value) {
      context.shared_store(true, 4 * context.thread(), value);
      EXPECT_EQ(context.shared_load<Word>(true, 4 * context.thread()), value);
    }
  });
}

TEST(SharedMemory, MayBeReadByAll) {
  expect_shared({}, 64, [](const HostContext& context) {
    context.shared_store(context.thread() == 5, 0, Word{8});
    context.barrier();
    EXPECT_EQ(context.shared_load<Word>(true, 0), 8U);
  });
}

// Threads of the same warp, and of two warps.
TEST(SharedMemory, MustNotBeWrittenByTwo) {
  for (const std::uint32_t other : {1, 32}) {
    const std::string expected =
        told(other, "writes shared memory in a race with a thread that writes it", 2, 2);
    expect_shared({expected}, 64, [other](const HostContext& context) {
      const bool writes = context.thread() == 0 || context.thread() == other;
      context.shared_store(writes, 2, std::uint16_t{1});
    });
  }
}

TEST(SharedMemory, MustNotBeReadWhileAnotherThreadWrites) {
  expect_shared({told(40, "reads shared memory in a race with a thread that writes it", 1, 3)}, 64,
                [](const HostContext& context) {
                  context.shared_store(context.thread() == 0, 0, Word{1});
                  context.shared_load<std::byte>(context.thread() == 40, 3);
                });
}

TEST(SharedMemory, MustNotBeWrittenWhileAnotherThreadReads) {
  for (const std::uint32_t readers : {1, 2}) {  // with two of them, the second is the writer
    expect_shared({told(1, "writes shared memory in a race with a thread that reads it", 4, 0)}, 32,
                  [readers](const HostContext& context) {
                    context.shared_store(context.thread() == 4, 0, Word{1});
                    context.barrier();
                    context.shared_load<Word>(context.thread() < readers, 0);
                    context.shared_store(context.thread() == 1, 0, Word{2});
                  });
  }
}

// Every thread copies a word; its neighbour in the next warp reads it.
struct RoundTrip {
  bool commits = true;
  bool waits = true;
  bool passes_barrier = true;

  Report run() const {
    Toy toy(2 * kRow);
    Report report = toy.run({.threads = 64, .shared_bytes = 256}, [this](const HostContext& c) {
      const std::uint32_t own = 4 * c.thread();
      const std::uint32_t other = 4 * ((c.thread() + 32) % 64);
      c.copy_async<4>(true, own, own);
      if (commits) c.commit_copies();
      if (waits) c.wait_copies<0>();
      if (passes_barrier) c.barrier();
      c.store(true, other, c.shared_load<Word>(true, other));
    });
    if (!std::ranges::equal(toy.in.bytes(), toy.out.bytes())) report.violations.push_back("bytes");
    return report;
  }
};

TEST(AsynchronousCopies, ArriveAfterTheWaitAndTheBarrier) {
  const Report report = RoundTrip{}.run();
  EXPECT_EQ(report.violations, Violations{});
  EXPECT_EQ(report.counts.load.sectors, 8);
  EXPECT_EQ(report.counts.shared_stores, 2);
}

TEST(AsynchronousCopies, MustBeCommittedAndWaitedForBeforeTheBarrier) {
  const std::string pending =
      told(0, "reads shared memory before an asynchronous copy to it has arrived", 4, 128);
  EXPECT_EQ(RoundTrip{.commits = false}.run().violations.front(), pending);
  EXPECT_EQ(RoundTrip{.waits = false}.run().violations.front(), pending);
  // The first warp's have arrived when the second reads them, yet it was not told so.
  EXPECT_EQ(RoundTrip{.passes_barrier = false}.run().violations.back(), "bytes");
  EXPECT_EQ(RoundTrip{.passes_barrier = false}.run().violations.front(),
            told(0, "reads shared memory before it is written", 4, 128));
}

TEST(AsynchronousCopies, ArriveGroupByGroup) {
  expect_shared({}, 32, [](const HostContext& context) {
    context.shared_store(true, 4 * context.thread(), Word{1});
    context.commit_copies();  // empty groups count
    context.wait_copies<0>();
  });
  Toy toy(2 * kRow);
  const auto kernel = [](const HostContext& context) {
    const std::uint32_t offset = 4 * context.thread();
    for (const std::uint32_t row : {0, 128}) {
      context.copy_async<4>(true, row + offset, row + offset);
      context.commit_copies();
    }
    context.wait_copies<1>();
    context.store(true, offset, context.shared_load<Word>(true, offset));
    context.store(true, 128 + offset,
                  context.shared_load<Word>(context.thread() != 6, 128 + offset));
    context.wait_copies<0>();
  };
  const Report report = toy.run({.shared_bytes = 256}, kernel);
  ASSERT_EQ(report.violations.size(), kMaxViolations) << "the second group is still under way";
  EXPECT_EQ(report.violations.front(),
            told(0, "reads shared memory before an asynchronous copy to it has arrived", 4, 128));
}

// The first words of runs may begin before an array, the last ones end behind it.
TEST(AsynchronousCopies, ReadTheFirstBytesOfAWord) {
  Toy toy(6, 3);
  toy.expected_writes = {1, 1, 1, 1, 0, 0};
  const auto copy = [&toy](std::int64_t offset, std::uint32_t count) {
    return toy.run({.shared_bytes = 256}, [=](const HostContext& context) {
      context.copy_word_async(context.thread() == 0, count, 8, offset);
      context.commit_copies();
      context.wait_copies<0>();
      context.barrier();
      const bool valid = context.thread() < 4;
      context.store(valid, context.thread(),
                    context.shared_load<std::uint8_t>(valid, 8 + context.thread()));
    });
  };
  using Bytes = std::array<std::byte, 4>;
  const auto expect_copied = [&](std::int64_t offset, std::uint32_t count, const Bytes& bytes) {
    EXPECT_EQ(copy(offset, count).violations, Violations{});
    EXPECT_TRUE(std::ranges::equal(toy.out.bytes().first(4), bytes)) << offset;
  };
  constexpr std::byte kAnything{0xa5};
  expect_copied(-3, 4, {kAnything, kAnything, kAnything, std::byte{0}});
  expect_copied(1, 4, {std::byte{1}, std::byte{2}, std::byte{3}, std::byte{4}});
  expect_copied(5, 1, {std::byte{5}});
  EXPECT_EQ(copy(5, 2).violations, (Violations{told(0, "loads out of bounds", 4, 5)}));
  EXPECT_EQ(copy(0, 2).violations.front(), told(0, "loads from a misaligned address", 4, 0));
}

TEST(AsynchronousCopies, MustNotMeetWritesOrBeLeftAlone) {
  const Violations expected{
      told(3, "writes shared memory before an asynchronous copy to it has arrived", 4, 28),
      "block 0, thread 2: returns without waiting for its asynchronous copies"};
  Toy(kRow).expect(expected, {.shared_bytes = 256}, [](const HostContext& context) {
    copy_word(context);
    context.copy_async<16>(context.thread() == 2, 16, 0);
    context.shared_store(context.thread() == 3, 28, Word{1});
    context.commit_copies();
  });
}

TEST(AsynchronousCopies, MustNotOverwriteWhatOthersStillRead) {
  const Violations expected{
      told(2, "writes shared memory in a race with a thread that reads it", 4, 0),
      told(5, "is misaligned in shared memory", 8, 4), told(6, "loads out of bounds", 4, 256)};
  Toy(kRow).expect(expected, {.shared_bytes = 256}, [](const HostContext& context) {
    copy_word(context);
    context.shared_store(true, 4 * context.thread(), Word{1});
    context.barrier();
    context.shared_load<Word>(context.thread() == 1, 0);
    context.copy_async<4>(context.thread() == 2, 0, 0);
    context.copy_async<8>(context.thread() == 5, 4, 8);
    context.copy_async<4>(context.thread() == 6, 40, 256);
    context.commit_copies();
    context.wait_copies<0>();
  });
}

}  // namespace
}  // namespace ttlg::test
