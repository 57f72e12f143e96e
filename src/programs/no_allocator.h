// Why no allocator was found in a target, and what to use instead.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "perf/target/target.h"
#include "programs/target_objects.h"

namespace memtrace {

// Whether it is a Go program that has its symbols.
bool is_go_program(const std::string& path);

Error no_allocator(const Target& target, const std::vector<TargetObject>& objects);

// Whether a process is a thread of the kernel, or a zombie. False when nothing is known of it.
bool is_kernel_thread(std::uint32_t pid);
bool is_zombie(std::uint32_t pid);

}  // namespace memtrace
