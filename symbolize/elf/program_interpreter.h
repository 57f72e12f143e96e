// PT_INTERP: the dynamic loader that a program asks for.
#pragma once

#include <string>

namespace memtrace {

// "/lib64/ld-linux-x86-64.so.2"; "" for a static program or anything that is not an ELF program.
std::string program_interpreter(const std::string& path);

}  // namespace memtrace
