#include "plan/names.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstddef>

namespace ttlg {
namespace {

enum class Colour { red, green };

constexpr NameTable<Colour, 2> kColours{{"red", "green"}};

template <std::size_t kCount>
concept TakesTwoNames = requires { NameTable<Colour, kCount>{{"red", "green"}}; };
static_assert(TakesTwoNames<2> && !TakesTwoNames<1> && !TakesTwoNames<3>);
static_assert(kColours.name(Colour::green) == "green");
static_assert(kColours.parse("green") == Colour::green);
static_assert(std::ranges::equal(kColours, std::array{Colour::red, Colour::green}));

TEST(NameTable, NamesAndParses) {
  for (const Colour colour : kColours) {
    EXPECT_EQ(kColours.parse(kColours.name(colour)), colour);
  }
}

TEST(NameTable, ParsesNothingElse) {
  for (const std::string_view name : {"", "Red", "red ", "gree"}) {
    EXPECT_EQ(kColours.parse(name), std::nullopt) << name;
  }
}

TEST(NameTable, ListsAllForMessages) { EXPECT_EQ(kColours.list(), "'red', 'green'"); }

}  // namespace
}  // namespace ttlg
