#include "generate/function.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "generate/lowering.hpp"

namespace ttlg::generate {
namespace {

std::string product(const std::string& index, const std::string& step) {
  return step == "1" ? index : index + " * " + step;
}

}  // namespace

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

std::string constants(const Lowering& lowering) {
  std::string text = lowering.constants().tables() + prefixed(lowering.prologue(), "  ");
  lowering.constants().for_each([&](const std::string& name, const std::string& table) {
    text += "  const " + lowering.vector_type() + " " + name + " = " + lowering.load_table(table) +
            ";\n";
  });
  return text;
}
std::string open_loops(const std::vector<Loop>& loops, const Names& names, std::string& indent) {
  const auto number = [&](std::int64_t value) {
    const auto name = names.find(value);
    return name == names.end() ? std::to_string(value) : name->second;
  };
  std::string text;
  std::string in = "in0";
  std::string out = "out0";
  for (std::size_t i = 0; i < loops.size(); ++i) {
    const Loop& loop = loops[i];
    const std::string level = std::to_string(i + 1);
    const std::string index = std::string("k").append(level);
    const std::string extent = number(loop.extent);
    const std::string step = std::to_string(loop.step);
    text += indent + "for (std::ptrdiff_t " + index + " = 0; " + index + " < " + extent + "; " +
            index + " += " + step + ") {\n";
    indent += "  ";
    std::string at = index;
    if (loop.extent % loop.step != 0 || names.contains(loop.extent)) {
      at = std::string("at").append(level);
      const std::string last = extent + " - " + step;
      text += indent + "const std::ptrdiff_t " + at + " = " + index + " < " + last + " ? " + index +
              " : " + last + ";\n";
    }
    text += indent + "const auto* const in" + level + " = " + in + " + " +
            product(at, number(loop.in_step)) + ";\n";
    text += indent + "auto* const out" + level + " = " + out + " + " +
            product(at, number(loop.out_step)) + ";\n";
    in = std::string("in").append(level);
    out = std::string("out").append(level);
  }
  return text + indent + "const auto* const in = " + in + ";\n" + indent +
         "auto* const out = " + out + ";\n";
}

std::string close_loops(std::string indent) {
  std::string text;
  while (indent.size() > 2) {
    indent.resize(indent.size() - 2);
    text += indent + "}\n";
  }
  return text;
}

namespace {

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

// The loop over the arrays and those over their tiles, around the program.
std::string loops_around(const std::string& body, const Choice& choice, std::int64_t itemsize) {
  const auto pointer = [&](const char* name, const std::string& type, const char* source,
                           const char* stride) {
    return "    " + std::string(type.starts_with("const") ? "const " : "") + "auto* const " + name +
           " = static_cast<" + type + "*>(" + source +
           ") +\n        static_cast<std::ptrdiff_t>(k0) * " +
           product(stride, std::to_string(itemsize)) + ";\n";
  };
  std::string text = "  for (std::size_t k0 = 0; k0 < batch; ++k0) {\n";
  text += pointer("in0", "const unsigned char", "from", "in_stride");
  text += pointer("out0", "unsigned char", "to", "out_stride");
  std::string indent = "    ";
  text += open_loops(choice.loops, {}, indent);
  text += prefixed(body, indent);
  return text + close_loops(indent);
}

}  // namespace

Function generate_function(const Problem& problem, const Isa& isa, const Options& options,
                           const Title& title) {
  Choice choice = choose(make_tensor(problem), isa, options);
  const auto lowering = make_lowering(isa, choice.vector_bytes);
  const std::string body = lowering->lower(choice.program);
  const bool is_empty = body.empty();
  std::string text = comment(choice, isa, title) + head(*lowering, title.name);
  text += is_empty ? "  (void)from, (void)to, (void)batch, (void)in_stride, (void)out_stride;\n"
                   : constants(*lowering) + loops_around(body, choice, problem.element_bytes());
  text += "}\n";
  return {
      .text = std::move(text), .tables = lowering->constants().size(), .choice = std::move(choice)};
}

}  // namespace ttlg::generate
