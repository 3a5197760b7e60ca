#include "plan/shuffle/program.hpp"

#include <algorithm>
#include <ranges>

namespace ttlg::shuffle {
namespace {

std::string text_of(const std::vector<int>& index) {
  std::string text = "[";
  for (const int lane : index) {
    if (text.size() > 1) text += ' ';
    text += lane == kUndefined ? "-" : std::to_string(lane);
  }
  return text + "]";
}

// A register or some lanes of it.
std::string part_of(const Program& program, int number, const Access& access) {
  if (access.lanes == program.lanes) return register_name(number);
  return register_name(number) + "[" + std::to_string(access.lane) + ":" +
         std::to_string(access.lane + access.lanes) + "]";
}

std::string text_of(const Program& program, const Operation& each) {
  switch (each.kind) {
    case Kind::load: {
      std::string text;
      for (const Access& access : each.accesses) {
        if (!text.empty()) text += '\n';
        text +=
            part_of(program, each.target, access) + " = load in+" + std::to_string(access.offset);
      }
      return text;
    }
    case Kind::shuffle: {
      const bool two = each.second != kNoRegister;
      const char* verb = !two                            ? "self-shuffle"
                         : is_merge(each, program.lanes) ? "merge"
                                                         : "shuffle";
      return register_name(each.target) + " = " + verb + " " + register_name(each.first) +
             (two ? std::string(" ").append(register_name(each.second)) : "") + " " +
             text_of(each.index);
    }
    case Kind::store:
      break;
  }
  const Access& access = each.accesses.front();
  return "store out+" + std::to_string(access.offset) + " = " +
         part_of(program, each.first, access);
}

}  // namespace

bool is_merge(const Operation& operation, int lanes) {
  if (operation.second == kNoRegister) return false;
  for (int i = 0; i < lanes; ++i) {
    const int source = operation.index[static_cast<std::size_t>(i)];
    if (source != kUndefined && source % lanes != i) return false;
  }
  return true;
}

Counts count(const Program& program) {
  Counts counts;
  for (const Operation& each : program.operations) {
    counts.loads += each.kind == Kind::load;
    counts.stores += each.kind == Kind::store;
    if (each.kind != Kind::shuffle) continue;
    ++(each.second == kNoRegister ? counts.self_shuffles : counts.shuffles);
  }
  return counts;
}

int live_registers(const Program& program) {
  std::vector<bool> is_live(static_cast<std::size_t>(program.registers), false);
  int live = 0;
  int most = 0;
  for (const Operation& each : std::views::reverse(program.operations)) {
    if (each.target != kNoRegister && is_live[static_cast<std::size_t>(each.target)]) {
      is_live[static_cast<std::size_t>(each.target)] = false;
      --live;
    }
    for (const int source : {each.first, each.second}) {
      if (source == kNoRegister || is_live[static_cast<std::size_t>(source)]) continue;
      is_live[static_cast<std::size_t>(source)] = true;
      ++live;
    }
    most = std::max(most, live);
  }
  return most;
}

std::string register_name(int number) { return std::string("r").append(std::to_string(number)); }

std::string to_text(const Program& program) {
  std::string text;
  for (const Operation& each : program.operations) text += text_of(program, each) + '\n';
  return text;
}

}  // namespace ttlg::shuffle
