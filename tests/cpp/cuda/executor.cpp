#include "cuda/executor.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <stdexcept>
#include <string_view>

#include "cuda/fibers.hpp"

namespace ttlg::test {

class Executor {
 public:
  Executor(const Grid& grid, GlobalMemory& memory, const Kernel& kernel);

  Report run();

  // What the threads call.
  std::uint32_t block() const {
    if (!sample_.empty()) return sample_[block_];
    return backwards_ ? blocks_ - 1 - block_ : block_;
  }
  std::uint32_t blocks() const { return blocks_; }
  GlobalMemory& global() { return global_; }
  SharedMemory& shared() { return shared_; }
  void barrier(std::uint32_t thread);
  const Offer& shuffle(std::uint32_t thread, const Offer& own, std::uint8_t bytes,
                       std::uint32_t lane);
  bool any(std::uint32_t thread, bool value);
  // Takes a call down, with what the memory said of it. Inline: a call that is passed as an
  // argument is read from the stack before its members, written one by one, have arrived there.
  void note(std::uint32_t thread, Call call, std::int64_t offset, std::string_view wrong) {
    if (!wrong.empty()) {
      call.valid = false;
      report_access(thread, call.bytes, offset, wrong);
    }
    calls_[thread].push_back(call);
  }

 private:
  // What the warp's lanes offer, of which this is one.
  const Offer* exchange(std::uint32_t thread, const Offer& own, std::uint8_t bytes);

  // Where a thread last stopped.
  enum class Stop : std::uint8_t { barrier, shuffle, end };

  void run_block();
  void run_warp(std::size_t first);
  bool all_stop_at(Stop stop, std::size_t first, std::size_t count) const;
  void report_stops();
  void count_calls();
  void report_pending_copies();
  void report_missing_writes();
  void report_violation(std::size_t thread, const std::string& what);
  void report_access(std::uint32_t thread, std::uint8_t bytes, std::int64_t offset,
                     std::string_view wrong);
  bool is_over() const { return report_.violations.size() >= kMaxViolations; }

  std::uint32_t blocks_;
  bool backwards_;
  std::vector<std::uint32_t> sample_;
  GlobalMemory& global_;
  SharedMemory shared_;
  AccessCounter counter_;
  Fibers fibers_;
  std::uint32_t block_ = 0;  // how many have run
  Report report_;
  // By thread.
  std::vector<Stop> stops_;
  std::vector<std::vector<Call>> calls_;  // since the last barrier
  std::vector<std::uint32_t> shuffles_;   // how many so far in this block
  // What the threads offer to a shuffle or a vote. Two in turn: a lane may reach the next shuffle
  // before others have taken their value, but not the one after it.
  std::array<std::vector<Offer>, 2> offers_;
};

Executor::Executor(const Grid& grid, GlobalMemory& memory, const Kernel& kernel)
    : blocks_(grid.blocks),
      backwards_(grid.backwards),
      sample_(grid.sample),
      global_(memory),
      shared_(static_cast<std::size_t>(grid.shared_bytes), static_cast<std::size_t>(grid.threads)),
      counter_(memory.in_bytes(), memory.out_bytes(), static_cast<std::size_t>(grid.shared_bytes)),
      fibers_(grid.threads, [this, &kernel](int thread) {
        kernel(HostContext(*this, static_cast<std::uint32_t>(thread)));
        stops_[static_cast<std::size_t>(thread)] = Stop::end;
      }) {
  if (grid.threads < kLanes || grid.threads > 1024 || grid.threads % kLanes != 0) {
    throw std::invalid_argument("a block must have 32 to 1024 threads in whole warps");
  }
  const auto threads = static_cast<std::size_t>(grid.threads);
  stops_.resize(threads);
  calls_.resize(threads);
  shuffles_.resize(threads);
  for (auto& offers : offers_) offers.resize(threads);
}

Report Executor::run() {
  const std::size_t count = sample_.empty() ? blocks_ : sample_.size();
  for (; block_ < count && !is_over(); ++block_) run_block();
  report_missing_writes();
  report_.counts = counter_.counts;
  return report_;
}

void Executor::run_block() {
  fibers_.restart();
  global_.begin_block();
  shared_.begin_block();
  counter_.begin_block();
  std::ranges::fill(shuffles_, 0);
  for (;;) {
    for (std::size_t first = 0; first < stops_.size(); first += kLanes) run_warp(first);
    const bool ended = all_stop_at(Stop::end, 0, stops_.size());
    if (!ended && !all_stop_at(Stop::barrier, 0, stops_.size())) {
      report_stops();
      fibers_.unwind();
      for (auto& calls : calls_) calls.clear();
      return;
    }
    count_calls();
    if (ended) {
      report_pending_copies();
      return;
    }
    global_.pass_barrier();
    shared_.pass_barrier();
    ++counter_.counts.barriers;
  }
}

// To the next barrier or the end, or to a shuffle that not all lanes reach.
void Executor::run_warp(std::size_t first) {
  do {
    fibers_.run(static_cast<int>(first), static_cast<int>(first) + kLanes);
  } while (all_stop_at(Stop::shuffle, first, kLanes));
}

bool Executor::all_stop_at(Stop stop, std::size_t first, std::size_t count) const {
  return std::all_of(stops_.begin() + static_cast<std::ptrdiff_t>(first),
                     stops_.begin() + static_cast<std::ptrdiff_t>(first + count),
                     [stop](Stop other) { return other == stop; });
}

void Executor::report_stops() {
  const auto shuffle = std::ranges::find(stops_, Stop::shuffle);
  if (shuffle != stops_.end()) {
    report_violation(static_cast<std::size_t>(shuffle - stops_.begin()),
                     "waits at a shuffle that not all lanes of its warp reach");
    return;
  }
  const auto end = std::ranges::find(stops_, Stop::end);
  report_violation(static_cast<std::size_t>(end - stops_.begin()),
                   "returns without the barrier at which others wait");
}

void Executor::count_calls() {
  for (std::size_t first = 0; first < calls_.size(); first += kLanes) {
    const Lanes lanes = Lanes(calls_).subspan(first, kLanes);
    const int deviating = deviating_lane(lanes);
    if (deviating < 0) {
      counter_.count(lanes);
    } else {
      report_violation(first + static_cast<std::size_t>(deviating),
                       "makes other calls than the first lane of its warp");
    }
  }
  for (auto& calls : calls_) calls.clear();
}

void Executor::report_pending_copies() {
  for (std::size_t thread = 0; thread < stops_.size(); ++thread) {
    if (shared_.has_pending_copies(static_cast<std::uint32_t>(thread))) {
      report_violation(thread, "returns without waiting for its asynchronous copies");
    }
  }
}

void Executor::report_missing_writes() {
  for (const std::int64_t offset : global_.missing_writes()) {
    if (is_over()) return;
    report_.violations.push_back("byte " + std::to_string(offset) +
                                 " of the result is never written");
  }
}

void Executor::report_violation(std::size_t thread, const std::string& what) {
  if (is_over()) return;
  report_.violations.push_back("block " + std::to_string(block()) + ", thread " +
                               std::to_string(thread) + ": " + what);
}

void Executor::barrier(std::uint32_t thread) {
  stops_[thread] = Stop::barrier;
  fibers_.wait();
}

const Offer* Executor::exchange(std::uint32_t thread, const Offer& own, std::uint8_t bytes) {
  note(thread, {.kind = CallKind::shuffle, .bytes = bytes}, 0, {});
  auto& offers = offers_[shuffles_[thread]++ % 2];
  offers[thread] = own;
  stops_[thread] = Stop::shuffle;
  fibers_.wait();
  return &offers[thread - thread % kLanes];
}

const Offer& Executor::shuffle(std::uint32_t thread, const Offer& own, std::uint8_t bytes,
                               std::uint32_t lane) {
  return exchange(thread, own, bytes)[lane % kLanes];
}

bool Executor::any(std::uint32_t thread, bool value) {
  const Offer* const offers = exchange(thread, {std::byte{value}}, 1);
  return std::any_of(offers, offers + kLanes,
                     [](const Offer& each) { return each.front() != std::byte{0}; });
}

void Executor::report_access(std::uint32_t thread, std::uint8_t bytes, std::int64_t offset,
                             std::string_view wrong) {
  report_violation(thread, std::string(wrong) + " (" + std::to_string(bytes) + " bytes at offset " +
                               std::to_string(offset) + ")");
}

std::uint32_t HostContext::in_phase() const {
  return static_cast<std::uint32_t>(executor_->global().in_position(in_origin_) % 4);
}

std::uint32_t HostContext::out_phase() const {
  return static_cast<std::uint32_t>(executor_->global().out_position(out_origin_) % 4);
}

std::uint32_t HostContext::block() const { return executor_->block(); }

std::uint32_t HostContext::blocks() const { return executor_->blocks(); }

void HostContext::barrier() const { executor_->barrier(thread_); }

void HostContext::load_bytes(void* word, std::uint8_t bytes, bool valid,
                             std::int64_t offset) const {
  offset = in_origin_ + offset;
  GlobalMemory& memory = executor_->global();
  executor_->note(thread_, {memory.in_position(offset), CallKind::load, bytes, valid}, offset,
                  valid ? memory.load(thread_, word, bytes, offset) : "");
}

void HostContext::store_bytes(const void* word, std::uint8_t bytes, bool valid,
                              std::int64_t offset) const {
  offset = out_origin_ + offset;
  GlobalMemory& memory = executor_->global();
  executor_->note(thread_, {memory.out_position(offset), CallKind::store, bytes, valid}, offset,
                  valid ? memory.store(thread_, word, bytes, offset) : "");
}

void HostContext::shared_load_bytes(void* word, std::uint8_t bytes, bool valid,
                                    std::uint32_t offset) const {
  offset += shared_origin_;
  executor_->note(thread_, {offset, CallKind::shared_load, bytes, valid}, offset,
                  valid ? executor_->shared().load(thread_, word, bytes, offset) : "");
}

void HostContext::shared_store_bytes(const void* word, std::uint8_t bytes, bool valid,
                                     std::uint32_t offset) const {
  offset += shared_origin_;
  executor_->note(thread_, {offset, CallKind::shared_store, bytes, valid}, offset,
                  valid ? executor_->shared().store(thread_, word, bytes, offset) : "");
}

// An access of each memory.
void HostContext::copy_bytes_async(std::uint8_t bytes, bool valid, std::uint32_t to,
                                   std::int64_t offset) const {
  std::array<std::byte, 16> word{};
  to += shared_origin_;
  load_bytes(word.data(), bytes, valid, offset);
  executor_->note(thread_, {to, CallKind::shared_store, bytes, valid}, to,
                  valid ? executor_->shared().copy_async(thread_, word.data(), bytes, to) : "");
}

void HostContext::copy_word_async(bool valid, std::uint32_t count, std::uint32_t to,
                                  std::int64_t offset) const {
  constexpr std::uint8_t kBytes = 4;
  std::array<std::byte, kBytes> word{};
  to += shared_origin_;
  offset += in_origin_;
  GlobalMemory& memory = executor_->global();
  const bool loads = valid && count > 0;
  executor_->note(thread_, {memory.in_position(offset), CallKind::load, kBytes, loads}, offset,
                  loads ? memory.load_run_word(thread_, word.data(), count, offset) : "");
  executor_->note(thread_, {to, CallKind::shared_store, kBytes, valid}, to,
                  valid ? executor_->shared().copy_async(thread_, word.data(), kBytes, to) : "");
}

void HostContext::commit_copies() const { executor_->shared().commit_copies(thread_); }

void HostContext::wait_copies_but(std::size_t newest) const {
  executor_->shared().wait_copies(thread_, newest);
}

bool HostContext::any(bool value) const { return executor_->any(thread_, value); }

Offer HostContext::shuffle_offers(const Offer& own, std::uint8_t bytes, std::uint32_t lane) const {
  return executor_->shuffle(thread_, own, bytes, lane);
}

Report run_kernel(const Grid& grid, const Arrays& arrays, const Kernel& kernel) {
  if (arrays.expected_writes.size() != arrays.out.size()) {
    throw std::invalid_argument("expected_writes must have one flag for each byte of out");
  }
  ArrayMemory memory(arrays);
  return run_kernel(grid, memory, kernel);
}

Report run_kernel(const Grid& grid, GlobalMemory& memory, const Kernel& kernel) {
  return Executor(grid, memory, kernel).run();
}

}  // namespace ttlg::test
