// The users that memtrace trusts with what it opens or runs: the user who runs it, root, and the
// user who started it by sudo(8). A file that others can change may be another one when it is
// opened.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace memtrace {

// The user who started memtrace by sudo(8), and that user's group; nothing when memtrace is not
// root.
std::optional<std::uint64_t> sudo_user();
std::optional<std::uint64_t> sudo_group();

// Root, the user who runs memtrace, and the user behind sudo(8).
bool is_trusted_user(std::uint64_t uid);

// Whether only trusted users can say which file lies at this path and what it holds: its owner and
// mode, and those of each folder and symbolic link on the way. False for what is not a file.
bool is_path_of_ours(const std::string& path);

// The same of a folder: only trusted users can put something into its place, or replace what
// trusted users have in it.
bool is_folder_of_ours(const std::string& path);

}  // namespace memtrace
