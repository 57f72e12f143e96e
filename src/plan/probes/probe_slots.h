// The arguments of probes that share one of the kernel's events: it wants them all to have the same
// names and types, so each argument of a probe gets a slot of its type, and slots that it does not
// need hold a 0.
//
//   malloc    size=%di:u64                     probe_number=\1:u32 arg_0=%di:u64 arg_1=\0:u64
//   calloc    count=%di:u64 size=%si:u64       probe_number=\2:u32 arg_0=%di:u64 arg_1=%si:u64
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace memtrace {

class ProbeSlots {
 public:
  ProbeSlots() = default;

  // Types by slot: "u64", "u32".
  explicit ProbeSlots(std::vector<std::string> types) : types_(std::move(types)) {}

  struct Filled {
    std::string args;                           // for uprobe_events
    std::map<std::string, std::string> fields;  // slot by argument
  };

  // Nothing when the arguments do not fit.
  std::optional<Filled> fill(std::string_view args, std::uint32_t number) const;

 private:
  std::vector<std::string> types_;
};

// The format text of a shared event as it would be for one of its probes alone.
struct OwnFormat {
  std::string_view event;
  std::uint64_t id = 0;
  const std::map<std::string, std::string>& fields;
};

std::string own_format(std::string_view shared, const OwnFormat& own);

// Where the number lies in the raw data; nothing when there is none.
std::optional<std::uint32_t> number_offset(std::string_view format_text);

}  // namespace memtrace
