#include "base/result.h"

#include <system_error>

namespace memtrace {

std::string describe(const Error& error) {
  if (error.errno_value == 0) {
    return error.message;
  }
  return error.message + ": " + std::generic_category().message(error.errno_value);
}

}  // namespace memtrace
