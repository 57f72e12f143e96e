#include "plan/probes/watchpoint_event.h"

#include <fmt/core.h>
#include <linux/hw_breakpoint.h>

#include <algorithm>
#include <array>
#include <optional>

#include "base/text.h"
#include "base/units.h"
#include "os/kallsyms.h"
#include "os/system.h"

namespace memtrace {
namespace {

constexpr std::string_view kMemoryStart = "mem:";
constexpr int kHex = 16;

struct Access {
  std::string_view text;
  std::uint32_t type;
};

constexpr auto kAccesses = std::to_array<Access>({{"rw", HW_BREAKPOINT_RW},
                                                  {"r", HW_BREAKPOINT_R},
                                                  {"w", HW_BREAKPOINT_W},
                                                  {"x", HW_BREAKPOINT_X}});

Error wrong(std::string_view event, const std::string& what) {
  return Error{
      "-e " + std::string(event) + ": " + what,
      0,
      "write mem:ADDRESS[/BYTES][:ACCESS]: a number or a symbol of the kernel, 1, 2, 4 or 8 "
      "bytes, and r, w, rw or x",
      ErrorKind::Usage};
}

// Takes what stands behind the last `mark`, or nothing.
std::string_view cut_behind(std::string_view& text, char mark) {
  const std::size_t at = text.rfind(mark);
  if (at == std::string_view::npos) {
    return {};
  }
  const std::string_view behind = text.substr(at + 1);
  text = text.substr(0, at);
  return behind;
}

std::optional<std::uint64_t> number_of(std::string_view text) {
  const bool is_hex = text.starts_with("0x") || text.starts_with("0X");
  return is_hex ? parse_number(text.substr(2), kHex) : parse_number(text);
}

std::optional<std::uint64_t> address_of_symbol(std::string_view symbol, const std::string& path) {
  const auto symbols = read_file(path);
  const auto line = symbols.ok() ? find_kallsyms_line(symbols.value(), symbol) : std::nullopt;
  return line ? std::optional(line->address) : std::nullopt;
}

}  // namespace

bool is_watchpoint_event(std::string_view event) {
  return event.starts_with(kMemoryStart);
}

Result<Watchpoint> parse_watchpoint_event(std::string_view event,
                                          const std::string& kallsyms_path) {
  std::string_view rest = event.substr(kMemoryStart.size());
  Watchpoint watchpoint{.access = HW_BREAKPOINT_RW};
  if (const std::string_view access = cut_behind(rest, ':'); access.data() != nullptr) {
    const auto* const known = std::ranges::find(kAccesses, access, &Access::text);
    if (known == kAccesses.end()) {
      return wrong(event, "unknown access '" + std::string(access) + "'");
    }
    watchpoint.access = known->type;
  }
  constexpr std::uint64_t kOfData = HW_BREAKPOINT_LEN_4;
  watchpoint.bytes = watchpoint.access == HW_BREAKPOINT_X ? sizeof(long) : kOfData;
  if (const std::string_view bytes = cut_behind(rest, '/'); bytes.data() != nullptr) {
    const auto number = parse_number(bytes);
    if (!number || (*number != 1 && *number != 2 && *number != 4 && *number != 8)) {
      return wrong(event, "'" + std::string(bytes) + "' bytes cannot be watched");
    }
    watchpoint.bytes = *number;
  }
  const auto number = number_of(rest);
  const auto address = number ? number : address_of_symbol(rest, kallsyms_path);
  if (!address) {
    return wrong(event, "the kernel has no symbol '" + std::string(rest) + "'");
  }
  if (*address == 0) {
    return Error{"-e " + std::string(event) + ": the kernel hides its addresses",
                 0,
                 "run memtrace as root, with the sysctl kernel.kptr_restrict at 1 or 0"};
  }
  watchpoint.address = *address;
  return watchpoint;
}

Result<std::vector<EventRequest>> watchpoint_request(const std::string& event,
                                                     std::uint64_t period) {
  auto watchpoint = parse_watchpoint_event(event, "/proc/kallsyms");
  if (!watchpoint.ok()) {
    return watchpoint.take_error();
  }
  return std::vector{EventRequest{.info = {.name = event, .period = period},
                                  .type = kTypeBreakpoint,
                                  .watchpoint = watchpoint.take()}};
}

std::string perf_text(const Watchpoint& watchpoint) {
  const auto* const access = std::ranges::find(kAccesses, watchpoint.access, &Access::type);
  return fmt::format("mem:0x{:x}/{}:{}", watchpoint.address, watchpoint.bytes, access->text);
}

}  // namespace memtrace
