// Errors as values: every call that can fail because of input, the kernel or the user returns
// Result<T>. Only main prints an Error, once.
#pragma once

#include <string>
#include <utility>
#include <variant>

namespace memtrace {

// Failed ends the program with exit status 1, Usage with 2.
enum class ErrorKind { Failed, Usage };

// What was being done and on what ("perf_event_open(kmem:kmalloc)"), the system's errno when it
// was a system call, and what the user can do about it, in words that can be followed as they are.
struct Error {
  std::string message;
  int errno_value = 0;
  std::string hint;
  ErrorKind kind = ErrorKind::Failed;
};

// "message: system's words", without the hint.
std::string describe(const Error& error);

template <typename T = std::monostate>
class [[nodiscard]] Result {
 public:
  // NOLINTBEGIN(google-explicit-constructor): returning a value or an Error is the point.
  Result(T value) : state_(std::in_place_index<0>, std::move(value)) {}

  Result(Error error) : state_(std::in_place_index<1>, std::move(error)) {}

  // NOLINTEND(google-explicit-constructor)

  bool ok() const { return state_.index() == 0; }

  T& value() { return std::get<0>(state_); }

  const T& value() const { return std::get<0>(state_); }

  T take() { return std::get<0>(std::move(state_)); }

  const Error& error() const { return std::get<1>(state_); }

  Error take_error() { return std::get<1>(std::move(state_)); }

 private:
  std::variant<T, Error> state_;
};

// The value of a Result<> that says only that something went well.
inline constexpr std::monostate kDone{};

}  // namespace memtrace

// Passes the error of a Result<> on to the caller.
#define TRY(expression)                             \
  if (auto attempt = (expression); !attempt.ok()) { \
    return attempt.take_error();                    \
  }                                                 \
  static_assert(true)
