// How a view is made of the options: its keys, its figures, and whatever else it takes, each of
// which may be an error of the user.
#pragma once

#include <memory>
#include <type_traits>
#include <utility>

#include "base/result.h"
#include "views/view.h"

namespace memtrace {

namespace make_view_parts {

template <typename T>
const Error* error_of(const Result<T>& part) {
  return part.ok() ? nullptr : &part.error();
}

template <typename T>
const Error* error_of(const T& /*part*/) {
  return nullptr;
}

template <typename T>
T value_of(Result<T>& part) {
  return part.take();
}

template <typename T>
T& value_of(T& part) {
  return part;
}

}  // namespace make_view_parts

// A ViewType of these arguments; a Result among them is taken out of it. Error: the first that is
// one.
template <typename ViewType, typename... Parts>
Result<std::unique_ptr<View>> make_view(Parts... parts) {
  const Error* error = nullptr;
  ((error = error == nullptr ? make_view_parts::error_of(parts) : error), ...);
  if (error != nullptr) {
    return *error;
  }
  return std::unique_ptr<View>(std::make_unique<ViewType>(make_view_parts::value_of(parts)...));
}

}  // namespace memtrace
