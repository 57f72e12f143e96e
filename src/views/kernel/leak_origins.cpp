#include "views/kernel/leak_origins.h"

#include <algorithm>
#include <array>
#include <span>
#include <vector>

namespace memtrace {
namespace {

// Ways into the kernel that many kinds of work have in common, from 2.6.32 to 6.18
// (arch/x86/entry, arch/arm64/kernel, mm/memory.c, kernel/softirq.c, kernel/workqueue.c).
constexpr auto kEntries = std::to_array<std::string_view>({
    // system calls
    "entry_SYSCALL_64",
    "entry_SYSCALL_64_after_hwframe",
    "entry_SYSCALL_64_fastpath",
    "entry_SYSENTER_compat_after_hwframe",
    "entry_INT80_compat",
    "do_syscall_64",
    "do_fast_syscall_32",
    "do_int80_syscall_32",
    "x64_sys_call",
    "ia32_sys_call",
    "return_from_SYSCALL_64",
    "system_call_fastpath",
    "tracesys",
    "sysenter_dispatch",
    "el0t_64_sync",
    "el0t_64_sync_handler",
    "el0_sync",
    "el0_sync_handler",
    "el0_svc",
    "el0_svc_common",
    "el0_svc_common.constprop.0",
    "do_el0_svc",
    "invoke_syscall",
    "invoke_syscall.constprop.0",
    // faults
    "asm_exc_page_fault",
    "exc_page_fault",
    "page_fault",
    "async_page_fault",
    "do_async_page_fault",
    "trace_page_fault",
    "trace_do_page_fault",
    "do_page_fault",
    "__do_page_fault",
    "do_user_addr_fault",
    "el0_da",
    "do_mem_abort",
    "do_translation_fault",
    "handle_mm_fault",
    "__handle_mm_fault",
    "handle_pte_fault",
    // interrupts
    "asm_common_interrupt",
    "common_interrupt",
    "asm_sysvec_apic_timer_interrupt",
    "sysvec_apic_timer_interrupt",
    "asm_sysvec_call_function_single",
    "sysvec_call_function_single",
    "irq_exit",
    "irq_exit_rcu",
    "__irq_exit_rcu",
    "call_softirq",
    "do_softirq",
    "do_softirq_own_stack",
    "__do_softirq",
    "handle_softirqs",
    "__local_bh_enable_ip",
    // kernel threads
    "ret_from_fork",
    "ret_from_fork_asm",
    "ret_from_fork_nospec_begin",
    "ret_from_fork_nospec_end",
    "child_rip",
    "kthread",
    "worker_thread",
    "process_one_work",
    "process_scheduled_works",
    "run_ksoftirqd",
    "smpboot_thread_fn",
});

// mm/slub.c and mm/slab.c.
constexpr auto kSlabPages = std::to_array<std::string_view>(
    {"allocate_slab", "new_slab", "cache_grow", "cache_grow_begin", "kmem_getpages"});

bool is_among(std::span<const std::string_view> names, std::string_view name) {
  return std::ranges::find(names, name) != names.end();
}

}  // namespace

LeakOrigins::Place LeakOrigins::place_of(LocationId location) {
  const auto [known, is_new] = places_.try_emplace(location, Place::Program);
  if (is_new) {
    const Frames& frames = namer_->location(location);
    if (!frames.empty() && frames.front().kernel) {
      const std::string_view name = frames.front().function;
      known->second = is_among(kEntries, name)     ? Place::Entry
                      : is_among(kSlabPages, name) ? Place::SlabPages
                                                   : Place::Kernel;
    }
  }
  return known->second;
}

StackId LeakOrigins::origin_of(StackId stack, const World& world) {
  if (namer_ == nullptr || !stack.valid()) {
    return stack;
  }
  const auto [known, is_new] = origins_.try_emplace(stack, stack);
  if (!is_new) {
    return known->second;
  }
  const std::vector<LocationId> places = world.stacks().locations(stack);
  const auto is_way_in = [this](LocationId location) {
    const Place place = place_of(location);
    return place == Place::Program || place == Place::Entry;
  };
  const auto first = std::find_if_not(places.rbegin(), places.rend(), is_way_in);
  StackId origin = stack;
  for (auto inner = places.rend() - first; first != places.rend() && inner > 1; --inner) {
    origin = world.stacks().outer(origin);
  }
  known->second = origin;
  return origin;
}

bool LeakOrigins::is_of_slab_cache(const LiveBlock& block, const World& world) {
  if (namer_ == nullptr || block.kind != BlockKind::Page || !block.stack.valid()) {
    return false;
  }
  const std::size_t number = block.stack.value;
  if (number >= slab_stacks_.size()) {
    slab_stacks_.resize(number + number / 2 + 1, SlabStack::Unknown);
  }
  SlabStack& known = slab_stacks_[number];
  if (known == SlabStack::Unknown) {
    const auto is_slab = [this](LocationId at) { return place_of(at) == Place::SlabPages; };
    known = std::ranges::any_of(world.stacks().locations(block.stack), is_slab) ? SlabStack::Yes
                                                                                : SlabStack::No;
  }
  return known == SlabStack::Yes;
}

const KeySpec origin_key{
    .name = "origin",
    .unit = Unit::Stack,
    .of = [](const Event& event) { return std::uint64_t{event.stack.id().value}; },
    .of_block = [](const LiveBlock& block) { return std::uint64_t{block.stack.value}; },
    .cell = [](std::uint64_t word,
               const CellContext&) { return Cell(StackId{static_cast<std::uint32_t>(word)}); },
    .resolve_late =
        [](std::uint64_t word, const CellContext& context) {
          const auto& own = own_context<OriginContext>(context);
          const StackId stack{static_cast<std::uint32_t>(word)};
          return std::uint64_t{own.origins.origin_of(stack, own.world).value};
        }};

}  // namespace memtrace
