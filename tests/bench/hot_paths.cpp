// hot_paths parse|unwind|fold COUNT: does COUNT times what a busy recording or report does for each
// event. For valgrind, which counts the instructions (compare_instructions.py).
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string_view>
#include <vector>

#include "decode/event_decoder.h"
#include "perf/record/record_parser.h"
#include "session/session.h"
#include "support/own_mappings.h"
#include "support/perf_bytes.h"
#include "support/saved_formats.h"
#include "unwind/stack_unwinder.h"
#include "views/all/all_views.h"

namespace memtrace::test {
namespace {

// A sample of kmem:kmalloc with a stack of 20 frames.
int parse(std::size_t count) {
  RecordParser parser;
  const std::uint64_t id = kEventId;
  parser.add_event(SampleLayout::of(kmalloc_attr()), {&id, 1});
  const RecordBytes bytes = kmalloc_sample(1234, 20);
  std::uint64_t frames = 0;
  for (std::size_t i = 0; i < count; ++i) {
    const auto record = parser.parse(bytes);
    frames += record.ok() ? std::get<Sample>(record.value().payload).callchain.size() : 0;
  }
  return frames == count * 21 ? 0 : 1;
}

// The same 64 samples again and again, each with a stack of its own, in the order of time.
class RepeatedSamples final : public RecordSource {
 public:
  explicit RepeatedSamples(std::size_t count) : left_(count) {
    recording_.events = {{.name = "kmem:kmalloc",
                          .kind = EventKind::Tracepoint,
                          .format = saved_text("6.1", "kmem:kmalloc")}};
    for (std::size_t i = 0; i < kStacks; ++i) {
      chains_.push_back({kContextKernel});
      for (std::uint64_t frame = 0; frame < kFrames; ++frame) {
        chains_.back().push_back(0xffffffff81000000U + frame * 0x1000 + (frame < 4 ? i * 16 : 0));
      }
    }
  }

  Result<std::optional<Record>> next() override {
    if (left_ == 0) {
      return std::optional<Record>();
    }
    --left_;
    time_ns_ += 1000;
    Sample sample{.event = 0, .pid = 100, .tid = 100};
    sample.callchain = chains_[left_ % kStacks];
    sample.raw = raw_;
    return std::optional<Record>({.stamp = {.time_ns = time_ns_}, .payload = sample});
  }

  const Recording& recording() const override { return recording_; }

 private:
  static constexpr std::size_t kStacks = 64;
  static constexpr std::size_t kFrames = 20;
  Recording recording_;
  std::vector<std::vector<std::uint64_t>> chains_;
  std::vector<std::byte> raw_ = std::vector<std::byte>(56);
  std::size_t left_;
  std::uint64_t time_ns_ = 1'000'000'000;
};

int fold(std::size_t count) {
  RepeatedSamples source(count);
  SessionOptions options;
  options.views = {find_view("kmalloc")};
  options.view_options.by = {"stack"};
  auto session = Session::create(source, std::move(options));
  if (!session.ok()) {
    return 1;
  }
  std::uint64_t rows = 0;
  const auto done = session.value()->run([&rows](std::vector<Report> reports) -> Result<> {
    rows = reports.front().tables.front().rows.size();
    return kDone;
  });
  return done.ok() && rows > 0 ? 0 : 1;
}

#ifdef __x86_64__
constexpr std::uint32_t kPid = 77;
constexpr std::uint64_t kMask = (1U << 1U) | (1U << 6U) | (1U << 7U) | (1U << 8U);  // bx bp sp ip
constexpr std::size_t kStackBytes = 8192;

// Where the program is, as a sample would have it.
struct Place {
  std::array<std::uint64_t, 4> registers{};
  std::vector<std::byte> stack;
};

[[gnu::noinline]] void look(Place& place) {
  auto& r = place.registers;
  asm volatile(
      "movq %%rbx, 0(%0)\n\t"
      "movq %%rbp, 8(%0)\n\t"
      "movq %%rsp, 16(%0)\n\t"
      "leaq (%%rip), %%rax\n\t"
      "movq %%rax, 24(%0)"
      :
      : "r"(r.data())
      : "rax", "memory");
  place.stack.resize(kStackBytes);
  std::memcpy(place.stack.data(), reinterpret_cast<const void*>(r[2]), kStackBytes);
}

[[gnu::noinline]] int descend(Place& place, int depth) {
  volatile int room[8] = {depth};
  if (depth > 0) {
    return descend(place, depth - 1) + room[0];
  }
  look(place);
  return room[0];
}

// A stack of more than 20 frames, by a copy of 8 KiB.
int unwind(std::size_t count) {
  World world{{}};
  const Recording recording;
  EventDecoder decoder{world, recording};
  apply_own_mappings(decoder, kPid);
  // Above the frames that are looked at the copy needs its 8 KiB.
  std::array<volatile char, 2 * kStackBytes> above{};
  above[0] = 1;
  Place place;
  descend(place, 20);
  StackUnwinder unwinder(world);
  const Sample sample{.pid = kPid,
                      .tid = kPid,
                      .registers = {.abi = 2, .mask = kMask, .values = place.registers},
                      .user_stack = place.stack};
  std::size_t frames = 0;
  for (std::size_t i = 0; i < count; ++i) {
    frames += unwinder.unwind(sample).size();
  }
  return frames >= count * 20 ? 0 : 1;
}
#else
int unwind(std::size_t /*count*/) {
  return 2;
}
#endif

struct Path {
  std::string_view name;
  int (*run)(std::size_t count);
};

constexpr auto kPaths = std::to_array<Path>({{"parse", parse}, {"unwind", unwind}, {"fold", fold}});

}  // namespace
}  // namespace memtrace::test

int main(int argc, char** argv) {
  if (argc == 3) {
    for (const auto& path : memtrace::test::kPaths) {
      if (path.name == argv[1]) {
        return path.run(std::strtoul(argv[2], nullptr, 10));
      }
    }
  }
  std::fprintf(stderr, "usage: %s parse|unwind|fold COUNT\n", argv[0]);
  return 2;
}
