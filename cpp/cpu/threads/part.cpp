#include "cpu/threads/part.hpp"

namespace ttlg::cpu {
namespace {

thread_local int number_in_call = 0;
thread_local bool in_call = false;

}  // namespace

int thread_number() { return number_in_call; }

bool is_in_call() { return in_call; }

Part::Part(int number) : number_before_(number_in_call), was_in_call_(in_call) {
  number_in_call = number;
  in_call = true;
}

Part::~Part() {
  number_in_call = number_before_;
  in_call = was_in_call_;
}

}  // namespace ttlg::cpu
