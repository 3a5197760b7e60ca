// Memory that a transposition needs beside its result.
#pragma once

#include <cstddef>
#include <memory>
#include <new>

#include "cpu/memory/result_pool.hpp"

namespace ttlg::sparse {

template <typename Element>
class Buffer {
 public:
  Buffer() = default;

  // Begins at a line, and leaves elements as they are. Large ones are from the pool, which keeps
  // pages for the next call: the kernel zeroes new ones, which takes as long as a pass over them.
  Buffer(std::size_t count, cpu::ResultPool& pool) {
    const std::size_t bytes = count * sizeof(Element);
    const bool is_large = bytes >= cpu::kHugeFromBytes;
    void* const memory =
        is_large ? pool.allocate(bytes) : ::operator new(bytes, kAlignment);  // or bad_alloc
    data_ = {static_cast<Element*>(memory), {is_large ? &pool : nullptr}};
  }

  Element* data() const { return data_.get(); }
  Element& operator[](std::size_t i) const { return data_.get()[i]; }

 private:
  static constexpr std::align_val_t kAlignment{64};
  struct Free {
    cpu::ResultPool* pool = nullptr;
    void operator()(Element* data) const {
      if (pool) {
        pool->free(data);
      } else {
        ::operator delete(data, kAlignment);
      }
    }
  };
  std::unique_ptr<Element[], Free> data_;
};

}  // namespace ttlg::sparse
