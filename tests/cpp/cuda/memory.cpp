#include "cuda/memory.hpp"

#include <algorithm>
#include <cstring>

#include "cuda/accesses.hpp"

namespace ttlg::test {
namespace {

constexpr std::uint32_t kSeveral = UINT32_MAX;

// Offsets are whatever a kernel computed, so nothing is added to them in signed arithmetic.
std::size_t index_of(std::int64_t offset, std::int64_t origin) {
  return static_cast<std::size_t>(offset) + static_cast<std::size_t>(origin);
}

bool is_inside(std::size_t index, std::size_t bytes, std::size_t size) {
  return bytes <= size && index <= size - bytes;
}

bool is_aligned(const std::byte* address, std::size_t bytes) {
  return reinterpret_cast<std::uintptr_t>(address) % bytes == 0;
}

std::int64_t position_in(std::span<const std::byte> array, std::size_t index) {
  const auto misalignment = reinterpret_cast<std::uintptr_t>(array.data()) % kLineBytes;
  return static_cast<std::int64_t>(index + misalignment);
}

}  // namespace

std::string_view ArrayMemory::load(std::uint32_t thread, void* word, std::size_t bytes,
                                   std::int64_t offset) {
  const std::size_t index = index_of(offset, arrays_.in_origin);
  if (!is_inside(index, bytes, arrays_.in.size())) return "loads out of bounds";
  const std::byte* from = arrays_.in.data() + index;
  if (!is_aligned(from, bytes)) return "loads from a misaligned address";
  for (std::size_t i = index; i < index + bytes; ++i) {
    if (const auto wrong = check_load(thread, i); !wrong.empty()) return wrong;
  }
  std::memcpy(word, from, bytes);
  return {};
}

std::string_view ArrayMemory::load_run_word(std::uint32_t thread, void* word, std::size_t count,
                                            std::int64_t offset) {
  constexpr auto kAnything = std::byte{0xa5};
  auto* const bytes = static_cast<std::byte*>(word);
  const std::size_t first = index_of(offset, arrays_.in_origin);
  if (!is_aligned(arrays_.in.data() + first, kBankWordBytes)) {
    return "loads from a misaligned address";
  }
  for (std::size_t i = 0; i < count; ++i) {
    const std::size_t index = first + i;  // before the array, it wraps around
    const bool is_before = index > SIZE_MAX - kBankWordBytes;
    if (!is_before && index >= arrays_.in.size()) return "loads out of bounds";
    if (const auto wrong = is_before ? "" : check_load(thread, index); !wrong.empty()) return wrong;
    bytes[i] = is_before ? kAnything : arrays_.in[index];
  }
  return {};
}

std::string_view ArrayMemory::store(std::uint32_t thread, const void* word, std::size_t bytes,
                                    std::int64_t offset) {
  const std::size_t index = index_of(offset, arrays_.out_origin);
  if (!is_inside(index, bytes, arrays_.out.size())) return "stores out of bounds";
  std::byte* to = arrays_.out.data() + index;
  if (!is_aligned(to, bytes)) return "stores to a misaligned address";
  for (std::size_t i = index; i < index + bytes; ++i) {
    if (arrays_.expected_writes[i] == 0) return "stores to a byte that is none of the result's";
    if (written_[i]) return "stores to a byte that was written before";
    if (const auto wrong = check_store(thread, i); !wrong.empty()) return wrong;
    written_[i] = true;
  }
  std::memcpy(to, word, bytes);
  return {};
}

std::string_view ArrayMemory::check_load(std::uint32_t thread, std::size_t index) {
  if (!is_inplace_) return {};
  if (written_[index]) return "loads a byte that was stored before";
  Reader& reader = readers_[index];
  reader.in_other_block |= reader.interval > 0 && reader.interval < first_interval_;
  const bool in_this_interval = reader.interval == interval_;
  reader.has_company = in_this_interval && (reader.has_company || reader.thread != thread);
  reader.interval = interval_;
  reader.thread = thread;
  return {};
}

std::string_view ArrayMemory::check_store(std::uint32_t thread, std::size_t index) const {
  if (!is_inplace_) return {};
  const Reader& reader = readers_[index];
  if (reader.in_other_block || (reader.interval > 0 && reader.interval < first_interval_)) {
    return "stores to a byte that another block loads";
  }
  if (reader.interval == interval_ && (reader.has_company || reader.thread != thread)) {
    return "stores to a byte in a race with a thread that loads it";
  }
  return {};
}

std::int64_t ArrayMemory::in_position(std::int64_t offset) const {
  return position_in(arrays_.in, index_of(offset, arrays_.in_origin));
}

std::int64_t ArrayMemory::out_position(std::int64_t offset) const {
  return position_in(arrays_.out, index_of(offset, arrays_.out_origin));
}

std::vector<std::int64_t> ArrayMemory::missing_writes() const {
  std::vector<std::int64_t> offsets;
  for (std::size_t i = 0; i < written_.size(); ++i) {
    if (arrays_.expected_writes[i] != 0 && !written_[i]) {
      offsets.push_back(static_cast<std::int64_t>(i) - arrays_.out_origin);
    }
  }
  return offsets;
}

void SharedMemory::begin_block() {
  first_interval_ = ++interval_;
  for (History& byte : history_) byte.is_pending = false;
  for (auto& groups : groups_) groups.assign(1, {});
}

std::string_view SharedMemory::check(std::size_t bytes, std::uint32_t offset) const {
  if (!is_inside(offset, bytes, bytes_.size())) return "is out of the bounds of shared memory";
  if (offset % bytes != 0) return "is misaligned in shared memory";
  return {};
}

std::string_view SharedMemory::load(std::uint32_t thread, void* word, std::size_t bytes,
                                    std::uint32_t offset) {
  if (const auto wrong = check(bytes, offset); !wrong.empty()) return wrong;
  for (std::size_t i = offset; i < offset + bytes; ++i) {
    History& byte = history_[i];
    if (byte.is_pending) return "reads shared memory before an asynchronous copy to it has arrived";
    if (byte.written_in < first_interval_) return "reads shared memory before it is written";
    if (byte.written_in == interval_ && byte.writer != thread) {
      return "reads shared memory in a race with a thread that writes it";
    }
    const bool shared_reading = byte.read_in == interval_ && byte.reader != thread;
    byte.reader = shared_reading ? kSeveral : thread;
    byte.read_in = interval_;
  }
  std::memcpy(word, bytes_.data() + offset, bytes);
  return {};
}

std::string_view SharedMemory::store(std::uint32_t thread, const void* word, std::size_t bytes,
                                     std::uint32_t offset) {
  if (const auto wrong = mark_written(thread, bytes, offset); !wrong.empty()) return wrong;
  std::memcpy(bytes_.data() + offset, word, bytes);
  return {};
}

std::string_view SharedMemory::mark_written(std::uint32_t thread, std::size_t bytes,
                                            std::uint32_t offset) {
  if (const auto wrong = check(bytes, offset); !wrong.empty()) return wrong;
  for (std::size_t i = offset; i < offset + bytes; ++i) {
    History& byte = history_[i];
    if (byte.is_pending)
      return "writes shared memory before an asynchronous copy to it has arrived";
    if (byte.written_in == interval_ && byte.writer != thread) {
      return "writes shared memory in a race with a thread that writes it";
    }
    if (byte.read_in == interval_ && byte.reader != thread) {
      return "writes shared memory in a race with a thread that reads it";
    }
    byte.writer = thread;
    byte.written_in = interval_;
  }
  return {};
}

std::string_view SharedMemory::copy_async(std::uint32_t thread, const void* word, std::size_t bytes,
                                          std::uint32_t offset) {
  if (const auto wrong = mark_written(thread, bytes, offset); !wrong.empty()) return wrong;
  for (std::size_t i = offset; i < offset + bytes; ++i) history_[i].is_pending = true;
  Copy& copy = groups_[thread].back().emplace_back(Copy{{}, bytes, offset});
  std::memcpy(copy.word.data(), word, bytes);
  return {};
}

// To other threads, what arrives is written now: they may read it after the next barrier.
void SharedMemory::wait_copies(std::uint32_t thread, std::size_t newest) {
  auto& groups = groups_[thread];
  while (groups.size() > newest + 1) {
    for (const Copy& copy : groups.front()) {
      std::memcpy(bytes_.data() + copy.offset, copy.word.data(), copy.bytes);
      for (std::size_t i = copy.offset; i < copy.offset + copy.bytes; ++i) {
        history_[i].is_pending = false;
        history_[i].written_in = interval_;
      }
    }
    groups.pop_front();
  }
}

bool SharedMemory::has_pending_copies(std::uint32_t thread) const {
  return std::ranges::any_of(groups_[thread], [](const auto& group) { return !group.empty(); });
}

}  // namespace ttlg::test
