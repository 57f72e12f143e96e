// The costs of one subject by process and stack in slots of time, and of these the sources that
// matter most.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/hash_map.h"
#include "base/ids.h"
#include "report/timeline.h"

namespace memtrace {

class TimedCosts {
 public:
  struct Source {
    StringId comm;
    StackId stack;
  };

  void add(Source source, std::uint32_t slot, const Timeline::Amounts& amounts);

  // Two slots become one, `times` times.
  void join(unsigned times);

  bool empty() const { return series_.empty(); }

  // The sources with the largest costs, by any figure, and one for each of the larger processes
  // that holds the rest of it. `comm_of` is asked for each name once.
  template <typename CommOf>
  std::vector<Timeline::Source> largest(CommOf comm_of) const {
    std::vector<Timeline::Source> named;
    for (Chosen& chosen : choose()) {
      named.push_back({.stack = chosen.source.stack,
                       .comm = chosen.source.comm.valid() ? comm_of(chosen.source.comm) : "",
                       .is_rest = chosen.is_rest,
                       .amounts = std::move(chosen.amounts)});
    }
    return named;
  }

 private:
  using Series = std::vector<Timeline::Amount>;

  struct Chosen {
    Source source;
    bool is_rest = false;
    Series amounts;
  };

  static std::uint64_t key_of(Source source) {
    return std::uint64_t{source.comm.value} << 32U | source.stack.value;
  }

  std::vector<Chosen> choose() const;

  // Sources have numbers in the order in which they came: equal recordings make equal pages.
  HashMap<std::uint64_t, std::size_t> numbers_;  // by key_of()
  std::vector<Source> sources_;
  std::vector<Series> series_;
};

}  // namespace memtrace
