/*
 * Preloaded into a process (LD_PRELOAD): makes writes and flushes of certain files slow, or makes them fail with EIO.
 * A test controls the faults while the process runs, through a small file that the test and the process have mapped
 * (FAULTY_DISK_CONTROL). The file consists of 32-bit words:
 *
 *   0  microseconds added to each write              3  number of next small writes (< 512 bytes) that fail
 *   1  microseconds added to each flush              4  number of next flushes that fail
 *   2  number of next larger writes that fail        5  number of flushes requested so far
 *   6  number of writes and flushes so far           7  position of the call that fails, from 1; 0: no call fails
 *   8  whether all calls after that call fail, too
 *
 * FAULTY_DISK_FILES: prefix of the paths of the affected files.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

enum { write_us, flush_us, failing_writes, failing_small_writes, failing_flushes, flushes, calls, failing_call, failing_on, words };

static _Atomic int *control;
static const char *prefix;

__attribute__((constructor)) static void begin(void) {
  const char *path = getenv("FAULTY_DISK_CONTROL");
  prefix = getenv("FAULTY_DISK_FILES");
  if (path == NULL || prefix == NULL) return;
  int fd = open(path, O_RDWR | O_CLOEXEC);
  if (fd < 0) return;
  void *map = mmap(NULL, words * sizeof(int), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  close(fd);
  if (map != MAP_FAILED) control = map;
}

static int concerns(int fd) {
  char link[64], path[PATH_MAX];
  if (control == NULL) return 0;
  snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
  ssize_t length = readlink(link, path, sizeof path - 1);
  if (length < 0) return 0;
  path[length] = 0;
  return strncmp(path, prefix, strlen(prefix)) == 0;
}

/* Delays the call as the test requires. Returns 1 if the call must fail. */
static int strikes(int fd, int us, int failing) {
  int before = errno;
  if (!concerns(fd)) {
    errno = before;
    return 0;
  }
  if (us == flush_us) atomic_fetch_add(&control[flushes], 1);
  int call = atomic_fetch_add(&control[calls], 1) + 1;
  int first = atomic_load(&control[failing_call]);
  if (first > 0 && (call == first || (call > first && atomic_load(&control[failing_on])))) {
    errno = EIO;
    return 1;
  }
  /* Sleeps in short steps, so that waiting calls continue soon after the test ends the delay. */
  for (int slept = 0; slept < atomic_load(&control[us]); slept += 10000) {
    struct timespec pause = {0, 10000000};
    nanosleep(&pause, NULL);
  }
  int left = atomic_load(&control[failing]);
  while (left > 0 && !atomic_compare_exchange_weak(&control[failing], &left, left - 1)) {
  }
  errno = left > 0 ? EIO : before;
  return left > 0;
}

#define WRITES(name, size, parameters, arguments)                                   \
  ssize_t name parameters {                                                         \
    static ssize_t(*real) parameters;                                               \
    if (real == NULL) real = (ssize_t(*) parameters)dlsym(RTLD_NEXT, #name);        \
    int failing = (size) < 512 ? failing_small_writes : failing_writes;             \
    return strikes(fd, write_us, failing) ? -1 : real arguments;                    \
  }
#define FLUSHES(name)                                                         \
  int name(int fd) {                                                          \
    static int (*real)(int);                                                  \
    if (real == NULL) real = (int (*)(int))dlsym(RTLD_NEXT, #name);           \
    return strikes(fd, flush_us, failing_flushes) ? -1 : real(fd);   \
  }

WRITES(write, size, (int fd, const void *data, size_t size), (fd, data, size))
WRITES(pwrite, size, (int fd, const void *data, size_t size, off_t at), (fd, data, size, at))
WRITES(pwrite64, size, (int fd, const void *data, size_t size, off64_t at), (fd, data, size, at))
WRITES(writev, SSIZE_MAX, (int fd, const struct iovec *parts, int count), (fd, parts, count))
WRITES(pwritev, SSIZE_MAX, (int fd, const struct iovec *parts, int count, off_t at), (fd, parts, count, at))
WRITES(pwritev64, SSIZE_MAX, (int fd, const struct iovec *parts, int count, off64_t at), (fd, parts, count, at))
FLUSHES(fsync)
FLUSHES(fdatasync)
