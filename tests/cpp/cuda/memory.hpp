// Memories that say what is wrong with an access instead of carrying it out.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <span>
#include <string_view>
#include <vector>

namespace ttlg::test {

// The arrays of a launch. A kernel's offset 0 is the byte `in_origin` resp. `out_origin` of them.
// In place, both are the same array.
struct Arrays {
  std::span<const std::byte> in;
  std::span<std::byte> out;
  std::span<const std::uint8_t> expected_writes;  // by byte of `out`: 1 where one is to be written
  std::int64_t in_origin = 0;
  std::int64_t out_origin = 0;
};

// Accesses return what is wrong with them, or nothing.
class GlobalMemory {
 public:
  virtual ~GlobalMemory() = default;

  virtual void begin_block() {}
  virtual void pass_barrier() {}

  virtual std::string_view load(std::uint32_t thread, void* word, std::size_t bytes,
                                std::int64_t offset) = 0;
  // The first `count` bytes of an aligned word of 4. Those of them that come before the array may
  // be loaded and are anything.
  virtual std::string_view load_run_word(std::uint32_t thread, void* word, std::size_t count,
                                         std::int64_t offset) = 0;
  virtual std::string_view store(std::uint32_t thread, const void* word, std::size_t bytes,
                                 std::int64_t offset) = 0;

  // Where an offset lies, from the beginning of the side's first line. Accesses are counted as if
  // the sides had these sizes.
  virtual std::int64_t in_position(std::int64_t offset) const = 0;
  virtual std::int64_t out_position(std::int64_t offset) const = 0;
  virtual std::size_t in_bytes() const = 0;
  virtual std::size_t out_bytes() const = 0;

  // Offsets of bytes that were to be written and were not.
  virtual std::vector<std::int64_t> missing_writes() const { return {}; }
};

// Of arrays that there are. In place, the order of the blocks and of the threads between two
// barriers must not matter: a byte is loaded by the block alone that stores it, before a barrier
// that comes before the store, or by the thread that stores it, and never afterwards.
class ArrayMemory : public GlobalMemory {
 public:
  explicit ArrayMemory(const Arrays& arrays)
      : arrays_(arrays),
        is_inplace_(!arrays.in.empty() && arrays.in.data() == arrays.out.data()),
        written_(arrays.out.size()),
        readers_(is_inplace_ ? arrays.in.size() : 0) {}

  void begin_block() override { first_interval_ = ++interval_; }
  void pass_barrier() override { ++interval_; }

  std::string_view load(std::uint32_t thread, void* word, std::size_t bytes,
                        std::int64_t offset) override;
  std::string_view load_run_word(std::uint32_t thread, void* word, std::size_t count,
                                 std::int64_t offset) override;
  std::string_view store(std::uint32_t thread, const void* word, std::size_t bytes,
                         std::int64_t offset) override;

  std::int64_t in_position(std::int64_t offset) const override;
  std::int64_t out_position(std::int64_t offset) const override;
  std::size_t in_bytes() const override { return arrays_.in.size(); }
  std::size_t out_bytes() const override { return arrays_.out.size(); }

  std::vector<std::int64_t> missing_writes() const override;

 private:
  // Who loaded a byte of an array in place: the newest interval, and whether threads did so in it
  // besides `thread`, or other blocks in earlier ones.
  struct Reader {
    std::int64_t interval = 0;  // between barriers, from 1
    std::uint32_t thread = 0;
    bool has_company = false;
    bool in_other_block = false;
  };
  std::string_view check_load(std::uint32_t thread, std::size_t index);
  std::string_view check_store(std::uint32_t thread, std::size_t index) const;

  Arrays arrays_;
  bool is_inplace_;
  std::vector<bool> written_;
  std::vector<Reader> readers_;
  std::int64_t interval_ = 0;
  std::int64_t first_interval_ = 0;  // of this block
};

// The shared memory of a block. Two threads may not touch a byte between the same barriers if one
// of them writes it.
class SharedMemory {
 public:
  SharedMemory(std::size_t bytes, std::size_t threads)
      : bytes_(bytes), history_(bytes), groups_(threads) {}

  void begin_block();
  void pass_barrier() { ++interval_; }

  std::string_view load(std::uint32_t thread, void* word, std::size_t bytes, std::uint32_t offset);
  std::string_view store(std::uint32_t thread, const void* word, std::size_t bytes,
                         std::uint32_t offset);

  // Asynchronous copies write at any time between their issue and the end of the wait for their
  // group; no thread may touch their bytes in between.
  std::string_view copy_async(std::uint32_t thread, const void* word, std::size_t bytes,
                              std::uint32_t offset);
  void commit_copies(std::uint32_t thread) { groups_[thread].emplace_back(); }
  void wait_copies(std::uint32_t thread, std::size_t newest);
  bool has_pending_copies(std::uint32_t thread) const;

 private:
  struct Copy {
    std::array<std::byte, 16> word;
    std::size_t bytes;
    std::uint32_t offset;
  };
  struct History {
    std::int64_t written_in = 0;  // the interval between barriers, from 1
    std::int64_t read_in = 0;
    std::uint32_t writer = 0;
    std::uint32_t reader = 0;  // or kSeveral
    bool is_pending = false;   // an asynchronous copy is on its way here
  };
  std::string_view check(std::size_t bytes, std::uint32_t offset) const;
  std::string_view mark_written(std::uint32_t thread, std::size_t bytes, std::uint32_t offset);

  std::vector<std::byte> bytes_;
  std::vector<History> history_;
  std::vector<std::deque<std::vector<Copy>>> groups_;  // by thread; the last is not committed yet
  std::int64_t interval_ = 0;
  std::int64_t first_interval_ = 0;  // of this block
};

}  // namespace ttlg::test
