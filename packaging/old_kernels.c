/* In place of glibc's own in memtrace-static, for kernels before 2.6.39, as RHEL 6 has one: system
 * calls that glibc asks newer ones for, with nothing in their place. */
#define _GNU_SOURCE
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

/* glibc since 2.33: newfstatat(2) with AT_EMPTY_PATH, which fs/stat.c refused. No folder could be
 * opened without. */
int __fstat64(int descriptor, struct stat* status) {
  return (int)syscall(SYS_fstat, descriptor, status);
}

/* glibc since 2.13: prlimit64(2). */
int __getrlimit64(__rlimit_resource_t resource, struct rlimit* limit) {
  return (int)syscall(SYS_getrlimit, resource, limit);
}

int __setrlimit64(__rlimit_resource_t resource, const struct rlimit* limit) {
  return (int)syscall(SYS_setrlimit, resource, limit);
}

/* All names of these objects of libc.a, so that none is linked beside this. */
#define SAME_AS(name) __attribute__((alias(name)))
int __fstat(int, struct stat*) SAME_AS("__fstat64");
int fstat(int, struct stat*) SAME_AS("__fstat64");
int fstat64(int, struct stat64*) SAME_AS("__fstat64");
int __GI___getrlimit(__rlimit_resource_t, struct rlimit*) SAME_AS("__getrlimit64");
int __GI_getrlimit(__rlimit_resource_t, struct rlimit*) SAME_AS("__getrlimit64");
int __getrlimit(__rlimit_resource_t, struct rlimit*) SAME_AS("__getrlimit64");
int getrlimit(__rlimit_resource_t, struct rlimit*) SAME_AS("__getrlimit64");
int getrlimit64(__rlimit_resource_t, struct rlimit64*) SAME_AS("__getrlimit64");
int __setrlimit(__rlimit_resource_t, const struct rlimit*) SAME_AS("__setrlimit64");
int setrlimit(__rlimit_resource_t, const struct rlimit*) SAME_AS("__setrlimit64");
int setrlimit64(__rlimit_resource_t, const struct rlimit64*) SAME_AS("__setrlimit64");
