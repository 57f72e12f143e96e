// What programs map themselves, separated from what their allocators and the dynamic loader map: it
// is part of their heap.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string_view>
#include <utility>

#include "base/interner.h"
#include "state/heap/heap_state.h"
#include "state/heap/mapped_blocks.h"
#include "state/mapping/map_call.h"
#include "state/process/module_table.h"
#include "state/process/stack_table.h"

namespace memtrace {

class ProgramMappings {
 public:
  struct Change {
    std::optional<LiveBlock> made;  // bytes_req: what was asked for
    MappedBlocks::Pieces gone;

    bool any() const { return made || !gone.empty(); }
  };

  // All outlive it.
  struct Context {
    const HeapState& heap;
    const StackTable& stacks;
    const ModuleTable& modules;
    StringTable& strings;
  };

  ProgramMappings(const Context& context, std::uint64_t page_size_bytes)
      : heap_(context.heap),
        stacks_(context.stacks),
        modules_(context.modules),
        strings_(context.strings),
        page_size_bytes_(page_size_bytes) {}

  // Who can tell whether a stack goes through an allocator; asked of mappings that seem to be the
  // program's own.
  void set_allocator_test(std::function<bool(StackId)> is_in_allocator) {
    is_in_allocator_ = std::move(is_in_allocator);
  }

  const MappedBlocks& blocks() const { return blocks_; }

  void apply(const Event& event, const Map& map);

  void fork(std::uint32_t parent_pid, std::uint32_t pid) { blocks_.fork(parent_pid, pid); }

  void exec(std::uint32_t pid) { blocks_.exec(pid); }

  // What apply() changed since forget_change(); null for most events.
  const Change* change() const { return change_ ? &*change_ : nullptr; }

  void forget_change() { change_.reset(); }

 private:
  bool is_of_program(const Event& event) const;
  bool is_of_loader(StackId stack) const;
  LiveBlock block_for(const Event& event, std::string_view function);

  const HeapState& heap_;
  const StackTable& stacks_;
  const ModuleTable& modules_;
  StringTable& strings_;
  std::uint64_t page_size_bytes_;
  std::function<bool(StackId)> is_in_allocator_;
  MappedBlocks blocks_;
  std::optional<Change> change_;
};

}  // namespace memtrace
