#include "cpu/threads/team.hpp"

#include <pthread.h>
#include <sched.h>

#include <algorithm>
#include <array>
#include <climits>
#include <new>
#include <string>
#include <thread>

#include "cpu/system.hpp"
#include "cpu/threads/part.hpp"
#include "plan/cpu/parameters.hpp"

namespace ttlg::cpu {
namespace {

constexpr std::int64_t kMicrosecond = 1000;
constexpr std::int64_t kMillisecond = 1000 * kMicrosecond;

// A worker watches so long for the next call: longer than most callers take between two.
constexpr std::int64_t kWatch = 400 * kMicrosecond;
// A thread that stands still for so long shares its core with another: time slices are longer,
// interrupts, and most of what hypervisors take, shorter.
constexpr std::int64_t kInterruption = 1500 * kMicrosecond;
// No worker watches for this long after that.
constexpr std::int64_t kCrowded = 50 * kMillisecond;
// A caller waits so long without sleeping, which ends most waits for the end of a share.
constexpr std::int64_t kWait = 400 * kMicrosecond;
constexpr std::int64_t kWaitInCrowd = 2 * kMicrosecond;

// What calls and help earn for waking and waiting, what may be saved up, the most that may be owed,
// and what waking is expected to take.
constexpr std::int64_t kPartOfCalls = 32;
constexpr std::int64_t kPartOfHelp = 8;
constexpr std::int64_t kMaxBudget = 5 * kMillisecond;
constexpr std::int64_t kMaxDebt = 4 * kMillisecond;
constexpr std::int64_t kWaking = 10 * kMicrosecond;

// Where a worker that was woken came too late, calls that begin within this time wake none before
// they have lasted longer than waking takes.
constexpr std::int64_t kNoWaking = 10 * kMillisecond;
constexpr std::int64_t kLasting = 100 * kMicrosecond;

// How many workers a caller wakes itself, and each of those in turn.
constexpr int kWokenByCaller = 4;
constexpr int kWokenByWorker = 2;

// Kernels keep up to 300 KB on the stack, and the library lays all thread-local variables of the
// program there, 0.8 MB under ThreadSanitizer. From 2 MB on, Linux may give it a huge page.
constexpr std::size_t kStackBytes = 3 << 19;

// A worker's state: one of these, and flags. The caller that has claimed a free worker owns it
// until it is free again.
enum Phase : std::uint32_t {
  kFree,
  kClaimed,   // by a caller, which writes down what it asks for
  kOffered,   // the worker may begin, unless the caller takes it back
  kRunning,   // the caller waits for the end
  kFinished,  // until the caller sees it
  kPhases = 7
};
constexpr std::uint32_t kAsleep = 8;    // the worker: wake it
constexpr std::uint32_t kAwaited = 16;  // the caller, while the worker runs: wake it
constexpr std::uint32_t kStopped = 32;  // the worker must end

std::int64_t now() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(Team::Clock::now().time_since_epoch())
      .count();
}

void pause() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("yield");
#endif
}

}  // namespace

Team& team() {
  static const CoreGroups groups = CoreGroups::of_this_machine();
  // Never destroyed: threads that the program leaves behind may be in calls when it ends.
  alignas(Team) static std::array<std::byte, sizeof(Team)> memory;
  static Team* const only = [] {
    pthread_atfork(nullptr, nullptr, [] { new (memory.data()) Team(groups); });
    return new (memory.data()) Team(groups);
  }();
  return *only;
}

// On two lines, which processors fetch together.
struct alignas(128) Team::Worker {
  std::atomic<std::uint32_t> state{kClaimed};
  // Written while the worker is claimed, read while it runs.
  Call* call = nullptr;
  int number = 0;  // in the call

  // Where the worker may run, unless it is kept away from some processors.
  cpu_set_t usable;
  bool knows_usable = false;
  std::atomic<bool> is_kept_away{false};

  Team* team = nullptr;
  int index = 0;
  pthread_t thread{};
};

struct Team::Call {
  Call(int max_threads, std::int64_t count, std::int64_t shares_per_thread,
       const RangeWork& range_work)
      : shares(max_threads, count, shares_per_thread), work(range_work), threads(max_threads) {}

  Shares shares;
  const RangeWork work;
  const int threads;
  const int processor = sched_getcpu();  // the caller's
  std::atomic<std::int64_t> helped{0};   // shares that workers have done

  // Those that have been asked, for numbers 1, 2, ...
  int asked = 0;
  std::array<Worker*, kMaxThreads> crew;
  // Those of them that sleep: each is woken by the first of the threads at work that comes to it.
  std::array<Worker*, kMaxThreads> sleepers;
  std::atomic<int> sleeping{0};
  std::atomic<int> woken{0};
  Nanoseconds waking = 0;  // what the caller took to wake some
};

Team::Team(const CoreGroups& groups) : groups_(groups), budget_(kMaxBudget) {}

Team::~Team() {
  for (int i = 0; i < started_.load(); ++i) {
    Worker& worker = *workers_[static_cast<std::size_t>(i)];
    worker.state.fetch_or(kStopped);
    wake_from(worker.state);
    pthread_join(worker.thread, nullptr);
  }
}

void Team::run(int threads, std::int64_t count, std::int64_t shares_per_thread,
               const RangeWork& work) {
  const Part part(0);
  busy_.fetch_add(1, std::memory_order_relaxed);
  const Nanoseconds begin = now();
  Call call(static_cast<int>(std::min<std::int64_t>(threads, count)), count,
            is_crowded(begin) ? 4 * shares_per_thread : shares_per_thread, work);
  const bool may_wake_at_once = begin >= no_waking_until_.load(std::memory_order_relaxed);
  bool may_ask = true;
  const auto ask = [&](Nanoseconds since_begin) {
    const Nanoseconds budget = budget_.load(std::memory_order_relaxed) + since_begin / kPartOfCalls;
    if (budget < 0) return;
    const bool wakes = budget >= kWaking && (since_begin >= kLasting || may_wake_at_once);
    ask_workers(call, wakes);
    may_ask = !wakes;
  };
  ask(0);
  const std::int64_t own = call.shares.take(0, groups_.here(), work, [&] {
    if (may_ask) ask(now() - begin);
  });
  const Nanoseconds end = now();
  const Nanoseconds waited = dismiss(call);
  busy_.fetch_sub(1 + call.asked, std::memory_order_relaxed);
  settle(call, end - begin - call.waking, waited, own);
}

// A part of the time that calls take, and of what help saves them, may be spent on waking workers
// and on waiting for them: so much is lost at most where other processes keep the cores busy, and
// no caller stops asking for help because of a rare interruption. The shares that others did would
// have taken the caller as long as its own, and waiting for the end of a share belongs to dividing
// the work into shares.
void Team::settle(const Call& call, Nanoseconds took, Nanoseconds waited, std::int64_t own_shares) {
  const Nanoseconds share = took / std::max<std::int64_t>(own_shares, 1);
  const Nanoseconds saved = call.helped.load(std::memory_order_relaxed) * share;
  const Nanoseconds earned = took / kPartOfCalls + saved / kPartOfHelp;
  const Nanoseconds spent =
      std::max<Nanoseconds>(call.waking - saved, 0) + std::max<Nanoseconds>(waited - share, 0);
  if (waited > share + kInterruption) note_crowd(now());
  if (call.waking > 0) {
    no_waking_until_.store(saved > 0 ? 0 : now() + kNoWaking, std::memory_order_relaxed);
  }
  const Nanoseconds budget = budget_.load(std::memory_order_relaxed) + earned - spent;
  budget_.store(std::clamp(budget, -kMaxDebt, kMaxBudget), std::memory_order_relaxed);
}

void Team::ask_workers(Call& call, bool wake) {
  // Only as many as would be at work if this were the only call.
  const auto may_have_another = [&] {
    int busy = busy_.load(std::memory_order_relaxed);
    while (busy < call.threads) {
      if (busy_.compare_exchange_weak(busy, busy + 1, std::memory_order_relaxed)) return true;
    }
    return false;
  };
  const int started = started_.load(std::memory_order_acquire);
  for (int i = 0; i < started && call.asked < call.threads - 1; ++i) {
    Worker& worker = *workers_[static_cast<std::size_t>(i)];
    std::uint32_t state = worker.state.load(std::memory_order_relaxed);
    if ((state & kPhases) != kFree || (!wake && (state & kAsleep) != 0)) continue;
    if (!may_have_another()) return;
    if (worker.state.compare_exchange_strong(state, (state & ~kPhases) | kClaimed,
                                             std::memory_order_acquire)) {
      offer(call, worker);
    } else {
      busy_.fetch_sub(1, std::memory_order_relaxed);
    }
  }
  if (!wake) return;
  while (call.asked < call.threads - 1 && started_.load() < call.threads - 1 &&
         may_have_another()) {
    if (!start_worker(call)) {
      busy_.fetch_sub(1, std::memory_order_relaxed);
      break;
    }
  }
  if (call.sleeping.load(std::memory_order_relaxed) > 0) {
    const Nanoseconds begin = now();
    wake_some(call, kWokenByCaller);
    call.waking += now() - begin;
  }
}

void Team::offer(Call& call, Worker& worker) {
  call.crew[static_cast<std::size_t>(call.asked)] = &worker;
  worker.call = &call;
  worker.number = ++call.asked;
  const std::uint32_t before = worker.state.fetch_add(kOffered - kClaimed);
  if ((before & kAsleep) == 0) return;
  const int sleeping = call.sleeping.load(std::memory_order_relaxed);
  call.sleepers[static_cast<std::size_t>(sleeping)] = &worker;
  call.sleeping.store(sleeping + 1, std::memory_order_release);
}

void Team::wake_some(Call& call, int max_count) {
  for (; max_count > 0; --max_count) {
    int next = call.woken.load(std::memory_order_relaxed);
    do {
      if (next >= call.sleeping.load(std::memory_order_acquire)) return;
    } while (!call.woken.compare_exchange_weak(next, next + 1, std::memory_order_relaxed));
    Worker& worker = *call.sleepers[static_cast<std::size_t>(next)];
    keep_away(worker, {call.processor, sched_getcpu()});
    wake_from(worker.state);
  }
}

// Has a worker that sleeps begin on another processor than these until it runs. The system often
// wakes a thread where the waking one runs, even beside idle processors, and lets it wait there.
// A worker that has begun meanwhile stays away until it begins again.
void Team::keep_away(Worker& worker, std::initializer_list<int> processors) {
  if (!worker.knows_usable) return;
  cpu_set_t others = worker.usable;
  for (const int processor : processors) CPU_CLR(static_cast<std::size_t>(processor), &others);
  if (pthread_setaffinity_np(worker.thread, sizeof others, &others) == 0) {
    worker.is_kept_away.store(true, std::memory_order_relaxed);
  }
}

// False where the system allows no more threads. The new worker has been asked already.
bool Team::start_worker(Call& call) {
  const std::lock_guard lock(starting_);
  const int index = started_.load(std::memory_order_relaxed);
  if (index >= call.threads - 1) return false;
  if (workers_ == nullptr) workers_.reset(new (std::nothrow) std::unique_ptr<Worker>[kMaxThreads]);
  if (workers_ == nullptr) return false;
  std::unique_ptr<Worker> worker(new (std::nothrow) Worker);
  if (worker == nullptr) return false;
  worker->team = this;
  worker->index = index;
  pthread_attr_t attributes;
  if (pthread_attr_init(&attributes) != 0) return false;
  pthread_attr_setstacksize(&attributes, kStackBytes);
  const auto serve = [](void* given) -> void* {
    auto& own = *static_cast<Worker*>(given);
    own.team->serve(own);
    return nullptr;
  };
  const SignalsBlocked blocked;
  const int error = pthread_create(&worker->thread, &attributes, serve, worker.get());
  pthread_attr_destroy(&attributes);
  if (error != 0) return false;
  offer(call, *worker);
  workers_[static_cast<std::size_t>(index)] = std::move(worker);
  started_.store(index + 1, std::memory_order_release);
  return true;
}

// Takes back what workers have not begun, and waits for the others. Returns for how long.
Team::Nanoseconds Team::dismiss(Call& call) {
  const auto running = std::remove_if(call.crew.begin(), call.crew.begin() + call.asked,
                                      [](Worker* worker) { return make_free(*worker); });
  if (running == call.crew.begin()) return 0;
  const Nanoseconds begin = now();
  std::for_each(call.crew.begin(), running, [&](Worker* worker) { await(*worker); });
  return now() - begin;
}

// Makes a worker that this call owns free, unless it runs.
bool Team::make_free(Worker& worker) {
  std::uint32_t state = worker.state.load(std::memory_order_relaxed);
  while ((state & kPhases) == kOffered || (state & kPhases) == kFinished) {
    if (worker.state.compare_exchange_weak(state, (state & ~kPhases) | kFree,
                                           std::memory_order_acq_rel)) {
      return true;
    }
  }
  return false;
}

void Team::await(Worker& worker) {
  const Nanoseconds begin = now();
  const Nanoseconds until = begin + (is_crowded(begin) ? kWaitInCrowd : kWait);
  while (!make_free(worker)) {
    if (now() < until) {
      pause();
      continue;
    }
    std::uint32_t running = kRunning;
    if (worker.state.compare_exchange_strong(running, kRunning | kAwaited) ||
        running == (kRunning | kAwaited)) {
      sleep_on(worker.state, kRunning | kAwaited);
    }
  }
}

void Team::serve(Worker& worker) {
  pthread_setname_np(pthread_self(), ("ttlg-" + std::to_string(worker.index + 1)).c_str());
  // Fails where there are more processors than fit.
  worker.knows_usable = sched_getaffinity(0, sizeof worker.usable, &worker.usable) == 0;
  while (await_offer(worker)) help(worker);
}

// Whether there is one; false where the worker must end.
bool Team::await_offer(Worker& worker) {
  for (;;) {
    watch(worker);
    std::uint32_t state = worker.state.load(std::memory_order_relaxed);
    if ((state & kStopped) != 0) return false;
    if ((state & kPhases) == kOffered) {
      if (before_beginning) before_beginning();
      if (worker.state.compare_exchange_strong(state, kRunning, std::memory_order_acquire)) {
        return true;
      }
    } else if (worker.state.compare_exchange_strong(state, state | kAsleep,
                                                    std::memory_order_release)) {
      sleep_on(worker.state, state | kAsleep);
      // Who comes too late for a call watches for the next one.
      worker.state.fetch_and(~kAsleep, std::memory_order_relaxed);
    }
  }
}

// Returns when the worker is asked, or had better sleep.
void Team::watch(const Worker& worker) {
  const Nanoseconds begin = now();
  for (Nanoseconds last = begin; last - begin < kWatch;) {
    for (int i = 0; i < 16; ++i) {
      const std::uint32_t state = worker.state.load(std::memory_order_relaxed);
      if ((state & kPhases) == kOffered || (state & kStopped) != 0) return;
      pause();
    }
    const Nanoseconds time = now();
    if (is_crowded(time)) return;
    if (time - last > kInterruption) return note_crowd(time);
    last = time;
  }
}

void Team::help(Worker& worker) {
  Call& call = *worker.call;
  const Part part(worker.number);
  wake_some(call, kWokenByWorker);
  if (worker.is_kept_away.exchange(false, std::memory_order_relaxed)) {
    sched_setaffinity(0, sizeof worker.usable, &worker.usable);
  }
  const std::int64_t taken = call.shares.take(worker.number, groups_.here(), call.work, [] {});
  call.helped.fetch_add(taken, std::memory_order_relaxed);
  const std::uint32_t before = worker.state.exchange(kFinished, std::memory_order_acq_rel);
  if ((before & kAwaited) != 0) wake_from(worker.state);
}

Team::Delays Team::delays() {
  std::call_once(measured_, [this] {
    delays_ = {.awake = 1e-9 * static_cast<double>(fastest_start(false)),
               .asleep = 1e-9 * static_cast<double>(fastest_start(true))};
    crowded_until_.store(0, std::memory_order_relaxed);
  });
  return delays_;
}

// The shortest of a few times from a call's begin until its worker's; 0 if none begins.
Team::Nanoseconds Team::fastest_start(bool asleep) {
  constexpr int kRounds = 6;
  Nanoseconds fastest = 0;
  for (int round = 0; round < kRounds; ++round) {
    crowded_until_.store(asleep ? INT64_MAX : 0, std::memory_order_relaxed);
    // Time to fall asleep.
    if (asleep) std::this_thread::sleep_for(std::chrono::microseconds(100));
    const auto give_up = [until = now() + kMillisecond] { return now() > until; };
    Nanoseconds began = 0;
    const auto note_time = [&](std::int64_t, std::int64_t) { began = now(); };
    Call call(2, 2, 1, note_time);
    const Nanoseconds begin = now();
    ask_workers(call, true);
    const auto is_done = [&] { return (call.crew[0]->state.load() & kPhases) == kFinished; };
    while (call.asked > 0 && !is_done() && !give_up()) pause();
    dismiss(call);
    busy_.fetch_sub(call.asked, std::memory_order_relaxed);
    if (began > 0 && (fastest == 0 || began - begin < fastest)) fastest = began - begin;
  }
  return fastest;
}

Team::Info Team::info() const {
  return {.workers = started_.load(std::memory_order_relaxed),
          .futex_calls = futex_calls_.load(std::memory_order_relaxed)};
}

bool Team::is_crowded(Nanoseconds time) const {
  return time < crowded_until_.load(std::memory_order_relaxed);
}

void Team::note_crowd(Nanoseconds time) {
  crowded_until_.store(time + kCrowded, std::memory_order_relaxed);
}

void Team::sleep_on(std::atomic<std::uint32_t>& word, std::uint32_t value) {
  futex_calls_.fetch_add(1, std::memory_order_relaxed);
  futex_wait(word, value);
}

void Team::wake_from(std::atomic<std::uint32_t>& word) {
  futex_calls_.fetch_add(1, std::memory_order_relaxed);
  futex_wake(word);
}

}  // namespace ttlg::cpu
