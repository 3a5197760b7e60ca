#include "generate/function.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "generate/backends.hpp"

namespace ttlg::generate {
namespace {

// Every line of a text after `prefix`.
std::string prefixed(std::string_view text, std::string_view prefix) {
  std::string result;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    const std::string_view line = text.substr(0, end);
    result += std::string(
        line.empty() && prefix.ends_with(' ') ? prefix.substr(0, prefix.size() - 1) : prefix);
    result += std::string(line) + '\n';
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return result;
}

std::string product(const std::string& index, std::int64_t step) {
  return step == 1 ? index : index + " * " + std::to_string(step);
}

// The loops' heads; `indent` grows with them.
std::string open_loops(const Choice& choice, std::string& indent) {
  std::string text;
  std::string in = "in0";
  std::string out = "out0";
  for (std::size_t i = 0; i < choice.loops.size(); ++i) {
    const Loop& loop = choice.loops[i];
    const std::string level = std::to_string(i + 1);
    const std::string index = "k" + level;
    const std::string extent = std::to_string(loop.extent);
    text += indent + "for (std::ptrdiff_t " + index + " = 0; " + index + " < " + extent + "; " +
            index + " += " + std::to_string(loop.step) + ") {\n";
    indent += "  ";
    std::string at = index;
    if (loop.extent % loop.step != 0) {
      at = "at" + level;
      const std::string last = std::to_string(loop.extent - loop.step);
      text += indent + "const std::ptrdiff_t " + at + " = " + index + " < " + last + " ? " + index +
              " : " + last + ";\n";
    }
    text += indent + "const auto* const in" + level + " = " + in + " + " +
            product(at, loop.in_step) + ";\n";
    text += indent + "auto* const out" + level + " = " + out + " + " + product(at, loop.out_step) +
            ";\n";
    in = "in" + level;
    out = "out" + level;
  }
  const std::string level = std::to_string(choice.loops.size());
  return text + indent + "const auto* const in = in" + level + ";\n" + indent +
         "auto* const out = out" + level + ";\n";
}

std::string comment(const Choice& choice, const Isa& isa, const Title& title) {
  const shuffle::Counts counts = shuffle::count(choice.program);
  std::string text = title.text;
  text += "\nInstruction set: " + std::string(isa.name) + " (" + std::string(isa.flags) + ").\n";
  text += "In a pass: elements " + std::to_string(choice.tile.elements() * choice.tiles) +
          ", element bytes " + std::to_string(choice.tile.element_bytes) + ", loads " +
          std::to_string(counts.loads) + ", shuffles of two registers " +
          std::to_string(counts.shuffles) + ", of one " + std::to_string(counts.self_shuffles) +
          ", stores " + std::to_string(counts.stores) + ".\n\n";
  return prefixed(text + shuffle::to_text(choice.program), "// ");
}

std::string head(const Lowering& lowering, const std::string& name) {
  return "#include <cstddef>\n#include <cstdint>\n#include <cstring>\n" + lowering.includes() +
         "\n" + lowering.attribute() + "void " + name +
         "(const void* from, void* to, std::size_t batch,\n    std::ptrdiff_t in_stride, "
         "std::ptrdiff_t out_stride) {\n";
}

// Tables of indices, and the registers that hold them.
std::string constants(const Lowering& lowering) {
  std::string text = lowering.constants().tables() + prefixed(lowering.prologue(), "  ");
  lowering.constants().for_each([&](const std::string& name, const std::string& table) {
    text += "  const " + lowering.vector_type() + " " + name + " = " + lowering.load_table(table) +
            ";\n";
  });
  return text;
}

// The loop over the arrays and those over their tiles, around the program.
std::string loops_around(const std::string& body, const Choice& choice, std::int64_t itemsize) {
  const auto pointer = [&](const char* name, const std::string& type, const char* source,
                           const char* stride) {
    return "    " + std::string(type.starts_with("const") ? "const " : "") + "auto* const " + name +
           " = static_cast<" + type + "*>(" + source +
           ") +\n        static_cast<std::ptrdiff_t>(k0) * " + product(stride, itemsize) + ";\n";
  };
  std::string text = "  for (std::size_t k0 = 0; k0 < batch; ++k0) {\n";
  text += pointer("in0", "const unsigned char", "from", "in_stride");
  text += pointer("out0", "unsigned char", "to", "out_stride");
  std::string indent = "    ";
  text += open_loops(choice, indent);
  text += prefixed(body, indent);
  while (indent.size() > 2) {
    indent.resize(indent.size() - 2);
    text += indent + "}\n";
  }
  return text;
}

}  // namespace

Function generate_function(const Problem& problem, const Isa& isa, const Options& options,
                           const Title& title) {
  Choice choice = choose(make_tensor(problem), isa, options);
  const auto lowering = make_lowering(isa, choice.vector_bytes);
  std::string body;
  for (const shuffle::Operation& each : choice.program.operations) {
    body += lowering->lower(choice.program, each).text;
  }
  const bool is_empty = body.empty();
  std::string text = comment(choice, isa, title) + head(*lowering, title.name);
  text += is_empty ? "  (void)from, (void)to, (void)batch, (void)in_stride, (void)out_stride;\n"
                   : constants(*lowering) + loops_around(body, choice, problem.element_bytes);
  text += "}\n";
  return {
      .text = std::move(text), .tables = lowering->constants().size(), .choice = std::move(choice)};
}

}  // namespace ttlg::generate
