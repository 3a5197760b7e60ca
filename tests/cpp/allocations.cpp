#include "allocations.hpp"

#include <cstdlib>
#include <new>

namespace {

std::size_t count = 0;

void* allocate(std::size_t bytes, std::size_t alignment) noexcept {
  ++count;
  return std::aligned_alloc(alignment, (bytes + alignment) / alignment * alignment);  // never 0
}

void* checked(void* memory) {
  if (memory == nullptr) throw std::bad_alloc();
  return memory;
}

constexpr std::size_t kDefault = __STDCPP_DEFAULT_NEW_ALIGNMENT__;

}  // namespace

// All forms but those for arrays, which call these: a sanitizer brings every form that is missing
// here, and would find memory of the one freed by the other.
void* operator new(std::size_t bytes) { return checked(allocate(bytes, kDefault)); }
void* operator new(std::size_t bytes, const std::nothrow_t&) noexcept {
  return allocate(bytes, kDefault);
}
void* operator new(std::size_t bytes, std::align_val_t alignment) {
  return checked(allocate(bytes, static_cast<std::size_t>(alignment)));
}
void* operator new(std::size_t bytes, std::align_val_t alignment, const std::nothrow_t&) noexcept {
  return allocate(bytes, static_cast<std::size_t>(alignment));
}
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }
void operator delete(void* memory, const std::nothrow_t&) noexcept { std::free(memory); }
void operator delete(void* memory, std::align_val_t) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t, std::align_val_t) noexcept { std::free(memory); }
void operator delete(void* memory, std::align_val_t, const std::nothrow_t&) noexcept {
  std::free(memory);
}

namespace ttlg::test {

std::size_t allocations() { return count; }

}  // namespace ttlg::test
