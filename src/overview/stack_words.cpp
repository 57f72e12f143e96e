#include "overview/stack_words.h"

#include <algorithm>
#include <array>

#include "session/allocation_wrappers.h"

namespace memtrace {
namespace {

// How a fault or an allocation is served. What called them is of interest. Names as in arch/x86/mm,
// arch/x86/entry and mm/ of Linux 2.6.32 to 6.18.
constexpr auto kKernelMachinery = std::to_array<std::string_view>({
    "asm_",
    "exc_",
    "page_fault",
    "do_page_fault",
    "__do_page_fault",
    "do_user_addr_fault",
    "async_page_fault",
    "handle_mm_fault",
    "__handle_mm_fault",
    "kmem_cache_alloc",
    "kmalloc",
    "__kmalloc",
    "__do_kmalloc",
    "kvmalloc",
    "__kvmalloc",
    "kzalloc",
    "slab_",
    "___slab_",
    "__slab_",
    "new_slab",
    "allocate_slab",
    "alloc_slab",
    "__alloc_pages",
    "alloc_pages",
    "__alloc_frozen_pages",
    "alloc_frozen_pages",
    "get_free_pages",
    "__get_free_pages",
    "__folio_alloc",
    "folio_alloc",
    "vma_alloc_folio",
    "pcpu_alloc",
    "krealloc",
    "kmemdup",
    "do_anonymous_page",
    "alloc_anon_folio",
    "do_wp_page",
    "wp_page_copy",
    "do_cow_fault",
    "do_fault",
    "do_pte_missing",
    "handle_pte_fault",
    "shmem_alloc_",
    "__filemap_get_folio",
    "filemap_alloc_folio",
    "__page_cache_alloc",
    "sk_prot_alloc",
});

// Allocators, and the C library's functions that only pass on what their caller asks for.
constexpr auto kUserMachinery = std::to_array<std::string_view>({
    "malloc",
    "_int_malloc",
    "_int_realloc",
    "_int_free",
    "calloc",
    "realloc",
    "sysmalloc",
    "operator new",
    "free",
    "memset",
    "__memset",
    "memcpy",
    "__memcpy",
    "memmove",
    "__memmove",
    "mmap",
    "__mmap",
    "brk",
    "__brk",
    "sbrk",
    "__sbrk",
    "__libc_",
    "tcache_",
    "ptmalloc_",
    "xmalloc",
    "g_malloc",
    "strdup",
    "__default_morecore",
    "__glibc_morecore",
    "posix_memalign",
    "aligned_alloc",
    "_mid_memalign",
});

constexpr auto kUserMachineryModules =
    std::to_array<std::string_view>({"libc.so", "libc-2", "ld-linux", "ld-2", "[vdso]"});

// Below what a program does: in a static program these are its own.
constexpr auto kThreadStarts = std::to_array<std::string_view>(
    {"_start", "start_thread", "clone", "__clone", "clone3", "execute_native_thread_routine"});

constexpr auto kContainerModules =
    std::to_array<std::string_view>({"libstdc++.so", "libc++.so", "libc++abi.so"});

struct Purpose {
  std::string_view function;  // the name begins with it
  std::string_view words;
};

// In the order in which they decide: a fault of shared memory goes through the fault handler, too.
constexpr auto kPurposes = std::to_array<Purpose>({
    {"shmem_", "tmpfs and shared memory"},
    {"hugetlb_", "hugetlb pages"},
    {"alloc_hugetlb", "hugetlb pages"},
    {"sock_alloc", kSockets},
    {"sk_alloc", kSockets},
    {"sk_prot_alloc", kSockets},
    {"__sock_create", kSockets},
    {"sock_map_fd", kSockets},
    {"sk_page_frag", "socket buffers"},
    {"__alloc_skb", "socket buffers"},
    {"alloc_skb", "socket buffers"},
    {"pipe_write", "pipes"},
    {"anon_pipe_write", "pipes"},
    {"alloc_pipe_info", "pipes"},
    {"mlock_fixup", "locked memory"},
    {"do_mlock", "locked memory"},
    {"__x64_sys_mlock", "locked memory"},
    {"__mm_populate", "memory populated at once (mlock, MAP_POPULATE)"},
    {"populate_vma_page_range", "memory populated at once (mlock, MAP_POPULATE)"},
    {"alloc_thread_stack", "kernel stacks of threads"},
    {"dup_task_struct", "kernel stacks of threads"},
    {"page_cache_", "page cache"},
    {"filemap_", "page cache"},
    {"__filemap_", "page cache"},
    {"generic_file_", "page cache"},
    {"force_page_cache", "page cache"},
    {"__do_page_cache_readahead", "page cache"},
    {"grab_cache_page", "page cache"},
    {"__pte_alloc", "page tables"},
    {"pte_alloc", "page tables"},
    {"__pmd_alloc", "page tables"},
    {"__pud_alloc", "page tables"},
    {"pgd_alloc", "page tables"},
    {"do_wp_page", "anonymous memory copied on write"},
    {"wp_page_copy", "anonymous memory copied on write"},
    {"do_swap_page", "anonymous memory read from swap"},
    {"do_huge_pmd", "huge pages of anonymous memory"},
    {"__do_huge_pmd", "huge pages of anonymous memory"},
    {"do_anonymous_page", "anonymous memory"},
    {"alloc_anon_folio", "anonymous memory"},
    {"handle_mm_fault", "anonymous memory"},
    {"__handle_mm_fault", "anonymous memory"},
    {"setup_arg_pages", "anonymous memory"},
    {"vmalloc", "vmalloc"},
    {"__vmalloc", "vmalloc"},
    {"seq_read", "files of /proc being read"},
});

template <typename Names>
bool begins_with_any(std::string_view text, const Names& names) {
  return std::ranges::any_of(names, [text](auto name) { return text.starts_with(name); });
}

bool has_name(const Frame& frame) {
  return frame.function.find("+0x") == std::string::npos && !frame.function.starts_with("0x") &&
         frame.function != "?" && frame.function != "[unknown]";
}

bool is_user_machinery(const Frame& frame) {
  return begins_with_any(frame.function, kUserMachinery) ||
         begins_with_any(frame.module, kUserMachineryModules);
}

// A function that the program's authors wrote, not one that their compiler made for them of
// headers.
bool is_own(const Frame& frame) {
  return !frame.kernel && has_name(frame) && !is_user_machinery(frame) &&
         !is_container_code(frame) && !begins_with_any(frame.module, kContainerModules) &&
         std::ranges::find(kThreadStarts, frame.function) == kThreadStarts.end();
}

// Without the types of its arguments, which the last pair of parentheses holds:
// "operands_scanner::finalize_ssa_uses".
std::string short_name(const std::string& function) {
  std::size_t depth = 0;
  for (std::size_t at = function.rfind(')'); at < function.size() && at > 0; --at) {
    depth += function[at] == ')' ? 1 : 0;
    depth -= function[at] == '(' ? 1 : 0;
    if (depth == 0) {
      const std::string name = function.substr(0, at);
      return name.ends_with("operator") ? function : name;
    }
  }
  return function;
}

const Frame* find_frame(const Frames& frames, bool (*is_it)(const Frame&)) {
  const auto found = std::ranges::find_if(frames, is_it);
  return found == frames.end() ? nullptr : &*found;
}

}  // namespace

std::string kernel_culprit_of(const Frames& frames) {
  const Frame* found = find_frame(frames, [](const Frame& frame) {
    return frame.kernel && has_name(frame) && !begins_with_any(frame.function, kKernelMachinery);
  });
  return found == nullptr ? std::string() : found->function;
}

std::string culprit_of(const Frames& frames) {
  const Frame* found = find_frame(frames, is_own);
  if (found == nullptr) {
    found = find_frame(frames, [](const Frame& frame) {
      return !frame.kernel && has_name(frame) && !is_user_machinery(frame);
    });
  }
  return found == nullptr ? kernel_culprit_of(frames) : short_name(found->function);
}

std::string most_in(const std::string& function) {
  return function.empty() ? std::string() : ", most in " + function;
}

std::string_view purpose_of(const Frames& frames) {
  for (const Purpose& purpose : kPurposes) {
    const auto is_it = [&purpose](const Frame& frame) {
      return frame.kernel && frame.function.starts_with(purpose.function);
    };
    if (std::ranges::any_of(frames, is_it)) {
      return purpose.words;
    }
  }
  return {};
}

bool comes_back(std::string_view purpose) {
  static constexpr auto kPurposesOfPrograms =
      std::to_array<std::string_view>({"anonymous memory",
                                       "huge pages of anonymous memory",
                                       "page tables",
                                       "memory populated",
                                       "page cache"});
  return begins_with_any(purpose, kPurposesOfPrograms);
}

bool is_slab_page(const Frames& frames) {
  static constexpr auto kNames = std::to_array<std::string_view>(
      {"allocate_slab", "alloc_slab_page", "new_slab", "cache_grow"});
  return std::ranges::any_of(frames, [](const Frame& frame) {
    return frame.kernel && begins_with_any(frame.function, kNames);
  });
}

}  // namespace memtrace
