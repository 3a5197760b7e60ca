#include "generate/x86_memory.hpp"

#include <algorithm>
#include <bit>
#include <cstddef>
#include <string_view>
#include <vector>

namespace ttlg::generate::x86 {

using shuffle::Access;

std::string call(const std::string& function, const std::string& arguments) {
  return function + "(" + arguments + ")";
}

std::string hex(std::uint64_t value) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::string text;
  do {
    text.insert(text.begin(), kDigits[value % 16]);
    value /= 16;
  } while (value != 0);
  return "0x" + text;
}

std::string prefix(int bytes) {
  return bytes == 16 ? "_mm_" : "_mm" + std::to_string(8 * bytes) + "_";
}
std::string si(int bytes) { return "si" + std::to_string(8 * bytes); }
std::string epi(int unit) { return "epi" + std::to_string(8 * unit); }

namespace {

std::string type(int bytes) { return "__m" + std::to_string(8 * bytes) + "i"; }

std::string whole_load(const std::string& from, int bytes) {
  if (bytes == 64) return "_mm512_loadu_si512(" + from + ")";
  return prefix(bytes) + "loadu_" + si(bytes) + "(reinterpret_cast<const " + type(bytes) + "*>(" +
         from + "))";
}

std::string whole_store(const std::string& to, const std::string& value, int bytes) {
  if (bytes == 64) return "_mm512_storeu_si512(" + to + ", " + value + ");\n";
  return prefix(bytes) + "storeu_" + si(bytes) + "(reinterpret_cast<" + type(bytes) + "*>(" + to +
         "), " + value + ");\n";
}

Lowered pair_pieces(std::span<const std::string> pieces) {
  Lowered result{"_mm_setzero_si128()", 0};
  if (!pieces[0].empty()) {
    result = {"_mm_loadl_epi64(reinterpret_cast<const __m128i*>(" + pieces[0] + "))", 1};
  }
  if (!pieces[1].empty()) {
    result = {"_mm_castps_si128(_mm_loadh_pi(_mm_castsi128_ps(" + result.text +
                  "), reinterpret_cast<const __m64*>(" + pieces[1] + ")))",
              result.instructions + 2};
  }
  return result;
}

}  // namespace

std::string Memory::includes() const {
  if (!isa().has_masks) return "#include <immintrin.h>\n";
  return "\n#if defined(__GNUC__) && !defined(__clang__)\n"
         "// GCC 12's own header reads a vector that it leaves undefined on purpose.\n"
         "#pragma GCC diagnostic ignored \"-Wuninitialized\"\n"
         "#pragma GCC diagnostic ignored \"-Wmaybe-uninitialized\"\n"
         "#endif\n"
         "#include <immintrin.h>\n";
}

std::string Memory::attribute() const {
  return "__attribute__((target(\"" + std::string(isa().flags) + "\")))\n";
}

std::string Memory::vector_type() const { return type(vector_bytes()); }

std::string Memory::load_table(const std::string& table) const {
  return whole_load(table, vector_bytes());
}

Lowered Memory::load(std::span<const Access> accesses, std::int64_t element_bytes) {
  const auto size = static_cast<int>(accesses.front().lanes * element_bytes);
  const int bytes = vector_bytes();
  if (size == bytes) return {whole_load(at("in", accesses.front().offset), bytes), 1};
  std::vector<std::string> pieces(static_cast<std::size_t>(bytes / size));
  for (const Access& access : accesses) {
    pieces[static_cast<std::size_t>(access.lane * element_bytes / size)] = at("in", access.offset);
  }
  if (size == 8) return pair_pieces(pieces);
  Lowered result = widened(pieces.front(), size);
  for (std::size_t i = 1; i < pieces.size(); ++i) {
    if (pieces[i].empty()) continue;
    result = {insert(result.text, pieces[i], size, static_cast<int>(i)), result.instructions + 2};
  }
  return result;
}

Lowered Memory::store(const std::string& source, const Access& access, std::int64_t element_bytes) {
  const auto bytes = static_cast<int>(access.lanes * element_bytes);
  const auto from = static_cast<int>(access.lane * element_bytes);
  if (!std::has_single_bit(static_cast<unsigned>(bytes)) || from % bytes != 0) {
    return masked_store(source, access.offset, from, bytes, static_cast<int>(element_bytes));
  }
  const std::string to = at("out", access.offset);
  if (bytes == vector_bytes()) return {whole_store(to, source, bytes), 1};
  if (bytes >= 16) {
    return {whole_store(to, part(source, from, bytes), bytes), from == 0 ? 1 : 2};
  }
  std::string x = part(source, from / 16 * 16, 16);
  const int moved = from / 16 == 0 ? 0 : 1;
  if (bytes == 8 && from % 16 == 8) {
    return {"_mm_storeh_pi(reinterpret_cast<__m64*>(" + to + "), _mm_castsi128_ps(" + x + "));\n",
            1 + moved};
  }
  if (from % 16 != 0) x = call("_mm_srli_si128", x + ", " + std::to_string(from % 16));
  const int instructions = 1 + moved + (from % 16 != 0 ? 1 : 0);
  if (bytes == 8) {
    return {"_mm_storel_epi64(reinterpret_cast<__m128i*>(" + to + "), " + x + ");\n", instructions};
  }
  return {"{ const int x = _mm_cvtsi128_si32(" + x + "); std::memcpy(" + to + ", &x, " +
              std::to_string(bytes) + "); }\n",
          instructions + 1};
}

std::string Memory::part(const std::string& source, int from, int bytes) const {
  if (bytes == vector_bytes()) return source;
  if (from == 0) {
    return call(prefix(vector_bytes()) + "cast" + si(vector_bytes()) + "_" + si(bytes), source);
  }
  const std::string number = ", " + std::to_string(from / bytes);
  if (vector_bytes() == 32) return call("_mm256_extracti128_si256", source + number);
  return call(bytes == 32 ? "_mm512_extracti64x4_epi64" : "_mm512_extracti32x4_epi32",
              source + number);
}

Lowered Memory::widened(const std::string& from, int size) const {
  if (from.empty()) return {call(prefix(vector_bytes()) + "setzero_" + si(vector_bytes()), ""), 0};
  return {call(prefix(vector_bytes()) + "cast" + si(size) + "_" + si(vector_bytes()),
               whole_load(from, size)),
          1};
}

std::string Memory::insert(const std::string& into, const std::string& from, int size,
                           int place) const {
  const std::string arguments = into + ", " + whole_load(from, size) + ", " + std::to_string(place);
  if (vector_bytes() == 32) return call("_mm256_inserti128_si256", arguments);
  return call(size == 32 ? "_mm512_inserti64x4" : "_mm512_inserti32x4", arguments);
}

// One instruction stores the register from its first byte on, wherever the part begins: compilers
// join a masked store and the extraction of what it stores into one instruction that may fault on
// bytes that are masked out. No address lies before the tile's first byte, which may be the
// array's: there the part is brought to the register's start.
Lowered Memory::masked_store(const std::string& source, std::int64_t offset, int from, int bytes,
                             int element_bytes) {
  Lowered value{source, 0};
  if (offset < from) {
    ByteIndex index(static_cast<std::size_t>(vector_bytes()), shuffle::kUndefined);
    for (int i = 0; i < bytes; ++i) index[static_cast<std::size_t>(i)] = from + i;
    value = self_shuffle(source, index);
    from = 0;
  }
  const int unit = std::min(element_bytes, 8);
  const std::uint64_t mask = ((std::uint64_t{1} << (bytes / unit)) - 1) << (from / unit);
  return {prefix(vector_bytes()) + "mask_storeu_" + epi(unit) + "(" + at("out", offset - from) +
              ", " + hex(mask) + ", " + value.text + ");\n",
          value.instructions + 1};
}

}  // namespace ttlg::generate::x86
