#include "plan/learning.hpp"

#include <atomic>

namespace ttlg {
namespace {

std::atomic<bool> learning = false;

}  // namespace

bool set_learning(bool learns) { return learning.exchange(learns); }

bool is_learning() { return learning; }

}  // namespace ttlg
