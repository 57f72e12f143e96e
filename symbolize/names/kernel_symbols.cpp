#include "symbolize/names/kernel_symbols.h"

#include <algorithm>
#include <limits>
#include <tuple>

#include "os/kallsyms.h"
#include "symbolize/elf/range_search.h"

namespace memtrace {

namespace {

constexpr std::uint64_t kPageBytes = 4096;

std::size_t underscores_before(std::string_view name) {
  const std::size_t count = name.find_first_not_of('_');
  return count == std::string_view::npos ? name.size() : count;
}

// Marks, not functions: the addresses that follow the end marks belong to data.
bool is_end_mark(std::string_view name) {
  return name == "_etext" || name == "_einittext" || name == "_end" || name == "__end_rodata";
}

// Marks that share their address with a real function, and the aliases that early boot code calls
// by (__pi_: position independent).
bool is_second_choice(std::string_view name) {
  return name == "_text" || name == "_stext" || name == "_sinittext" || name.starts_with("__pi_") ||
         name.ends_with("_text_start");
}

}  // namespace

KernelSymbols KernelSymbols::parse(std::string text) {
  KernelSymbols symbols;
  symbols.text_ = std::move(text);
  std::size_t at = 0;
  while (at < symbols.text_.size()) {
    const std::size_t end = std::min(symbols.text_.find('\n', at), symbols.text_.size());
    symbols.add_line(std::string_view{symbols.text_}.substr(at, end - at));
    at = end + 1;
  }
  symbols.sort();
  symbols.set_limits();
  return symbols;
}

void KernelSymbols::add_line(std::string_view text) {
  const auto line = parse_kallsyms_line(text);
  if (!line) {
    return;
  }
  saw_symbol_ = true;
  const auto name_offset = static_cast<std::size_t>(line->name.data() - text_.data());
  const std::size_t name_bytes = line->name.size();
  const bool fits = name_bytes > 0 && name_bytes < std::numeric_limits<std::uint16_t>::max() &&
                    name_offset < std::numeric_limits<std::uint32_t>::max() &&
                    modules_.size() < std::numeric_limits<std::uint16_t>::max();
  // $x, $d and the like on arm64 say what kind of bytes follow; they are not functions.
  if (line->address == 0 || !line->is_code() || !fits || line->name.front() == '$') {
    return;
  }
  symbols_.push_back({.start = line->address,
                      .limit = 0,
                      .name_offset = static_cast<std::uint32_t>(name_offset),
                      .name_bytes = static_cast<std::uint16_t>(name_bytes),
                      .module = module_index(line->module),
                      .is_global = line->type == 'T'});
}

// kallsyms lists a module's symbols together, so the last module is nearly always the one.
std::uint16_t KernelSymbols::module_index(std::string_view name) {
  if (name.empty()) {
    return 0;
  }
  if (modules_.back() != name) {
    const auto [known, is_new] = module_numbers_.try_emplace(std::string(name), modules_.size());
    if (!is_new) {
      return known->second;
    }
    modules_.emplace_back(name);
  }
  return static_cast<std::uint16_t>(modules_.size() - 1);
}

std::string_view KernelSymbols::name_of(const Symbol& symbol) const {
  return std::string_view{text_}.substr(symbol.name_offset, symbol.name_bytes);
}

bool KernelSymbols::is_better_name(const Symbol& left, const Symbol& right) const {
  const auto rank = [this](const Symbol& symbol) {
    const auto name = name_of(symbol);
    return std::tuple(is_second_choice(name), !symbol.is_global, underscores_before(name), name);
  };
  return rank(left) < rank(right);
}

// By address, one name for each.
void KernelSymbols::sort() {
  std::sort(symbols_.begin(), symbols_.end(), [this](const Symbol& left, const Symbol& right) {
    return left.start != right.start ? left.start < right.start : is_better_name(left, right);
  });
  const auto last =
      std::unique(symbols_.begin(), symbols_.end(), [](const Symbol& left, const Symbol& right) {
        return left.start == right.start;
      });
  symbols_.erase(last, symbols_.end());
}

// kallsyms knows no sizes: a function reaches to the next one. The last one of a module must not
// reach over the gap to the next module, so it gets its page and the page after.
void KernelSymbols::set_limits() {
  for (std::size_t i = 0; i < symbols_.size(); ++i) {
    Symbol& symbol = symbols_[i];
    const bool has_next = i + 1 < symbols_.size();
    const std::uint64_t page_limit = (symbol.start / kPageBytes + 2) * kPageBytes;
    const std::uint64_t next =
        has_next ? symbols_[i + 1].start : std::numeric_limits<std::uint64_t>::max();
    const bool is_last_of_module = !has_next || symbols_[i + 1].module != symbol.module;
    symbol.limit =
        is_last_of_module && page_limit > symbol.start ? std::min(page_limit, next) : next;
    if (is_end_mark(name_of(symbol))) {
      symbol.limit = symbol.start;
    }
  }
}

std::optional<KernelSymbols::Match> KernelSymbols::find(std::uint64_t avma) const {
  const Symbol* symbol = find_covering(symbols_, avma);
  if (symbol == nullptr) {
    return std::nullopt;
  }
  return Match{name_of(*symbol), modules_[symbol->module], avma - symbol->start};
}

// Linux: kallsyms_show_value() gives addresses when kptr_restrict is 0 and perf_event_paranoid is
// at most 1, or to CAP_SYSLOG when kptr_restrict is at most 1 (kernel/ksyms_common.c, since 4.15).
std::string hidden_symbols_caveat(const std::string& kallsyms_path) {
  return "kernel functions are not named: " + kallsyms_path +
         " shows this user only zeros; run as root with: sysctl -w kernel.kptr_restrict=0 "
         "(for other users also kernel.perf_event_paranoid=1)";
}

}  // namespace memtrace
