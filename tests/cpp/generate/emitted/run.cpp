#include "generate/emitted/run.hpp"

#include <cctype>
#include <cstdlib>
#include <list>
#include <map>
#include <numeric>
#include <string>
#include <vector>

#include "generate/emitted/intrinsics.hpp"
#include "generate/function.hpp"

namespace ttlg::test::emitted {
namespace {

// Names with their namespaces, numbers, and single characters.
std::vector<std::string_view> tokens_of(std::string_view text) {
  const auto is_word = [](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == ':';
  };
  std::vector<std::string_view> tokens;
  for (std::size_t i = 0; i < text.size();) {
    std::size_t end = i + 1;
    if (is_word(text[i])) {
      while (end < text.size() && is_word(text[end])) ++end;
    }
    if (std::isspace(static_cast<unsigned char>(text[i])) == 0) {
      tokens.push_back(text.substr(i, end - i));
    }
    i = end;
  }
  return tokens;
}

class Runner {
 public:
  Runner(const Intrinsics& intrinsics, int vector_bytes, Memory& in, Memory& out)
      : intrinsics_(intrinsics), vector_bytes_(vector_bytes) {
    names_["in"].memory = &in;
    names_["out"].memory = &out;
  }

  // Returns the number of instructions.
  int run(std::string_view text) {
    tokens_ = tokens_of(text);
    at_ = 0;
    instructions_ = 0;
    while (at_ < tokens_.size()) statement();
    return instructions_;
  }

 private:
  std::string_view peek() const { return at_ < tokens_.size() ? tokens_[at_] : ""; }
  std::string_view take() {
    require(at_ < tokens_.size(), "the text ends within a statement");
    return tokens_[at_++];
  }
  bool accept(std::string_view token) {
    if (peek() != token) return false;
    ++at_;
    return true;
  }
  void expect(std::string_view token) {
    require(accept(token), std::string(token).append(" is missing before ").append(peek()));
  }

  void statement() {
    if (accept("{")) {
      while (!accept("}")) statement();
      return;
    }
    if (accept("alignas")) {
      table();
    } else if (accept("typedef")) {
      while (peek() != ";") take();
    } else if (accept("const")) {
      std::string_view name;
      while (!accept("=")) name = take();
      names_[std::string(name)] = sum();
    } else if (accept("*")) {
      const Value place = primary();
      expect("=");
      place.store(sum().bytes);
      ++instructions_;
    } else {
      sum();
    }
    expect(";");
  }

  // ...(64) static const std::uint8_t NAME[SIZE] = {NUMBERS}
  void table() {
    while (!accept("const")) take();
    const int unit = std::atoi(take().substr(std::string_view("std::uint").size()).data()) / 8;
    Value& made = names_[std::string(take())];
    while (!accept("{")) take();
    Bytes bytes;
    do {
      const auto number = static_cast<std::uint64_t>(sum().number);
      for (int i = 0; i < unit; ++i) {
        bytes.push_back(constant(static_cast<std::int64_t>(number >> (8 * i))));
      }
    } while (accept(","));
    expect("}");
    made.memory = &tables_.emplace_back(std::move(bytes));
  }

  Value sum() {
    Value result = primary();
    while (peek() == "+" || peek() == "-") {
      const bool is_plus = take() == "+";
      const Value other = primary();
      require(other.memory == nullptr && other.bytes.empty(), "only numbers are added");
      result.number += is_plus ? other.number : -other.number;
    }
    require(result.memory == nullptr || result.number >= 0, "an address lies before its array");
    return result;
  }

  Value primary() {
    if (accept("&")) return primary();
    if (accept("*")) {
      ++instructions_;
      return {.bytes = primary().load(vector_bytes_)};
    }
    const std::string name(take());
    if (std::isdigit(static_cast<unsigned char>(name.front())) != 0) {
      return {.bytes = {},
              .number = static_cast<std::int64_t>(std::strtoull(name.c_str(), nullptr, 0))};
    }
    if (name == "reinterpret_cast" || name == "static_cast") {
      while (!accept(">")) take();
      expect("(");
      Value result = sum();
      expect(")");
      return result;
    }
    if (accept("(")) return call(name);
    const auto found = names_.find(name);
    require(found != names_.end(), "the name " + name + " is unknown");
    return found->second;
  }

  Value call(const std::string& name) {
    std::vector<Value> arguments;
    while (!accept(")")) {
      arguments.push_back(sum());
      accept(",");
    }
    if (name == "std::memcpy") {
      ++instructions_;
      arguments.at(0).store(
          part(arguments.at(1).bytes, 0, static_cast<int>(arguments.at(2).number)));
      return {};
    }
    const auto found = intrinsics_.find(name);
    require(found != intrinsics_.end(), "the function " + name + " is unknown");
    instructions_ += found->second.instructions;
    return {.bytes = found->second.run(arguments)};
  }

  const Intrinsics& intrinsics_;
  int vector_bytes_;
  std::vector<std::string_view> tokens_;
  std::size_t at_ = 0;
  int instructions_ = 0;
  std::list<Memory> tables_;
  std::map<std::string, Value, std::less<>> names_;
};

// Those of x86 and NEON, and those of SVE with registers of that many bytes.
const Intrinsics& intrinsics_of(int vector_bytes) {
  static std::map<int, Intrinsics> known;
  Intrinsics& all = known[vector_bytes];
  if (all.empty()) {
    add_x86(all);
    add_arm(all, vector_bytes);
  }
  return all;
}

}  // namespace

Outcome run(const generate::Lowering& lowering, std::string_view body, std::int64_t in_bytes,
            std::int64_t out_bytes) {
  Bytes offsets(static_cast<std::size_t>(in_bytes));
  std::iota(offsets.begin(), offsets.end(), Byte{0});
  Memory in(std::move(offsets));
  Memory out(Bytes(static_cast<std::size_t>(out_bytes), kUntouched));
  Runner runner(intrinsics_of(lowering.vector_bytes()), lowering.vector_bytes(), in, out);
  runner.run(generate::constants(lowering));
  const int instructions = runner.run(body);
  for (const Byte byte : out.bytes()) {
    require(byte >= kUntouched, "what is no byte of the tensor has been stored for good");
  }
  return {.out = out.bytes(), .instructions = instructions};
}

}  // namespace ttlg::test::emitted
