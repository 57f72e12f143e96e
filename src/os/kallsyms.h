// Lines of /proc/kallsyms: addresses and names of the kernel and its modules.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace memtrace {

// "ffffffffc0a1b000 t nft_do_chain\t[nf_tables]". The texts borrow from the line.
struct KallsymsLine {
  std::uint64_t address = 0;  // 0: the kernel hides it from this user
  char type = 0;              // as nm(1) has it
  std::string_view name;
  std::string_view module;  // "[nf_tables]"; "" for the kernel itself

  bool is_code() const { return type == 't' || type == 'T' || type == 'w' || type == 'W'; }
};

std::optional<KallsymsLine> parse_kallsyms_line(std::string_view line);

// The first line with this name; the kernel's own come before those of modules.
std::optional<KallsymsLine> find_kallsyms_line(std::string_view kallsyms, std::string_view name);

}  // namespace memtrace
