// Functions of the kernel that memtrace probes where no tracepoint ever was, and how they are
// found. Only with --kprobes: a kprobe is a breakpoint in the kernel.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace memtrace {

// What one view gains by a probe. Alternatives are the same function under the names of different
// kernels; the first that there is, is taken.
struct KernelReading {
  std::string_view view;
  std::string_view functions;  // "swap_read_folio|swap_readpage"
  std::string_view args;       // for kprobe_events
  std::string_view gain;
  std::string_view option = {};  // of the kernel's configuration, without which it has none of them
  // What the probe says may be of others than the process that it comes in.
  bool is_of_anybody = false;
};

std::span<const KernelReading> kernel_readings();

// The name under which the kernel can be probed at this function, of a list of names: the text of
// available_filter_functions ("NAME [MODULE]") or of /proc/kallsyms ("ADDRESS T NAME"). What the
// compiler has made a variant of is found too ("NAME.isra.0"), unless it has split it
// (".cold" and ".part" are not where it begins). Nothing: there is none, or it was inlined.
std::optional<std::string> find_kernel_function(std::string_view list, std::string_view function);

// kmem_cache_alloc's cache has its name at an offset that depends on the kernel's configuration:
// fields "name88", "name96" and so on hold the text at each that was seen, of which at most one is
// the name of a cache (decode/probed_caches.h).
inline constexpr std::string_view kProbedNamePrefix = "name";
inline constexpr std::string_view kProbedSite = "site";

// The return address: where a kernel follows frame pointers (before 4.14 all do) it misses the
// caller at a function's first instruction, as that has made no frame yet.
inline constexpr std::string_view kProbedCaller = "caller";

}  // namespace memtrace
