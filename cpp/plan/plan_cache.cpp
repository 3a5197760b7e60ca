#include "plan/plan_cache.hpp"

#include <algorithm>
#include <utility>
#include <vector>

namespace ttlg {
namespace {

// A polynomial in an odd constant: one multiplication and one addition a word.
std::size_t hash_of(const PlanKey& key) {
  std::uint64_t hash = key.shape.size();
  const auto mix = [&hash](auto word) {
    hash = hash * 0x9e3779b97f4a7c15 + static_cast<std::uint64_t>(word);
  };
  mix(key.itemsize);
  mix(key.threads);
  mix(key.forced ? 1 + static_cast<int>(*key.forced) : 0);
  for (const std::int64_t extent : key.shape) mix(extent);
  for (const std::int64_t stride : key.in_byte_strides) mix(stride);
  for (const int axis : key.axes) mix(axis);
  for (const std::int64_t stride : key.out_byte_strides) mix(stride);
  return hash ^ (hash >> 32);
}

template <typename T>
std::vector<T> copy_of(std::span<const T> values) {
  return {values.begin(), values.end()};
}

Request request_of(const PlanKey& key) {
  return {.shape = copy_of(key.shape),
          .in_byte_strides = copy_of(key.in_byte_strides),
          .axes = copy_of(key.axes),
          .itemsize = key.itemsize,
          .out_byte_strides = copy_of(key.out_byte_strides)};
}

}  // namespace

bool PlanCache::Equal::operator()(const HashedKey& hashed, Entries::iterator entry) const {
  const PlanKey& key = hashed.key;
  const Request& request = entry->plan->request;
  return hashed.hash == entry->hash && key.threads == entry->threads &&
         key.forced == entry->forced && key.itemsize == request.itemsize &&
         std::ranges::equal(key.shape, request.shape) &&
         std::ranges::equal(key.in_byte_strides, request.in_byte_strides) &&
         std::ranges::equal(key.axes, request.axes) &&
         std::ranges::equal(key.out_byte_strides, request.out_byte_strides);
}

std::shared_ptr<const Plan> PlanCache::get(const PlanKey& key) {
  const HashedKey hashed{key, hash_of(key)};
  {
    const std::lock_guard lock(mutex_);
    if (const Entry* entry = find(hashed)) {
      ++hits_;
      return entry->plan;
    }
  }
  auto plan =
      std::make_shared<const Plan>(make_plan(request_of(key), machine_, key.threads, key.forced));
  const std::lock_guard lock(mutex_);
  ++misses_;
  // Another thread may have made the same plan meanwhile, or put a better one there.
  if (const Entry* entry = find(hashed)) return entry->plan;
  insert(hashed, plan);
  return plan;
}

void PlanCache::put(std::shared_ptr<const Plan> plan, int threads, std::optional<Kernel> forced) {
  const std::shared_ptr<const Plan> held = plan;  // the key borrows from its request
  const PlanKey key = key_of(held->request, threads, forced);
  const HashedKey hashed{key, hash_of(key)};
  const std::lock_guard lock(mutex_);
  if (Entry* entry = find(hashed)) {
    entry->plan = std::move(plan);
  } else {
    insert(hashed, std::move(plan));
  }
}

PlanCache::Entry* PlanCache::find(const HashedKey& key) {
  const auto found = index_.find(key);
  if (found == index_.end()) return nullptr;
  entries_.splice(entries_.begin(), entries_, *found);
  return &entries_.front();
}

void PlanCache::insert(const HashedKey& key, std::shared_ptr<const Plan> plan) {
  if (capacity_ == 0) return;
  if (entries_.size() == capacity_) {
    index_.erase(std::prev(entries_.end()));
    entries_.pop_back();
  }
  entries_.push_front({key.hash, key.key.threads, key.key.forced, std::move(plan)});
  index_.insert(entries_.begin());
}

void PlanCache::clear() {
  const std::lock_guard lock(mutex_);
  forget();
}

void PlanCache::resize(std::size_t capacity) {
  const std::lock_guard lock(mutex_);
  forget();
  capacity_ = capacity;
}

void PlanCache::forget() {
  hits_ = misses_ = 0;
  index_.clear();
  entries_.clear();
}

PlanCache::Info PlanCache::info() const {
  const std::lock_guard lock(mutex_);
  return {.hits = hits_, .misses = misses_, .capacity = capacity_, .size = entries_.size()};
}

}  // namespace ttlg
