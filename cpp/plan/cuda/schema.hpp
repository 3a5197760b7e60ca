// The kernels of TTLG (Vedurada et al., IPDPS 2018), section III, by name.
#pragma once

#include <cstdint>
#include <string_view>

#include "plan/names.hpp"

namespace ttlg::cuda {

// Their numbers are indices of tables.
enum class Schema : std::uint8_t {
  copy,
  fvi_match_large,
  fvi_match_small,
  orthogonal_distinct,
  orthogonal_arbitrary
};
inline constexpr NameTable<Schema, 5> kSchemas{
    {"copy", "fvi_match_large", "fvi_match_small", "orthogonal_distinct", "orthogonal_arbitrary"}};

constexpr std::string_view schema_name(Schema schema) { return kSchemas.name(schema); }

}  // namespace ttlg::cuda
