// The layers that a program's request for memory goes through in the kernel, and what each costs.
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "report/report.h"
#include "tracepoints/event/event_syscalls.h"
#include "tracepoints/event/event_work.h"
#include "views/kit/sums.h"

namespace memtrace {

enum class Layer : std::uint8_t {
  None,
  Mmap,
  Mremap,
  Brk,
  Munmap,
  Madvise,
  Fault,
  KernelFault,
  Elsewhere,  // in none of these
  SwapIn,
  FileRead,
  PageAlloc,
  DirectReclaim,
  Compaction,
  CgroupReclaim,
};

// From the outermost one inwards, at most three.
struct LayerPath {
  Layer outer = Layer::None;
  Layer middle = Layer::None;
  Layer inner = Layer::None;

  // Paths are in order by it, and each one comes behind those that it goes through.
  std::uint64_t word() const;
  static LayerPath of_word(std::uint64_t word);

  // "page fault > page allocation".
  std::string text() const;
};

// None for a call that is no layer.
Layer layer_of(SystemCall call);

// Reclaim and compaction for an allocation are below it; a cgroup reclaims when pages are charged
// to it, which is done outside of the allocator. Nothing (outer is None) for work in the
// background.
LayerPath below(Layer outer, WorkKind kind);

struct PathCost {
  std::uint64_t count = 0;
  std::uint64_t time_ns = 0;  // without the layers below
  std::uint64_t touched = 0;  // bytes, as all that follow
  std::uint64_t allocated = 0;
  std::uint64_t mapped = 0;
  std::uint64_t reclaimed = 0;
};

// What each layer took in all, whoever went through it.
class LayerSums {
 public:
  void add(LayerPath path, const PathCost& cost) { sums_[path.word()] += cost; }

  std::uint64_t time_ns() const;

  // A row for each path: its time with those below it and without, and the bytes that it touched,
  // allocated, mapped or reclaimed, which are not added up over layers.
  Table table() const;

  void clear() { sums_.clear(); }

 private:
  // With all that is below.
  std::uint64_t whole_time_ns(std::uint64_t word) const;

  std::map<std::uint64_t, PathCost> sums_;
};

}  // namespace memtrace
