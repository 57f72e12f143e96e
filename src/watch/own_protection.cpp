#include "watch/own_protection.h"

#include <malloc.h>
#include <sys/mman.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <vector>

#include "os/procfs.h"
#include "os/system.h"

namespace memtrace {
namespace {

constexpr std::size_t kPageBytes = 4096;

bool write_to(const char* path, const char* text) {
  std::ofstream file(path);
  file << text;
  file.flush();
  return file.good();
}

// One heap that does not shrink: what one thread frees another may have.
void keep_freed_memory() {
#ifdef __GLIBC__
  constexpr int kLargest = 1 << 30;
  ::mallopt(M_ARENA_MAX, 1);
  ::mallopt(M_TRIM_THRESHOLD, kLargest);
  ::mallopt(M_MMAP_THRESHOLD, kLargest);
#endif
}

}  // namespace

HeapReserve::HeapReserve(std::size_t size_bytes) : size_bytes_(size_bytes) {
  keep_freed_memory();
  refill();
}

void HeapReserve::refill() const {
  std::vector<std::byte> memory(size_bytes_);
  for (std::size_t at = 0; at < size_bytes_; at += kPageBytes) {
    // Not as plain memory: the compiler may leave out what nobody reads.
    *static_cast<volatile std::byte*>(memory.data() + at) = std::byte{1};
  }
}

// What is mapped by now is read in and locked as a whole. Later mappings are locked as they are
// touched, where the kernel can do that (MCL_ONFAULT, Linux 4.4): the stacks of threads are mostly
// empty.
std::vector<std::string> protect_from_oom() {
  std::vector<std::string> refused;
  // oom_adj: before Linux 2.6.36.
  if (!write_to("/proc/self/oom_score_adj", "-1000") && !write_to("/proc/self/oom_adj", "-17")) {
    refused.emplace_back("the OOM killer may kill memtrace: /proc/self/oom_score_adj is refused");
  }
  if (::mlockall(MCL_CURRENT) != 0) {
    refused.emplace_back(std::string("memtrace's memory may be swapped out: mlockall: ") +
                         std::strerror(errno));
    return refused;
  }
  (void)::mlockall(MCL_CURRENT | MCL_FUTURE | MCL_ONFAULT);
  return refused;
}

std::size_t own_anonymous_bytes() {
  const auto status = read_file("/proc/self/status");
  return status.ok() ? proc_bytes(status.value(), "RssAnon").value_or(0) : 0;  // Linux 4.5
}

}  // namespace memtrace
