#include "render/seen_stacks.h"

#include <algorithm>
#include <array>
#include <string_view>

namespace memtrace {
namespace {

constexpr std::size_t kWorthIt = 3;  // frames; a line says where they are

// What glibc, musl and the kernel have outside of main and of a thread's first function.
constexpr auto kStarts = std::to_array<std::string_view>({"[unknown]",
                                                          "_start",
                                                          "_start_c",
                                                          "__libc_start_main",
                                                          "__libc_start_call_main",
                                                          "libc_start_main_stage2",
                                                          "generic_start_main",
                                                          "start_thread",
                                                          "clone",
                                                          "__clone",
                                                          "clone3",
                                                          "__clone3",
                                                          "ret_from_fork",
                                                          "ret_from_fork_asm"});

bool is_start(const Frame& frame) {
  const std::string_view name(frame.function);
  const auto is_it = [name](std::string_view start) {
    return name.starts_with(start) &&
           (name.size() == start.size() || name[start.size()] == '.' || name[start.size()] == '@');
  };
  return std::ranges::any_of(kStarts, is_it);
}

// The number of frames inside of main, or of what starts threads.
std::size_t inner_count(const Frames& frames) {
  const auto main = std::ranges::find(frames, "main", &Frame::function);
  if (main != frames.end()) {
    return static_cast<std::size_t>(main - frames.begin());
  }
  const auto start = std::find_if_not(frames.rbegin(), frames.rend(), is_start);
  return static_cast<std::size_t>(frames.rend() - start);
}

std::string text_of(Frames::const_iterator begin, Frames::const_iterator end) {
  std::string text;
  for (auto frame = begin; frame != end; ++frame) {
    text += frame->function + '\n' + frame->module + '\n' + frame->file + '\n' +
            std::to_string(frame->line) + '\n';
  }
  return text;
}

}  // namespace

SeenStacks::Seen SeenStacks::look_for(const Frames& frames, std::size_t row) {
  const std::size_t inner = inner_count(frames);
  const auto limit = frames.begin() + static_cast<std::ptrdiff_t>(inner);
  std::string outer = text_of(limit, frames.end());
  const auto [found, is_new] =
      printed_.try_emplace(text_of(frames.begin(), limit), Printed{row, outer});
  const std::size_t common = found->second.outer == outer ? frames.size() : inner;
  return {.row = found->second.row, .frames = is_new || common < kWorthIt ? 0 : common};
}

}  // namespace memtrace
