#include "state/world/resident_snapshot.h"

#include <array>
#include <charconv>

namespace memtrace {
namespace {

constexpr int kHex = 16;

void append_hex(std::string& text, std::uint64_t number) {
  std::array<char, kHex> digits{};
  const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), number, kHex);
  text.append(digits.data(), end.ptr);
}

// Takes a number and the character behind it away from the text.
std::optional<std::uint64_t> take_hex(std::string_view& text, char behind) {
  std::uint64_t number = 0;
  const auto end = std::from_chars(text.data(), text.data() + text.size(), number, kHex);
  const auto length = static_cast<std::size_t>(end.ptr - text.data());
  if (end.ec != std::errc() || length >= text.size() || text[length] != behind) {
    return std::nullopt;
  }
  text.remove_prefix(length + 1);
  return number;
}

// "7f0000,3;10,1;": from the end of the run before, and how many pages.
std::string text_of(const std::vector<ResidentSnapshot::Run>& runs) {
  std::string text;
  std::uint64_t last = 0;
  for (const ResidentSnapshot::Run& run : runs) {
    append_hex(text, run.first - last);
    text += ',';
    append_hex(text, run.limit - run.first);
    text += ';';
    last = run.limit;
  }
  return text;
}

std::optional<std::vector<ResidentSnapshot::Run>> runs_of(std::string_view text) {
  constexpr std::uint64_t kMostPages = std::uint64_t{1} << 52U;  // of any address space
  std::vector<ResidentSnapshot::Run> runs;
  std::uint64_t last = 0;
  while (!text.empty()) {
    const auto gap = take_hex(text, ',');
    const auto pages = gap ? take_hex(text, ';') : std::nullopt;
    if (!pages || *gap > kMostPages || *pages > kMostPages || last + *gap + *pages > kMostPages) {
      return std::nullopt;
    }
    runs.push_back({last + *gap, last + *gap + *pages});
    last = runs.back().limit;
  }
  return runs;
}

}  // namespace

void ResidentSnapshot::add_page(std::uint64_t page) {
  if (!runs.empty() && runs.back().limit == page) {
    ++runs.back().limit;
  } else {
    runs.push_back({page, page + 1});
  }
}

Facts facts_of(const ResidentSnapshot& snapshot) {
  return {.numbers = {{"pid", snapshot.pid},
                      {"rss", snapshot.rss_bytes},
                      {"swap", snapshot.swap_bytes}},
          .texts = {{"comm", snapshot.comm}, {"pages", text_of(snapshot.runs)}}};
}

std::optional<ResidentSnapshot> resident_snapshot(const Facts& facts) {
  const std::uint64_t* pid = facts.number("pid");
  const std::uint64_t* rss = facts.number("rss");
  const std::uint64_t* swap = facts.number("swap");
  const std::string* comm = facts.text("comm");
  const std::string* pages = facts.text("pages");
  if (pid == nullptr || rss == nullptr || swap == nullptr || comm == nullptr || pages == nullptr) {
    return std::nullopt;
  }
  auto runs = runs_of(*pages);
  if (!runs) {
    return std::nullopt;
  }
  return ResidentSnapshot{.pid = static_cast<std::uint32_t>(*pid),
                          .comm = *comm,
                          .rss_bytes = *rss,
                          .swap_bytes = *swap,
                          .runs = std::move(*runs)};
}

}  // namespace memtrace
