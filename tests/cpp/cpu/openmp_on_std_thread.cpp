// GCC's parallel loop on std::thread, for ThreadSanitizer: libgomp starts and joins its workers
// through futexes, which ThreadSanitizer does not see, so that every result would look like a race.
// These are the entry points that `parallel for schedule(dynamic, 1)` compiles to; defined in the
// program, they come before libgomp's.
#include <atomic>
#include <thread>
#include <vector>

namespace {

thread_local std::atomic<long>* next_iteration = nullptr;  // of the team's one loop
thread_local long end_of_loop = 0;

}  // namespace

extern "C" {

// Relaxed, so that handing out iterations orders nothing else and hides no race.
bool GOMP_loop_nonmonotonic_dynamic_next(long* begin, long* end) {
  *begin = next_iteration->fetch_add(1, std::memory_order_relaxed);
  *end = *begin + 1;
  return *begin < end_of_loop;
}

// Loops start at 0 and go in steps and chunks of 1.
bool GOMP_loop_nonmonotonic_dynamic_start(long /*begin*/, long end, long /*step*/, long /*chunk*/,
                                          long* chunk_begin, long* chunk_end) {
  end_of_loop = end;
  return GOMP_loop_nonmonotonic_dynamic_next(chunk_begin, chunk_end);
}

void GOMP_loop_end_nowait() {}

void GOMP_parallel(void (*body)(void*), void* data, unsigned threads, unsigned /*flags*/) {
  std::atomic<long> next{0};
  std::vector<std::jthread> team;
  for (unsigned i = 0; i < threads; ++i) {
    team.emplace_back([&] {
      next_iteration = &next;
      body(data);
    });
  }
}
}
