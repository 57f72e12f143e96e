#include "plan/probes/sdt_event.h"

#include <gtest/gtest.h>

#include <cstdlib>

#include "plan/probes/descriptor_limit.h"
#include "support/temp_dir.h"

namespace memtrace {
namespace {

TEST(SdtEvent, has_a_file_a_provider_and_a_name) {
  const auto event = parse_sdt_event("sdt:/lib/libc.so.6:libc:memory_*");
  ASSERT_TRUE(event.ok());
  EXPECT_EQ(event.value().path, "/lib/libc.so.6");
  EXPECT_EQ(event.value().provider, "libc");
  EXPECT_EQ(event.value().name, "memory_*");
  EXPECT_TRUE(is_sdt_event("sdt:a:b:c"));
  EXPECT_FALSE(is_sdt_event("sdt_libc:memory_heap_new"));
}

TEST(SdtEvent, a_part_that_is_missing_is_a_usage_error) {
  for (const char* text :
       {"sdt:", "sdt:libc", "sdt:libc:memory", "sdt::a:b", "sdt:a::b", "sdt:a:b:"}) {
    const auto event = parse_sdt_event(text);
    ASSERT_FALSE(event.ok()) << text;
    EXPECT_EQ(event.error().kind, ErrorKind::Usage);
  }
}

TEST(SdtEvent, a_file_without_probes_says_so) {
  const auto places = find_sdt_places({"/proc/self/exe", "libc", "*"}, {});
  ASSERT_FALSE(places.ok());
  EXPECT_NE(places.error().message.find("no static probes"), std::string::npos);
  EXPECT_FALSE(find_sdt_places({"*", "libc", "*"}, {{"/proc/self/exe", "/test"}}).ok());
}

TEST(SdtEvent, places_are_named_after_provider_and_probe) {
  const test::TempDir dir;
  const std::string library = dir.file("libprobes.so");
  const std::string source =
      "printf '#include <sys/sdt.h>\nvoid f(long a, long* b, int i) { STAP_PROBE3(foo, opened, a, "
      "*b, i); }' | cc -O2 -fPIC -shared -xc - -o " +
      library + " 2>/dev/null";
  if (std::system(source.c_str()) != 0) {
    GTEST_SKIP() << "needs a C compiler and sys/sdt.h (systemtap-sdt-dev)";
  }
  const auto places = find_sdt_places({"*", "f*", "open*"}, {{library, "/lib/libprobes.so"}});
  ASSERT_TRUE(places.ok());
  ASSERT_EQ(places.value().size(), 1U);
  const SdtPlace& place = places.value()[0];
  EXPECT_EQ(place.definition.event, "foo_opened");
  EXPECT_EQ(place.definition.path, library);
  EXPECT_NE(place.definition.file_offset, 0U);
  EXPECT_EQ(place.definition.args, "arg1=%di:s64 arg2=+0(%si):s64 arg3=%dx:s32");
  EXPECT_EQ(place.register_args, "arg1=%di:s64 arg3=%dx:s32");
  EXPECT_TRUE(place.unfetched.empty());
  const auto typo = find_sdt_places({library, "foo", "opend"}, {});
  ASSERT_FALSE(typo.ok());
  EXPECT_NE(typo.error().hint.find("foo:opened"), std::string::npos);
}

TEST(DescriptorLimit, too_many_places_are_refused_with_how_many_there_may_be) {
  EXPECT_TRUE(check_descriptors({"e", 10, 4, 8}, 1024).ok());
  const auto refused = check_descriptors({"uprobe:libfoo:*", 1000, 4, 8}, 1024);
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().kind, ErrorKind::Usage);
  EXPECT_NE(refused.error().message.find("32000 file descriptors"), std::string::npos);
  EXPECT_NE(refused.error().hint.find("at most 30 places"), std::string::npos);
}

}  // namespace
}  // namespace memtrace
