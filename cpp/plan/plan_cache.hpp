// The planner cache: a repeated layout costs a hash and a comparison, and no allocation.
#pragma once

#include <cstddef>
#include <cstdint>
#include <list>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <unordered_set>

#include "plan/planner.hpp"

namespace ttlg {

// Everything that decides a plan on one machine, borrowed from where the caller has it; the spans
// mean what the fields of the same names in Request mean.
struct PlanKey {
  std::span<const std::int64_t> shape;
  std::span<const std::int64_t> in_byte_strides;
  std::span<const int> axes;
  std::int64_t itemsize = 1;
  std::span<const std::int64_t> out_byte_strides{};
  int threads = 1;
  std::optional<Kernel> forced{};
};

// The key of a request, which must outlive it.
inline PlanKey key_of(const Request& request, int threads = 1, std::optional<Kernel> forced = {}) {
  return {.shape = request.shape,
          .in_byte_strides = request.in_byte_strides,
          .axes = request.axes,
          .itemsize = request.itemsize,
          .out_byte_strides = request.out_byte_strides,
          .threads = threads,
          .forced = forced};
}

// Keeps the plans that were asked for most recently. Safe for any number of threads: a mutex guards
// the look-up, and planning happens outside it. The mutex is never held across anything that could
// wait, such as Python's global lock, so a caller that holds that lock at every look-up and at
// fork() finds the cache unlocked in the child.
class PlanCache {
 public:
  // `machine` must outlive the cache.
  PlanCache(const Machine& machine, std::size_t capacity)
      : machine_(machine), capacity_(capacity) {}

  // The plan for this key, made now if it is not there. It stays valid for as long as the caller
  // keeps it. Throws what make_plan throws; failures are neither kept nor counted.
  std::shared_ptr<const Plan> get(const PlanKey& key);

  // From now on the plan for its own request with this many threads, in place of the planner's
  // choice: neither a hit nor a miss.
  void put(std::shared_ptr<const Plan> plan, int threads, std::optional<Kernel> forced);

  // Forgets all plans and counts.
  void clear();
  // The same, and holds this many from now on; 0 turns the cache off.
  void resize(std::size_t capacity);

  struct Info {
    std::uint64_t hits = 0;
    std::uint64_t misses = 0;
    std::size_t capacity = 0;
    std::size_t size = 0;

    bool operator==(const Info&) const = default;
  };
  Info info() const;

 private:
  struct Entry {
    std::size_t hash;
    int threads;
    std::optional<Kernel> forced;
    std::shared_ptr<const Plan> plan;
  };
  using Entries = std::list<Entry>;
  struct HashedKey {
    const PlanKey& key;
    std::size_t hash;
  };
  struct Hash {
    using is_transparent = void;
    std::size_t operator()(const HashedKey& key) const noexcept { return key.hash; }
    std::size_t operator()(Entries::iterator entry) const noexcept { return entry->hash; }
  };
  struct Equal {
    using is_transparent = void;
    bool operator()(const HashedKey& key, Entries::iterator entry) const;
    bool operator()(Entries::iterator x, Entries::iterator y) const { return x == y; }
  };

  // Call these three with the mutex held. `find` makes what it finds the most recent.
  Entry* find(const HashedKey& key);
  void insert(const HashedKey& key, std::shared_ptr<const Plan> plan);
  void forget();  // everything but the capacity

  const Machine& machine_;
  mutable std::mutex mutex_;  // guards all below
  std::size_t capacity_;
  std::uint64_t hits_ = 0;
  std::uint64_t misses_ = 0;
  Entries entries_;  // the most recent first
  std::unordered_set<Entries::iterator, Hash, Equal> index_;
};

}  // namespace ttlg
