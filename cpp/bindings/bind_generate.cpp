#include <pybind11/stl.h>

#include <string>

#include "bindings/bind.hpp"
#include "cpu/simd_level.hpp"
#include "generate/function.hpp"
#include "generate/lowering.hpp"

namespace ttlg::bindings {
namespace {

namespace py = pybind11;

// The instruction set that this process moves elements with.
std::string isa_in_use() {
  const std::string level = cpu::kernels().name;
#if defined(__x86_64__)
  if (level == "avx512" && __builtin_cpu_supports("avx512vbmi")) return "avx512vbmi";
  if (level == "sse2") return "ssse3";
#endif
  return level;
}

py::dict to_dict(const generate::Function& function) {
  const generate::Choice& choice = function.choice;
  const shuffle::Counts counts = shuffle::count(choice.program);
  py::dict result;
  result["code"] = function.text;
  result["program"] = shuffle::to_text(choice.program);
  result["vector_bytes"] = choice.vector_bytes;
  result["element_bytes"] = choice.program.element_bytes;
  result["lanes"] = choice.program.lanes;
  result["elements"] = choice.tile.elements() * choice.tiles;
  result["tiles"] = choice.tiles;
  result["loads"] = counts.loads;
  result["stores"] = counts.stores;
  result["shuffles"] = counts.shuffles;
  result["self_shuffles"] = counts.self_shuffles;
  result["live_registers"] = shuffle::live_registers(choice.program);
  result["tables"] = function.tables;
  result["instructions"] = choice.instructions;
  return result;
}

}  // namespace

void bind_generate(py::module_& module) {
  module.def(
      "isas",
      [] {
        py::list names;
        for (const generate::Isa& isa : generate::isas()) names.append(isa.name);
        return py::tuple(names);
      },
      "The instruction sets that code is generated for.");
  module.def("isa_in_use", isa_in_use, "The one that this process moves elements with.");
  module.def(
      "isa_flags",
      [](const std::string& isa) { return std::string(generate::find_isa(isa).flags); },
      py::arg("isa"), "What a compiler has to be told.");
  module.def(
      "generate",
      [](const Request& request, const std::string& isa, const std::string& name,
         const std::string& text, int unroll, bool reorder, int vector_bytes) {
        return to_dict(generate::generate_function(
            make_problem(request), generate::find_isa(isa),
            {.unroll = unroll, .reorder = reorder, .vector_bytes = vector_bytes},
            {.name = name, .text = text}));
      },
      py::arg("request"), py::arg("isa"), py::arg("name"), py::arg("text"), py::kw_only(),
      py::arg("unroll") = 0, py::arg("reorder") = true, py::arg("vector_bytes") = 0,
      "A C++ function that permutes the axes of contiguous arrays, and counts of its program.");
}

}  // namespace ttlg::bindings
