// Names that people know from other tools, and the views that they mean.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "cli/options/option_table.h"
#include "views/all/all_views.h"

namespace memtrace {

struct Alias {
  std::string_view name;
  std::string_view view;
  std::string_view option;  // "by", which has this value unless the user gives it another; or ""
  std::string_view value;   // "" for a flag
  std::string_view second_option = {};
  std::string_view second_value = {};
  std::string_view kernel_frames = {};  // of stacks, unless the user groups by something else
  std::string_view live_flag = {};      // an option that only live views have
  std::string_view interval = {};       // live, unless the user says otherwise; "" prints once
  // Live and without a process the original watches the kernel: this view. "": the view above.
  std::string_view kernel_view = {};
  std::string_view all = {};  // what the original's -a is here; "" where it has none
  // The original's -t: lines as these views print them, of a process and of the kernel. "": it has
  // no such option.
  std::string_view traced_view = {};
  std::string_view traced_kernel_view = {};
  bool takes_command = false;  // the original's -c COMMAND, in the words of a shell
  // Letters of options that mean something else to the original than to memtrace's views.
  std::string_view foreign = {};
};

std::span<const Alias> all_aliases();

// nullptr when there is none of that name.
const Alias* find_alias(std::string_view name);

// By its own name or by an alias; nullptr when there is none.
const NamedView* find_view_or_alias(std::string_view name);

// The arguments with the alias's options in front, unless the user has given them. Arguments that
// cannot be parsed stay as they are: the next parser reports the error.
std::vector<std::string> with_alias_option(const Alias& alias,
                                           std::span<const Option> known,
                                           const std::vector<std::string>& arguments);

// The same for a live view, each interval.
std::vector<std::string> with_live_alias_options(const Alias& alias,
                                                 std::span<const Option> known,
                                                 const std::vector<std::string>& arguments);

// With memtrace's spelling of the original's -a. Error: Usage, an option that means something else
// here than to the original.
Result<std::vector<std::string>> with_alias_letters(const Alias& alias,
                                                    const std::vector<std::string>& arguments);

// "--trace", if the arguments ask for lines with the original's -t; the view that prints them.
// Nothing where they do not, or the original has no -t.
struct TracedAlias {
  std::string_view view;
  std::vector<std::string> arguments;
};

std::optional<TracedAlias> traced_alias(const Alias& alias,
                                        const std::vector<std::string>& arguments);

// The view that the original is, live, with these arguments.
std::string_view live_view_of(const Alias& alias,
                              std::span<const Option> known,
                              const std::vector<std::string>& arguments);

// "slab --by stack,comm --show allocs": what the user might have typed instead.
std::string spelled_out(const Alias& alias);

// Usage: "unknown view", with the nearest views and aliases.
Error unknown_view_or_alias(const std::string& name);

}  // namespace memtrace
