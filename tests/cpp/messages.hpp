// What errors say.
#pragma once

#include <gtest/gtest.h>

#include <stdexcept>
#include <string>
#include <string_view>

namespace ttlg::test {

template <typename Error = std::invalid_argument, typename Action>
std::string message_of(const Action& action) {
  try {
    action();
  } catch (const Error& error) {
    return error.what();
  }
  ADD_FAILURE() << "nothing was thrown";
  return {};
}

inline void expect_contains(const std::string& text, std::string_view part) {
  EXPECT_NE(text.find(part), text.npos) << part << " in: " << text;
}

}  // namespace ttlg::test
