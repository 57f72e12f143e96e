#include "watch/trigger.h"

#include <gtest/gtest.h>

#include <array>
#include <string_view>

namespace memtrace {
namespace {

Trigger parsed(const std::string& word) {
  const auto trigger = parse_trigger(word);
  EXPECT_TRUE(trigger.ok()) << word << ": " << (trigger.ok() ? "" : describe(trigger.error()));
  return trigger.ok() ? trigger.value() : Trigger();
}

TEST(Trigger, events_are_words_alone) {
  EXPECT_EQ(parsed("oom").kind, TriggerKind::Oom);
  EXPECT_EQ(parsed("oom").view(), "oom");
  EXPECT_EQ(parsed("enomem").kind, TriggerKind::Enomem);
  EXPECT_EQ(parsed("enomem").view(), "enomem");
  EXPECT_EQ(parsed("enomem").word, "enomem");
}

TEST(Trigger, limits_have_the_unit_of_what_they_limit) {
  EXPECT_EQ(parsed("swap-in>1000/s").limit, 1000U);
  EXPECT_EQ(parsed("reclaim>100ms").limit, 100'000'000U);
  EXPECT_EQ(parsed("reclaim>1.5s").limit, 1'500'000'000U);
  EXPECT_EQ(parsed("available<500M").limit, 500U << 20);
  EXPECT_FALSE(parsed("available<500M").is_share);
  EXPECT_EQ(parsed("available<5%").limit, 5'000U);
  EXPECT_EQ(parsed("available<0.25%").limit, 250U);
  EXPECT_TRUE(parsed("available<5%").is_share);
  EXPECT_EQ(parsed("swap-in>1/s").label(), "swap-in");
}

TEST(Trigger, size_of_a_process_has_its_name) {
  const Trigger trigger = parsed("rss(redis-server)>4G");
  EXPECT_EQ(trigger.kind, TriggerKind::Rss);
  EXPECT_EQ(trigger.comm, "redis-server");
  EXPECT_EQ(trigger.limit, std::uint64_t{4} << 30);
  EXPECT_EQ(parsed("rss(kworker/0:1)>1M").comm, "kworker/0:1");
  EXPECT_EQ(parsed("rss(php*)>1M").comm, "php*");
}

TEST(Trigger, each_refused_form_names_the_word_and_what_is_known) {
  constexpr auto kRefused = std::to_array<std::string_view>({
      "",                     // nothing
      "ooom",                 // no such word
      "oom>1",                // takes no limit
      "enomem(redis)",        // the same
      "swap-in",              // no limit
      "swap-in>",             // an empty one
      "swap-in>1000",         // not a rate
      "swap-in>0/s",          // always true
      "swap-in>x/s",          // no number
      "swap-in<1000/s",       // the wrong way
      "reclaim>",             // no time
      "reclaim>10parsecs",    // no such unit
      "reclaim>0ms",          // always true
      "reclaim<100ms",        // the wrong way
      "rss>4G",               // whose?
      "rss()>4G",             // the same
      "rss(redis>4G",         // no end
      "rss(redis)",           // no limit
      "rss(redis)>4Q",        // no such unit
      "rss(redis)<4G",        // the wrong way
      "available",            // no limit
      "available>5%",         // the wrong way
      "available<",           // no limit
      "available<%",          // no number
      "available<0%",         // never true
      "available<101%",       // always true
      "available<5.1234%",    // finer than anybody can measure
      "available<5.%",        // no digits
      "available<x",          // no number
      "available(redis)<5%",  // of the machine
      " oom",                 // a blank
  });
  for (const std::string_view word : kRefused) {
    const auto trigger = parse_trigger(std::string(word));
    ASSERT_FALSE(trigger.ok()) << word;
    EXPECT_EQ(trigger.error().kind, ErrorKind::Usage) << word;
    EXPECT_NE(trigger.error().message.find("--on '" + std::string(word) + "'"), std::string::npos)
        << trigger.error().message;
    EXPECT_NE(trigger.error().hint.find("oom, enomem, swap-in>1000/s, reclaim>100ms, rss(COMM)>4G"),
              std::string::npos)
        << trigger.error().hint;
  }
}

TEST(Trigger, of_several_the_first_bad_one_is_named) {
  EXPECT_EQ(parse_triggers({"oom", "available<5%"}).value().size(), 2U);
  const auto refused = parse_triggers({"oom", "nonsense", "worse"});
  ASSERT_FALSE(refused.ok());
  EXPECT_NE(refused.error().message.find("nonsense"), std::string::npos);
  EXPECT_FALSE(parse_triggers({}).ok());
}

}  // namespace
}  // namespace memtrace
