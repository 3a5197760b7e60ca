#include "plan/shuffle/passes.hpp"

#include <algorithm>
#include <bit>
#include <cstddef>
#include <iterator>
#include <set>
#include <utility>
#include <vector>

namespace ttlg::shuffle {
namespace {

bool is_self_shuffle(const Operation& each) {
  return each.kind == Kind::shuffle && each.second == kNoRegister;
}

// The operation that makes each register.
std::vector<Operation> makers_of(const Program& program) {
  std::vector<Operation> makers(at(program.registers));
  for (const Operation& each : program.operations) {
    if (each.target != kNoRegister) makers[at(each.target)] = each;
  }
  return makers;
}

std::vector<int> count_uses(const Program& program) {
  std::vector<int> uses(at(program.registers), 0);
  for (const Operation& each : program.operations) {
    for (const int source : {each.first, each.second}) {
      if (source != kNoRegister) ++uses[at(source)];
    }
  }
  return uses;
}

// Takes the sources of a shuffle from before self-shuffles.
void skip_self_shuffles(Operation& each, const std::vector<Operation>& makers, int lanes) {
  const auto skip = [&](int& number, int begin) {
    if (number == kNoRegister || !is_self_shuffle(makers[at(number)])) return;
    const Operation& maker = makers[at(number)];
    for (int& lane : each.index) {
      if (lane < begin || lane >= begin + lanes) continue;
      lane = maker.index[at(lane - begin)];
      if (lane != kUndefined) lane += begin;
    }
    number = maker.first;
  };
  skip(each.first, 0);
  skip(each.second, lanes);
}

// Does so in those shuffles that `joins` chooses, and returns the operations that make registers.
template <typename Joins>
std::vector<Operation> skip_self_shuffles(Program& program, const Joins& joins) {
  std::vector<Operation> makers = makers_of(program);
  for (Operation& each : program.operations) {
    if (!joins(each)) continue;
    skip_self_shuffles(each, makers, program.lanes);
    makers[at(each.target)] = each;
  }
  return makers;
}

// Turns a self-shuffle of what only it uses into the shuffle itself.
void absorb(Operation& each, const std::vector<Operation>& makers, const std::vector<int>& uses) {
  const Operation& maker = makers[at(each.first)];
  if (maker.kind != Kind::shuffle || maker.second == kNoRegister || uses[at(each.first)] != 1)
    return;
  for (int& lane : each.index) {
    if (lane != kUndefined) lane = maker.index[at(lane)];
  }
  each.first = maker.first;
  each.second = maker.second;
}

// The smallest power of two lanes from `count` up.
int padded(int count) { return static_cast<int>(std::bit_ceil(static_cast<unsigned>(count))); }

}  // namespace

Program remove_unused(Program program) {
  std::vector<bool> is_used(at(program.registers), false);
  std::vector<Operation> kept;
  for (auto each = program.operations.rbegin(); each != program.operations.rend(); ++each) {
    if (each->target != kNoRegister && !is_used[at(each->target)]) continue;
    for (const int source : {each->first, each->second}) {
      if (source != kNoRegister) is_used[at(source)] = true;
    }
    kept.push_back(std::move(*each));
  }
  std::ranges::reverse(kept);
  program.operations = std::move(kept);
  return program;
}

Program join_self_shuffles(Program program) {
  skip_self_shuffles(program, is_self_shuffle);
  return remove_unused(std::move(program));
}

Program join_shuffles(Program program) {
  const std::vector<Operation> makers =
      skip_self_shuffles(program, [](const Operation& each) { return each.kind == Kind::shuffle; });
  program = remove_unused(std::move(program));
  const std::vector<int> uses = count_uses(program);
  for (Operation& each : program.operations) {
    if (is_self_shuffle(each)) absorb(each, makers, uses);
  }
  return remove_unused(std::move(program));
}

Program store_over(Program program) {
  const std::int64_t bytes = program.element_bytes;
  std::set<std::int64_t> later;  // offsets that are stored by operations further on
  for (auto each = program.operations.rbegin(); each != program.operations.rend(); ++each) {
    if (each->kind != Kind::store) continue;
    Access& access = each->accesses.front();
    const int lanes = access.lanes;
    const int whole = std::min(padded(lanes), program.lanes - access.lane);
    bool is_covered = std::has_single_bit(static_cast<unsigned>(whole));
    for (int i = lanes; i < whole; ++i) is_covered &= later.contains(access.offset + i * bytes);
    if (is_covered) access.lanes = whole;
    for (int i = 0; i < access.lanes; ++i) later.insert(access.offset + i * bytes);
  }
  return program;
}

Program split_stores(Program program) {
  std::vector<Operation> result;
  const auto part = [&](const Operation& store, int begin, int lanes) {
    const Access& whole = store.accesses.front();
    Operation each = store;
    each.accesses.front() = {.lane = whole.lane + begin,
                             .lanes = lanes,
                             .offset = whole.offset + begin * program.element_bytes};
    if (each.accesses.front().lane % lanes != 0) {
      Operation move{.kind = Kind::shuffle, .index = {}, .accesses = {}};
      move.target = program.registers++;
      move.first = store.first;
      move.index.assign(at(program.lanes), kUndefined);
      for (int i = 0; i < lanes; ++i) move.index[at(i)] = whole.lane + begin + i;
      each.first = move.target;
      each.accesses.front().lane = 0;
      result.push_back(std::move(move));
    }
    result.push_back(std::move(each));
  };
  for (const Operation& each : program.operations) {
    if (each.kind != Kind::store) {
      result.push_back(each);
      continue;
    }
    const int lanes = each.accesses.front().lanes;
    const int half = static_cast<int>(std::bit_floor(static_cast<unsigned>(lanes)));
    part(each, 0, half);
    if (half < lanes) part(each, lanes - half, half);
  }
  program.operations = std::move(result);
  return program;
}

Program unroll(const Program& program, int tiles, std::int64_t in_step, std::int64_t out_step) {
  Program result = program;
  result.operations.clear();
  for (int tile = 0; tile < tiles; ++tile) {
    const int first = tile * program.registers;
    for (Operation each : program.operations) {
      for (int* number : {&each.target, &each.first, &each.second}) {
        if (*number != kNoRegister) *number += first;
      }
      for (Access& access : each.accesses) {
        access.offset += tile * (each.kind == Kind::load ? in_step : out_step);
      }
      result.operations.push_back(std::move(each));
    }
  }
  result.registers = program.registers * tiles;
  return result;
}

Program loads_first(Program program) {
  std::ranges::stable_partition(program.operations,
                                [](const Operation& each) { return each.kind == Kind::load; });
  return program;
}

Program loads_last(Program program) {
  std::vector<Operation> makers = makers_of(program);
  std::vector<Operation> result;
  for (Operation& each : program.operations) {
    if (each.kind == Kind::load) continue;
    for (const int source : {each.first, each.second}) {
      if (source == kNoRegister || makers[at(source)].kind != Kind::load ||
          makers[at(source)].target == kNoRegister) {
        continue;
      }
      result.push_back(std::move(makers[at(source)]));
      makers[at(source)] = {.kind = Kind::load, .index = {}, .accesses = {}};
    }
    result.push_back(std::move(each));
  }
  program.operations = std::move(result);
  return program;
}

Program mirror(Program program, Kind kind, std::int64_t pitch) {
  std::vector<Operation> result;
  for (Operation& each : program.operations) {
    if (each.kind != kind) {
      result.push_back(std::move(each));
      continue;
    }
    // The lanes of every access change places.
    std::vector<int> index(at(program.lanes), kUndefined);
    for (Access& access : each.accesses) {
      const std::int64_t begin = (access.offset + pitch / 2) / pitch * pitch;
      access.offset = 2 * begin - access.offset - (access.lanes - 1) * program.element_bytes;
      for (int i = 0; i < access.lanes; ++i) {
        index[at(access.lane + i)] = access.lane + access.lanes - 1 - i;
      }
    }
    const int turned = program.registers++;
    Operation turn{.kind = Kind::shuffle, .index = std::move(index), .accesses = {}};
    if (kind == Kind::load) {
      turn.target = std::exchange(each.target, turned);
      turn.first = turned;
      result.push_back(std::move(each));
      result.push_back(std::move(turn));
    } else {
      turn.target = turned;
      turn.first = std::exchange(each.first, turned);
      result.push_back(std::move(turn));
      result.push_back(std::move(each));
    }
  }
  program.operations = std::move(result);
  return join_self_shuffles(std::move(program));
}

Program rename_registers(Program program) {
  std::vector<int> numbers(at(program.registers), kNoRegister);
  int next = 0;
  for (Operation& each : program.operations) {
    for (int* source : {&each.first, &each.second}) {
      if (*source != kNoRegister) *source = numbers[at(*source)];
    }
    if (each.target == kNoRegister) continue;
    numbers[at(each.target)] = next;
    each.target = next++;
  }
  program.registers = next;
  return program;
}

}  // namespace ttlg::shuffle
