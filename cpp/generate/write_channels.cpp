// Writes the header of an instruction set's functions for channels: write_channels ISA FILE.
#include <cstdlib>
#include <exception>
#include <fstream>
#include <iostream>

#include "generate/backends.hpp"
#include "generate/channels.hpp"

int main(int count, char** arguments) {
  if (count != 3) {
    std::cerr << "usage: write_channels ISA FILE\n";
    return EXIT_FAILURE;
  }
  try {
    std::ofstream file(arguments[2]);
    file << ttlg::generate::generate_channels(ttlg::generate::find_isa(arguments[1]));
    file.close();
    return file ? EXIT_SUCCESS : EXIT_FAILURE;
  } catch (const std::exception& error) {
    std::cerr << error.what() << '\n';
    return EXIT_FAILURE;
  }
}
