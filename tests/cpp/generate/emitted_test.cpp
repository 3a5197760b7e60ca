// What back ends emit, carried out statement by statement: every byte arrives, none is read or
// written outside of the arrays, and there are as many instructions as the choice counted.
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cstdint>
#include <numeric>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "generate/choices.hpp"
#include "generate/emitted/run.hpp"
#include "generate/lowering.hpp"
#include "plan/shuffle/passes.hpp"
#include "sample.hpp"

namespace ttlg::generate {
namespace {

using shuffle::Access;
using shuffle::Kind;
using shuffle::kUndefined;
using shuffle::Operation;
using shuffle::Program;
using test::emitted::Bytes;
using test::emitted::Outcome;

Operation load(int target, std::vector<Access> accesses) {
  Operation each{.kind = Kind::load, .index = {}, .accesses = std::move(accesses)};
  each.target = target;
  return each;
}

Operation store(int source, const Access& access) {
  Operation each{.kind = Kind::store, .index = {}, .accesses = {access}};
  each.first = source;
  return each;
}

Outcome run(const Isa& isa, const Program& program, std::int64_t in_bytes, std::int64_t out_bytes) {
  const auto lowering = make_lowering(isa, static_cast<int>(program.lanes * program.element_bytes));
  const std::string body = lowering->lower(program);
  SCOPED_TRACE(body);
  Outcome outcome;
  EXPECT_NO_THROW(outcome = test::emitted::run(*lowering, body, in_bytes, out_bytes));
  return outcome;
}

Bytes counted_from(std::int64_t first, std::int64_t count) {
  Bytes bytes(static_cast<std::size_t>(count));
  std::iota(bytes.begin(), bytes.end(), first);
  return bytes;
}

class Emitted : public testing::TestWithParam<std::string_view> {
 protected:
  const Isa& isa() const { return find_isa(GetParam()); }

  // Calls visit(program) for a program without operations of each kind of registers.
  template <typename Visit>
  void for_registers(const Visit& visit) const {
    for (const int bytes : isa().vector_bytes) {
      for (int element_bytes = 1; element_bytes <= 16; element_bytes *= 2) {
        visit(Program{.lanes = bytes / element_bytes,
                      .element_bytes = element_bytes,
                      .registers = 2,
                      .operations = {}});
      }
    }
  }
};

// At the output's first byte, and as far behind it as the lanes lie behind the register's.
TEST_P(Emitted, StoresAnyLanes) {
  for_registers([&](Program program) {
    const std::int64_t bytes = program.element_bytes;
    for (int lane = 0; lane < program.lanes; ++lane) {
      for (int lanes = 1; lane + lanes <= program.lanes; ++lanes) {
        for (const std::int64_t offset : {std::int64_t{0}, lane * bytes}) {
          program.operations = {
              load(0, {{.lane = 0, .lanes = program.lanes, .offset = 0}}),
              store(0, {.lane = lane, .lanes = lanes, .offset = offset}),
          };
          const Program emitted = isa().has_masks ? program : shuffle::split_stores(program);
          Bytes expected(static_cast<std::size_t>(offset), test::emitted::kUntouched);
          const Bytes stored = counted_from(lane * bytes, lanes * bytes);
          expected.insert(expected.end(), stored.begin(), stored.end());
          ASSERT_EQ(run(isa(), emitted, program.lanes * bytes, std::ssize(expected)).out, expected)
              << "lanes " << lane << " to " << lane + lanes << " of " << bytes << " bytes";
        }
      }
    }
  });
}

// A register of any of its pieces, which lie in the input in the opposite order.
TEST_P(Emitted, LoadsAnyPieces) {
  for_registers([&](Program program) {
    const auto bytes = static_cast<int>(program.lanes * program.element_bytes);
    int least = std::max(bytes == 16 ? 8 : 16, static_cast<int>(program.element_bytes));
    if (!isa().loads_pieces) least = bytes;
    for (int size = bytes; size >= least; size /= 2) {
      const int pieces = bytes / size;
      const auto lanes = static_cast<int>(size / program.element_bytes);
      for (unsigned chosen = 1; chosen < 1U << pieces; ++chosen) {
        std::vector<Access> accesses;
        program.operations = {load(0, {})};
        Bytes expected;
        for (int i = 0; i < pieces; ++i) {
          if ((chosen >> i & 1) == 0) continue;
          const std::int64_t offset = (std::popcount(chosen >> i) - 1) * size;
          accesses.push_back({.lane = i * lanes, .lanes = lanes, .offset = offset});
          program.operations.push_back(
              store(0, {.lane = i * lanes, .lanes = lanes, .offset = std::ssize(expected)}));
          const Bytes piece = counted_from(offset, size);
          expected.insert(expected.end(), piece.begin(), piece.end());
        }
        program.operations.front().accesses = accesses;
        ASSERT_EQ(run(isa(), program, std::ssize(expected), std::ssize(expected)).out, expected)
            << "pieces " << chosen << " of " << size << " bytes";
      }
    }
  });
}

// Calls visit(index) for each index of `index.size()` lanes of as many lanes, undefined ones among
// them; the lanes from `first` on vary.
template <typename Visit>
void for_indices(std::vector<int> index, std::size_t first, int lanes, const Visit& visit) {
  if (first == index.size()) {
    visit(index);
    return;
  }
  for (index[first] = kUndefined; index[first] < lanes; ++index[first]) {
    for_indices(index, first + 1, lanes, visit);
  }
}

// Of one register and of two, where all of their indices can be listed. Those that begin alike make
// one program.
TEST_P(Emitted, ShufflesFourLanesInAnyWay) {
  for_registers([&](Program program) {
    if (program.lanes != 4) return;
    const std::int64_t bytes = 4 * program.element_bytes;
    const std::vector<Operation> loads{load(0, {{.lane = 0, .lanes = 4, .offset = 0}}),
                                       load(1, {{.lane = 0, .lanes = 4, .offset = bytes}})};
    Bytes expected;
    const auto add = [&](int second, const std::vector<int>& index) {
      Operation shuffle{.kind = Kind::shuffle, .index = index, .accesses = {}};
      shuffle.target = program.registers++;
      shuffle.first = 0;
      shuffle.second = second;
      program.operations.push_back(shuffle);
      for (int lane = 0; lane < 4; ++lane) {
        const int from = index[shuffle::at(lane)];
        if (from == kUndefined) continue;
        program.operations.push_back(
            store(shuffle.target, {.lane = lane, .lanes = 1, .offset = std::ssize(expected)}));
        const Bytes element = counted_from(from * program.element_bytes, program.element_bytes);
        expected.insert(expected.end(), element.begin(), element.end());
      }
    };
    for (const int second : {shuffle::kNoRegister, 1}) {
      const int lanes = second == 1 ? 8 : 4;
      for_indices({kUndefined, kUndefined}, 0, lanes, [&](std::vector<int> index) {
        if (!test::is_sample()) return;
        program.operations = loads;
        program.registers = 2;
        expected.clear();
        index.resize(4);
        for_indices(index, 2, lanes, [&](const std::vector<int>& each) { add(second, each); });
        ASSERT_EQ(run(isa(), program, 2 * bytes, std::ssize(expected)).out, expected)
            << testing::PrintToString(index);
      });
    }
  });
}

// Functions for tensors, each of which is checked once.
class Functions {
 public:
  explicit Functions(const Isa& isa) : isa_(isa) {}

  void check(std::vector<std::int64_t> shape, std::vector<int> axes, std::int64_t itemsize) {
    SCOPED_TRACE(testing::PrintToString(shape) + " by " + testing::PrintToString(axes) + ", " +
                 std::to_string(itemsize) + " bytes");
    const Problem problem =
        make_problem(test::contiguous_request(std::move(shape), std::move(axes), itemsize));
    const shuffle::Tile tensor = make_tensor(problem);
    if (!seen_.insert(described(tensor)).second) return;
    const Choice choice = choose(tensor, isa_, {});
    const auto lowering = make_lowering(isa_, choice.vector_bytes);
    const std::string body = lowering->lower(choice.program);
    const auto pass = [&](std::int64_t in_bytes, std::int64_t out_bytes) {
      Outcome outcome = test::emitted::run(*lowering, body, in_bytes, out_bytes);
      EXPECT_EQ(outcome.instructions, choice.instructions) << body;
      return std::move(outcome.out);
    };
    std::vector<std::int64_t> out;
    ASSERT_NO_THROW(out = test::carry_out(choice, tensor, pass)) << body;
    ASSERT_EQ(out, test::permuted(test::whole(tensor))) << body;
  }

  // Every matrix.
  void check_matrices(std::int64_t most, std::int64_t itemsize) {
    for (std::int64_t rows = 1; rows <= most; ++rows) {
      for (std::int64_t columns = 1; columns <= most; ++columns) {
        check({rows, columns}, {1, 0}, itemsize);
      }
    }
  }

  // Every permutation of every shape.
  void check_permutations(int rank, std::int64_t most, std::int64_t itemsize) {
    std::vector<std::int64_t> shape(static_cast<std::size_t>(rank), 1);
    std::vector<int> axes(shape.size());
    while (true) {
      std::iota(axes.begin(), axes.end(), 0);
      do check(shape, axes, itemsize);
      while (std::ranges::next_permutation(axes).found);
      std::size_t i = 0;
      while (i < shape.size() && ++shape[i] > most) shape[i++] = 1;
      if (i == shape.size()) return;
    }
  }

  std::size_t size() const { return seen_.size(); }

 private:
  // Tensors that are alike but for their axes' sizes of 1 and for axes that stay together are one.
  static std::vector<std::int64_t> described(const shuffle::Tile& tensor) {
    std::vector<std::int64_t> numbers{tensor.element_bytes};
    for (const shuffle::TileMode& mode : tensor.modes) {
      numbers.insert(numbers.end(), {mode.extent, mode.in_step, mode.out_step});
    }
    return numbers;
  }

  const Isa& isa_;
  std::set<std::vector<std::int64_t>> seen_;
};

constexpr std::int64_t kItemsizes[] = {1, 2, 3, 4, 6, 8, 12, 16};

TEST_P(Emitted, MovesEveryByteOfSmallTensors) {
  Functions functions(isa());
  for (const std::int64_t itemsize : kItemsizes) functions.check_matrices(6, itemsize);
  functions.check_permutations(3, 3, 1);
  functions.check_permutations(4, 2, 4);
  functions.check({6, 9}, {1, 0}, 3);
  functions.check({8, 5, 6, 5, 7}, {4, 0, 2, 1, 3}, 1);
}

// Takes minutes: run it with --gtest_also_run_disabled_tests after a change to a back end.
TEST_P(Emitted, DISABLED_MovesEveryByteOfAllSmallTensors) {
  Functions functions(isa());
  for (const std::int64_t itemsize : kItemsizes) {
    functions.check_matrices(40, itemsize);
    functions.check_permutations(3, 7, itemsize);
  }
  for (const std::int64_t itemsize : {1, 4}) functions.check_permutations(4, 7, itemsize);
  RecordProperty("tensors", static_cast<int>(functions.size()));
}

std::vector<std::string_view> names() {
  std::vector<std::string_view> all;
  for (const Isa& isa : isas()) all.push_back(isa.name);
  return all;
}
std::string name_of(const testing::TestParamInfo<std::string_view>& info) {
  std::string name(info.param);
  std::ranges::replace(name, '-', '_');
  return name;
}
INSTANTIATE_TEST_SUITE_P(Isas, Emitted, testing::ValuesIn(names()), name_of);

}  // namespace
}  // namespace ttlg::generate
