// The stack of an event, made when somebody first asks for it: nobody asks most events, frees and
// the ends of page faults, and to make a stack costs more than all else of an event.
#pragma once

#include <utility>

#include "base/ids.h"

namespace memtrace {

// Makes the stack of the current event, as of its process's mappings at this moment.
class StackMaker {
 public:
  StackMaker() = default;
  StackMaker(const StackMaker&) = delete;
  StackMaker& operator=(const StackMaker&) = delete;
  StackMaker(StackMaker&&) = delete;
  StackMaker& operator=(StackMaker&&) = delete;

  virtual StackId make_stack() = 0;

 protected:
  ~StackMaker() = default;
};

class EventStack {
 public:
  EventStack() = default;

  EventStack(StackId id) : id_(id) {}  // NOLINT(google-explicit-constructor)

  // To be asked for before the next event, which the maker is of then; it outlives this.
  explicit EventStack(StackMaker& maker) : maker_(&maker) {}

  // A copy may be kept for later, so it is made of what is known now.
  EventStack(const EventStack& other) : id_(other.id()) {}

  EventStack& operator=(const EventStack& other) {
    if (this != &other) {
      id_ = other.id();
      maker_ = nullptr;
    }
    return *this;
  }

  EventStack(EventStack&& other) noexcept
      : id_(other.id_), maker_(std::exchange(other.maker_, nullptr)) {}

  EventStack& operator=(EventStack&& other) noexcept {
    id_ = other.id_;
    maker_ = std::exchange(other.maker_, nullptr);
    return *this;
  }

  ~EventStack() = default;

  StackId id() const {
    if (maker_ != nullptr) {
      id_ = std::exchange(maker_, nullptr)->make_stack();
    }
    return id_;
  }

  operator StackId() const { return id(); }  // NOLINT(google-explicit-constructor)

  bool valid() const { return id().valid(); }

 private:
  mutable StackId id_;
  mutable StackMaker* maker_ = nullptr;
};

}  // namespace memtrace
