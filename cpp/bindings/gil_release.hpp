// Letting other Python threads run while data moves.
#pragma once

#include <Python.h>
#include <unistd.h>

namespace ttlg::bindings {

// Releases the GIL while it lives, as pybind11::gil_scoped_release does, and is safe in daemon
// threads at interpreter exit. A thread that asks for the GIL then is ended by CPython before 3.14,
// which unwinds its stack: that would leave a destructor, and so terminate the process, or run the
// destructors of Python objects without the GIL. Such a thread waits for the end of the process
// here, as it does in CPython 3.14 (gh-87135).
class GilRelease {
 public:
  GilRelease() : state_(PyEval_SaveThread()) {}
  ~GilRelease() {
    try {
      PyEval_RestoreThread(state_);
    } catch (...) {
      for (;;) pause();  // the C library aborts where such an unwinding is not carried on
    }
  }
  GilRelease(const GilRelease&) = delete;
  GilRelease& operator=(const GilRelease&) = delete;

 private:
  PyThreadState* state_;
};

}  // namespace ttlg::bindings
