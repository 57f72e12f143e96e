// The build id: a hash of a file's content that its linker wrote into a note. Two files with the
// same one are the same program, wherever they lie.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

namespace memtrace {

// The build id of an ELF file in lower-case hex, "" when it has none or cannot be read.
std::string read_build_id(const std::string& path);

// perf pads ids of fewer than 20 bytes with zeros where the record has no room for the size.
bool same_build_id(std::string_view left, std::string_view right);

// From bytes that are only notes, as /sys/kernel/notes has them; "" when none is a build id.
std::string build_id_in_notes(std::span<const std::byte> notes);

// "" when the running kernel does not say it.
std::string running_kernel_build_id();

}  // namespace memtrace
