// bench_unwind FILE: how many user stacks a second are unwound, from the dumps of a file that perf
// record --call-graph dwarf made. bench_unwind --dump FILE: for each sample a line "# END", END
// being the number of a StackEnd, then its user frames in hex, one a line, as perf script -F ip
// prints them: relative to their files, return addresses less one (compare_unwind.sh).
#include <cinttypes>
#include <cstdio>
#include <cstring>
#include <ctime>
#include <string_view>
#include <vector>

#include "decode/event_decoder.h"
#include "perf/file_in/file_source.h"
#include "unwind/stack_unwinder.h"

namespace memtrace {
namespace {

// A sample that outlives the source's next record.
class Dump {
 public:
  Dump(const Sample& sample, std::span<const std::byte> record)
      : words_(record.size() / sizeof(std::uint64_t)), sample_(sample) {
    std::memcpy(words_.data(), record.data(), record.size());
    move(sample_.callchain, record);
    move(sample_.registers.values, record);
    move(sample_.user_stack, record);
  }

  const Sample& sample() const { return sample_; }

 private:
  template <typename T>
  void move(std::span<const T>& part, std::span<const std::byte> record) {
    const auto* start = reinterpret_cast<const std::byte*>(part.data());
    if (!part.empty()) {
      const auto* moved =
          reinterpret_cast<const std::byte*>(words_.data()) + (start - record.data());
      part = {reinterpret_cast<const T*>(moved), part.size()};
    }
  }

  std::vector<std::uint64_t> words_;
  Sample sample_;
};

// The time of this thread: others may use the processor too.
std::uint64_t processor_ns() {
  timespec now{};
  ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<std::uint64_t>(now.tv_sec) * 1'000'000'000U +
         static_cast<std::uint64_t>(now.tv_nsec);
}

class Bench {
 public:
  explicit Bench(const Recording& recording, bool print)
      : feed_(world_, recording), print_(print) {}

  void on(const Record& record) {
    if (const auto* sample = std::get_if<Sample>(&record.payload)) {
      if (print_) {
        print(*sample);
      } else if (!sample->user_stack.empty()) {
        dumps_.emplace_back(*sample, record.bytes);
      }
      return;
    }
    unwind_dumps();  // with the mappings as they are until this record
    feed_.apply(record);
  }

  void finish() {
    unwind_dumps();
    if (print_) {
      return;
    }
    tell("first", first_);
    tell("again", again_);
    for (const std::string& caveat : unwinder_.caveats()) {
      std::printf("%s\n", caveat.c_str());
    }
  }

 private:
  struct Pass {
    std::uint64_t stacks = 0;
    std::uint64_t frames = 0;
    std::uint64_t ns = 0;
  };

  void unwind_dumps() {
    run(first_);
    run(again_);
    dumps_.clear();
  }

  void run(Pass& pass) {
    const std::uint64_t start = processor_ns();
    for (const Dump& dump : dumps_) {
      pass.frames += unwinder_.unwind(dump.sample()).size();
    }
    pass.ns += processor_ns() - start;
    pass.stacks += dumps_.size();
  }

  static void tell(const char* label, const Pass& pass) {
    const double stacks = static_cast<double>(pass.stacks);
    std::printf("%s: %" PRIu64 " stacks of %.1f frames in %.3f s, %.2f million a second\n",
                label,
                pass.stacks,
                stacks > 0 ? static_cast<double>(pass.frames) / stacks : 0.0,
                static_cast<double>(pass.ns) * 1e-9,
                pass.ns > 0 ? stacks * 1e3 / static_cast<double>(pass.ns) : 0.0);
  }

  void print(const Sample& sample) {
    const auto chain = unwinder_.unwind(sample);
    const Process* process = world_.processes().find(sample.pid);
    std::printf("# %u\n", static_cast<unsigned>(unwinder_.last_end()));
    bool innermost = true;
    for (const std::uint64_t frame : chain) {
      if (frame >= kFirstKernel || process == nullptr) {
        continue;
      }
      const CodeLocation location = process->space.locate(frame, !innermost);
      std::printf("%" PRIx64 "\n", location.lookup_offset());
      innermost = false;
    }
  }

  static constexpr std::uint64_t kFirstKernel = std::uint64_t{1} << 63U;
  World world_{{}};
  EventDecoder feed_;
  StackUnwinder unwinder_{world_};
  std::vector<Dump> dumps_;
  bool print_;
  Pass first_;
  Pass again_;
};

int run(const char* path, bool print) {
  auto source = open_file_source(path);
  if (!source.ok()) {
    std::fprintf(stderr, "bench_unwind: %s\n", describe(source.error()).c_str());
    return 1;
  }
  Bench bench(source.value()->recording(), print);
  while (true) {
    auto record = source.value()->next();
    if (!record.ok() || !record.value()) {
      break;
    }
    bench.on(*record.value());
  }
  bench.finish();
  return 0;
}

}  // namespace
}  // namespace memtrace

int main(int argc, char** argv) {
  const bool print = argc == 3 && std::string_view(argv[1]) == "--dump";
  if (argc != 2 && !print) {
    std::fprintf(stderr, "usage: %s [--dump] FILE\n", argv[0]);
    return 2;
  }
  return memtrace::run(argv[argc - 1], print);
}
