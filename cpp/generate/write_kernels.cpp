// Writes the header of an instruction set's generated kernels: write_kernels ISA FILE.
#include <cstdlib>
#include <exception>
#include <fstream>
#include <iostream>
#include <string>

#include "generate/backends.hpp"
#include "generate/channels.hpp"
#include "generate/lowering.hpp"
#include "generate/vector_tiles.hpp"

namespace ttlg::generate {
namespace {

std::string generate_kernels(const Isa& isa) {
  return "// Generated while ttlg is built. GenTT, sections 4 to 6; see cpp/generate.\n"
         "#pragma once\n\n#include <cstddef>\n#include <cstdint>\n#include <cstring>\n\n" +
         make_lowering(isa, isa.vector_bytes.front())->includes() +
         "\nnamespace ttlg::cpu {\nnamespace {\n\n" + generate_channels(isa) + "\n" +
         generate_vector_tiles(isa) + "\n}  // namespace\n}  // namespace ttlg::cpu\n";
}

}  // namespace
}  // namespace ttlg::generate

int main(int count, char** arguments) {
  if (count != 3) {
    std::cerr << "usage: write_kernels ISA FILE\n";
    return EXIT_FAILURE;
  }
  try {
    std::ofstream file(arguments[2]);
    file << ttlg::generate::generate_kernels(ttlg::generate::find_isa(arguments[1]));
    file.close();
    return file ? EXIT_SUCCESS : EXIT_FAILURE;
  } catch (const std::exception& error) {
    std::cerr << error.what() << '\n';
    return EXIT_FAILURE;
  }
}
