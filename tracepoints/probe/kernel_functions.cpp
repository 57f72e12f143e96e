#include "tracepoints/probe/kernel_functions.h"

#include <algorithm>
#include <array>

#include "os/kallsyms.h"

namespace memtrace {
namespace {

// Argument registers of x86-64 in the order of the calling convention; in the kernel as in user
// code. struct kmem_cache: include/linux/slub_def.h and mm/slab.h; offsets are of RHEL 8 and 4.18,
// of RHEL 7, 3.10 to 4.14 and 5.10 to 6.12, and of 6.18.
constexpr auto kReadings = std::to_array<KernelReading>({
    {"hfaults",
     "hugetlb_fault",
     "address=%dx:u64 flags=%cx:u32 caller=$stack0:u64",
     "each hugetlb fault, including the kernel's own accesses, with its stack",
     "CONFIG_HUGETLBFS"},
    {"swapin",
     "swap_read_folio|swap_readpage",
     "caller=$stack0:u64",
     "each read of swap, readahead included, with its stack",
     "CONFIG_SWAP",
     true},
    {"oom",
     "oom_kill_process",
     "caller=$stack0:u64",
     "each kill with the stack of the process that wanted memory",
     "",
     true},
    {"slab",
     "kmem_cache_alloc_noprof|kmem_cache_alloc",
     "site=$stack0:u64 name88=+0(+88(%di)):string name96=+0(+96(%di)):string "
     "name104=+0(+104(%di)):string",
     "names of caches, which their allocations do not report"},
    {"kleaks",
     "kmem_cache_alloc_noprof|kmem_cache_alloc",
     "site=$stack0:u64 name88=+0(+88(%di)):string name96=+0(+96(%di)):string "
     "name104=+0(+104(%di)):string",
     "names of caches, which their allocations do not report"},
});

// GCC's own copies of a function. "constprop" and "isra" begin where it begins.
bool is_variant(std::string_view name, std::string_view function) {
  if (name == function) {
    return true;
  }
  if (!name.starts_with(function) || name.size() <= function.size() ||
      name[function.size()] != '.') {
    return false;
  }
  const std::string_view suffixes = name.substr(function.size());
  return (suffixes.starts_with(".isra.") || suffixes.starts_with(".constprop.")) &&
         suffixes.find(".cold") == std::string_view::npos &&
         suffixes.find(".part") == std::string_view::npos;
}

// The one word of a line that is a function's name; "" for data.
std::string_view function_in(std::string_view line) {
  if (const auto symbol = parse_kallsyms_line(line)) {
    return symbol->is_code() ? symbol->name : std::string_view();
  }
  return line.substr(0, line.find_first_of("\t "));
}

}  // namespace

std::span<const KernelReading> kernel_readings() {
  return kReadings;
}

std::optional<std::string> find_kernel_function(std::string_view list, std::string_view function) {
  std::optional<std::string> variant;
  for (std::size_t at = 0; at < list.size();) {
    const std::size_t end = std::min(list.find('\n', at), list.size());
    const std::string_view line = list.substr(at, end - at);
    at = end + 1;
    // Lists have some 100,000 lines: most are rejected without parsing them.
    if (line.find(function) == std::string_view::npos) {
      continue;
    }
    const std::string_view name = function_in(line);
    if (name == function) {
      return std::string(name);
    }
    if (!variant && is_variant(name, function)) {
      variant = std::string(name);
    }
  }
  return variant;
}

}  // namespace memtrace
