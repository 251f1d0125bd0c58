/* Fails one system call of a run: the n-th of those below, counted over all its processes in a file that they share.
 *
 *   cc -shared -fPIC -O1 -o fault.so fault.c -ldl
 *   LD_PRELOAD=./fault.so FAULT_FILE=counter program
 *
 * The file holds four numbers of 64 bits: whether calls are counted, how many were, which one fails, and with what;
 * instead of it a process is killed (SIGKILL) where that is negative.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <unistd.h>

static volatile int64_t *state;

__attribute__((constructor)) static void begin(void) {
  const char *name = getenv("FAULT_FILE");
  if (!name) return;
  int file = (int)syscall(SYS_openat, AT_FDCWD, name, O_RDWR | O_CLOEXEC);
  if (file < 0) return;
  void *map = mmap(NULL, 4 * sizeof(int64_t), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  if (map != MAP_FAILED) state = map;
  syscall(SYS_close, file);
}

static int fails(void) {
  if (!state || !state[0]) return 0;
  if (__atomic_add_fetch(&state[1], 1, __ATOMIC_SEQ_CST) != state[2]) return 0;
  if (state[3] < 0) syscall(SYS_kill, getpid(), SIGKILL);
  errno = (int)state[3];
  return 1;
}

/* Neither devices nor the kernel's own files are on a disk. */
static int counted(const char *path) {
  return path && strncmp(path, "/dev/", 5) && strncmp(path, "/proc/", 6) && strncmp(path, "/sys/", 5);
}

#define REAL(name) static __typeof__(&name) real; if (!real) real = (__typeof__(&name))dlsym(RTLD_NEXT, #name)
#define MODE va_list list; va_start(list, flags); mode_t mode = (flags & (O_CREAT | O_TMPFILE)) ? va_arg(list, mode_t) : 0; va_end(list)

int open(const char *path, int flags, ...) { MODE; REAL(open); return counted(path) && fails() ? -1 : real(path, flags, mode); }
int open64(const char *path, int flags, ...) { MODE; REAL(open64); return counted(path) && fails() ? -1 : real(path, flags, mode); }
ssize_t write(int file, const void *data, size_t size) { REAL(write); return fails() ? -1 : real(file, data, size); }
ssize_t pwrite(int file, const void *data, size_t size, off_t at) { REAL(pwrite); return fails() ? -1 : real(file, data, size, at); }
ssize_t pwrite64(int file, const void *data, size_t size, off64_t at) { REAL(pwrite64); return fails() ? -1 : real(file, data, size, at); }
ssize_t pread(int file, void *data, size_t size, off_t at) { REAL(pread); return fails() ? -1 : real(file, data, size, at); }
ssize_t pread64(int file, void *data, size_t size, off64_t at) { REAL(pread64); return fails() ? -1 : real(file, data, size, at); }
int fsync(int file) { REAL(fsync); return fails() ? -1 : real(file); }
int fdatasync(int file) { REAL(fdatasync); return fails() ? -1 : real(file); }
int ftruncate(int file, off_t size) { REAL(ftruncate); return fails() ? -1 : real(file, size); }
int ftruncate64(int file, off64_t size) { REAL(ftruncate64); return fails() ? -1 : real(file, size); }
int mkdir(const char *path, mode_t mode) { REAL(mkdir); return fails() ? -1 : real(path, mode); }
int rename(const char *from, const char *to) { REAL(rename); return fails() ? -1 : real(from, to); }
int link(const char *from, const char *to) { REAL(link); return fails() ? -1 : real(from, to); }
int unlink(const char *path) { REAL(unlink); return fails() ? -1 : real(path); }
int pipe2(int ends[2], int flags) { REAL(pipe2); return fails() ? -1 : real(ends, flags); }
int socketpair(int domain, int type, int protocol, int ends[2]) { REAL(socketpair); return fails() ? -1 : real(domain, type, protocol, ends); }
int chdir(const char *path) { REAL(chdir); return fails() ? -1 : real(path); }
pid_t fork(void) { REAL(fork); return fails() ? -1 : real(); }
pid_t vfork(void) { return fails() ? -1 : fork(); }
