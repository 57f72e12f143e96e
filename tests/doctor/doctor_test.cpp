#include "doctor/doctor.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "support/simulated_kernel.h"
#include "views/all/all_views.h"

namespace memtrace {
namespace {

using Names = std::vector<std::string>;

CanOpen machine_with(std::set<std::string, std::less<>> events) {
  return [events](std::string_view name) { return events.contains(name); };
}

ViewDiagnosis diagnose_view(std::string_view name, std::set<std::string, std::less<>> events) {
  return diagnose(*find_view(name), machine_with(std::move(events)));
}

TEST(DoctorTest, view_with_all_its_events_works) {
  const auto diagnosis = diagnose_view("kmalloc", {"kmem:kmalloc", "kmem:kfree"});
  EXPECT_EQ(diagnosis.state, ViewState::Works);
  EXPECT_NE(std::find(diagnosis.events.begin(), diagnosis.events.end(), "kmem:kmalloc"),
            diagnosis.events.end());
}

TEST(DoctorTest, view_without_an_event_that_it_needs_cannot_and_says_which) {
  const auto diagnosis = diagnose_view("pages", {});
  EXPECT_EQ(diagnosis.state, ViewState::Cannot);
  EXPECT_EQ(diagnosis.findings.front().kind, FindingKind::NeedsEvent);
  EXPECT_EQ(diagnosis.findings.front().text,
            "kmem:mm_page_alloc is not available, and there is no substitute");
}

TEST(DoctorTest, substitute_is_named_with_what_it_costs) {
  const auto diagnosis = diagnose_view("faults", {"page-faults", "minor-faults", "major-faults"});
  EXPECT_EQ(diagnosis.state, ViewState::WorksInPart);
  EXPECT_EQ(diagnosis.findings.front().kind, FindingKind::Substitute);
  EXPECT_TRUE(diagnosis.findings.front().text.starts_with("page-faults in place of "));
}

TEST(DoctorTest, software_events_that_may_not_be_opened_are_no_substitute) {
  const auto diagnosis = diagnose_view("faults", {});
  EXPECT_EQ(diagnosis.state, ViewState::Cannot);
  EXPECT_TRUE(diagnosis.events.empty());
}

// The flag that Linux before 3.14 does not know is not asked for.
TEST(DoctorTest, events_of_old_kernels_can_be_opened) {
  const test::KernelModel model{.name = "3.10",
                                .attr_bytes = 96,
                                .flag_bits = 23,
                                .sample_bits = 16,
                                .software_events = 9,
                                .has_cloexec = false,
                                .has_id_ioctl = false};
  const test::SimulatedKernel kernel(model);
  const CanOpen can_open = local_events(kernel);
  EXPECT_TRUE(can_open("page-faults"));
  EXPECT_TRUE(can_open("major-faults"));
  EXPECT_FALSE(can_open("kmem:no_such_event"));
}

TEST(DoctorTest, heap_views_need_user_probes) {
  const auto diagnosis = diagnose_view("leaks", {});
  EXPECT_EQ(diagnosis.state, ViewState::Cannot);
  EXPECT_EQ(diagnosis.findings.front().kind, FindingKind::NeedsProbe);
}

TEST(DoctorTest, kernels_configuration_gives_the_reason) {
  const WhyNot why_not = [](std::string_view event) {
    return event.starts_with("compaction:") ? "this kernel was built without CONFIG_COMPACTION"
                                            : "";
  };
  const auto no_event = [](std::string_view) { return false; };
  const auto compaction = diagnose(*find_view("compaction"), no_event, {}, why_not);
  ASSERT_FALSE(compaction.findings.empty());
  EXPECT_TRUE(compaction.findings.front().text.ends_with(
      " (this kernel was built without CONFIG_COMPACTION)"))
      << compaction.findings.front().text;
  const auto pages = diagnose(*find_view("pages"), no_event, {}, why_not);
  EXPECT_EQ(pages.findings.front().text,
            "kmem:mm_page_alloc is not available, and there is no substitute");
}

TEST(DoctorTest, lockdown_mode_is_the_one_in_brackets) {
  EXPECT_EQ(lockdown_mode("none [integrity] confidentiality\n"), "integrity");
  EXPECT_EQ(lockdown_mode("[none] integrity confidentiality\n"), "none");
  EXPECT_EQ(lockdown_mode(""), "");
  EXPECT_EQ(lockdown_mode("]["), "");
}

TEST(DoctorTest, container_is_known_by_any_of_its_signs) {
  EXPECT_EQ(container_of({}), "");
  EXPECT_EQ(container_of({.init_environment = std::string("PATH=/bin\0container=lxc\0", 24)}),
            "lxc");
  EXPECT_EQ(container_of({.init_cgroup = "5:memory:/docker/0123\n"}), "docker");
  EXPECT_EQ(container_of({.has_docker_mark = true}), "docker");
  EXPECT_EQ(container_of({.has_podman_mark = true}), "podman");
}

TEST(DoctorTest, report_counts_the_views_in_each_state) {
  const Report report =
      to_report({.facts = {{FactId::Kernel, "6.18", ""}},
                 .views = {{.view = "a"}, {.view = "b", .state = ViewState::Cannot}}});
  ASSERT_EQ(report.totals.size(), 3U);
  EXPECT_EQ(report.totals[0].value, 1U);
  EXPECT_EQ(report.totals[2].name, "cannot");
  EXPECT_EQ(report.totals[2].value, 1U);
  EXPECT_EQ(report.tables[1].rows.size(), 2U);
}

TEST(DoctorTest, every_fact_of_this_machine_has_a_value) {
  for (const auto& facts : {system_facts(), tracing_facts()}) {
    for (const Fact& fact : facts) {
      EXPECT_FALSE(fact.value.empty()) << name_of(fact.id);
    }
  }
}

}  // namespace
}  // namespace memtrace
