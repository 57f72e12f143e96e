// A whole stack in a few words: the function to look at, and what the kernel took pages for.
#pragma once

#include <string>
#include <string_view>

#include "report/report.h"

namespace memtrace {

// The innermost function that is not the machinery of faults and allocators: of user code if the
// stack has any that is named, else of the kernel. A function of containers (is_container_code())
// only where the program has none of its own. Empty when no frame has a name.
std::string culprit_of(const Frames& frames);

// The same for functions of the kernel only.
std::string kernel_culprit_of(const Frames& frames);

// ", most in FUNCTION" for a sentence; nothing where none is known.
std::string most_in(const std::string& function);

// What kernel memory is for, as far as its stack says: "tmpfs and shared memory", "page cache".
// Empty: not known. None of it is a slab cache's name.
std::string_view purpose_of(const Frames& frames);

inline constexpr std::string_view kSockets = "sockets";

// The kernel gets this memory back without help: when its program ends, or when others need it. Of
// the words of purpose_of().
bool comes_back(std::string_view purpose);

// The page was taken for a slab cache, whose objects are allocated from it.
bool is_slab_page(const Frames& frames);

}  // namespace memtrace
