// What is asked of Linux.
#pragma once

#include <linux/futex.h>
#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <cstdint>
#include <cstdio>
#include <memory>
#include <string>

namespace ttlg::cpu {

struct CloseFile {
  void operator()(std::FILE* file) const { std::fclose(file); }
};

// A file in which Linux describes the machine, by C: streams of C++ crash where an extension has a
// libstdc++ of its own linked in and another extension has loaded the shared one. Null where there
// is no such file.
using SystemFile = std::unique_ptr<std::FILE, CloseFile>;

inline SystemFile open_system_file(const std::string& path) {
  return SystemFile(std::fopen(path.c_str(), "re"));
}

// A futex: waits for a word to change without using the processor. Returns when it is woken, when
// the word has another value, and sometimes for no reason.
inline void futex_wait(std::atomic<std::uint32_t>& word, std::uint32_t value) {
  syscall(SYS_futex, &word, FUTEX_WAIT_PRIVATE, value, nullptr, nullptr, 0);
}

// Wakes one thread.
inline void futex_wake(std::atomic<std::uint32_t>& word) {
  syscall(SYS_futex, &word, FUTEX_WAKE_PRIVATE, 1, nullptr, nullptr, 0);
}

// While it lives, this thread and those that it starts get no signals, as threads of this library
// must not: handlers are for the threads of the program.
class SignalsBlocked {
 public:
  SignalsBlocked() {
    sigset_t all;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before_);
  }
  ~SignalsBlocked() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }
  SignalsBlocked(const SignalsBlocked&) = delete;
  SignalsBlocked& operator=(const SignalsBlocked&) = delete;

 private:
  sigset_t before_;
};

}  // namespace ttlg::cpu
