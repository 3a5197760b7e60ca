#include "tensor/width.hpp"

#include <gtest/gtest.h>

namespace ttlg {
namespace {

static_assert(is_width(1) && is_width(16));
static_assert(!is_width(0) && !is_width(-1) && !is_width(3) && !is_width(12) && !is_width(32));
static_assert(width_index(1) == 0 && width_index(16) == 4);
static_assert(width_index(3) == kWidths.size() && width_index(32) == kWidths.size());

TEST(Widths, AreListedForMessages) {
  EXPECT_EQ(list_of_widths(), "1, 2, 4, 8 or 16");
  EXPECT_EQ(list_of_widths(8), "1, 2, 4 or 8");
}

}  // namespace
}  // namespace ttlg
