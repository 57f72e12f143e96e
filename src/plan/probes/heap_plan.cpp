#include "plan/probes/heap_plan.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <optional>
#include <set>
#include <span>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "symbolize/code/function_table.h"
#include "symbolize/code/initial_pointer.h"
#include "symbolize/code/probe_place.h"
#include "symbolize/code/tail_code.h"
#include "symbolize/elf/elf_file.h"
#include "tracepoints/decode/heap.h"
#include "tracepoints/probe/heap_functions.h"

namespace memtrace {
namespace {

// runtime.mallocgc as uprobe_events can name an event.
constexpr std::string_view kGoEvent = "go_mallocgc";

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
    if (function.is_ifunc) {
      continue;
    }
    for (const std::string& name : function.names) {
      index.emplace(name, &function);
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
    // Names are unique, and so are prefixes but for those that are known already.
    if (marked && std::ranges::find(heap_prefixes(), prefix) == heap_prefixes().end()) {
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
    mask |= place < 0 ? 0 : mask_of(kOrder[static_cast<std::uint8_t>(place)]);
  }
  return mask;
}

std::string size_filter(const HeapFunction& role,
                        const HeapNeeds& needs,
                        const char* field = "size") {
  constexpr auto kNoLimit = std::numeric_limits<std::uint64_t>::max();
  const bool limited = needs.min_bytes > 0 || needs.max_bytes != kNoLimit;
  // The kernel's filters do not multiply, and the old block of a realloc must be seen to go.
  if (!limited || role.op != HeapOp::Alloc || role.count >= 0) {
    return "";
  }
  std::string filter = fmt::format("{} >= {}", field, needs.min_bytes);
  if (needs.max_bytes != kNoLimit) {
    filter += fmt::format(" && {} <= {}", field, needs.max_bytes);
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
        find(prefix + std::string(role.name), role, all);
      }
    }
    std::ranges::for_each(all, [this](const Found& found) { add(found); });
    if ((needs_.calls || needs_.returns) && needs_.period == 1) {
      std::ranges::for_each(all, [this](const Found& found) { add_again(found); });
    }
    add_go();
    for (const CustomFunction& custom : needs_.custom) {
      add_custom(custom);
    }
    return std::move(probes_);
  }

 private:
  void add(const Found& found) {
    const bool is_seen_elsewhere = found.role.is_operator
                                       ? !allocates_itself(found) || only_forwards(found)
                                       : is_jump(found) || (is_array(found) && has_inner(found));
    if (!is_seen_elsewhere) {
      add_probes(found);
    }
  }

  // Aliases are one function.
  void find(const std::string& name, const HeapFunction& role, std::vector<Found>& all) {
    const auto found = index_.find(name);
    if (found == index_.end() || !entries_.insert(found->second->file_offset).second) {
      return;
    }
    if (role.op != HeapOp::Free) {
      allocating_.insert(found->second->file_offset);
    }
    all.push_back({.role = role,
                   .name = std::string(found->first),
                   .function = *found->second,
                   .bytes = bytes_of(object_.path, *found->second),
                   .machine = table_.machine()});
  }

  // mimalloc's posix_memalign is a jump to its mi_posix_memalign, musl's memalign one to
  // aligned_alloc.
  bool is_jump(const Found& found) const {
    constexpr auto kEndbr64 = std::to_array<std::byte>(
        {std::byte{0xf3}, std::byte{0x0f}, std::byte{0x1e}, std::byte{0xfa}});
    if (found.machine != EM_X86_64) {
      return false;
    }
    const std::vector<Instruction> code = decode_x86(found.bytes);
    const bool is_marked = found.bytes.size() >= kEndbr64.size() &&
                           std::ranges::equal(kEndbr64, std::span(found.bytes).first(4));
    const auto first = code.begin() + (is_marked && !code.empty() ? 1 : 0);
    return first != code.end() && first->kind == InstructionKind::Jump &&
           entries_.contains(target_of({found.function.file_offset, {}}, *first));
  }

  // glibc's and musl's jump to realloc with the product.
  static bool is_array(const Found& found) {
    return found.role.op == HeapOp::Realloc && found.role.count >= 0;
  }

  // Whether it calls or jumps to another function that is probed.
  bool has_inner(const Found& found) const {
    if (found.machine != EM_X86_64 || found.role.is_operator) {
      return false;
    }
    const std::vector<CodePiece> pieces = pieces_of(found);
    return std::ranges::any_of(pieces, [&](const CodePiece& piece) {
      const std::vector<Instruction> code = decode_x86(piece.bytes);
      const bool is_other = piece.file_offset != found.function.file_offset;
      return (is_other && allocating_.contains(piece.file_offset)) ||
             std::ranges::any_of(code, [&](const Instruction& one) {
               const std::uint64_t target = one.has_target() ? target_of(piece, one) : 0;
               return target != found.function.file_offset && allocating_.contains(target);
             });
    });
  }

  std::uint64_t target_of(const CodePiece& code, const Instruction& branch) const {
    const auto target = static_cast<std::int64_t>(code.file_offset) + branch.target;
    return tails_.behind_stub(static_cast<std::uint64_t>(target));
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
    return entries_.contains(target_of({found.function.file_offset, {}}, *first));
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

  // Its calls alone: a return probe would be lost when its stack moves, and nothing shows what the
  // garbage collector frees.
  void add_go() {
    const auto found = index_.find(go_allocation().name);
    if (found == index_.end() || !needs_.calls || needs_.returns || !has_register_abi()) {
      return;
    }
    probes_.push_back({.kind = HeapProbeKind::Call,
                       .function = std::string(kGoEvent),
                       .file_offset = behind_stack_check(*found->second),
                       .arguments = entry_arguments(go_allocation()),
                       .filter = size_filter(go_allocation(), needs_)});
  }

  // A goroutine whose stack is too small gets a larger one first, and enters the function again.
  std::uint64_t behind_stack_check(const Function& function) const {
    constexpr std::ptrdiff_t kLongestCheck = 4;
    const auto code = decode_x86(bytes_of(object_.path, function));
    const auto limit = code.begin() + std::min<std::ptrdiff_t>(kLongestCheck, std::ssize(code));
    const auto check = std::find_if(code.begin(), limit, [](const Instruction& one) {
      return one.kind == InstructionKind::ConditionalJump;
    });
    const bool is_there = table_.machine() == EM_X86_64 && check != limit;
    return function.file_offset + (is_there ? check->limit() : 0);
  }

  // Go 1.18 began to write its version into the file itself (debug/buildinfo, flag 2); 1.17 began
  // to pass arguments in registers.
  bool has_register_abi() const {
    constexpr std::size_t kFlags = 15;
    const auto file = ElfFile::open(object_.path);
    const auto section = file.ok() ? file.value().section(".go.buildinfo") : std::nullopt;
    const auto bytes = section ? section->content() : std::span<const std::byte>();
    return bytes.size() > kFlags && (std::to_integer<unsigned>(bytes[kFlags]) & 2U) != 0;
  }

  // glibc until 2.33: before the first call of each, the hook of malloc, realloc and memalign is a
  // local function that prepares the allocator and begins the call again (malloc/hooks.c,
  // malloc_hook_ini). It runs once in a process, and is found by the variable that points to it.
  void add_again(const Found& found) {
    const auto file = index_.contains("gnu_get_libc_version") ? ElfFile::open(object_.path)
                                                              : Result<ElfFile>(Error{});
    const auto hook =
        file.ok() ? initial_target(file.value(), "__" + found.name + "_hook") : std::nullopt;
    if (!hook || !begins_again(*hook, found.function)) {
      return;
    }
    probes_.push_back(
        {.kind = HeapProbeKind::Again,
         .function = found.name,
         .file_offset = *hook,
         .arguments = "again=" + std::string(argument_register(found.role.size)) + ":u64",
         .filter = size_filter(found.role, needs_, "again")});
  }

  // In some builds memalign's calls the local function that memalign calls as well: nothing is
  // entered twice.
  bool begins_again(std::uint64_t hook, const Function& function) const {
    constexpr std::uint64_t kLongestHook = 512;
    const auto bytes = code_bytes(object_.path, hook, kLongestHook);
    if (!bytes.ok() || table_.machine() != EM_X86_64) {
      return bytes.ok();
    }
    const auto code = decode_x86(std::span(bytes.value()).first(function_extent(bytes.value())));
    return std::ranges::any_of(code, [&](const Instruction& one) {
      return one.has_target() && one.kind != InstructionKind::ConditionalJump &&
             static_cast<std::int64_t>(hook) + one.target ==
                 static_cast<std::int64_t>(function.file_offset);
    });
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

  // Only glibc's chunks hold the size of a block, and realloc's old block is known at its entry
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
                       .arguments = entry_arguments(found.role, !is_free && goes_on(found)),
                       .filter = size_filter(found.role, needs_)});
  }

  // An inner call may be sampled although the outer one was not.
  bool goes_on(const Found& found) const { return needs_.period == 1 && has_inner(found); }

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
        // The stack pointer identifies the call that returns: these functions are called by others,
        // too.
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
  std::set<std::uint64_t> entries_;     // file offsets of all functions of allocators
  std::set<std::uint64_t> allocating_;  // of those, of all that do not only free
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
