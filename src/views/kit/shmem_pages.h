// Pages of shared memory and of files on tmpfs, which are the same to the kernel (mm/shmem.c). They
// enter the page cache without the event of it: shmem_add_to_page_cache() has none from 3.10 to
// 6.18. The functions on the stacks of kmem:mm_page_alloc show who allocated them.
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <unordered_map>

#include "base/hash.h"
#include "base/hash_map.h"
#include "report/namer.h"
#include "report/report.h"
#include "state/world/world.h"
#include "tracepoints/event/event.h"
#include "views/kit/keys.h"

namespace memtrace {

inline constexpr std::string_view kShmemNeed = "kmem:mm_page_alloc|";

class ShmemPages {
 public:
  // A page allocation: of whatever, until the stacks are named.
  void on(const Event& event, const PageAlloc& alloc);

  // Adds a table of pages by process and by what asked for them, or a note why there is none.
  // Starts again with nothing.
  void report(const World& world, Namer* namer, Report& report);

 private:
  struct Place {
    StringId comm;
    std::uint32_t pid = 0;
    StackId stack;
    std::uint64_t gfp = 0;

    friend bool operator==(const Place&, const Place&) = default;
  };

  struct PlaceHash {
    std::size_t operator()(const Place& place) const {
      const std::uint64_t who = (std::uint64_t{place.pid} << 32U) | place.comm.value;
      return combine(combine(who, place.stack.value), place.gfp);
    }
  };

  struct Row {
    std::string_view way;
    StringId comm;
    std::uint32_t pid = 0;

    // NOLINTNEXTLINE(modernize-use-nullptr): the compiler itself compares the result with 0.
    friend auto operator<=>(const Row&, const Row&) = default;
  };

  std::string_view way_of(StackId stack, const World& world, Namer& namer);
  static Table file_table(const Observation& growth);
  std::map<Row, std::uint64_t> rows(const World& world, Namer& namer);

  HashMap<Place, std::uint64_t, PlaceHash> pages_;
  // By a hash of the kernel's places on a stack; "" where they are of no shared memory.
  std::unordered_map<std::uint64_t, std::string_view> ways_;
  FieldNames gfp_flags_ = gfp_flag_names();
  bool has_names_ = false;  // of functions of the kernel, on any stack
};

// How shared memory grew, by the functions on the stack of a page's allocation: "write", "fault",
// "fallocate", "swap in", "other"; "" when none is of shared memory.
std::string_view shmem_way(const Frames& frames);

}  // namespace memtrace
