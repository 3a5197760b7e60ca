// Patterns of indices against direct definitions, with undefined bytes anywhere.
#include "generate/index_patterns.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <numeric>
#include <optional>
#include <utility>
#include <vector>

#include "requests.hpp"
#include "sample.hpp"

namespace ttlg::generate {
namespace {

using shuffle::kUndefined;

constexpr int kSizes[] = {16, 32, 64};

// Bytes of a register, numbered from `first`.
std::vector<int> bytes_of(int size, int first) {
  std::vector<int> bytes(static_cast<std::size_t>(size));
  std::iota(bytes.begin(), bytes.end(), first);
  return bytes;
}

ByteIndex with_holes(test::Random& random, ByteIndex index) {
  const auto share = test::pick(random, 0, 3);
  for (int& place : index) {
    if (test::pick(random, 0, 3) < share) place = kUndefined;
  }
  return index;
}

// Random units of random registers; few of them match anything.
ByteIndex random_index(test::Random& random, int size, int unit, int sources) {
  ByteIndex index;
  while (std::ssize(index) < size) {
    const auto place = static_cast<int>(test::pick(random, 0, sources * size / unit - 1));
    for (int k = 0; k < unit; ++k) index.push_back(place * unit + k);
  }
  return with_holes(random, std::move(index));
}

// Calls visit(index, size) for random indices of two sources.
template <typename Visit>
void for_random_indices(std::uint64_t seed, const Visit& visit) {
  test::Random random(seed);
  for (int i = 0; i < 500 / test::kSampling; ++i) {
    for (const int size : kSizes) {
      const int unit = 1 << test::pick(random, 0, 4);
      visit(random_index(random, size, unit, static_cast<int>(test::pick(random, 1, 2))), size);
    }
  }
}

// Calls visit(index) for the index with holes, and with one byte that may be changed.
template <typename Visit>
void for_variants(test::Random& random, const ByteIndex& index, const Visit& visit) {
  visit(index);
  for (int i = 0; i < 4; ++i) visit(with_holes(random, index));
  ByteIndex changed = index;
  const auto size = std::ssize(index);
  changed[static_cast<std::size_t>(test::pick(random, 0, size - 1))] =
      static_cast<int>(test::pick(random, 0, 2 * size - 1));
  visit(changed);
}

bool agrees(const ByteIndex& index, const std::vector<int>& pattern) {
  return std::ranges::equal(index, pattern, [](int x, int y) { return x == kUndefined || x == y; });
}

// The units of the group that begins at byte `start` of a register.
std::vector<std::vector<int>> units_of(const std::vector<int>& bytes, int start, int group,
                                       int unit) {
  std::vector<std::vector<int>> units;
  for (int i = start; i < start + group; i += unit) {
    units.emplace_back(bytes.begin() + i, bytes.begin() + i + unit);
  }
  return units;
}

// What an instruction for pairs makes of two registers.
std::vector<int> paired(const PairPattern& pattern, std::vector<int> x, std::vector<int> y,
                        int group) {
  if (pattern.is_swapped) std::swap(x, y);
  std::vector<int> result;
  for (int start = 0; start < std::ssize(x); start += group) {
    const auto a = units_of(x, start, group, pattern.unit);
    const auto b = units_of(y, start, group, pattern.unit);
    const auto put = [&](const std::vector<int>& unit) {
      result.insert(result.end(), unit.begin(), unit.end());
    };
    const std::size_t half = a.size() / 2;
    const std::size_t second = pattern.is_second ? 1 : 0;
    for (std::size_t i = 0; i < half && pattern.kind == PairPattern::Kind::zip; ++i) {
      put(a[second * half + i]);
      put(b[second * half + i]);
    }
    for (std::size_t i = 0; i < half && pattern.kind == PairPattern::Kind::transpose; ++i) {
      put(a[2 * i + second]);
      put(b[2 * i + second]);
    }
    for (const auto* const each : {&a, &b}) {
      for (std::size_t i = 0; i < half && pattern.kind == PairPattern::Kind::unzip; ++i) {
        put((*each)[2 * i + second]);
      }
    }
  }
  return result;
}

std::vector<PairPattern> pair_patterns(int group, bool all) {
  using enum PairPattern::Kind;
  std::vector<PairPattern> patterns;
  for (const auto kind : {zip, unzip, transpose}) {
    for (int unit = 1; unit <= 8 && unit < group; unit *= 2) {
      for (const int variant : {0, 1, 2, 3}) {
        if (kind == zip || all) {
          patterns.push_back({kind, unit, variant % 2 == 1, variant / 2 == 1});
        }
      }
    }
  }
  return patterns;
}

void check_pairs(const ByteIndex& index, int group, bool all) {
  const auto size = static_cast<int>(index.size());
  const auto is_it = [&](const PairPattern& pattern) {
    return agrees(index, paired(pattern, bytes_of(size, 0), bytes_of(size, size), group));
  };
  const auto found = find_pairs(index, group, all);
  ASSERT_EQ(found.has_value(), std::ranges::any_of(pair_patterns(group, all), is_it));
  if (!found) return;
  ASSERT_TRUE(is_it(*found));
  ASSERT_TRUE(all || found->kind == PairPattern::Kind::zip);
}

TEST(FindPairs, KnowsInterleavingsOfGroups) {
  test::Random random(81);
  for (const int size : kSizes) {
    for (const int group : {16, size}) {
      for (const PairPattern& pattern : pair_patterns(group, true)) {
        const ByteIndex index = paired(pattern, bytes_of(size, 0), bytes_of(size, size), group);
        ASSERT_TRUE(find_pairs(index, group, true));
        for_variants(random, index, [&](const ByteIndex& each) {
          check_pairs(each, group, true);
          check_pairs(each, group, false);
        });
      }
    }
  }
  for_random_indices(82, [](const ByteIndex& index, int) { check_pairs(index, 16, true); });
}

// In every group, the second register's bytes after the first one's, moved down.
std::vector<int> extracted(const Extraction& each, int size, int group) {
  std::vector<int> x = bytes_of(size, 0);
  std::vector<int> y = bytes_of(size, size);
  if (each.is_swapped) std::swap(x, y);
  std::vector<int> result;
  for (int start = 0; start < size; start += group) {
    std::vector<int> both(x.begin() + start, x.begin() + start + group);
    both.insert(both.end(), y.begin() + start, y.begin() + start + group);
    result.insert(result.end(), both.begin() + each.bytes, both.begin() + each.bytes + group);
  }
  return result;
}

TEST(FindExtraction, KnowsNeighboursMovedDown) {
  test::Random random(83);
  const auto check = [](const ByteIndex& index, int group) {
    const auto size = static_cast<int>(index.size());
    bool exists = false;
    for (int bytes = 1; bytes < group; ++bytes) {
      for (const bool is_swapped : {false, true}) {
        exists |= agrees(index, extracted({bytes, is_swapped}, size, group));
      }
    }
    const auto found = find_extraction(index, group);
    ASSERT_EQ(found.has_value(), exists);
    ASSERT_TRUE(!found || agrees(index, extracted(*found, size, group)));
  };
  for (const int size : kSizes) {
    for (int bytes = 1; bytes < 16; ++bytes) {
      for (const bool is_swapped : {false, true}) {
        for_variants(random, extracted({bytes, is_swapped}, size, 16),
                     [&](const ByteIndex& each) { check(each, 16); });
      }
    }
  }
  for_random_indices(84, [&](const ByteIndex& index, int) { check(index, 16); });
}

// Tries everything that the units could be.
TEST(InUnits, KeepsUnitsThatStayTogether) {
  for_random_indices(85, [](const ByteIndex& index, int size) {
    int widest = 0;
    for (const int unit : {1, 2, 4, 8, 16}) {
      bool fits = true;
      std::vector<std::vector<int>> places;  // that each unit could have
      for (int i = 0; i < size; i += unit) {
        std::vector<int> possible;
        for (int place = 0; place < 2 * size / unit; ++place) {
          const ByteIndex part(index.begin() + i, index.begin() + i + unit);
          if (agrees(part, bytes_of(unit, place * unit))) possible.push_back(place);
        }
        fits &= !possible.empty();
        places.push_back(std::move(possible));
      }
      const auto units = in_units(index, unit);
      ASSERT_EQ(units.has_value(), fits);
      if (!units) continue;
      widest = unit;
      ASSERT_EQ(units->size(), places.size());
      for (std::size_t i = 0; i < places.size(); ++i) {
        const bool is_any = places[i].size() > 1;
        ASSERT_EQ((*units)[i], is_any ? kUndefined : places[i].front());
      }
    }
    ASSERT_EQ(widest_unit(index), widest);
  });
}

TEST(Index, IsTheIdentityOrAMergeOrStaysInGroupsByEachByte) {
  test::Random random(86);
  const auto check = [](const ByteIndex& index) {
    const auto size = static_cast<int>(index.size());
    bool is_same = true;
    bool merges = true;
    bool stays = true;
    for (int i = 0; i < size; ++i) {
      const int place = index[static_cast<std::size_t>(i)];
      if (place == kUndefined) continue;
      is_same &= place == i;
      merges &= place == i || place == i + size;
      const int local = place < size ? place : place - size;
      stays &= local >= i - i % 16 && local < i - i % 16 + 16;
    }
    ASSERT_EQ(is_identity(index), is_same);
    ASSERT_EQ(is_merge(index), merges);
    ASSERT_EQ(stays_in_groups(index, 16), stays);
  };
  for_random_indices(87, [&](const ByteIndex& index, int) { check(index); });
  for (const int size : kSizes) {
    for (int i = 0; i < 50; ++i) {
      ByteIndex merged = bytes_of(size, 0);
      for_variants(random, merged, check);
      for (int& place : merged) place += test::pick(random, 0, 1) == 0 ? 0 : size;
      for_variants(random, merged, check);
      for (int& place : merged)
        place = place / 16 * 16 + static_cast<int>(test::pick(random, 0, 15));
      for_variants(random, merged, check);
    }
  }
}

TEST(SameInGroups, IsTheIndexThatAllGroupsHave) {
  test::Random random(88);
  int found = 0;
  const auto check = [&](const ByteIndex& index, int unit) {
    const auto size = static_cast<int>(index.size());
    constexpr int kGroup = 16;
    // By units, what each group takes at that place.
    std::vector<int> expected(static_cast<std::size_t>(kGroup / unit), kUndefined);
    bool fits = in_units(index, unit).has_value();
    for (int i = 0; i < size && fits; ++i) {
      const int place = index[static_cast<std::size_t>(i)];
      if (place == kUndefined) continue;
      const int start = i / kGroup * kGroup;
      const int local = place % size - start;
      fits &= local >= 0 && local < kGroup;
      const int wanted = local / unit + (place >= size ? kGroup / unit : 0);
      int& known = expected[static_cast<std::size_t>(i % kGroup / unit)];
      fits &= known == kUndefined || known == wanted;
      known = wanted;
    }
    const auto same = same_in_groups(index, unit, kGroup);
    ASSERT_EQ(same.has_value(), fits);
    ASSERT_EQ(same.value_or(expected), expected);
    found += fits;
  };
  for (const int size : kSizes) {
    for (int i = 0; i < 300; ++i) {
      const int unit = 1 << test::pick(random, 0, 3);
      const ByteIndex one = random_index(random, 16, unit, 2);
      ByteIndex index;
      for (int start = 0; start < size; start += 16) {
        for (const int place : one) {
          index.push_back(place == kUndefined ? place
                          : place < 16        ? start + place
                                              : size + start + place - 16);
        }
      }
      for_variants(random, index, [&](const ByteIndex& each) { check(each, unit); });
    }
  }
  EXPECT_GT(found, 3000);
  for_random_indices(89, [&](const ByteIndex& index, int) { check(index, 4); });
}

TEST(OfSource, TakesTheBytesOfOneSource) {
  for_random_indices(90, [](const ByteIndex& index, int size) {
    const ByteIndex first = of_source(index, 0);
    const ByteIndex second = of_source(index, 1);
    ASSERT_EQ(first.size(), index.size());
    ASSERT_EQ(second.size(), index.size());
    for (std::size_t i = 0; i < index.size(); ++i) {
      const bool is_first = index[i] != kUndefined && index[i] < size;
      ASSERT_EQ(first[i], is_first ? index[i] : kUndefined);
      ASSERT_EQ(second[i], index[i] >= size ? index[i] - size : kUndefined);
    }
  });
}

}  // namespace
}  // namespace ttlg::generate
