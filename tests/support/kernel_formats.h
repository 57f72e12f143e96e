// Format files of kernels that are not at hand, laid out from tests/data/formats/kernels.txt as the
// kernel's TRACE_EVENT would: natural alignment, the kernel's own common header and names of flags.
#pragma once

#include <fnmatch.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/text.h"
#include "os/system.h"
#include "support/format_layout.h"
#include "support/saved_formats.h"
#include "tracepoints/decode/software_events.h"
#include "tracepoints/format/tracefs.h"

namespace memtrace::test {

class KernelFormats {
 public:
  bool has(std::string_view pattern) const {
    const std::string wanted(pattern);
    return std::any_of(texts_.begin(), texts_.end(), [&](const auto& one) {
      return ::fnmatch(wanted.c_str(), one.first.c_str(), 0) == 0;
    });
  }

  // What could be opened there.
  bool can_open(std::string_view event) const {
    return event.starts_with("heap:") ? has_probes_
                                      : find_software_event(event).has_value() || has(event);
  }

  const std::string& text(std::string_view event) const {
    static const std::string kNone;
    const auto found = texts_.find(event);
    return found == texts_.end() ? kNone : found->second;
  }

  std::vector<std::string> events() const {
    std::vector<std::string> names;
    for (const auto& [name, text] : texts_) {
      names.push_back(name);
    }
    return names;
  }

 private:
  friend class KernelFile;

  std::map<std::string, std::string, std::less<>> texts_;
  bool has_probes_ = true;
};

// All kernels of the file, by name, in the order of the file.
class KernelFile {
 public:
  KernelFile() {
    auto read = read_file(TEST_SOURCE_DIR "/data/formats/kernels.txt");
    EXPECT_TRUE(read.ok());
    const std::string text = read.ok() ? read.take() : "";
    std::string line;  // with the lines that continue it
    for (const std::string_view part : split(text, '\n')) {
      if (!part.starts_with(' ')) {
        apply(line);
        line.clear();
      }
      line += (line.empty() ? "" : " ") + std::string(trim(part));
    }
    apply(line);
  }

  const std::vector<std::string>& names() const { return names_; }

  KernelFormats kernel(const std::string& name) const {
    const auto found = kernels_.find(name);
    EXPECT_NE(found, kernels_.end()) << name;
    return found == kernels_.end() ? KernelFormats() : lay_out(found->second);
  }

 private:
  struct Declared {
    std::vector<DeclaredField> common;
    std::vector<ValueNames> flags;
    std::vector<ValueNames> symbols;
    std::map<std::string, std::vector<DeclaredField>> events;
    std::string saved;  // folder
    bool hides_call_number = false;
    bool has_probes = true;
  };

  static std::vector<std::string> words_of(std::string_view text) {
    std::vector<std::string> words;
    for (const std::string_view word : split(text, ' ')) {
      if (!word.empty()) {
        words.emplace_back(word);
      }
    }
    return words;
  }

  static DeclaredField declared(std::string_view text) {
    const std::string_view whole = trim(text);
    const std::size_t space = whole.rfind(' ');
    return {std::string(whole.substr(0, space)), std::string(whole.substr(space + 1))};
  }

  static std::vector<DeclaredField> fields_in(std::string_view text) {
    std::vector<DeclaredField> fields;
    for (const std::string_view field : split(text, ';')) {
      fields.push_back(declared(field));
    }
    return fields;
  }

  static ValueNames value_names(const std::vector<std::string>& words) {
    ValueNames result;
    for (const std::string_view field : split(words[1], ',')) {
      result.fields.emplace_back(field);
    }
    for (std::size_t i = 2; i < words.size(); ++i) {
      const std::size_t equals = words[i].find('=');
      result.names.emplace_back(words[i].substr(0, equals), words[i].substr(equals + 1));
    }
    return result;
  }

  void begin_kernel(const std::vector<std::string>& words) {
    names_.push_back(words[1]);
    Declared made;
    if (words.size() == 4 && words[2] == "like") {
      made = kernels_[words[3]];
    } else if (words.size() == 4) {
      made.saved = words[3];
    }
    kernels_[words[1]] = made;
  }

  void apply(const std::string& line) {
    const auto words = words_of(line);
    if (words.empty() || words[0].starts_with('#')) {
      return;
    }
    if (words[0] == "args") {
      arguments_[words[1]] = {words.begin() + 2, words.end()};
    } else if (words[0] == "probe") {
      probes_[words[1]] =
          fields_in(std::string_view(line).substr(line.find(words[1]) + words[1].size()));
    } else if (words[0] == "kernel") {
      begin_kernel(words);
    } else {
      apply_to(kernels_[names_.back()], line, words);
    }
  }

  void apply_to(Declared& kernel, const std::string& line, const std::vector<std::string>& words) {
    const std::string& verb = words[0];
    if (verb == "common") {
      kernel.common.push_back(declared(line.substr(verb.size())));
    } else if (verb == "flags") {
      kernel.flags = {value_names(words)};
    } else if (verb == "names") {
      const ValueNames named = value_names(words);
      std::erase_if(kernel.symbols,
                    [&named](const ValueNames& old) { return old.fields == named.fields; });
      kernel.symbols.push_back(named);
    } else if (verb == "probes") {
      kernel.has_probes = words[1] != "none";
    } else if (verb == "without") {
      std::erase_if(kernel.events, [&words](const auto& event) {
        return std::any_of(words.begin() + 1, words.end(), [&event](const std::string& gone) {
          return ::fnmatch(gone.c_str(), event.first.c_str(), 0) == 0;
        });
      });
    } else if (verb == "calls") {
      add_calls(kernel, words);
    } else {
      kernel.events[verb] = fields_in(std::string_view(line).substr(verb.size()));
    }
  }

  void add_calls(Declared& kernel, const std::vector<std::string>& words) {
    kernel.hides_call_number = words[1] == "-";
    std::vector<DeclaredField> number;
    if (!kernel.hides_call_number) {
      number = {{"int", words[1]}};
    }
    for (std::size_t i = 2; i < words.size(); ++i) {
      auto& entry = kernel.events["syscalls:sys_enter_" + words[i]];
      auto& exit = kernel.events["syscalls:sys_exit_" + words[i]];
      entry = exit = number;
      for (const std::string& argument : arguments_[words[i]]) {
        entry.push_back({"unsigned long", argument});
      }
      exit.push_back({"long", "ret"});
    }
  }

  // ", __print_flags(REC->gfp_flags, "|", {(unsigned long)(0xd0), "GFP_KERNEL"}, ...)"
  static std::string naming(const std::string& event,
                            const DeclaredField& field,
                            const ValueNames& names,
                            bool as_flags) {
    const std::string full = event.substr(0, event.find(':') + 1) + std::string(field.bare_name());
    if (std::ranges::none_of(names.fields, [&](const std::string& name) {
          return name == field.bare_name() || std::ranges::equal(name, full, [](char a, char b) {
                   return a == b || (a == '.' && b == ':');
                 });
        })) {
      return "";
    }
    std::string list;
    for (const auto& [value, name] : names.names) {
      const std::string number = as_flags ? "(unsigned long)(( gfp_t)" + value + "u)" : value;
      list += ", {" + number + ", \"" + name + "\"}";
    }
    const std::string place = "REC->" + std::string(field.bare_name());
    return as_flags
               ? ", (" + place + ") ? __print_flags(" + place + ", \"|\"" + list + " ) : \"none\""
               : ", __print_symbolic(" + place + list + ")";
  }

  static std::string format_text(const Declared& kernel,
                                 const std::string& event,
                                 std::uint32_t id) {
    FormatLayout layout;
    for (const DeclaredField& field : {DeclaredField{"unsigned short", "common_type"},
                                       DeclaredField{"unsigned char", "common_flags"},
                                       DeclaredField{"unsigned char", "common_preempt_count"},
                                       DeclaredField{"int", "common_pid"}}) {
      layout.add(field);
    }
    for (const DeclaredField& field : kernel.common) {
      layout.add(field);
    }
    layout.end_common();
    if (kernel.hides_call_number && event.starts_with("syscalls:sys_e") && event.size() > 19) {
      layout.skip(sizeof(int));
    }
    std::string print = "\"made\"";
    for (const DeclaredField& field : kernel.events.at(event)) {
      layout.add(field);
      for (const ValueNames& flags : kernel.flags) {
        print += naming(event, field, flags, true);
      }
      for (const ValueNames& symbols : kernel.symbols) {
        print += naming(event, field, symbols, false);
      }
    }
    return "name: " + event.substr(event.find(':') + 1) + "\nID: " + std::to_string(id) +
           "\nformat:\n" + layout.text() + "\nprint fmt: " + print + "\n";
  }

  KernelFormats lay_out(Declared kernel) const {
    if (kernel.has_probes) {
      kernel.events.insert(probes_.begin(), probes_.end());
    }
    KernelFormats formats;
    formats.has_probes_ = kernel.has_probes;
    std::uint32_t id = 5000;  // above those of the saved files
    for (const auto& [event, fields] : kernel.events) {
      formats.texts_[event] = format_text(kernel, event, id++);
    }
    if (!kernel.saved.empty()) {
      const TracepointFiles files = saved(kernel.saved);
      const auto events = files.list_events("*:*");
      EXPECT_TRUE(events.ok());
      for (const std::string& event : events.ok() ? events.value() : std::vector<std::string>()) {
        formats.texts_[event] = files.event_format_text(event).take();
      }
    }
    return formats;
  }

  std::vector<std::string> names_;
  std::map<std::string, Declared> kernels_;
  std::map<std::string, std::vector<std::string>> arguments_;
  std::map<std::string, std::vector<DeclaredField>> probes_;
};

}  // namespace memtrace::test
