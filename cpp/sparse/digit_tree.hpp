// Which bucket a key belongs to.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace ttlg::sparse {

// Buckets by the highest digit of the key, and of a bucket that would be too large, by the next
// digit: real tensors have slices with a thousand times the nonzeros of others. What is found is
// the number of an entry; entries that have been divided are no buckets any more.
class DigitTree {
 public:
  // No key is above `max_key`.
  DigitTree(int shift, std::uint64_t max_key)
      : nodes_{{shift, ~std::uint64_t{0}, 0, 0}},
        entries_(static_cast<std::size_t>(max_key >> shift) + 1) {}

  std::size_t size() const { return entries_.size(); }
  bool is_divided() const { return nodes_.size() > 1; }
  bool is_bucket(std::size_t entry) const { return entries_[entry].node == 0; }

  // The bits below are left to tell the keys of a bucket from each other.
  int shift(std::size_t entry) const { return nodes_[entries_[entry].in_node].shift; }

  // The first digit of a bucket's keys.
  std::uint64_t digit(std::size_t entry) const {
    const std::size_t in_root = nodes_.size() > 1 ? nodes_[1].first : entries_.size();
    while (entry >= in_root) entry = nodes_[entries_[entry].in_node].entry;
    return entry;
  }

  std::size_t find(std::uint64_t key) const {
    auto entry = static_cast<std::size_t>(key >> nodes_[0].shift);
    while (const std::uint32_t node = entries_[entry].node) {
      const Node& next = nodes_[node];
      entry = next.first + static_cast<std::size_t>((key >> next.shift) & next.mask);
    }
    return entry;
  }

  // Divides a bucket by the bits from `shift` on.
  void divide(std::size_t entry, int shift) {
    const auto node = static_cast<std::uint32_t>(nodes_.size());
    const std::size_t digits = std::size_t{1} << (this->shift(entry) - shift);
    entries_[entry].node = node;
    nodes_.push_back({shift, digits - 1, entries_.size(), entry});
    entries_.resize(entries_.size() + digits, {0, node});
  }

  // Calls visit(entry) for all buckets in the order of their keys.
  template <typename Visit>
  void for_buckets(const Visit& visit) const {
    visit_from(0, nodes_.size() > 1 ? nodes_[1].first : entries_.size(), visit);
  }

 private:
  struct Node {
    int shift;
    std::uint64_t mask;
    std::size_t first;  // of its entries
    std::size_t entry;  // that it divides
  };
  struct Entry {
    std::uint32_t node = 0;  // that it has been divided by; none is divided by the root
    std::uint32_t in_node = 0;
  };

  template <typename Visit>
  void visit_from(std::size_t begin, std::size_t end, const Visit& visit) const {
    for (std::size_t entry = begin; entry < end; ++entry) {
      if (const std::uint32_t node = entries_[entry].node) {
        visit_from(nodes_[node].first, nodes_[node].first + nodes_[node].mask + 1, visit);
      } else {
        visit(entry);
      }
    }
  }

  std::vector<Node> nodes_;
  std::vector<Entry> entries_;
};

}  // namespace ttlg::sparse
