// Makes the operations of a program one after another.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "plan/shuffle/program.hpp"

namespace ttlg::shuffle {

class Emitter {
 public:
  explicit Emitter(int lanes, std::int64_t element_bytes) {
    program_.lanes = lanes;
    program_.element_bytes = element_bytes;
  }

  int load(std::vector<Access> accesses) {
    return make({.kind = Kind::load, .index = {}, .accesses = std::move(accesses)});
  }

  // No operation where nothing moves.
  int self_shuffle(int source, std::vector<int> index) {
    bool moves = false;
    for (std::size_t i = 0; i < index.size(); ++i) {
      moves |= index[i] != kUndefined && index[i] != static_cast<int>(i);
    }
    if (!moves) return source;
    return make(
        {.kind = Kind::shuffle, .first = source, .index = std::move(index), .accesses = {}});
  }

  // Of one source where only one is used, of none where nothing is.
  int shuffle(int first, int second, std::vector<int> index) {
    bool uses_first = false;
    bool uses_second = false;
    for (const int lane : index) {
      uses_first |= lane != kUndefined && lane < program_.lanes;
      uses_second |= lane >= program_.lanes;
    }
    if (!uses_first && !uses_second) return kNoRegister;
    if (!uses_first) {
      for (int& lane : index) lane = lane == kUndefined ? kUndefined : lane - program_.lanes;
      first = second;
    }
    if (!uses_first || !uses_second) return self_shuffle(first, std::move(index));
    return make({.kind = Kind::shuffle,
                 .first = first,
                 .second = second,
                 .index = std::move(index),
                 .accesses = {}});
  }

  void store(int source, const Access& access) {
    program_.operations.push_back(
        {.kind = Kind::store, .first = source, .index = {}, .accesses = {access}});
  }

  Program take() && { return std::move(program_); }

 private:
  int make(Operation operation) {
    operation.target = program_.registers++;
    program_.operations.push_back(std::move(operation));
    return program_.registers - 1;
  }

  Program program_;
};

}  // namespace ttlg::shuffle
