// What the running kernel was built with, where that can be read: the doctor's answer to why an
// event is not there.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace memtrace {

class KernelConfig {
 public:
  // Not known.
  KernelConfig() = default;

  // The first of these files that can be read; one that ends in ".gz" is compressed.
  static KernelConfig read(std::span<const std::string> paths);

  // The configuration of the running kernel.
  static KernelConfig of_machine();

  bool is_known() const { return !text_.empty(); }

  // "" when it is not known.
  const std::string& path() const { return path_; }

  // Built in or as a module. False for what is not known.
  bool has(std::string_view option) const;

  // Known not to be there.
  bool lacks(std::string_view option) const { return is_known() && !has(option); }

  // The state of all options that events depend on.
  std::vector<std::string> lacking() const;

  // Why this kernel has no such event ("compaction:mm_compaction_begin", "heap:",
  // "kprobe:hugetlb_fault"): "this kernel was built without CONFIG_COMPACTION". "" when it is not
  // for that, or not known.
  std::string reason_against(std::string_view event) const;

 private:
  std::string path_;
  std::string text_;
};

}  // namespace memtrace
