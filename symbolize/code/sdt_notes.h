// Static probes (SystemTap's <sys/sdt.h>) of an ELF file, from its .note.stapsdt: where they are,
// what raises their semaphores, and how a uprobe fetches their arguments. The notes' format:
// https://sourceware.org/systemtap/wiki/UserSpaceProbeImplementation
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace memtrace {

struct SdtArgument {
  std::string operand;  // as the note has it: "-4@%esi"
  // For a uprobe: "%si:s32", "+16(%di):u64", "\5:s32", "@+0x1234:u64"; "" when a uprobe cannot
  // fetch it, such as disp(%base,%index,scale).
  std::string fetch;
};

struct SdtProbe {
  std::string provider;
  std::string name;
  std::uint64_t file_offset = 0;
  std::uint64_t semaphore_file_offset = 0;  // for ProbeDefinition::ref_ctr_offset; 0: none
  std::vector<SdtArgument> arguments;
};

// In the file's order, one for each place: inlined code has the same probe at several. Empty for a
// file without notes. Error: the file cannot be read.
Result<std::vector<SdtProbe>> read_sdt_probes(const std::string& path);

// For arguments such as mp_+88(%rip): what to add to where the probe's file would begin in memory
// to find a symbol of it; nothing when it is not known or not one.
using SdtSymbols = std::function<std::optional<std::int64_t>(std::string_view symbol)>;

// "8@%rdi -4@$1": x86-64 operands.
std::vector<SdtArgument> parse_sdt_arguments(std::string_view text, const SdtSymbols& symbols);

// All that can be fetched, as the args of a ProbeDefinition: "arg1=%di:u64 arg3=...".
std::string fetch_arguments(const SdtProbe& probe);

}  // namespace memtrace
