// The kernels of TTLG (Vedurada et al., IPDPS 2018), section III, by name.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace ttlg::cuda {

enum class Schema : std::uint8_t {
  copy,
  fvi_match_large,
  fvi_match_small,
  orthogonal_distinct,
  orthogonal_arbitrary
};
inline constexpr std::array kSchemas{Schema::copy, Schema::fvi_match_large, Schema::fvi_match_small,
                                     Schema::orthogonal_distinct, Schema::orthogonal_arbitrary};
// Their numbers are indices of tables.
static_assert([] {
  std::size_t number = 0;
  for (const Schema schema : kSchemas) {
    if (static_cast<std::size_t>(schema) != number++) return false;
  }
  return true;
}());

std::string_view schema_name(Schema schema);
std::optional<Schema> schema_from_name(std::string_view name);
std::string schema_names();  // all, quoted, for messages

}  // namespace ttlg::cuda
