#include "watch/watch_diagnosis.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>

#include "support/temp_dir.h"

namespace memtrace {
namespace {

class WatchDiagnosisTest : public testing::Test {
 protected:
  WatchAbility ability(const std::string& name) {
    const auto all = diagnose_watch(views_, refused_, dir_.path());
    const auto found = std::ranges::find(all, name, &WatchAbility::name);
    return found == all.end() ? WatchAbility{"not there", ViewState::Works, name} : *found;
  }

  test::TempDir dir_;
  std::vector<ViewDiagnosis> views_ = {
      {.view = "oom", .state = ViewState::Works, .events = {}, .findings = {}},
      {.view = "reclaim",
       .state = ViewState::Cannot,
       .events = {},
       .findings = {{FindingKind::NeedsEvent, "no such event"}}}};
  RefusedProtection refused_;
};

TEST_F(WatchDiagnosisTest, trigger_by_events_is_as_good_as_its_view) {
  EXPECT_EQ(views_of_triggers(), (std::vector<std::string>{"oom", "enomem", "reclaim"}));
  EXPECT_EQ(ability("oom").state, ViewState::Works);
  EXPECT_EQ(ability("reclaim").state, ViewState::Cannot);
  EXPECT_EQ(ability("reclaim").finding, "no such event");
}

TEST_F(WatchDiagnosisTest, trigger_by_figures_needs_them) {
  EXPECT_EQ(ability("swap-in").state, ViewState::Cannot);
  EXPECT_EQ(ability("available").state, ViewState::Cannot);
  EXPECT_EQ(ability("rss").state, ViewState::Cannot);
  EXPECT_EQ(ability("pressure").state, ViewState::Cannot);
  std::ofstream(dir_.file("vmstat")) << "pswpin 7\n";
  std::ofstream(dir_.file("meminfo")) << "MemTotal:  1000 kB\nMemAvailable:  400 kB\n";
  std::filesystem::create_directory(dir_.file("12"));
  std::ofstream(dir_.file("12/statm")) << "100 50 10 1 0 40 0\n";
  std::filesystem::create_directory(dir_.file("pressure"));
  std::ofstream(dir_.file("pressure/memory")) << "some avg10=0.00\n";
  for (const char* name : {"swap-in", "available", "rss", "pressure"}) {
    EXPECT_EQ(ability(name).state, ViewState::Works) << name << ability(name).finding;
  }
}

TEST_F(WatchDiagnosisTest, refused_protection_is_told_and_watch_still_works) {
  EXPECT_EQ(ability("oom_score_adj").state, ViewState::Works);
  EXPECT_EQ(ability("locked memory").state, ViewState::Works);
  refused_ = {.by_oom_killer = "may be killed", .locked_memory = "may be swapped out"};
  EXPECT_EQ(ability("oom_score_adj").state, ViewState::WorksInPart);
  EXPECT_EQ(ability("locked memory").finding, "may be swapped out");
}

}  // namespace
}  // namespace memtrace
