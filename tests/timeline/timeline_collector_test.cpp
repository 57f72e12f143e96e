#include "timeline/timeline_collector.h"

#include <gtest/gtest.h>

#include <deque>

#include "support/fake_namer.h"

namespace memtrace {
namespace {

constexpr std::uint64_t kMs = 1'000'000;

class TimelineTest : public ::testing::Test {
 protected:
  void SetUp() override {
    constexpr std::uint64_t kFirstFunction = 0xffffffff81000000;
    for (std::uint64_t i = 0; i < 8; ++i) {
      const std::array<std::uint64_t, 1> chain = {kFirstFunction + i};
      world_.intern_stack(0, chain);
    }
  }

  EventType& type(const std::string& name) {
    for (EventType& type : types_) {
      if (type.name == name) {
        return type;
      }
    }
    EventType& type = types_.emplace_back();
    type.name = name;
    type.index = static_cast<std::uint32_t>(types_.size() - 1);
    return type;
  }

  void play(const std::string& name,
            const RawPayload& payload,
            std::uint64_t at_ns,
            std::uint32_t stack = 1,
            std::uint32_t pid = 100) {
    Event event;
    event.type = &type(name);
    event.time_ns = at_ns;
    event.pid = event.tid = pid;
    event.stack = StackId{stack};
    world_.apply(event, payload);
    collector_.on(event, world_);
  }

  void kmalloc(std::uint64_t ptr,
               std::uint64_t bytes,
               std::uint64_t at_ns,
               std::uint32_t stack = 1) {
    SlabAlloc alloc{.call_site = 0, .ptr = ptr, .bytes_req = bytes, .bytes_alloc = bytes};
    alloc.kmalloc = true;
    play("kmem:kmalloc", alloc, at_ns, stack);
  }

  void kfree(std::uint64_t ptr, std::uint64_t at_ns) {
    play(
        "kmem:kfree", SlabFree{.call_site = 0, .ptr = ptr, .kmalloc = true, .cache = {}}, at_ns, 2);
  }

  const Timeline::Subject& subject(const std::string& name) {
    timeline_ = collector_.take(world_, namer_);
    for (const Timeline::Subject& subject : timeline_->subjects) {
      if (subject.name == name) {
        return subject;
      }
    }
    ADD_FAILURE() << "no subject " << name;
    static const Timeline::Subject none;
    return none;
  }

  const Timeline::Lane* lane(const std::string& name) {
    timeline_ = collector_.take(world_, namer_);
    for (const Timeline::Lane& lane : timeline_->lanes) {
      if (lane.name == name) {
        return &lane;
      }
    }
    return nullptr;
  }

  World world_{World::Options{.track_live_blocks = true}};
  std::deque<EventType> types_;
  TimelineCollector collector_;
  test::FakeNamer namer_;
  std::shared_ptr<const Timeline> timeline_;
};

TEST_F(TimelineTest, nothing_that_happened_is_no_timeline) {
  EXPECT_EQ(collector_.take(world_, namer_), nullptr);
}

// The free is drawn where the block was allocated, and when it was freed.
TEST_F(TimelineTest, a_free_is_of_the_stack_that_allocated) {
  kmalloc(0x1000, 64, 10 * kMs, 1);
  kmalloc(0x2000, 32, 11 * kMs, 3);
  kfree(0x1000, 15 * kMs);
  const Timeline::Subject& slab = subject("slab");
  ASSERT_EQ(slab.sources.size(), 2U);
  EXPECT_TRUE(slab.has_level);
  EXPECT_EQ(slab.sources[0].stack, StackId{1});
  ASSERT_EQ(slab.sources[0].amounts.size(), 2U);
  EXPECT_EQ(slab.sources[0].amounts[0].figures, (Timeline::Amounts{64, 1, 0}));
  EXPECT_EQ(slab.sources[0].amounts[1].slot, 5U);
  EXPECT_EQ(slab.sources[0].amounts[1].figures, (Timeline::Amounts{0, 0, 64}));
  EXPECT_TRUE(timeline_->stacks.contains(StackId{1}));
  EXPECT_EQ(timeline_->start_ns, 10 * kMs);
  EXPECT_EQ(timeline_->slot_count, 6U);
}

TEST_F(TimelineTest, a_block_at_an_address_that_was_taken_ends_the_one_before) {
  kmalloc(0x1000, 64, 10 * kMs, 1);
  kmalloc(0x1000, 32, 11 * kMs, 3);
  const Timeline::Subject& slab = subject("slab");
  EXPECT_EQ(slab.sources[0].amounts.back().figures, (Timeline::Amounts{0, 0, 64}));
}

TEST_F(TimelineTest, kmalloc_is_a_part_of_slab) {
  kmalloc(0x1000, 64, 10 * kMs);
  play("kmem:kmem_cache_alloc",
       SlabAlloc{.call_site = 0, .ptr = 0x2000, .bytes_req = 100, .bytes_alloc = 128, .cache = {}},
       10 * kMs);
  EXPECT_EQ(subject("slab").sources[0].amounts[0].figures, (Timeline::Amounts{192, 2, 0}));
  EXPECT_EQ(subject("kmalloc").sources[0].amounts[0].figures, (Timeline::Amounts{64, 1, 0}));
}

// The kernel's last event of an address space is not about its end.
TEST_F(TimelineTest, what_has_ended_is_not_resident) {
  const auto stat = [](std::uint32_t mm, bool is_of_task, std::uint64_t bytes) {
    return RssStat{
        .mm_id = mm, .is_of_task = is_of_task, .member = RssMember::Anonymous, .bytes = bytes};
  };
  world_.fork({.pid = 100, .parent_pid = 1, .tid = 100, .parent_tid = 1});
  play("kmem:rss_stat", stat(1, true, 4096), 10 * kMs);
  play("kmem:rss_stat", stat(2, true, 512), 12 * kMs);  // it has called execve(2)
  play("kmem:rss_stat", stat(3, false, 7), 13 * kMs);   // of none that is recorded
  world_.exit(100, 100);
  play("kmem:rss_stat", stat(2, false, 300), 15 * kMs);
  kmalloc(0x1000, 64, 16 * kMs);
  const Timeline::Lane* resident = lane("resident memory");
  ASSERT_NE(resident, nullptr);
  EXPECT_EQ(resident->values.at(0), 4096U);
  EXPECT_EQ(resident->values.at(2), 512U);
  EXPECT_EQ(resident->values.at(3), 512U);
  EXPECT_EQ(resident->values.at(5), 0U);
}

// The kernel makes new address spaces where old ones were.
TEST_F(TimelineTest, an_address_space_may_be_anothers_later) {
  const auto stat = [](std::uint32_t mm, std::uint64_t bytes) {
    return RssStat{.mm_id = mm, .is_of_task = true, .member = RssMember::Anonymous, .bytes = bytes};
  };
  play("kmem:rss_stat", stat(1, 4096), 10 * kMs);
  play("kmem:rss_stat", stat(2, 512), 11 * kMs);  // execve(2) has freed the first one
  play("kmem:rss_stat", stat(1, 100), 12 * kMs, 1, 200);
  const Timeline::Lane* resident = lane("resident memory");
  ASSERT_NE(resident, nullptr);
  EXPECT_EQ(resident->values.at(1), 512U);
  EXPECT_EQ(resident->values.at(2), 612U);
}

TEST_F(TimelineTest, resident_memory_is_the_sum_of_address_spaces) {
  const auto stat = [](std::uint32_t mm, RssMember member, std::uint64_t bytes) {
    return RssStat{.mm_id = mm, .is_of_task = true, .member = member, .bytes = bytes};
  };
  play("kmem:rss_stat", stat(1, RssMember::Anonymous, 4096), 10 * kMs);
  play("kmem:rss_stat", stat(2, RssMember::File, 8192), 11 * kMs, 1, 200);
  play("kmem:rss_stat", stat(1, RssMember::Anonymous, 1024), 12 * kMs);
  play("kmem:rss_stat", stat(1, RssMember::Swap, 512), 13 * kMs);
  const Timeline::Lane* resident = lane("resident memory");
  ASSERT_NE(resident, nullptr);
  EXPECT_TRUE(resident->is_level);
  EXPECT_EQ(resident->values,
            (std::vector<std::optional<std::uint64_t>>{4096, 12288, 9216, std::nullopt}));
  EXPECT_EQ(lane("memory in swap")->values[3], 512U);
  EXPECT_EQ(lane("page faults"), nullptr);  // none happened
}

TEST_F(TimelineTest, a_long_recording_has_wide_slots_and_the_same_sums) {
  for (std::uint64_t i = 0; i < 5000; ++i) {
    kmalloc(0x1000 + 64 * i, 64, 10 * kMs + 3 * i * kMs);
    play("kmem:rss_stat",
         RssStat{.mm_id = 1, .is_of_task = true, .member = RssMember::Anonymous, .bytes = i + 1},
         10 * kMs + 3 * i * kMs);
  }
  const Timeline::Subject& slab = subject("slab");
  EXPECT_LE(timeline_->slot_count, TimeSlots::kMostSlots);
  EXPECT_EQ(timeline_->slot_ns, 128 * kMs);
  std::uint64_t bytes = 0;
  for (const Timeline::Amount& amount : slab.sources[0].amounts) {
    bytes += amount.figures[0];
  }
  EXPECT_EQ(bytes, 5000U * 64);
  EXPECT_EQ(lane("resident memory")->values.back(), 5000U);
}

TEST_F(TimelineTest, faults_carry_how_they_ended) {
  PageFault entry{.address = 0x5000, .ip = 0x400000};
  PageFault ended = entry;
  ended.stage = FaultStage::Major;
  play("page-faults", entry, 10 * kMs, 4);
  play("major-faults", ended, 12 * kMs, 0);
  const Timeline::Subject& faults = subject("page faults");
  ASSERT_EQ(faults.sources.size(), 1U);
  EXPECT_EQ(faults.sources[0].stack, StackId{4});
  EXPECT_EQ(faults.sources[0].amounts[0].figures, (Timeline::Amounts{1, 1, 2 * kMs}));
  EXPECT_EQ(lane("major faults")->values[0], 1U);
}

TEST_F(TimelineTest, kills_are_marks) {
  play("oom:mark_victim", OomVictim{.pid = 77, .has_memory = false, .comm = "hungry"}, 12 * kMs);
  const auto timeline = collector_.take(world_, namer_);
  ASSERT_EQ(timeline->marks.size(), 1U);
  EXPECT_EQ(timeline->marks[0].time_ns, 12 * kMs);
  EXPECT_NE(timeline->marks[0].text.find("(77)"), std::string::npos) << timeline->marks[0].text;
}

TEST_F(TimelineTest, losses_are_spans_and_bounded) {
  kmalloc(0x1000, 64, 10 * kMs);
  collector_.add_loss({.first_ns = 11 * kMs, .last_ns = 12 * kMs, .count = 5});
  collector_.add_loss({.first_ns = 11 * kMs, .last_ns = 13 * kMs, .count = 6});  // they overlap
  collector_.add_loss({.first_ns = 20 * kMs, .last_ns = 21 * kMs, .count = 7});
  auto timeline = collector_.take(world_, namer_);
  ASSERT_EQ(timeline->losses.size(), 2U);
  EXPECT_EQ(timeline->losses[0].count, 11U);
  EXPECT_EQ(timeline->losses[0].last_ns, 13 * kMs);
  for (std::uint64_t i = 0; i < 1000; ++i) {
    collector_.add_loss(
        {.first_ns = (30 + 2 * i) * kMs, .last_ns = (30 + 2 * i) * kMs, .count = 1});
  }
  timeline = collector_.take(world_, namer_);
  EXPECT_LE(timeline->losses.size(), 200U);
  EXPECT_GT(timeline->losses.size(), 100U);  // those that are close to each other were joined
  std::uint64_t count = 0;
  for (const Timeline::Loss& loss : timeline->losses) {
    count += loss.count;
  }
  EXPECT_EQ(count, 1018U);
}

}  // namespace
}  // namespace memtrace
