#include "cli/options/call_graph_option.h"

#include <string>
#include <string_view>

#include "base/units.h"

namespace memtrace {
namespace {

constexpr std::string_view kDwarf = "dwarf";
// A record's size has 16 bits, and the kernel wants whole words (perf_event_open(2),
// sample_stack_user).
constexpr std::uint64_t kMaxStackBytes = 65528;

// What stands behind "dwarf".
Result<std::uint32_t> read_stack_bytes(const std::string& kind) {
  if (kind == kDwarf) {
    return kDefaultStackBytes;
  }
  const auto bytes = parse_bytes(std::string_view{kind}.substr(kDwarf.size() + 1));
  if (!bytes || *bytes == 0 || *bytes > kMaxStackBytes || *bytes % sizeof(std::uint64_t) != 0) {
    return Error{"--call-graph " + kind,
                 0,
                 "dwarf takes a multiple of 8 up to 65528: bytes to copy of each stack",
                 ErrorKind::Usage};
  }
  return static_cast<std::uint32_t>(*bytes);
}

}  // namespace

Result<CallGraph> read_call_graph(const ParsedOptions& parsed) {
  const bool both = parsed.has("user") == parsed.has("kernel");
  const bool user = both || parsed.has("user");
  const std::string kind = parsed.text("call-graph", kDwarf);
  if (kind == "none") {
    return CallGraph{.kernel = false, .user = false};
  }
  CallGraph call_graph{.kernel = both || parsed.has("kernel"), .user = user, .repair = user};
  if (kind == "fp") {
    return call_graph;
  }
  if (kind != kDwarf && !kind.starts_with("dwarf,")) {
    return Error{"--call-graph " + kind, 0, "takes fp, dwarf or none", ErrorKind::Usage};
  }
  auto bytes = read_stack_bytes(kind);
  if (!bytes.ok()) {
    return bytes.take_error();
  }
  call_graph.stack_bytes = user ? bytes.value() : 0;
  call_graph.skip_kernel_work = both && !parsed.has("call-graph");
  return call_graph;
}

}  // namespace memtrace
