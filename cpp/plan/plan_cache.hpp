// The planner cache: a repeated layout costs a hash and a comparison, and no allocation.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <list>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <tuple>
#include <unordered_set>
#include <utility>
#include <vector>

#include "tensor/problem.hpp"

namespace ttlg {

// A request, borrowed from where the caller has it; the spans mean what the fields of the same
// names in Request mean.
struct LayoutKey {
  std::span<const std::int64_t> shape;
  std::span<const std::int64_t> in_byte_strides;
  std::span<const int> axes;
  std::int64_t itemsize = 1;
  std::span<const std::int64_t> out_byte_strides{};
  bool inplace = false;
  std::int64_t out_alignment = 1;
  ElementMap map{};

  // A polynomial in an odd constant: one multiplication and one addition a word.
  std::uint64_t hash() const;
  bool matches(const Request& request) const;
  Request request() const;
};

// What requests are told apart by: every field of a Request, or of a LayoutKey, in the order of
// their declarations, which both share. With a field more this does not compile.
template <typename Layout>
constexpr auto fields_of(Layout& layout) {
  auto& [shape, in_byte_strides, axes, itemsize, out_byte_strides, inplace, out_alignment, map] =
      layout;
  return std::tie(shape, in_byte_strides, axes, itemsize, out_byte_strides, inplace, out_alignment,
                  map);
}

// The key of a request, which must outlive it.
inline LayoutKey key_of(const Request& request) {
  LayoutKey key;
  fields_of(key) = fields_of(request);
  return key;
}

// What an option, or its absence, adds to a hash.
template <typename Value>
std::uint64_t number_of(const std::optional<Value>& option) {
  return option ? 1 + static_cast<std::uint64_t>(*option) : 0;
}

struct CacheInfo {
  std::uint64_t hits = 0;
  std::uint64_t misses = 0;
  std::size_t capacity = 0;
  std::size_t size = 0;

  bool operator==(const CacheInfo&) const = default;
};

// Keeps the plans that were asked for most recently. Safe for any number of threads: a mutex guards
// the look-up, and planning happens outside it. The mutex is never held across anything that could
// wait, such as Python's global lock, so it may be taken around fork(), which leaves the cache
// usable in the child.
template <typename HowToPlan>
class PlanCache {
 public:
  using Planning = HowToPlan;
  using Plan = typename Planning::Plan;
  using Choice = typename Planning::Choice;

  PlanCache(const Planning& planning, std::size_t capacity)
      : planning_(planning), capacity_(capacity) {}

  // The plan for this key, made now if it is not there. It stays valid for as long as the caller
  // keeps it. Throws what the planner throws; failures are neither kept nor counted.
  std::shared_ptr<const Plan> get(const LayoutKey& layout, const Choice& choice) {
    const Key key(layout, choice);
    {
      const std::lock_guard lock(mutex_);
      if (const Entry* entry = find(key)) {
        ++hits_;
        return entry->plan;
      }
    }
    auto plan = std::make_shared<const Plan>(planning_(layout.request(), choice));
    const std::lock_guard lock(mutex_);
    ++misses_;
    // Another thread may have made the same plan meanwhile, or put a better one there.
    if (const Entry* entry = find(key)) return entry->plan;
    insert(key, plan);
    return plan;
  }

  // The plan for this key if it is there, else null: neither a hit nor a miss.
  std::shared_ptr<const Plan> peek(const LayoutKey& layout, const Choice& choice) {
    const std::lock_guard lock(mutex_);
    const Entry* entry = find(Key(layout, choice));
    return entry == nullptr ? nullptr : entry->plan;
  }

  // From now on the plan for its own request with this choice, in place of the planner's: neither a
  // hit nor a miss.
  void put(std::shared_ptr<const Plan> plan, const Choice& choice) {
    const std::shared_ptr<const Plan> held = plan;  // the key borrows from its request
    const LayoutKey layout = key_of(held->request);
    const Key key(layout, choice);
    const std::lock_guard lock(mutex_);
    if (Entry* entry = find(key)) {
      entry->plan = std::move(plan);
    } else {
      insert(key, std::move(plan));
    }
  }

  // Those that it holds, the least recent first.
  std::vector<std::pair<std::shared_ptr<const Plan>, Choice>> plans() const {
    const std::lock_guard lock(mutex_);
    std::vector<std::pair<std::shared_ptr<const Plan>, Choice>> result;
    result.reserve(entries_.size());
    for (auto entry = entries_.rbegin(); entry != entries_.rend(); ++entry) {
      result.emplace_back(entry->plan, entry->choice);
    }
    return result;
  }

  // Forgets all plans and counts.
  void clear() {
    const std::lock_guard lock(mutex_);
    forget();
  }

  // The same, and holds this many from now on; 0 turns the cache off.
  void resize(std::size_t capacity) {
    const std::lock_guard lock(mutex_);
    forget();
    capacity_ = capacity;
  }

  CacheInfo info() const {
    const std::lock_guard lock(mutex_);
    return {.hits = hits_, .misses = misses_, .capacity = capacity_, .size = entries_.size()};
  }

  // Around fork(): the child gets the mutex as the forking thread has it.
  void lock() { mutex_.lock(); }
  void unlock() { mutex_.unlock(); }

 private:
  struct Key {
    Key(const LayoutKey& of_layout, const Choice& of_choice)
        : layout(of_layout), choice(of_choice), hash(mixed(of_layout.hash(), of_choice.hash())) {}

    const LayoutKey& layout;
    const Choice& choice;
    std::size_t hash;
  };
  struct Entry {
    std::size_t hash;
    Choice choice;
    std::shared_ptr<const Plan> plan;
  };
  using Entries = std::list<Entry>;
  struct Hash {
    using is_transparent = void;
    std::size_t operator()(const Key& key) const noexcept { return key.hash; }
    std::size_t operator()(typename Entries::iterator entry) const noexcept { return entry->hash; }
  };
  struct Equal {
    using is_transparent = void;
    bool operator()(const Key& key, typename Entries::iterator entry) const {
      return key.hash == entry->hash && key.choice == entry->choice &&
             key.layout.matches(entry->plan->request);
    }
    bool operator()(typename Entries::iterator x, typename Entries::iterator y) const {
      return x == y;
    }
  };

  static std::size_t mixed(std::uint64_t layout, std::uint64_t choice) {
    const std::uint64_t hash = layout * 0x9e3779b97f4a7c15 + choice;
    return hash ^ (hash >> 32);
  }

  // Call these three with the mutex held. `find` makes what it finds the most recent.
  Entry* find(const Key& key) {
    const auto found = index_.find(key);
    if (found == index_.end()) return nullptr;
    entries_.splice(entries_.begin(), entries_, *found);
    return &entries_.front();
  }

  void insert(const Key& key, std::shared_ptr<const Plan> plan) {
    if (capacity_ == 0) return;
    if (entries_.size() == capacity_) {
      index_.erase(std::prev(entries_.end()));
      entries_.pop_back();
    }
    entries_.push_front({key.hash, key.choice, std::move(plan)});
    index_.insert(entries_.begin());
  }

  // Everything but the capacity.
  void forget() {
    hits_ = misses_ = 0;
    index_.clear();
    entries_.clear();
  }

  const Planning planning_;
  mutable std::mutex mutex_;  // guards all below
  std::size_t capacity_;
  std::uint64_t hits_ = 0;
  std::uint64_t misses_ = 0;
  Entries entries_;  // the most recent first
  std::unordered_set<typename Entries::iterator, Hash, Equal> index_;
};

}  // namespace ttlg
