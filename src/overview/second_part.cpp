#include "overview/second_part.h"

#include "os/guarded_thread.h"

namespace memtrace {

SecondPart::SecondPart(ScreenPart& part, RecordSource& own, RecordSource& of_first)
    : of_first_(of_first),
      thread_(start_guarded_thread(
          [this, &part, &own] {
            result_ = part.run();
            own.leave();
          },
          [&own] { own.leave(); })) {}

Result<> SecondPart::end() {
  wait();
  return result_ ? *result_ : Error{thread_failure(), 0, "the recording was not read to its end"};
}

void SecondPart::wait() {
  of_first_.leave();
  if (thread_.joinable()) {
    thread_.join();
  }
}

}  // namespace memtrace
