#include "decode/silent_probes.h"

#include <gtest/gtest.h>

namespace memtrace {
namespace {

OpenedEvent probe_in(const std::string& file) {
  OpenedEvent event;
  event.request.probed_file = file;
  return event;
}

bool always(const std::string& /*path*/) {
  return true;
}

bool never(const std::string& /*path*/) {
  return false;
}

TEST(SilentProbesTest, only_a_file_all_of_whose_probes_were_silent_is_named) {
  const std::vector<OpenedEvent> events = {
      probe_in(""), probe_in("/run/tool"), probe_in("/run/tool"), probe_in("/run/other")};
  SilentProbes probes;
  probes.saw(0);
  probes.saw(2);
  const auto notes = probes.notes(events, always);
  ASSERT_EQ(notes.size(), 1U);
  EXPECT_NE(notes.front().find("/run/other was hit; it is on a tmpfs"), std::string::npos);
}

TEST(SilentProbesTest, a_file_elsewhere_may_be_silent) {
  EXPECT_TRUE(SilentProbes().notes({probe_in("/bin/tool")}, never).empty());
}

TEST(SilentProbesTest, files_that_are_not_there_are_on_no_tmpfs) {
  EXPECT_FALSE(is_on_tmpfs("/nonexistent/file"));
}

}  // namespace
}  // namespace memtrace
