// Which thread of a call the calling thread is.
#pragma once

namespace ttlg::cpu {

// Number of the calling thread in the call that it takes part in, from 0, which is the caller's.
int thread_number();

// A call within a call is done by the one thread that makes it.
bool is_in_call();

// While it lives, this thread takes part in a call.
class Part {
 public:
  explicit Part(int number);
  ~Part();
  Part(const Part&) = delete;
  Part& operator=(const Part&) = delete;

 private:
  int number_before_;
  bool was_in_call_;
};

}  // namespace ttlg::cpu
