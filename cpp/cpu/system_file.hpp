// Files in which Linux describes the machine.
#pragma once

#include <cstdio>
#include <memory>
#include <string>

namespace ttlg::cpu {

struct CloseFile {
  void operator()(std::FILE* file) const { std::fclose(file); }
};

// C's files: streams of C++ crash where an extension has a libstdc++ of its own linked in and
// another extension has loaded the shared one. Null where there is no such file.
using SystemFile = std::unique_ptr<std::FILE, CloseFile>;

inline SystemFile open_system_file(const std::string& path) {
  return SystemFile(std::fopen(path.c_str(), "re"));
}

}  // namespace ttlg::cpu
