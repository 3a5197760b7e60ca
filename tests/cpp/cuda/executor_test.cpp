// Toy kernels that do one thing wrong each: the executor must name it.
#include "cuda/executor.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <stdexcept>
#include <string>

#include "cuda/toy.hpp"

namespace ttlg::test {
namespace {

constexpr std::size_t kRow = 128;  // a 4-byte word for each lane of a warp

using Word = std::uint32_t;
using Complaints = std::vector<std::string>;

void copy_word(const HostContext& context) {
  const std::int64_t offset = 4 * context.thread();
  context.store(true, offset, context.load<Word>(true, offset));
}

TEST(Executor, RunsEveryThreadOfEveryBlock) {
  Toy toy(6 * kRow);
  const Report report = toy.run({.blocks = 3, .threads = 64}, [](const HostContext& context) {
    const std::int64_t offset = 4 * (64 * std::int64_t{context.block()} + context.thread());
    context.store(true, offset, context.load<Word>(true, offset));
  });
  EXPECT_EQ(report.complaints, Complaints{});
  EXPECT_TRUE(std::ranges::equal(toy.in.bytes(), toy.out.bytes()));
}

TEST(Executor, TakesOffsetsFromTheOrigins) {
  Toy toy(kRow);
  const Report report =
      run_kernel({}, {toy.in.bytes(), toy.out.bytes(), toy.expected_writes, 124, 4},
                 [](const HostContext& context) {
                   const std::int64_t offset = 4 * context.thread();
                   context.store(true, offset - 4, context.load<Word>(true, -offset));
                 });
  EXPECT_EQ(report.complaints, Complaints{});
  EXPECT_EQ(toy.out.bytes()[0], toy.in.bytes()[124]);
  EXPECT_EQ(toy.out.bytes()[124], toy.in.bytes()[0]);
}

TEST(GlobalMemory, MustNotBeLoadedOutOfBounds) {
  for (const std::int64_t offset :
       {std::int64_t{-4}, std::int64_t{128}, std::int64_t{126},
        std::numeric_limits<std::int64_t>::min(), std::numeric_limits<std::int64_t>::max()}) {
    Toy toy(kRow);
    const Report report = toy.run({}, [offset](const HostContext& context) {
      copy_word(context);
      EXPECT_EQ(context.load<Word>(context.thread() == 7, offset), 0U);
    });
    EXPECT_EQ(report.complaints,
              Complaints{"block 0, thread 7: loads out of bounds (4 bytes at offset " +
                         std::to_string(offset) + ")"});
    EXPECT_EQ(report.counts.load.accesses, 1) << "the bad one is not counted";
  }
}

TEST(GlobalMemory, MustNotBeStoredToOutOfBounds) {
  Toy toy(kRow);
  const Report report = toy.run({}, [](const HostContext& context) {
    copy_word(context);
    context.store(context.thread() == 31, 128, Word{1});
  });
  EXPECT_EQ(report.complaints,
            Complaints{"block 0, thread 31: stores out of bounds (4 bytes at offset 128)"});
}

TEST(GlobalMemory, MustBeLoadedAtAlignedAddresses) {
  Toy toy(kRow, 2);
  const Report report = toy.run({}, [](const HostContext& context) {
    for (std::int64_t half = 0; half < 2; ++half) {
      const std::int64_t offset = 4 * context.thread() + 2 * half;
      context.store(true, offset, context.load<std::uint16_t>(true, offset));
    }
    context.load<Word>(context.thread() == 1, 2);  // aligned, as the array is not
    context.load<Word>(context.thread() == 2, 4);
  });
  EXPECT_EQ(report.complaints, Complaints{"block 0, thread 2: loads from a misaligned address (4 "
                                          "bytes at offset 4)"});
}

TEST(GlobalMemory, MustBeStoredToAtAlignedAddresses) {
  Toy toy(kRow);
  std::ranges::fill(std::span(toy.expected_writes).subspan(8, 8), std::uint8_t{0});
  const Report report = toy.run({}, [](const HostContext& context) {
    const std::int64_t offset = 4 * context.thread();
    context.store(offset < 8 || offset >= 16, offset, Word{1});
    context.store(context.thread() == 0, 4, std::uint64_t{1});
  });
  EXPECT_EQ(report.complaints, Complaints{"block 0, thread 0: stores to a misaligned address (8 "
                                          "bytes at offset 4)"});
}

TEST(GlobalMemory, MustNotBeWrittenBesideTheResult) {
  Toy toy(kRow);
  toy.expected_writes[43] = 0;
  const Report report = toy.run({}, [](const HostContext& context) {
    for (std::int64_t i = 0; i < 4; ++i) {
      const std::int64_t offset = 32 * i + context.thread();
      context.store(true, offset, std::byte{1});
    }
  });
  EXPECT_EQ(report.complaints, Complaints{"block 0, thread 11: stores to a byte that is none of "
                                          "the result's (1 bytes at offset 43)"});
}

TEST(GlobalMemory, MustBeWrittenOnceByAllBlocksTogether) {
  Toy toy(kRow);
  const Report report = toy.run({.blocks = 2}, [](const HostContext& context) {
    const std::int64_t offset = 4 * context.thread();
    context.store(context.block() == 0 || offset == 8, offset, Word{1});
  });
  EXPECT_EQ(report.complaints, Complaints{"block 1, thread 2: stores to a byte that was written "
                                          "before (4 bytes at offset 8)"});
}

TEST(GlobalMemory, MustBeWrittenEverywhere) {
  Toy toy(kRow + 2);
  EXPECT_EQ(toy.run({}, copy_word).complaints,
            (Complaints{"byte 128 of the result is never written",
                        "byte 129 of the result is never written"}));
}

// A kernel that uses shared memory only, and writes no result.
Report run_shared(int threads, const Kernel& kernel) {
  return Toy(0).run({.threads = threads, .shared_bytes = 256}, kernel);
}

TEST(SharedMemory, MustNotBeAccessedOutOfBounds) {
  EXPECT_EQ(run_shared(32,
                       [](const HostContext& context) {
                         context.shared_store(context.thread() == 3, 256, std::byte{1});
                         context.shared_load<Word>(context.thread() == 4, UINT32_MAX - 3);
                       })
                .complaints,
            (Complaints{"block 0, thread 3: is out of the bounds of shared memory (1 bytes at "
                        "offset 256)",
                        "block 0, thread 4: is out of the bounds of shared memory (4 bytes at "
                        "offset 4294967292)"}));
}

TEST(SharedMemory, MustBeAccessedAtAlignedOffsets) {
  EXPECT_EQ(run_shared(32,
                       [](const HostContext& context) {
                         context.shared_store(context.thread() == 3, 4, std::uint64_t{1});
                       })
                .complaints,
            Complaints{"block 0, thread 3: is misaligned in shared memory (8 bytes at offset 4)"});
}

TEST(SharedMemory, MustBeWrittenByTheBlockThatReadsIt) {
  const Report report =
      Toy(0).run({.blocks = 2, .shared_bytes = 256}, [](const HostContext& context) {
        context.shared_store(context.block() == 0, 4 * context.thread(), Word{1});
        context.barrier();
        context.shared_load<Word>(context.block() == 0 || context.thread() == 9, 36);
      });
  EXPECT_EQ(report.complaints, Complaints{"block 1, thread 9: reads shared memory before it is "
                                          "written (4 bytes at offset 36)"});
}

TEST(SharedMemory, MayBeWrittenAndReadByOneThreadWithoutABarrier) {
  EXPECT_EQ(run_shared(64,
                       [](const HostContext& context) {
                         for (Word value = 0; value < 3; ++value) {
                           context.shared_store(true, 4 * context.thread(), value);
                           EXPECT_EQ(context.shared_load<Word>(true, 4 * context.thread()), value);
                         }
                       })
                .complaints,
            Complaints{});
}

TEST(SharedMemory, MayBeReadByAll) {
  EXPECT_EQ(run_shared(64,
                       [](const HostContext& context) {
                         context.shared_store(context.thread() == 5, 0, Word{8});
                         context.barrier();
                         EXPECT_EQ(context.shared_load<Word>(true, 0), 8U);
                       })
                .complaints,
            Complaints{});
}

// Threads of the same warp, and of two warps.
TEST(SharedMemory, MustNotBeWrittenByTwo) {
  for (const std::uint32_t other : {1, 32}) {
    EXPECT_EQ(run_shared(64,
                         [other](const HostContext& context) {
                           const bool writes = context.thread() == 0 || context.thread() == other;
                           context.shared_store(writes, 2, std::uint16_t{1});
                         })
                  .complaints,
              Complaints{"block 0, thread " + std::to_string(other) +
                         ": writes shared memory in a race with a thread that writes it (2 bytes "
                         "at offset 2)"});
  }
}

TEST(SharedMemory, MustNotBeReadWhileAnotherThreadWrites) {
  EXPECT_EQ(run_shared(64,
                       [](const HostContext& context) {
                         context.shared_store(context.thread() == 0, 0, Word{1});
                         context.shared_load<std::byte>(context.thread() == 40, 3);
                       })
                .complaints,
            Complaints{"block 0, thread 40: reads shared memory in a race with a thread that "
                       "writes it (1 bytes at offset 3)"});
}

TEST(SharedMemory, MustNotBeWrittenWhileAnotherThreadReads) {
  for (const std::uint32_t readers : {1, 3}) {  // the last of them writes
    EXPECT_EQ(run_shared(32,
                         [readers](const HostContext& context) {
                           context.shared_store(context.thread() == 4, 0, Word{1});
                           context.barrier();
                           context.shared_load<Word>(context.thread() < readers, 0);
                           context.shared_store(context.thread() == readers, 0, Word{2});
                         })
                  .complaints,
              Complaints{"block 0, thread " + std::to_string(readers) +
                         ": writes shared memory in a race with a thread that reads it (4 bytes "
                         "at offset 0)"});
  }
}

TEST(Barrier, MustBeReachedByAllThreads) {
  const Report report = Toy(0).run({.blocks = 2, .threads = 64}, [](const HostContext& context) {
    if (context.thread() != 40 || context.block() == 1) context.barrier();
  });
  EXPECT_EQ(report.complaints,
            Complaints{"block 0, thread 40: returns without the barrier at which others wait"});
  EXPECT_EQ(report.counts.barriers, 1) << "the second block's";
}

TEST(Shuffle, MustBeReachedByAllLanes) {
  for (const bool waits : {false, true}) {  // at a barrier
    EXPECT_EQ(run_shared(64,
                         [waits](const HostContext& context) {
                           if (context.thread() != 0) context.shuffle(Word{1}, 0);
                           if (waits) context.barrier();
                         })
                  .complaints,
              Complaints{"block 0, thread 1: waits at a shuffle that not all lanes of its warp "
                         "reach"});
  }
}

TEST(Lanes, MustMakeTheSameCalls) {
  const auto complaints = [](const Kernel& extra) {
    return Toy(kRow)
        .run({},
             [&](const HostContext& context) {
               copy_word(context);
               if (context.thread() == 12) extra(context);
             })
        .complaints;
  };
  const Complaints expected{
      "block 0, thread 12: makes other calls than the first lane of its warp"};
  EXPECT_EQ(complaints([](const auto& context) { context.template load<Word>(false, 0); }),
            expected);
  EXPECT_EQ(complaints([](const auto&) {}), Complaints{});
}

TEST(Lanes, MustUseWordsOfTheSameKindAndSize) {
  const Complaints expected{"block 0, thread 1: makes other calls than the first lane of its warp"};
  EXPECT_EQ(run_shared(32,
                       [](const HostContext& context) {
                         if (context.thread() == 1) {
                           context.shared_store(false, 0, std::uint16_t{0});
                         } else {
                           context.shared_store(false, 0, Word{0});
                         }
                       })
                .complaints,
            expected);
  EXPECT_EQ(run_shared(32,
                       [](const HostContext& context) {
                         if (context.thread() == 1) {
                           context.store(false, 0, Word{0});
                         } else {
                           context.shared_store(false, 0, Word{0});
                         }
                       })
                .complaints,
            expected);
}

TEST(Executor, StopsAfterAFewComplaints) {
  int threads = 0;
  Toy toy(kRow);
  const Report report = toy.run({.blocks = 1000}, [&threads](const HostContext& context) {
    ++threads;
    context.store(true, -4, Word{1});
  });
  EXPECT_EQ(report.complaints.size(), kMaxComplaints);
  EXPECT_EQ(threads, 32);
}

TEST(Executor, PassesExceptionsOn) {
  int unwound = 0;
  struct Guard {
    int* count;
    ~Guard() { ++*count; }
  };
  EXPECT_THROW(run_shared(64,
                          [&unwound](const HostContext& context) {
                            const Guard guard{&unwound};
                            if (context.thread() == 40) throw std::domain_error("of a kernel");
                            context.barrier();
                          }),
               std::domain_error);
  EXPECT_EQ(unwound, 64);
}

TEST(Executor, RefusesWhatNoDeviceRuns) {
  const auto nothing = [](const HostContext&) {};
  EXPECT_THROW(Toy(0).run({.threads = 48}, nothing), std::invalid_argument);
  EXPECT_THROW(Toy(0).run({.threads = 2048}, nothing), std::invalid_argument);
  Toy toy(4);
  toy.expected_writes.pop_back();
  EXPECT_THROW(toy.run({}, nothing), std::invalid_argument);
}

}  // namespace
}  // namespace ttlg::test
