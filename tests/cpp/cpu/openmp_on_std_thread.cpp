// GCC's parallel regions on std::thread, for ThreadSanitizer: libgomp starts and joins its workers
// through futexes, which ThreadSanitizer does not see, so that every result would look like a race.
// These are the entry points that `parallel` and omp_get_thread_num() compile to; defined in the
// program, they come before libgomp's.
#include <thread>
#include <vector>

namespace {

thread_local int number_in_team = 0;

}  // namespace

extern "C" {

int omp_get_thread_num() { return number_in_team; }

void GOMP_parallel(void (*body)(void*), void* data, unsigned threads, unsigned /*flags*/) {
  std::vector<std::jthread> team;
  for (unsigned i = 0; i < threads; ++i) {
    team.emplace_back([=] {
      number_in_team = static_cast<int>(i);
      body(data);
    });
  }
}
}
