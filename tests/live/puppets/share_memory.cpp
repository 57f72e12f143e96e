// share_memory NAME: System V segments of 4,096, 8,192 and 65,536 bytes, made in make_segments();
// each is attached and detached twice, the first is removed, and removing it again fails; the other
// two stay, and their ids are printed. A memfd called NAME of 20,480 bytes, and a POSIX object
// /NAME of 12,288, are mapped shared; the latter is unlinked again.
#include <fcntl.h>
#include <sys/ipc.h>
#include <sys/mman.h>
#include <sys/shm.h>
#include <unistd.h>

#include <array>
#include <string>

#include "tests/live/puppets/puppet.h"

namespace {

constexpr std::array<std::size_t, 3> kBytes = {4'096, 8'192, 65'536};

void map_shared(int fd, long bytes) {
  if (fd < 0 || ftruncate(fd, bytes) != 0) {
    give_up("ftruncate", errno);
  }
  void* place =
      mmap(nullptr, static_cast<std::size_t>(bytes), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  if (place == MAP_FAILED) {
    give_up("mmap", errno);
  }
}

}  // namespace

[[gnu::noinline]] void make_segments(std::array<int, 3>& ids) {
  for (std::size_t i = 0; i < ids.size(); ++i) {
    ids.at(i) = shmget(IPC_PRIVATE, kBytes.at(i), IPC_CREAT | 0600);
    if (ids.at(i) < 0) {
      give_up("shmget", errno);
    }
  }
}

void use_segments(const std::array<int, 3>& ids) {
  for (const int id : ids) {
    for (int i = 0; i < 2; ++i) {
      const void* place = shmat(id, nullptr, 0);
      if (shmdt(place) != 0) {
        give_up("shmdt", errno);
      }
    }
  }
}

int main(int argc, char** argv) {
  if (argc < 2) {
    std::fprintf(stderr, "usage: %s NAME\n", argv[0]);
    return 2;
  }
  std::array<int, 3> ids{};
  make_segments(ids);
  use_segments(ids);
  shmctl(ids[0], IPC_RMID, nullptr);
  shmctl(ids[0], IPC_RMID, nullptr);
  map_shared(memfd_create(argv[1], MFD_CLOEXEC), 20'480);
  const std::string name = std::string("/") + argv[1];
  map_shared(shm_open(name.c_str(), O_RDWR | O_CREAT | O_EXCL, 0600), 12'288);
  shm_unlink(name.c_str());
  std::printf("%d %d\n", ids[1], ids[2]);
  return 0;
}
