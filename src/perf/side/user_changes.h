// Changes of users as the kernel's process connector reports them: setuid(2), setresuid(2) and
// similar calls, by any caller in any user namespace, with the user as the first namespace counts
// it. Documentation/driver-api/connector.rst, drivers/connector/cn_proc.c: since 2.6.15, with
// CONFIG_PROC_EVENTS; for callers with CAP_NET_ADMIN in the first user, process and network
// namespaces. Tracepoints of these calls would report the same, but then each system call of the
// machine takes the slow way: 160 ns more for one that takes 390.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "os/unique_fd.h"

namespace memtrace {

struct UserChange {
  std::uint64_t time_ns = 0;  // CLOCK_MONOTONIC
  std::uint32_t pid = 0;
  std::uint32_t tid = 0;
  std::uint32_t uid = 0;  // the real one
};

class UserChanges {
 public:
  // Nothing if the kernel does not report them. Changes from then on are reported.
  static std::optional<UserChanges> open();

  UserChanges(const UserChanges&) = delete;
  UserChanges& operator=(const UserChanges&) = delete;
  UserChanges(UserChanges&&) = default;
  UserChanges& operator=(UserChanges&&) = default;
  // Kernels before 6.6 count listeners, and go on making messages for one that does not take leave.
  ~UserChanges();

  struct Taken {
    std::vector<UserChange> changes;  // by time
    bool lost = false;
  };

  // What has come since the last call.
  Taken take();

 private:
  explicit UserChanges(UniqueFd socket) : socket_(std::move(socket)) {}

  bool ask(std::uint32_t operation) const;
  bool wait_for_answer() const;

  UniqueFd socket_;
};

}  // namespace memtrace
