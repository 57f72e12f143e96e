// Names of kernel functions, those of loaded modules and BPF programs included, from the text of
// /proc/kallsyms.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace memtrace {

class KernelSymbols {
 public:
  struct Match {
    std::string_view function;
    std::string_view module;  // "[kernel]", "[nf_tables]"
    std::uint64_t offset = 0;
  };

  // Keeps only text symbols (types t, T, w, W).
  static KernelSymbols parse(std::string text);

  // True when there are symbols, but the kernel hides their addresses from this user.
  bool is_hidden() const { return saw_symbol_ && symbols_.empty(); }

  std::optional<Match> find(std::uint64_t avma) const;

 private:
  struct Symbol {
    std::uint64_t start = 0;
    std::uint64_t limit = 0;
    std::uint32_t name_offset = 0;  // in text_: a moved short string would not keep its place
    std::uint16_t name_bytes = 0;
    std::uint16_t module = 0;  // in modules_
    bool is_global = false;
  };

  void add_line(std::string_view text);  // of text_
  std::uint16_t module_index(std::string_view name);
  std::string_view name_of(const Symbol& symbol) const;
  bool is_better_name(const Symbol& left, const Symbol& right) const;
  void sort();
  void set_limits();

  std::string text_;
  std::vector<std::string> modules_ = {"[kernel]"};
  std::unordered_map<std::string, std::uint16_t> module_numbers_;  // in modules_
  std::vector<Symbol> symbols_;
  bool saw_symbol_ = false;
};

// Why kallsyms gives no names, and what to do about it.
std::string hidden_symbols_caveat(const std::string& kallsyms_path);

}  // namespace memtrace
