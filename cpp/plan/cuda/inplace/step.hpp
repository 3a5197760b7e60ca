#pragma once

#include <cstdint>

namespace ttlg::cuda {

enum class InplaceKernel : std::uint8_t {
  square_v1b,
  square_v1,
  square_v1r,
  square_v2,
  square_ip,
  square_sg,
  square_tw,
  runs,
  c2r,
  r2c
};

struct InplaceStep {
  InplaceKernel kernel = InplaceKernel::square_v1b;
  std::int64_t batch = 1;
  std::int64_t rows = 1;
  std::int64_t between = 1;
  std::int64_t columns = 1;
  std::int64_t element_bytes = 1;
  std::int64_t width = 0;

  std::int64_t matrix_bytes() const { return rows * between * columns * element_bytes; }
  std::int64_t bytes() const { return batch * matrix_bytes(); }
  bool operator==(const InplaceStep&) const = default;
};

}  // namespace ttlg::cuda
