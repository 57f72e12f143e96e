#include "pipeline/heap_plan.h"

#include <algorithm>
#include <array>
#include <optional>
#include <set>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "base/text.h"
#include "symbolize/function_table.h"
#include "symbolize/probe_place.h"
#include "symbolize/tail_code.h"
#include "tracepoints/heap.h"
#include "tracepoints/heap_functions.h"

namespace memtrace {
namespace {

using FunctionIndex = std::unordered_map<std::string_view, const Function*>;

// A function of an allocator as it is in the file, with its code.
struct Found {
  const HeapFunction& role;
  std::string name;
  const Function& function;
  std::vector<std::byte> bytes;
  std::uint16_t machine = 0;

  FunctionCode code() const { return {.bytes = bytes, .machine = machine}; }
};

FunctionIndex index_by_name(const FunctionTable& table) {
  FunctionIndex index;
  for (const Function& function : table.functions()) {
    for (const std::string& name : function.names) {
      if (!function.is_ifunc) {
        index.emplace(name, &function);
      }
    }
  }
  return index;
}

// The dynamic loader has a malloc for itself, until libc's takes over (elf/rtld.c).
bool is_loader(std::string_view path) {
  const std::string_view name = path.substr(path.rfind('/') + 1);
  return name.starts_with("ld-linux") || name.starts_with("ld64.so") || name.starts_with("ld-2.");
}

// jemalloc can be built with any prefix; its mallctl gives it away.
std::vector<std::string> prefixes_in(const FunctionIndex& index) {
  constexpr std::string_view kMark = "mallctl";
  std::vector<std::string> prefixes(heap_prefixes().begin(), heap_prefixes().end());
  for (const auto& [name, function] : index) {
    const bool marked = name.ends_with(kMark) && name.size() > kMark.size();
    const std::string prefix(marked ? name.substr(0, name.size() - kMark.size()) : "");
    if (marked && std::find(prefixes.begin(), prefixes.end(), prefix) == prefixes.end()) {
      prefixes.push_back(prefix);
    }
  }
  return prefixes;
}

std::vector<std::byte> bytes_of(const std::string& path, const Function& function) {
  auto bytes = code_bytes(path, function.file_offset, function.size_bytes);
  return bytes.ok() ? bytes.take() : std::vector<std::byte>();
}

RegisterMask argument_mask(const HeapFunction& role) {
  constexpr std::array kOrder = {X86Register::Di,
                                 X86Register::Si,
                                 X86Register::Dx,
                                 X86Register::Cx,
                                 X86Register::R8,
                                 X86Register::R9};
  RegisterMask mask = 0;
  for (const std::int8_t place : {role.ptr, role.size, role.count}) {
    mask |= place < 0 ? 0 : mask_of(kOrder[static_cast<std::size_t>(place)]);
  }
  return mask;
}

std::string size_filter(const HeapFunction& role, const HeapNeeds& needs) {
  constexpr auto kNoLimit = std::numeric_limits<std::uint64_t>::max();
  const bool limited = needs.min_bytes > 0 || needs.max_bytes != kNoLimit;
  // The kernel's filters do not multiply, and the old block of a realloc must be seen to go.
  if (!limited || role.op != HeapOp::Alloc || role.count >= 0) {
    return "";
  }
  std::string filter = format("size >= %llu", static_cast<unsigned long long>(needs.min_bytes));
  if (needs.max_bytes != kNoLimit) {
    filter += format(" && size <= %llu", static_cast<unsigned long long>(needs.max_bytes));
  }
  return filter;
}

class Planner {
 public:
  Planner(const TargetObject& object, const FunctionTable& table, const HeapNeeds& needs)
      : object_(object),
        table_(table),
        needs_(needs),
        tails_(object.path, table),
        index_(index_by_name(table)),
        prefixes_(prefixes_in(index_)) {}

  std::vector<HeapProbe> plan() {
    std::vector<Found> all;
    for (const std::string& prefix : prefixes_) {
      for (const HeapFunction& role : heap_functions()) {
        const auto found = index_.find(prefix + std::string(role.name));
        // Aliases are one function.
        if (found != index_.end() && entries_.insert(found->second->file_offset).second) {
          all.push_back({.role = role,
                         .name = std::string(found->first),
                         .function = *found->second,
                         .bytes = bytes_of(object_.path, *found->second),
                         .machine = table_.machine()});
        }
      }
    }
    std::ranges::for_each(all, [this](const Found& found) { add(found); });
    for (const CustomFunction& custom : needs_.custom) {
      add_custom(custom);
    }
    return std::move(probes_);
  }

 private:
  void add(const Found& found) {
    if (!found.role.is_operator || (allocates_itself(found) && !only_forwards(found))) {
      add_probes(found);
    }
  }

  // jemalloc's operator new[] jumps to its operator new, and what allocates aligned memory calls
  // aligned_alloc, before anything is decided: there the call is seen.
  bool only_forwards(const Found& found) const {
    const std::vector<Instruction> code = decode_x86(found.bytes);
    const auto first = std::ranges::find_if(code, [](const Instruction& one) {
      return one.kind != InstructionKind::Plain && one.kind != InstructionKind::Push &&
             one.kind != InstructionKind::Nop;
    });
    if (first == code.end() || !first->has_target() ||
        first->kind == InstructionKind::ConditionalJump) {
      return false;
    }
    const auto target = static_cast<std::int64_t>(found.function.file_offset) + first->target;
    return entries_.contains(tails_.behind_stub(static_cast<std::uint64_t>(target)));
  }

  void add_probes(const Found& found) {
    const bool is_free = found.role.op == HeapOp::Free;
    if (is_free ? needs_.frees : needs_.calls && !has_one_probe(found.role)) {
      add_entry(found, is_free);
    }
    if (!is_free && (needs_.returns || has_one_probe(found.role))) {
      add_return(found);
    }
  }

  void add_custom(const CustomFunction& custom) {
    const std::string_view file = object_.mapped_path;
    if (!file.ends_with(custom.path)) {
      return;
    }
    const auto functions = table_.find(custom.name);
    for (const Function& function : functions.ok() ? functions.value() : std::vector<Function>()) {
      HeapFunction role = custom.role;
      role.is_operator = function.names.front().starts_with("_Z");  // C++: it may throw
      add_probes({.role = role,
                  .name = custom.name,
                  .function = function,
                  .bytes = bytes_of(object_.path, function),
                  .machine = table_.machine()});
    }
  }

  // Only glibc's chunks tell the size of a block, and realloc's old block is known at its entry
  // only.
  bool has_one_probe(const HeapFunction& role) const {
    return needs_.one_probe && role.op == HeapOp::Alloc && role.memory_pointer < 0 &&
           !role.is_operator && index_.contains("gnu_get_libc_version");
  }

  // libstdc++'s operators call malloc and free, which are probed; those of an allocator's own
  // library do the work themselves.
  bool allocates_itself(const Found& found) const {
    const auto main = index_.find(found.role.op == HeapOp::Free ? "free" : "malloc");
    if (main == index_.end()) {
      return false;
    }
    const auto distance = static_cast<std::int64_t>(main->second->file_offset) -
                          static_cast<std::int64_t>(found.function.file_offset);
    const std::vector<Instruction> code = decode_x86(found.bytes);
    return std::none_of(code.begin(), code.end(), [distance](const Instruction& one) {
      return one.has_target() && one.target == distance;
    });
  }

  // Entry and return are probed at the same place: a return probe replaces the return address where
  // it lies, and the stack must have been copied before. The pairing of calls rests on the stack
  // pointer, too: a place behind a push would shift it.
  static std::uint64_t place_of(const Found& found) {
    const bool is_free = found.role.op == HeapOp::Free;
    const ProbePlace place = find_probe_place(
        found.code(), {.needed = argument_mask(found.role), .allow_early_return = is_free});
    const bool usable = is_free || place.pushed_bytes == 0;
    return found.function.file_offset + (usable ? place.offset_bytes : 0);
  }

  void add_entry(const Found& found, bool is_free) {
    probes_.push_back({.kind = is_free ? HeapProbeKind::Free : HeapProbeKind::Call,
                       .function = found.name,
                       .file_offset = place_of(found),
                       .arguments = entry_arguments(found.role),
                       .filter = size_filter(found.role, needs_)});
  }

  void add_return(const Found& found) {
    if (found.role.memory_pointer >= 0) {
      add_stores(found);
    } else if (found.role.is_operator) {
      add_return_places(found);
    } else {
      probes_.push_back({.kind = HeapProbeKind::Return,
                         .function = found.name,
                         .file_offset = place_of(found),
                         .is_return_probe = true,
                         .has_no_call = has_one_probe(found.role),
                         .arguments = return_arguments(has_one_probe(found.role))});
    }
  }

  // posix_memalign: its block is seen when it is handed over in memory.
  void add_stores(const Found& found) {
    for (const CodePiece& piece : pieces_of(found)) {
      for (const ResultStore& store :
           find_result_stores({.bytes = piece.bytes, .machine = found.machine})) {
        add_inside(found,
                   piece.file_offset + store.offset_bytes,
                   "%" + std::string(name_of(store.result)),
                   "");
      }
    }
  }

  void add_return_places(const Found& found) {
    for (const CodePiece& piece : pieces_of(found)) {
      for (const std::uint64_t offset :
           find_return_places({.bytes = piece.bytes, .machine = found.machine}).returns) {
        // The stack pointer tells whose return it is: these functions are called by others, too.
        add_inside(found, piece.file_offset + offset, "%ax", " sp=%sp:u32");
      }
    }
  }

  std::vector<CodePiece> pieces_of(const Found& found) const {
    return tails_.of({found.function.file_offset, found.bytes});
  }

  void add_inside(const Found& found,
                  std::uint64_t file_offset,
                  const std::string& result,
                  const std::string& more_arguments) {
    if (!inside_.insert(file_offset).second) {
      return;  // several operators return there
    }
    probes_.push_back({.kind = HeapProbeKind::Return,
                       .function = found.name,
                       .file_offset = file_offset,
                       .arguments = "result=" + result + ":u64" + more_arguments});
  }

  const TargetObject& object_;
  const FunctionTable& table_;
  const HeapNeeds& needs_;
  TailCode tails_;
  FunctionIndex index_;
  std::vector<std::string> prefixes_;
  std::set<std::uint64_t> entries_;  // file offsets of all functions of allocators
  std::vector<HeapProbe> probes_;
  std::set<std::uint64_t> inside_;  // file offsets of probes inside functions
};

}  // namespace

std::vector<HeapProbe> plan_heap_probes(const TargetObject& object, const HeapNeeds& needs) {
  if (is_loader(object.mapped_path)) {
    return {};
  }
  const auto table = FunctionTable::load(object.path);
  return table.ok() ? Planner(object, table.value(), needs).plan() : std::vector<HeapProbe>();
}

}  // namespace memtrace
