// A system call made by the calling function itself. A libc wrapper keeps no frame pointer, so in a
// frame-pointer stack the function that called the wrapper is missing; without one it is there.
#pragma once

#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>

struct SyscallArguments {
  long first = 0, second = 0, third = 0, fourth = 0, fifth = 0, sixth = 0;
};

// What the kernel returns: -errno on failure.
[[gnu::always_inline]] inline long inline_syscall(long number, SyscallArguments arguments = {}) {
#if defined(__x86_64__)
  long result = number;
  register long fourth asm("r10") = arguments.fourth;
  register long fifth asm("r8") = arguments.fifth;
  register long sixth asm("r9") = arguments.sixth;
  asm volatile("syscall"
               : "+a"(result)
               : "D"(arguments.first),
                 "S"(arguments.second),
                 "d"(arguments.third),
                 "r"(fourth),
                 "r"(fifth),
                 "r"(sixth)
               : "rcx", "r11", "memory");
  return result;
#elif defined(__aarch64__)
  register long result asm("x0") = arguments.first;
  register long second asm("x1") = arguments.second;
  register long third asm("x2") = arguments.third;
  register long fourth asm("x3") = arguments.fourth;
  register long fifth asm("x4") = arguments.fifth;
  register long sixth asm("x5") = arguments.sixth;
  register long wanted asm("x8") = number;
  asm volatile("svc #0"
               : "+r"(result)
               : "r"(second), "r"(third), "r"(fourth), "r"(fifth), "r"(sixth), "r"(wanted)
               : "memory");
  return result;
#else
  const long result = ::syscall(number,
                                arguments.first,
                                arguments.second,
                                arguments.third,
                                arguments.fourth,
                                arguments.fifth,
                                arguments.sixth);
  return result == -1 ? -errno : result;
#endif
}

// Pointers as system call arguments.
[[gnu::always_inline]] inline long as_argument(const void* pointer) {
  return reinterpret_cast<long>(pointer);
}
