#include "os/guarded_thread.h"

#include <atomic>
#include <exception>
#include <mutex>
#include <new>
#include <stdexcept>
#include <system_error>
#include <utility>

namespace memtrace {
namespace {

constexpr std::size_t kReserveBytes = std::size_t{4} << 20U;

std::atomic<bool> failed = false;
std::mutex mutex;
std::string first_failure;  // by mutex

std::atomic<void*> reserve = nullptr;

void note_failure() {
  const std::lock_guard lock(mutex);
  if (!failed) {
    first_failure = describe_exception();
    failed = true;
  }
}

void run(const std::function<void()>& work, const std::function<void()>& lost) {
  try {
    work();
  } catch (...) {
    note_failure();
    if (lost) {
      lost();
    }
  }
}

void give_reserve() {
  ::operator delete(reserve.exchange(nullptr));
  throw std::bad_alloc();
}

}  // namespace

std::thread start_guarded_thread(std::function<void()> work, std::function<void()> lost) {
  return std::thread([work = std::move(work), lost = std::move(lost)] { run(work, lost); });
}

bool has_failed_thread() {
  return failed;
}

std::string thread_failure() {
  const std::lock_guard lock(mutex);
  return first_failure;
}

std::string describe_exception() {
  try {
    throw;
  } catch (const std::bad_alloc&) {
    return "out of memory";
  } catch (const std::exception& exception) {
    return exception.what();
  } catch (...) {
    return "an unknown exception";
  }
}

Error error_of_exception() {
  const char* hint = "this must not happen: please report it, with the command line";
  try {
    throw;
  } catch (const std::bad_alloc&) {
    hint =
        "give memtrace more memory (ulimit -v, memory.max) or less to do: fewer events, a --filter "
        "or a smaller --ring-size for a recording, --since and --until for a report";
  } catch (const std::system_error& error) {
    if (error.code() == std::errc::resource_unavailable_try_again) {  // std::thread
      hint = "allow memtrace more threads (ulimit -u, pids.max) and memory (ulimit -v)";
    }
  } catch (...) {
  }
  return Error{describe_exception(), 0, hint};
}

void keep_reserve() {
  reserve = ::operator new(kReserveBytes);
  std::set_new_handler(give_reserve);
}

}  // namespace memtrace
