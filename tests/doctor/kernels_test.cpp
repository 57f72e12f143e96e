// What each view can do on each kernel, and that everything it would record there can be read.
#include <gtest/gtest.h>

#include <map>
#include <set>

#include "doctor/doctor.h"
#include "plan/events/event_traits.h"
#include "support/golden.h"
#include "support/kernel_formats.h"
#include "tracepoints/decode/alternatives.h"
#include "tracepoints/decode/catalogue.h"
#include "tracepoints/format/format.h"
#include "views/all/all_views.h"

namespace memtrace {
namespace {

using test::KernelFile;
using test::KernelFormats;

std::string outcome(const ViewDiagnosis& diagnosis) {
  std::string text(name_of(diagnosis.state));
  return diagnosis.findings.empty() ? text : text + ": " + text_of(diagnosis.findings);
}

// The golden file is a table to be held against what is known of the kernels: one line for each
// way in which a view works, with the kernels on which it does.
TEST(kernels, each_view_does_on_each_kernel_what_the_table_says) {
  const KernelFile file;
  std::string table;
  for (const NamedView& view : all_views()) {
    std::vector<std::pair<std::string, std::string>> lines;  // outcome, kernels
    for (const std::string& name : file.names()) {
      const KernelFormats kernel = file.kernel(name);
      const auto can_open = [&kernel](std::string_view event) { return kernel.can_open(event); };
      const auto has_field = [&kernel](std::string_view event, std::string_view field) {
        const auto format = parse_format(kernel.text(event), event.substr(0, event.find(':')));
        return format.ok() && format.value().find(field) != nullptr;
      };
      const std::string text = outcome(diagnose(view, can_open, has_field));
      auto known = std::ranges::find(lines, text, &std::pair<std::string, std::string>::first);
      if (known == lines.end()) {
        known = lines.insert(lines.end(), {text, ""});
      }
      known->second += " " + name;
    }
    for (const auto& [text, kernels] : lines) {
      table += std::string(view.name) + " | " + text + " |" + kernels + "\n";
    }
  }
  test::expect_golden("kernels.txt", table);
}

std::set<std::string> recorded_events(const KernelFormats& kernel) {
  std::set<std::string> events;
  const auto exists = [&kernel](std::string_view event) { return kernel.has(event); };
  const auto add = [&](std::span<const std::string_view> needs) {
    for (const NeedState& state : examine_needs(needs, exists)) {
      if (kernel.has(state.chosen)) {
        events.insert(state.chosen);
      }
    }
  };
  for (const NamedView& view : all_views()) {
    add(view.spec.needs);
  }
  add(memory_map_needs());
  add(default_needs());
  return events;
}

TEST(kernels, every_event_that_a_view_would_record_binds_on_its_kernel) {
  const KernelFile file;
  ASSERT_GE(file.names().size(), 10U);
  for (const std::string& name : file.names()) {
    const KernelFormats kernel = file.kernel(name);
    const auto events = recorded_events(kernel);
    EXPECT_GE(events.size(), 15U) << name;
    for (const std::string& event : events) {
      if (event.find('*') != std::string::npos) {
        continue;
      }
      auto format = parse_format(kernel.text(event), event.substr(0, event.find(':')));
      ASSERT_TRUE(format.ok()) << name << " " << event;
      EXPECT_NE(find_tracepoint(event), nullptr) << name << " " << event;
      const auto decoder = decoder_for({event, 0, format.take()});
      EXPECT_TRUE(decoder.ok()) << name << " " << describe(decoder.error());
    }
  }
}

// Whatever the width of the field and the meaning of its bits.
TEST(kernels, gfp_flags_are_named_by_the_events_own_format) {
  const KernelFile file;
  const std::map<std::string, std::uint64_t> kernel_bits = {{"rhel-6.10", 0xd0},
                                                            {"rhel-7.9", 0xd0},
                                                            {"rhel-8.0", 0x6000c0},
                                                            {"rhel-8.10", 0x6000c0},
                                                            {"rhel-9.0", 0xcc0},
                                                            {"rhel-9.6", 0xcc0},
                                                            {"debian-5.10", 0xcc0},
                                                            {"debian-6.12", 0xcc0}};
  for (const auto& [name, bits] : kernel_bits) {
    const auto format = parse_format(file.kernel(name).text("kmem:kmalloc"), "kmem");
    ASSERT_TRUE(format.ok());
    const Field* gfp = format.value().find("gfp_flags");
    ASSERT_NE(gfp, nullptr) << name;
    EXPECT_EQ(print_flags(bits, gfp->flags), "GFP_KERNEL") << name;
  }
}

}  // namespace
}  // namespace memtrace
