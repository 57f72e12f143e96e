// exec_later MILLISECONDS PROGRAM ARGUMENT...: executes the program after this time. It has no C
// library, and so no allocator.
#include <stddef.h>
#include <sys/syscall.h>
#include <time.h>

static long system_call(long number, const void* first, const void* second, const void* third) {
  long result;
  __asm__ volatile("syscall"
                   : "=a"(result)
                   : "a"(number), "D"(first), "S"(second), "d"(third)
                   : "rcx", "r11", "memory");
  return result;
}

static long number_of(const char* text) {
  long number = 0;
  for (; *text != 0; ++text) {
    number = number * 10 + (*text - '0');
  }
  return number;
}

__attribute__((used)) void begin(const long* stack) {
  const char* const* const arguments = (const char* const*)(stack + 1);
  const struct timespec time = {0, number_of(arguments[1]) * 1000000};
  system_call(SYS_nanosleep, &time, NULL, NULL);
  system_call(SYS_execve, arguments[2], arguments + 2, arguments + stack[0] + 1);
  system_call(SYS_exit, (const void*)1, NULL, NULL);
}

__asm__(
    ".globl _start\n"
    "_start: mov %rsp, %rdi\n"
    "and $-16, %rsp\n"
    "call begin\n");
