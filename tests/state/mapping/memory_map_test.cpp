// One address space against a naive model: a table with a line for each page.
#include "state/mapping/memory_map.h"

#include <gtest/gtest.h>

#include <map>
#include <random>
#include <vector>

namespace memtrace::memory_map_test {
namespace {

constexpr std::uint64_t kPage = 4096;
constexpr std::uint64_t kPages = 64;  // few, so that ranges meet

MemoryMap::Range pages(std::uint64_t first, std::uint64_t count) {
  return {first * kPage, (first + count) * kPage};
}

// A file that begins at page 0 of the range.
MemoryArea file(std::uint32_t name, MemoryMap::Range range, std::uint32_t protection = 1) {
  return {.kind = AreaKind::File,
          .path = StringId{name},
          .inode = name,
          .protection = protection,
          .offset_minus_avma = 0 - range.start};
}

// What every page is, one by one.
class NaiveMap {
 public:
  struct Page {
    MemoryArea area;
    std::uint64_t offset = 0;

    friend bool operator==(const Page&, const Page&) = default;
  };

  void map(MemoryMap::Range range, const MemoryArea& area) {
    for (std::uint64_t at = range.start; at < range.limit; at += kPage) {
      pages_[at] = page(at, area);
    }
  }

  void fill(MemoryMap::Range range, const MemoryArea& area) {
    for (std::uint64_t at = range.start; at < range.limit; at += kPage) {
      pages_.try_emplace(at, page(at, area));
    }
  }

  void unmap(MemoryMap::Range range) {
    for (std::uint64_t at = range.start; at < range.limit; at += kPage) {
      pages_.erase(at);
    }
  }

  void protect(MemoryMap::Range range, std::uint32_t protection) {
    for (std::uint64_t at = range.start; at < range.limit; at += kPage) {
      if (const auto found = pages_.find(at); found != pages_.end()) {
        found->second.area.protection = protection;
      }
    }
  }

  // Mappings of equal lengths.
  void move(MemoryMap::Range from, MemoryMap::Range to, bool keep_old) {
    const auto old = pages_;
    if (!keep_old) {
      unmap(from);
    }
    unmap(to);
    for (std::uint64_t at = from.start; at < from.limit; at += kPage) {
      if (const auto found = old.find(at); found != old.end()) {
        pages_[to.start + (at - from.start)] = found->second;
      }
    }
  }

  const std::map<std::uint64_t, Page>& all() const { return pages_; }

 private:
  static Page page(std::uint64_t at, MemoryArea area) {
    Page page{.offset = at + area.offset_minus_avma};
    area.offset_minus_avma = 0;
    page.area = area;
    return page;
  }

  std::map<std::uint64_t, Page> pages_;
};

void expect_same(const MemoryMap& map, const NaiveMap& naive) {
  for (std::uint64_t at = 0; at < 4 * kPages * kPage; at += kPage) {
    const auto* entry = map.find(at + 1);
    const auto expected = naive.all().find(at);
    ASSERT_EQ(entry != nullptr, expected != naive.all().end()) << at / kPage;
    if (entry != nullptr) {
      MemoryArea area = entry->value;
      const std::uint64_t offset = at + area.offset_minus_avma;
      area.offset_minus_avma = 0;
      ASSERT_EQ((NaiveMap::Page{area, offset}), expected->second) << at / kPage;
    }
  }
}

TEST(MemoryMap, does_what_a_table_of_pages_does) {
  std::mt19937 random(7);
  const auto below = [&random](std::uint64_t limit) { return random() % limit; };
  MemoryMap map;
  NaiveMap naive;
  for (std::uint32_t step = 1; step <= 1500; ++step) {
    const std::uint64_t count = 1 + below(12);
    const MemoryMap::Range range = pages(below(kPages), count);
    const MemoryArea area = file(1 + step % 5, range, step % 8);
    switch (below(6)) {
      case 0:
      case 1:
        map.map(range, area);
        naive.map(range, area);
        break;
      case 2:
        map.unmap(range);
        naive.unmap(range);
        break;
      case 3:
        map.protect(range, step % 8);
        naive.protect(range, step % 8);
        break;
      case 4:
        map.fill(range, area);
        naive.fill(range, area);
        break;
      default: {
        // The last page is mapped: what lies behind it in the new place has grown.
        const MemoryMap::Range to = pages(100 + below(kPages), count);
        const bool keep_old = step % 2 == 0;
        map.map({range.limit - kPage, range.limit}, area);
        naive.map({range.limit - kPage, range.limit}, area);
        map.move({.from = range, .to = to, .keep_old = keep_old, .kept = {}});
        naive.move(range, to, keep_old);
        break;
      }
    }
    expect_same(map, naive);
    if (HasFatalFailure()) {
      FAIL() << "in step " << step;
    }
  }
}

TEST(MemoryMap, a_mapping_that_moves_may_grow_or_shrink) {
  MemoryMap map;
  map.map(pages(0, 4), file(1, pages(0, 4)));
  map.move({.from = pages(0, 4), .to = pages(20, 8), .kept = {}});
  EXPECT_EQ(map.find(0), nullptr);
  const auto* grown = map.find(27 * kPage);
  ASSERT_NE(grown, nullptr);
  EXPECT_EQ(27 * kPage + grown->value.offset_minus_avma, 7 * kPage);
  map.move({.from = pages(20, 8), .to = pages(40, 2), .kept = {}});
  EXPECT_EQ(map.find(20 * kPage), nullptr);
  EXPECT_EQ(map.find(42 * kPage), nullptr);
  ASSERT_NE(map.find(41 * kPage), nullptr);
  EXPECT_EQ(map.areas().entries().size(), 1U);
}

TEST(MemoryMap, what_was_mapped_anew_is_kept_from_an_unmapping) {
  MemoryMap map;
  map.map(pages(0, 10), file(1, pages(0, 10)));
  const std::vector<MemoryMap::Range> kept = {pages(3, 2), pages(9, 4)};
  map.unmap(pages(1, 9), kept);
  EXPECT_NE(map.find(0), nullptr);
  EXPECT_EQ(map.find(2 * kPage), nullptr);
  EXPECT_NE(map.find(4 * kPage), nullptr);
  EXPECT_EQ(map.find(5 * kPage), nullptr);
  EXPECT_NE(map.find(9 * kPage), nullptr);
  EXPECT_EQ(map.find(10 * kPage), nullptr);
}

TEST(MemoryMap, brk_cuts_the_heap_alone) {
  MemoryMap map;
  map.map(pages(0, 10), {.kind = AreaKind::Heap});
  map.map(pages(20, 1), file(1, pages(20, 1)));
  EXPECT_EQ(map.heap_limit(), 10 * kPage);
  map.cut_heap(4 * kPage);
  EXPECT_EQ(map.heap_limit(), 4 * kPage);
  EXPECT_NE(map.find(20 * kPage), nullptr);
}

TEST(MemoryMap, a_segment_is_detached_with_all_that_is_left_of_it) {
  MemoryMap map;
  const auto segment = [](std::uint32_t id, std::uint64_t start) {
    return MemoryArea{.kind = AreaKind::SharedMemory,
                      .path = StringId{1},
                      .inode = id,
                      .offset_minus_avma = 0 - start};
  };
  map.map(pages(10, 8), segment(0, 10 * kPage));
  map.map(pages(18, 8), segment(0, 18 * kPage));  // attached a second time
  map.map(pages(26, 2), segment(1, 26 * kPage));
  map.protect(pages(12, 1), 1);
  map.unmap(pages(14, 1));
  map.detach(10 * kPage);
  EXPECT_EQ(map.find(10 * kPage), nullptr);
  EXPECT_EQ(map.find(12 * kPage), nullptr);
  EXPECT_EQ(map.find(17 * kPage), nullptr);
  EXPECT_NE(map.find(18 * kPage), nullptr);
  EXPECT_NE(map.find(26 * kPage), nullptr);
}

TEST(MemoryArea, its_kind_is_told_by_the_name_and_the_flags) {
  constexpr std::uint32_t kShared = 1;
  constexpr std::uint32_t kHuge = 0x40000;
  EXPECT_EQ(area_kind("/lib/libc.so.6", 2), AreaKind::File);
  EXPECT_EQ(area_kind("/tmp/gone (deleted)", 2), AreaKind::File);
  EXPECT_EQ(area_kind("//anon", 2), AreaKind::Anonymous);
  EXPECT_EQ(area_kind("", 2), AreaKind::Anonymous);
  EXPECT_EQ(area_kind("[anon:pool]", 2), AreaKind::Anonymous);
  EXPECT_EQ(area_kind("[heap]", 2), AreaKind::Heap);
  EXPECT_EQ(area_kind("[stack]", 2), AreaKind::Stack);
  EXPECT_EQ(area_kind("[stack:77]", 2), AreaKind::Stack);
  EXPECT_EQ(area_kind("[vdso]", 2), AreaKind::Special);
  EXPECT_EQ(area_kind("/SYSV0000002a (deleted)", kShared), AreaKind::SharedMemory);
  EXPECT_EQ(area_kind("/memfd:x (deleted)", kShared), AreaKind::SharedMemory);
  EXPECT_EQ(area_kind("/dev/shm/x", kShared), AreaKind::SharedMemory);
  EXPECT_EQ(area_kind("/dev/zero (deleted)", kShared), AreaKind::SharedMemory);
  EXPECT_EQ(area_kind("/dev/zero", 2), AreaKind::Anonymous);
  EXPECT_EQ(area_kind("/anon_hugepage (deleted)", 2), AreaKind::HugePages);
  EXPECT_EQ(area_kind("/SYSV00000000 (deleted)", kShared | kHuge), AreaKind::HugePages);
}

}  // namespace
}  // namespace memtrace::memory_map_test
