// Holds declarations to the headers of the libraries that they were written after.
// tests/python/interop/test_layouts.py compiles the sources that include this.
#pragma once

#include <cstddef>

#define SAME_MEMBER(ours, member, theirs, their_member)                    \
  static_assert(offsetof(ours, member) == offsetof(theirs, their_member)); \
  static_assert(sizeof(ours::member) == sizeof(theirs::their_member))
