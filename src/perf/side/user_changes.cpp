#include "perf/side/user_changes.h"

#include <arpa/inet.h>
#include <linux/cn_proc.h>
#include <linux/connector.h>
#include <linux/filter.h>
#include <linux/netlink.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstddef>
#include <cstring>

namespace memtrace {
namespace {

// proc_event::what; their names were given to an enum of its own in 6.6.
constexpr std::uint32_t kAnswer = 0;      // PROC_EVENT_NONE
constexpr std::uint32_t kUserChange = 4;  // PROC_EVENT_UID
constexpr std::uint32_t kSequence = 1;
constexpr std::size_t kEventAt = NLMSG_HDRLEN + sizeof(cn_msg);
constexpr int kPatienceMs = 200;
// Some 10,000 changes, between two looks that are at most a tenth of a second apart.
constexpr int kRoomBytes = 8 << 20;

struct Message {
  std::uint32_t ack = 0;
  proc_event event{};
  bool complete = false;
};

Message parse(const std::byte* bytes, std::size_t size_bytes) {
  Message message;
  if (size_bytes < kEventAt) {
    return message;
  }
  std::memcpy(&message.ack, bytes + NLMSG_HDRLEN + offsetof(cn_msg, ack), sizeof(message.ack));
  const std::size_t event_bytes = std::min(size_bytes - kEventAt, sizeof(message.event));
  std::memcpy(&message.event, bytes + kEventAt, event_bytes);
  message.complete =
      event_bytes >= offsetof(proc_event, event_data) + sizeof(message.event.event_data.id);
  return message;
}

std::uint32_t what_of(const Message& message) {
  std::uint32_t what = 0;
  std::memcpy(&what, &message.event, sizeof(what));
  return what;
}

// Before 6.6 nobody can ask the connector for some kinds alone: a filter of the socket spares us
// the forks of the whole machine. It sees words as if they had come over the network.
void keep_changes_only(int socket) {
  std::array<sock_filter, 5> code = {{
      {BPF_LD | BPF_W | BPF_ABS, 0, 0, static_cast<std::uint32_t>(kEventAt)},
      {BPF_JMP | BPF_JEQ | BPF_K, 1, 0, htonl(kUserChange)},
      {BPF_JMP | BPF_JEQ | BPF_K, 0, 1, htonl(kAnswer)},
      {BPF_RET | BPF_K, 0, 0, 0xffffffffU},
      {BPF_RET | BPF_K, 0, 0, 0},
  }};
  const sock_fprog program{.len = code.size(), .filter = code.data()};
  (void)::setsockopt(socket, SOL_SOCKET, SO_ATTACH_FILTER, &program, sizeof(program));
}

}  // namespace

std::optional<UserChanges> UserChanges::open() {
  UniqueFd socket(
      ::socket(PF_NETLINK, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, NETLINK_CONNECTOR));
  if (!socket.valid()) {
    return std::nullopt;
  }
  (void)::setsockopt(socket.get(), SOL_SOCKET, SO_RCVBUFFORCE, &kRoomBytes, sizeof(kRoomBytes));
  keep_changes_only(socket.get());
  sockaddr_nl address{};
  address.nl_family = AF_NETLINK;
  address.nl_groups = CN_IDX_PROC;
  const auto* place = reinterpret_cast<const sockaddr*>(&address);
  if (::bind(socket.get(), place, sizeof(address)) != 0) {
    return std::nullopt;
  }
  UserChanges changes(std::move(socket));
  if (!changes.ask(PROC_CN_MCAST_LISTEN) || !changes.wait_for_answer()) {
    return std::nullopt;
  }
  return changes;
}

UserChanges::~UserChanges() {
  if (socket_.valid()) {
    (void)ask(PROC_CN_MCAST_IGNORE);
  }
}

bool UserChanges::ask(std::uint32_t operation) const {
  std::array<std::byte, kEventAt + sizeof(operation)> bytes{};
  nlmsghdr header{};
  header.nlmsg_len = bytes.size();
  header.nlmsg_type = NLMSG_DONE;
  cn_msg message{};
  message.id = {.idx = CN_IDX_PROC, .val = CN_VAL_PROC};
  message.seq = kSequence;
  message.ack = static_cast<std::uint32_t>(::getpid());
  message.len = sizeof(operation);
  std::memcpy(bytes.data(), &header, sizeof(header));
  std::memcpy(bytes.data() + NLMSG_HDRLEN, &message, sizeof(message));
  std::memcpy(bytes.data() + kEventAt, &operation, sizeof(operation));  // proc_cn_mcast_op
  return ::send(socket_.get(), bytes.data(), bytes.size(), 0) > 0;
}

// Answers to others come to all listeners.
bool UserChanges::wait_for_answer() const {
  pollfd wait{.fd = socket_.get(), .events = POLLIN, .revents = 0};
  while (::poll(&wait, 1, kPatienceMs) > 0) {
    std::array<std::byte, 1024> bytes{};
    const ssize_t got = ::recv(socket_.get(), bytes.data(), bytes.size(), 0);
    if (got <= 0) {
      return false;
    }
    const Message message = parse(bytes.data(), static_cast<std::size_t>(got));
    if (what_of(message) == kAnswer && message.ack == static_cast<std::uint32_t>(::getpid()) + 1) {
      return message.event.event_data.ack.err == 0;
    }
  }
  return false;
}

UserChanges::Taken UserChanges::take() {
  Taken taken;
  std::array<std::byte, 1024> bytes{};
  while (true) {
    const ssize_t got = ::recv(socket_.get(), bytes.data(), bytes.size(), 0);
    if (got < 0 && errno == ENOBUFS) {
      taken.lost = true;
      continue;
    }
    if (got <= 0) {
      break;
    }
    const Message message = parse(bytes.data(), static_cast<std::size_t>(got));
    const auto& change = message.event.event_data.id;
    if (message.complete && what_of(message) == kUserChange) {
      taken.changes.push_back({.time_ns = message.event.timestamp_ns,
                               .pid = static_cast<std::uint32_t>(change.process_tgid),
                               .tid = static_cast<std::uint32_t>(change.process_pid),
                               .uid = change.r.ruid});
    }
  }
  std::ranges::stable_sort(taken.changes, {}, &UserChange::time_ns);
  return taken;
}

}  // namespace memtrace
