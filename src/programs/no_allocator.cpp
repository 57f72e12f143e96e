#include "programs/no_allocator.h"

#include <algorithm>

#include "os/procfs.h"
#include "symbolize/code/function_table.h"
#include "symbolize/elf/elf_file.h"
#include "symbolize/elf/program_interpreter.h"
#include "tracepoints/probe/heap_functions.h"

namespace memtrace {
namespace {

std::string process_text(std::uint32_t pid) {
  const std::string text = proc_text(pid, "comm");
  const std::string_view name = parse_comm(text);
  return "process " + std::to_string(pid) + (name.empty() ? "" : " (" + std::string(name) + ")");
}

// One that has its symbols.
bool is_go_program(const TargetObject& object) {
  const auto table = object.is_program ? FunctionTable::load(object.path)
                                       : Result<FunctionTable>(Error{"a library", 0, ""});
  return table.ok() && table.value().find(go_allocation().name).ok();
}

bool is_static_program(const TargetObject& object) {
  return object.is_program && ElfFile::open(object.path).ok() &&
         program_interpreter(object.path).empty();
}

// Nobody's of the whole machine.
const TargetObject* first_program(const Target& target,
                                  const std::vector<TargetObject>& objects,
                                  bool (*is_one)(const TargetObject&)) {
  const auto found = std::ranges::find_if(objects, is_one);
  return target.kind == TargetKind::System || found == objects.end() ? nullptr : &*found;
}

}  // namespace

Error no_allocator(const Target& target, const std::vector<TargetObject>& objects) {
  for (const std::uint32_t pid : target.ids) {
    if (is_kernel_thread(pid)) {
      return {process_text(pid) + " is a kernel thread: it has no heap",
              0,
              "the views kmalloc, slab and pages show what it allocates"};
    }
    if (is_zombie(pid)) {
      return {process_text(pid) + " has ended, and its parent has not waited for it yet", 0, ""};
    }
  }
  if (const TargetObject* go = first_program(target, objects, &is_go_program)) {
    const std::string& path = go->mapped_path;
    return {path +
                " is a Go program: no probe sees the frees of its garbage collector, so leaks and "
                "heap cannot be shown",
            0,
            "memtrace malloc counts its allocations; for Go before 1.18, which passes arguments on "
            "the stack, memtrace calls -e 'uprobe:" +
                path + ":runtime.mallocgc' counts the calls"};
  }
  if (const TargetObject* program = first_program(target, objects, &is_static_program)) {
    return {"no allocator found in " + program->mapped_path +
                ": it is statically linked and has no symbols of one",
            0,
            "name its functions with -e uprobe:PATH:FUNCTION or --alloc, or use faults, mmap and "
            "brk"};
  }
  return {
      "no allocator found in the target: none of its files has malloc or a similar function",
      0,
      "name its functions with -e uprobe:PATH:FUNCTION or --alloc, or use faults, mmap and brk"};
}

std::vector<std::string> unseen_heaps(const Target& target,
                                      const std::vector<TargetObject>& objects,
                                      const ProbedFiles& probed) {
  std::vector<std::string> notes;
  if (target.kind == TargetKind::System) {
    return notes;
  }
  for (const TargetObject& object : objects) {
    const bool is_probed = probed.paths.contains(object.path);
    if ((!is_probed || probed.needs_frees) && is_go_program(object)) {
      notes.push_back(object.mapped_path +
                      " is a Go program: allocations of C code are seen, its own heap is not; "
                      "memtrace malloc counts its allocations");
    } else if (!is_probed && is_static_program(object)) {
      notes.push_back(object.mapped_path +
                      " is statically linked, and has no symbol of an allocator: what it allocates "
                      "is not seen; name its functions with -e uprobe:PATH:FUNCTION or --alloc");
    }
  }
  return notes;
}

}  // namespace memtrace
