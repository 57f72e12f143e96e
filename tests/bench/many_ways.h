// Calls a function by one of 2^depth ways through `depth` frames of two functions: as many stacks.
#pragma once

namespace many_ways {

template <typename Call>
auto go(unsigned long way, unsigned long depth, Call call);

template <typename Call>
[[gnu::noinline]] auto left(unsigned long way, unsigned long depth, Call call) {
  auto result = go(way, depth, call);
  asm volatile("" : "+r"(result) : : "memory");
  return result;
}

template <typename Call>
[[gnu::noinline]] auto right(unsigned long way, unsigned long depth, Call call) {
  auto result = go(way, depth, call);
  asm volatile("" : "+r"(result) : : "memory");
  return result;
}

// One call after the other differs in its innermost frames, as in most programs.
template <typename Call>
auto go(unsigned long way, unsigned long depth, Call call) {
  if (depth == 0) {
    return call();
  }
  return (way >> (depth - 1) & 1) != 0 ? left(way, depth - 1, call) : right(way, depth - 1, call);
}

}  // namespace many_ways
