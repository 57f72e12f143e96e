#include "state/heap/program_mappings.h"

#include <algorithm>
#include <iterator>
#include <string_view>
#include <utility>

#include "state/mapping/map_flags.h"

namespace memtrace {
namespace {

// Memory that is usable at once: a reservation takes none, and a thread's stack is no heap.
bool is_allocation(const MapCall& call) {
  return (call.flags & kMapAnonymous) != 0 && (call.flags & kMapStack) == 0 && call.protection != 0;
}

std::uint64_t whole_pages(std::uint64_t bytes, std::uint64_t page_size_bytes) {
  return (bytes + page_size_bytes - 1) / page_size_bytes * page_size_bytes;
}

}  // namespace

// ld.so maps the data of what it loads, and memory for itself.
bool ProgramMappings::is_of_loader(StackId stack) const {
  for (const LocationId id : stacks_.locations(stack)) {
    const CodeLocation& location = stacks_.location(id);
    if (!location.module.valid()) {
      return false;
    }
    const Module& module = modules_.at(location.module);
    if (module.kind == ModuleKind::File) {
      const std::string_view path = module.path;
      const std::string_view name = path.substr(path.rfind('/') + 1);
      return name.starts_with("ld-linux") || name.starts_with("ld64.so") ||
             name.starts_with("ld-2.");
    }
  }
  return false;
}

// An allocator maps memory for its heap while a call of its functions is pending.
bool ProgramMappings::is_of_program(const Event& event) const {
  const bool is_known = heap_.has_calls() && event.stack.valid();
  return is_known && !heap_.is_in_call(event) && !is_of_loader(event.stack) &&
         !(is_in_allocator_ && is_in_allocator_(event.stack));
}

LiveBlock ProgramMappings::block_for(const Event& event, std::string_view function) {
  LiveBlock block = block_of(event);
  block.kind = BlockKind::Heap;
  block.call_site = stacks_.caller(event.stack);
  block.function = strings_.intern(function);
  block.weight = event.weight;
  return block;
}

void ProgramMappings::apply(const Event& event, const Map& map) {
  const MapCall& call = map.call;
  const auto pages = [this](std::uint64_t bytes) { return whole_pages(bytes, page_size_bytes_); };
  Change change;
  const auto make = [&](const char* function, std::uint64_t start, std::uint64_t bytes) {
    LiveBlock block = block_for(event, function);
    block.key = start;
    block.bytes = pages(bytes);
    block.bytes_req = bytes;
    change.made = block;
    MappedBlocks::Pieces covered = blocks_.map(block);
    std::move(covered.begin(), covered.end(), std::back_inserter(change.gone));
  };
  if (call.op == MapOp::Map && is_allocation(call) && is_of_program(event)) {
    make("mmap", map.result, call.bytes);
  } else if (call.op == MapOp::Map) {
    change.gone = blocks_.unmap(event.pid, map.result, map.result + pages(call.bytes));
  } else if (call.op == MapOp::Unmap) {
    change.gone = blocks_.unmap(event.pid, call.address, call.address + pages(call.bytes));
  } else if (call.op == MapOp::Remap && blocks_.is_known(event.pid, call.address)) {
    if ((call.flags & kRemapKeepOld) == 0) {
      change.gone = blocks_.unmap(event.pid, call.address, call.address + pages(call.bytes));
    }
    make("mremap", map.result, call.new_bytes);
  } else if (call.op == MapOp::Break) {
    const std::uint64_t before = blocks_.move_top(event.pid, map.result);
    if (before != 0 && map.result > before && is_of_program(event)) {
      make("brk", before, map.result - before);
    } else if (before > map.result) {
      change.gone = blocks_.unmap(event.pid, map.result, before);
    }
  }
  if (change.any()) {
    change_ = std::move(change);
  }
}

}  // namespace memtrace
