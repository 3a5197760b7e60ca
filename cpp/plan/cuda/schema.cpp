#include "plan/cuda/schema.hpp"

#include "plan/names.hpp"

namespace ttlg::cuda {
namespace {

constexpr NameTable<Schema, kSchemas.size()> kNames{
    {"copy", "fvi_match_large", "fvi_match_small", "orthogonal_distinct", "orthogonal_arbitrary"}};

}  // namespace

std::string_view schema_name(Schema schema) { return kNames.name(schema); }

std::optional<Schema> schema_from_name(std::string_view name) { return kNames.parse(name); }

std::string schema_names() { return kNames.list(); }

}  // namespace ttlg::cuda
