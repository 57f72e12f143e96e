#include "decode/raw_call_types.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>

namespace memtrace {
namespace {

bool is_raw(std::string_view event) {
  return event.starts_with("raw_syscalls:sys_e");
}

std::vector<EventRequest> raw_requests() {
  return {{.info = {.name = "raw_syscalls:sys_enter"}}, {.info = {.name = "kmem:kmalloc"}}};
}

constexpr auto kNeeds = std::to_array<std::string_view>(
    {"syscalls:sys_enter_mmap", "syscalls:sys_exit_mmap", "syscalls:sys_enter_brk|"});

TEST(RawCallFilter, kernel_passes_on_only_the_calls_that_were_asked_for) {
  RawCallFilter filter;
  filter.note(kNeeds, is_raw);
  auto requests = raw_requests();
  filter.narrow(requests);
#if defined(__x86_64__)
  EXPECT_EQ(requests[0].filter, "id == 9 || id == 12");
#endif
  EXPECT_EQ(requests[1].filter, "");
}

TEST(RawCallFilter, what_the_user_named_is_recorded_whole) {
  RawCallFilter filter;
  filter.note(kNeeds, is_raw);
  filter.keep_whole("raw_syscalls:sys_enter");
  auto requests = raw_requests();
  filter.narrow(requests);
  EXPECT_EQ(requests[0].filter, "");
}

EventType raw_type(const std::string& name) {
  EventType type;
  type.name = name;
  type.index = 3;
  type.format.architecture = "x86_64";
  return type;
}

TEST(RawCallTypes, each_known_call_has_the_name_of_its_own_event) {
  const RawCallTypes types(raw_type("raw_syscalls:sys_exit"), "");
  const EventType* type = types.type_of(SystemCall::Shmget);
  ASSERT_NE(type, nullptr);
  EXPECT_EQ(type->name, "syscalls:sys_exit_shmget");
  EXPECT_EQ(type->index, 3U);
  EXPECT_EQ(types.type_of(SystemCall::Other), nullptr);
}

TEST(RawCallTypes, recording_by_filter_holds_no_other_calls) {
  const RawCallTypes types(raw_type("raw_syscalls:sys_enter"), "id == 9 || id == 12");
  std::vector<std::string> names;
  for (const EventType* type : types.recorded()) {
    names.push_back(type->name);
  }
  EXPECT_EQ(names, (std::vector<std::string>{"syscalls:sys_enter_mmap", "syscalls:sys_enter_brk"}));
  EXPECT_EQ(RawCallTypes(raw_type("raw_syscalls:sys_enter"), "").recorded().size(), kSystemCalls);
}

}  // namespace
}  // namespace memtrace
