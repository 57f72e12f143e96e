#include "tracepoints/format/tracefs.h"

#include <gtest/gtest.h>

#include <cerrno>

#include "support/saved_formats.h"

namespace memtrace {
namespace {

using Names = std::vector<std::string>;

Names list(const char* kernel, std::string_view pattern) {
  const auto events = saved(kernel).list_events(pattern);
  return events.ok() ? events.value() : Names{"error: " + events.error().message};
}

TEST(tracepoint_files, one_event_is_listed_as_itself) {
  EXPECT_EQ(list("6.1", "kmem:kmalloc"), Names{"kmem:kmalloc"});
}

TEST(tracepoint_files, wildcards_match_in_both_parts) {
  EXPECT_EQ(list("5.10", "kmem:kmalloc*"), (Names{"kmem:kmalloc", "kmem:kmalloc_node"}));
  EXPECT_EQ(list("6.1", "kmem:kmalloc*"), Names{"kmem:kmalloc"});
  EXPECT_EQ(list("6.1", "*:page_fault_*"),
            (Names{"exceptions:page_fault_kernel", "exceptions:page_fault_user"}));
  EXPECT_EQ(list("6.1", "oom:*").size(), 8U);
  EXPECT_EQ(list("6.1", "k?em:kfree"), Names{"kmem:kfree"});
}

TEST(tracepoint_files, has_answers_for_events_and_patterns) {
  EXPECT_TRUE(saved("5.10").has("kmem:kmalloc_node"));
  EXPECT_FALSE(saved("6.1").has("kmem:kmalloc_node"));
  EXPECT_TRUE(saved("6.1").has("vmscan:*"));
  EXPECT_FALSE(saved("6.1").has("vmscan:x*"));
  EXPECT_FALSE(saved("6.1").has("kmem"));
  EXPECT_FALSE(saved("6.1").has("page-faults"));
  EXPECT_FALSE(saved("6.1").has(""));
}

TEST(tracepoint_files, id_is_the_formats_own) {
  const auto id = saved("5.10").event_id("kmem:kmalloc");
  ASSERT_TRUE(id.ok());
  EXPECT_EQ(id.value(), 529U);
}

TEST(tracepoint_files, headers_are_read_for_the_file) {
  ASSERT_TRUE(saved("6.1").header_page().ok());
  EXPECT_NE(saved("6.1").header_page().value().find("timestamp"), std::string::npos);
  EXPECT_TRUE(saved("6.1").header_event().ok());
}

TEST(tracepoint_files, unknown_event_is_a_usage_error_with_the_nearest_names) {
  for (const char* name :
       {"kmem:kmaloc", "kmalloc", "kmaloc", "slab:kmalloc", "kmem:kmalloc_node"}) {
    const auto text = saved("6.1").event_format_text(name);
    ASSERT_FALSE(text.ok()) << name;
    EXPECT_EQ(text.error().kind, ErrorKind::Usage);
    EXPECT_EQ(text.error().message, "unknown event '" + std::string(name) + "'");
    EXPECT_NE(text.error().hint.find("kmem:kmalloc"), std::string::npos) << text.error().hint;
    EXPECT_NE(text.error().hint.find("/events"), std::string::npos);
    EXPECT_FALSE(saved("6.1").event_id(name).ok());
  }
  const auto part = saved("6.1").event_format_text("vmscan:kswapd_wake");
  ASSERT_FALSE(part.ok());
  EXPECT_NE(part.error().hint.find("vmscan:mm_vmscan_kswapd_wake"), std::string::npos);
  EXPECT_EQ(list("6.1", "vmscna:*"), Names{"error: unknown event 'vmscna:*'"});
}

TEST(tracepoint_files, what_perf_knows_beside_tracepoints_is_not_guessed_at) {
  const auto hint_on = [](const char* name) {
    return saved("6.1").event_format_text(name).error().hint;
  };
  EXPECT_TRUE(hint_on("minor-faults:u")
                  .starts_with("events take no modifiers as perf's do: "
                               "'minor-faults'."));
  EXPECT_TRUE(hint_on("kmem:kmalloc:uk").starts_with("events take no modifiers"));
  EXPECT_TRUE(hint_on("vmscna:*").starts_with("Events are written group:event"));
  EXPECT_TRUE(hint_on("cycles").starts_with("Events are written group:event, or are page-faults"));
}

TEST(tracepoint_files, name_cannot_lead_out_of_the_directory) {
  for (const char* name : {"kmem:../kmem/kmalloc", "..:events", "kmem/kmalloc:", ":kmalloc"}) {
    EXPECT_FALSE(saved("6.1").event_format_text(name).ok()) << name;
    EXPECT_FALSE(saved("6.1").has(name)) << name;
  }
}

TEST(tracefs, each_failure_has_its_own_remedy) {
  const auto hint = [](int errno_value, bool is_root, const char* lockdown) {
    const Error error =
        explain({"opendir(/sys/kernel/tracing/events)", errno_value, is_root, lockdown});
    EXPECT_EQ(error.errno_value, errno_value);
    return error.hint;
  };
  EXPECT_NE(hint(EACCES, false, "").find("as root"), std::string::npos);
  EXPECT_NE(hint(EPERM, true, "").find("container"), std::string::npos);
  EXPECT_NE(hint(ENOENT, true, "[none] integrity confidentiality").find("CONFIG_FTRACE"),
            std::string::npos);
  EXPECT_NE(hint(EPERM, true, "none integrity [confidentiality]").find("locked down"),
            std::string::npos);
}

TEST(tracefs, this_kernels_events_can_be_read) {
  const TracepointFiles files("/sys/kernel/tracing");
  if (!files.header_page().ok()) {
    GTEST_SKIP() << "/sys/kernel/tracing cannot be read";
  }
  EXPECT_TRUE(files.has("kmem:kmalloc"));
  EXPECT_TRUE(files.event_id("kmem:kmalloc").ok());
  EXPECT_TRUE(files.header_event().ok());
  const auto root = tracefs_root();
  ASSERT_TRUE(root.ok()) << describe(root.error());
  EXPECT_TRUE(TracepointFiles(root.value()).has("kmem:kmalloc"));
}

}  // namespace
}  // namespace memtrace
