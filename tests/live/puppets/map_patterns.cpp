// map_patterns: memory that a program maps itself, in functions of known names; what is left of
// each stands beside it, in pages of 4 KiB. The kernel's part: do_mmap(), do_munmap(), mremap(2)
// and brk(2).
#include <malloc.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstddef>
#include <cstdlib>

namespace {

constexpr std::size_t kPage = 4096;

char* map_pages(std::size_t pages, char* place = nullptr) {
  const int fixed = place == nullptr ? 0 : MAP_FIXED;
  void* area = ::mmap(
      place, pages * kPage, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | fixed, -1, 0);
  return area == MAP_FAILED ? nullptr : static_cast<char*>(area);
}

[[gnu::noinline]] void map_whole() {  // 3 of 5, 120 pages
  for (int i = 0; i < 5; ++i) {
    char* area = map_pages(40);
    if (i < 2) {
      ::munmap(area, 40 * kPage);
    }
  }
}

[[gnu::noinline]] void map_partly() {  // 2, 60 pages
  for (int i = 0; i < 2; ++i) {
    ::munmap(map_pages(40), 10 * kPage);
  }
}

[[gnu::noinline]] void map_hole() {  // 1, 32 pages
  ::munmap(map_pages(40) + 16 * kPage, 8 * kPage);
}

[[gnu::noinline]] void map_over() {  // 2, 40 pages
  char* area = map_pages(40);
  map_pages(8, area + 4 * kPage);
}

[[gnu::noinline]] void map_and_grow() {  // 1 of 2, 100 pages
  (void)!::mremap(map_pages(10), 10 * kPage, 100 * kPage, MREMAP_MAYMOVE);
}

[[gnu::noinline]] void map_and_shrink() {  // 1 of 2, 20 pages
  (void)!::mremap(map_pages(50), 50 * kPage, 20 * kPage, 0);
}

[[gnu::noinline]] void map_too_much() {  // nothing
  for (int i = 0; i < 5; ++i) {
    map_pages(std::size_t{1} << 40U);
  }
}

[[gnu::noinline]] void break_itself() {  // 1, 3 pages
  (void)!::sbrk(3 * kPage);
}

// glibc maps each for itself: 5 of 20 blocks of 200,000 bytes.
[[gnu::noinline]] void leak_large_blocks() {
  for (int i = 0; i < 20; ++i) {
    void* block = std::malloc(200'000);
    asm volatile("" : "+r"(block) : : "memory");
    if (i < 15) {
      std::free(block);
    }
  }
}

}  // namespace

int main() {
  ::mallopt(M_MMAP_THRESHOLD, 128 << 10);  // it stays so
  map_whole();
  map_partly();
  map_hole();
  map_over();
  map_and_grow();
  map_and_shrink();
  map_too_much();
  leak_large_blocks();
  break_itself();
  return 0;
}
