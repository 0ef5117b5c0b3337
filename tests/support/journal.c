/* Preloaded into a process, writes down everything that the process does to the files below one directory:
 * what it writes, renames and removes, and what it flushes. `device.py` reads the journal and makes of it what a
 * disk may hold after a power cut.
 *
 * JOURNAL_ROOT is the directory, as an absolute path; JOURNAL_FILE takes the records; JOURNAL_FLUSH_US is the
 * longest time that a flush takes, microseconds. A flush is only written down and takes its time: the device is
 * the journal. A record follows the change and precedes its return, so whatever the process was told is in the
 * journal, however the process ends. What cannot be followed (shared writable mappings and the like) ends the
 * process with a message.
 *
 * cc -shared -fPIC -O2 -o journal.so journal.c -lpthread
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

enum kind { CREATE = 1, WRITE, RESIZE, FLUSH_BEGIN, FLUSH_END, RENAME, REMOVE, MKDIR, LINK };

/* Followed by a path and a second part: the bytes of a write, or the other path. */
struct record {
  uint32_t kind;
  uint32_t path_length;
  uint64_t file; /* the inode */
  uint64_t number; /* offset, size, or the number of a flush */
  uint64_t rest_length;
};

#define FILES (1 << 20)

/* Inodes of open files below the directory, by descriptor; 0 is for all others. */
static _Atomic uint64_t inodes[FILES];
static char root[PATH_MAX];
static size_t root_length;
static int journal = -1;
static unsigned long longest_flush;
static atomic_ulong flushes;
/* Held for a change and its record, so that the journal has the order of the changes. */
static pthread_mutex_t order = PTHREAD_MUTEX_INITIALIZER;

static void give_up(const char *why) {
  char text[256];
  int length = snprintf(text, sizeof text, "journal.so: %s\n", why);
  syscall(SYS_write, 2, text, length);
  abort();
}

__attribute__((constructor)) static void begin(void) {
  const char *directory = getenv("JOURNAL_ROOT"), *file = getenv("JOURNAL_FILE"), *flush = getenv("JOURNAL_FLUSH_US");
  if (!directory || !file) return;
  root_length = strlen(directory);
  if (directory[0] != '/' || root_length >= sizeof root) give_up("JOURNAL_ROOT must be an absolute path");
  memcpy(root, directory, root_length + 1);
  journal = syscall(SYS_openat, AT_FDCWD, file, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
  if (journal < 0) give_up("cannot open JOURNAL_FILE");
  longest_flush = flush ? strtoul(flush, NULL, 10) : 0;
}

/* Whether a path is the directory or below it. */
static int below(const char *path) {
  return journal >= 0 && path && strncmp(path, root, root_length) == 0 && (path[root_length] == '/' || !path[root_length]);
}

/* The same for the calls that take a directory's descriptor. */
static int below_at(int directory, const char *path) {
  if (path[0] == '/') return below(path);
  if (directory >= 0 && directory < FILES && inodes[directory]) give_up("a path relative to an open directory");
  return 0;
}

static uint64_t inode(int fd) {
  return fd >= 0 && fd < FILES ? inodes[fd] : 0;
}

static void note(enum kind kind, uint64_t file, uint64_t number, const char *path, const void *rest, size_t rest_length) {
  if (path) path += root_length;
  struct record record = {kind, path ? strlen(path) : 0, file, number, rest_length};
  struct iovec parts[] = {
      {&record, sizeof record}, {(void *)path, record.path_length}, {(void *)rest, rest_length}};
  if (syscall(SYS_writev, journal, parts, 3) != (long)(sizeof record + record.path_length + rest_length))
    give_up("cannot write the journal");
}

static void note_both(enum kind kind, const char *from, const char *to) {
  if (!below(from) || !below(to)) give_up("a rename or link over the directory's border");
  note(kind, 0, 0, from, to + root_length, strlen(to + root_length));
}

static uint64_t inode_of(int fd, struct stat *about) {
  if (fstat(fd, about) != 0) give_up("fstat");
  return about->st_ino;
}

/* --- names --- */

static int open_at(int directory, const char *path, int flags, mode_t mode) {
  int followed = below_at(directory, path);
  if (!followed) return syscall(SYS_openat, directory, path, flags, mode);
  if ((flags & O_TMPFILE) == O_TMPFILE) give_up("O_TMPFILE");
  pthread_mutex_lock(&order);
  int fresh = (flags & O_CREAT) && syscall(SYS_faccessat, AT_FDCWD, path, F_OK) != 0;
  int fd = syscall(SYS_openat, directory, path, flags, mode);
  int error = errno;
  if (fd >= FILES) give_up("too many open files");
  if (fd >= 0) {
    struct stat about;
    uint64_t file = inode_of(fd, &about);
    inodes[fd] = file;
    if (fresh) note(CREATE, file, 0, path, NULL, 0);
    else if (flags & O_TRUNC) note(RESIZE, file, 0, NULL, NULL, 0);
  }
  pthread_mutex_unlock(&order);
  errno = error;
  return fd;
}

#define MODE(flags, mode)                        \
  mode_t mode = 0;                               \
  if ((flags) & (O_CREAT | O_TMPFILE)) {         \
    va_list rest;                                \
    va_start(rest, flags);                       \
    mode = va_arg(rest, int);                    \
    va_end(rest);                                \
  }

int open(const char *path, int flags, ...) {
  MODE(flags, mode)
  return open_at(AT_FDCWD, path, flags, mode);
}
int open64(const char *path, int flags, ...) {
  MODE(flags, mode)
  return open_at(AT_FDCWD, path, flags | O_LARGEFILE, mode);
}
int openat(int directory, const char *path, int flags, ...) {
  MODE(flags, mode)
  return open_at(directory, path, flags, mode);
}
int openat64(int directory, const char *path, int flags, ...) {
  MODE(flags, mode)
  return open_at(directory, path, flags | O_LARGEFILE, mode);
}
int creat(const char *path, mode_t mode) { return open_at(AT_FDCWD, path, O_CREAT | O_WRONLY | O_TRUNC, mode); }
int creat64(const char *path, mode_t mode) { return creat(path, mode); }

FILE *fopen(const char *path, const char *mode) {
  int flags = strchr(mode, '+') ? O_RDWR : mode[0] == 'r' ? O_RDONLY : O_WRONLY;
  if (mode[0] == 'w') flags |= O_CREAT | O_TRUNC;
  if (mode[0] == 'a') flags |= O_CREAT | O_APPEND;
  /* The library writes to its streams by calls of its own. */
  if (flags != O_RDONLY && below(path)) give_up("a stream (fopen) for writing");
  int fd = open_at(AT_FDCWD, path, flags | (strchr(mode, 'e') ? O_CLOEXEC : 0), 0666);
  if (fd < 0) return NULL;
  inodes[fd] = 0;
  FILE *stream = fdopen(fd, mode);
  if (!stream) syscall(SYS_close, fd);
  return stream;
}
FILE *fopen64(const char *path, const char *mode) { return fopen(path, mode); }

int close(int fd) {
  if (fd >= 0 && fd < FILES) inodes[fd] = 0;
  return syscall(SYS_close, fd);
}

static int copied(int from, int to) {
  if (to >= 0 && to < FILES) inodes[to] = inode(from);
  return to;
}
int dup(int fd) { return copied(fd, syscall(SYS_dup, fd)); }
int dup3(int fd, int to, int flags) { return copied(fd, syscall(SYS_dup3, fd, to, flags)); }
int dup2(int fd, int to) { return fd == to ? syscall(SYS_fcntl, fd, F_GETFD) < 0 ? -1 : fd : dup3(fd, to, 0); }

int fcntl(int fd, int command, ...) {
  va_list rest;
  va_start(rest, command);
  long argument = va_arg(rest, long);
  va_end(rest);
  long result = syscall(SYS_fcntl, fd, command, argument);
  return command == F_DUPFD || command == F_DUPFD_CLOEXEC ? copied(fd, result) : (int)result;
}
int fcntl64(int fd, int command, ...) {
  va_list rest;
  va_start(rest, command);
  long argument = va_arg(rest, long);
  va_end(rest);
  return fcntl(fd, command, argument);
}

int renameat2(int from_directory, const char *from, int to_directory, const char *to, unsigned flags) {
  int followed = below_at(from_directory, from) | below_at(to_directory, to);
  if (followed && flags & ~RENAME_NOREPLACE) give_up("renameat2 with flags");
  if (followed) pthread_mutex_lock(&order);
  int result = syscall(SYS_renameat2, from_directory, from, to_directory, to, flags), error = errno;
  if (followed && result == 0) note_both(RENAME, from, to);
  if (followed) pthread_mutex_unlock(&order);
  errno = error;
  return result;
}
int renameat(int from_directory, const char *from, int to_directory, const char *to) {
  return renameat2(from_directory, from, to_directory, to, 0);
}
int rename(const char *from, const char *to) { return renameat2(AT_FDCWD, from, AT_FDCWD, to, 0); }

int linkat(int from_directory, const char *from, int to_directory, const char *to, int flags) {
  int followed = below_at(from_directory, from) | below_at(to_directory, to);
  if (followed) pthread_mutex_lock(&order);
  int result = syscall(SYS_linkat, from_directory, from, to_directory, to, flags), error = errno;
  if (followed && result == 0) note_both(LINK, from, to);
  if (followed) pthread_mutex_unlock(&order);
  errno = error;
  return result;
}
int link(const char *from, const char *to) { return linkat(AT_FDCWD, from, AT_FDCWD, to, 0); }

int unlinkat(int directory, const char *path, int flags) {
  int followed = below_at(directory, path);
  if (followed) pthread_mutex_lock(&order);
  int result = syscall(SYS_unlinkat, directory, path, flags), error = errno;
  if (followed && result == 0) note(REMOVE, 0, 0, path, NULL, 0);
  if (followed) pthread_mutex_unlock(&order);
  errno = error;
  return result;
}
int unlink(const char *path) { return unlinkat(AT_FDCWD, path, 0); }
int rmdir(const char *path) { return unlinkat(AT_FDCWD, path, AT_REMOVEDIR); }
int remove(const char *path) {
  int result = unlink(path);
  return result != 0 && (errno == EISDIR || errno == EPERM) ? rmdir(path) : result;
}

int mkdirat(int directory, const char *path, mode_t mode) {
  int followed = below_at(directory, path);
  if (followed) pthread_mutex_lock(&order);
  int result = syscall(SYS_mkdirat, directory, path, mode), error = errno;
  if (followed && result == 0) {
    struct stat about;
    if (stat(path, &about) != 0) give_up("stat");
    note(MKDIR, about.st_ino, 0, path, NULL, 0);
  }
  if (followed) pthread_mutex_unlock(&order);
  errno = error;
  return result;
}
int mkdir(const char *path, mode_t mode) { return mkdirat(AT_FDCWD, path, mode); }

int symlinkat(const char *target, int directory, const char *path) {
  if (below_at(directory, path)) give_up("a symbolic link");
  return syscall(SYS_symlinkat, target, directory, path);
}
int symlink(const char *target, const char *path) { return symlinkat(target, AT_FDCWD, path); }

/* --- bytes --- */

static ssize_t written(int fd, const struct iovec *parts, int count, off_t at) {
  uint64_t file = inode(fd);
  if (!file) return at < 0 ? syscall(SYS_writev, fd, parts, count) : syscall(SYS_pwritev, fd, parts, count, at, 0L);
  pthread_mutex_lock(&order);
  ssize_t done = at < 0 ? syscall(SYS_writev, fd, parts, count) : syscall(SYS_pwritev, fd, parts, count, at, 0L);
  int error = errno;
  if (done > 0) {
    if (at < 0) at = syscall(SYS_lseek, fd, 0L, SEEK_CUR) - done;
    size_t left = done;
    for (int part = 0; left > 0; part++) {
      size_t length = parts[part].iov_len < left ? parts[part].iov_len : left;
      note(WRITE, file, at, NULL, parts[part].iov_base, length);
      at += length;
      left -= length;
    }
  }
  pthread_mutex_unlock(&order);
  errno = error;
  return done;
}

ssize_t write(int fd, const void *bytes, size_t length) {
  if (!inode(fd)) return syscall(SYS_write, fd, bytes, length);
  struct iovec part = {(void *)bytes, length};
  return written(fd, &part, 1, -1);
}
ssize_t pwrite(int fd, const void *bytes, size_t length, off_t at) {
  struct iovec part = {(void *)bytes, length};
  return written(fd, &part, 1, at);
}
ssize_t pwrite64(int fd, const void *bytes, size_t length, off_t at) { return pwrite(fd, bytes, length, at); }
ssize_t writev(int fd, const struct iovec *parts, int count) { return written(fd, parts, count, -1); }
ssize_t pwritev(int fd, const struct iovec *parts, int count, off_t at) { return written(fd, parts, count, at); }
ssize_t pwritev64(int fd, const struct iovec *parts, int count, off_t at) { return written(fd, parts, count, at); }
ssize_t pwritev2(int fd, const struct iovec *parts, int count, off_t at, int flags) {
  if (inode(fd) && flags) give_up("pwritev2 with flags");
  return flags ? syscall(SYS_pwritev2, fd, parts, count, at, 0L, flags) : written(fd, parts, count, at);
}

static int resized(int fd, int (*change)(int fd, const long *arguments), const long *arguments) {
  uint64_t file = inode(fd);
  if (!file) return change(fd, arguments);
  pthread_mutex_lock(&order);
  int result = change(fd, arguments), error = errno;
  if (result == 0) {
    struct stat about;
    inode_of(fd, &about);
    note(RESIZE, file, about.st_size, NULL, NULL, 0);
  }
  pthread_mutex_unlock(&order);
  errno = error;
  return result;
}

static int cut(int fd, const long *arguments) { return syscall(SYS_ftruncate, fd, arguments[0]); }
int ftruncate(int fd, off_t length) { return resized(fd, cut, (long[]){length}); }
int ftruncate64(int fd, off_t length) { return ftruncate(fd, length); }
int truncate(const char *path, off_t length) {
  int fd = open_at(AT_FDCWD, path, O_WRONLY | O_CLOEXEC, 0);
  if (fd < 0) return -1;
  int result = ftruncate(fd, length), error = errno;
  close(fd);
  errno = error;
  return result;
}
int truncate64(const char *path, off_t length) { return truncate(path, length); }

static int reserve(int fd, const long *arguments) {
  return syscall(SYS_fallocate, fd, arguments[0], arguments[1], arguments[2]);
}
int fallocate(int fd, int mode, off_t from, off_t length) {
  if (inode(fd) && mode & FALLOC_FL_PUNCH_HOLE) {
    /* Room that was reserved beyond the end may be given back; holes in what was written may not be made. */
    struct stat about;
    inode_of(fd, &about);
    if (from < about.st_size) give_up("a hole punched into what was written");
  } else if (inode(fd) && mode & ~FALLOC_FL_KEEP_SIZE) {
    give_up("fallocate with other flags");
  }
  return resized(fd, reserve, (long[]){mode, from, length});
}
int fallocate64(int fd, int mode, off_t from, off_t length) { return fallocate(fd, mode, from, length); }
int posix_fallocate(int fd, off_t from, off_t length) { return fallocate(fd, 0, from, length) == 0 ? 0 : errno; }
int posix_fallocate64(int fd, off_t from, off_t length) { return posix_fallocate(fd, from, length); }

/* --- flushes --- */

static int flush(int fd, long call) {
  uint64_t file = inode(fd);
  if (!file) return syscall(call, fd);
  uint64_t number = atomic_fetch_add(&flushes, 1);
  pthread_mutex_lock(&order);
  note(FLUSH_BEGIN, file, number, NULL, NULL, 0);
  pthread_mutex_unlock(&order);
  if (longest_flush) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    long microseconds = (now.tv_nsec / 7 ^ now.tv_nsec / 1009) % longest_flush;
    struct timespec pause = {microseconds / 1000000, microseconds % 1000000 * 1000};
    nanosleep(&pause, NULL);
  }
  pthread_mutex_lock(&order);
  note(FLUSH_END, file, number, NULL, NULL, 0);
  pthread_mutex_unlock(&order);
  return 0;
}
int fsync(int fd) { return flush(fd, SYS_fsync); }
int fdatasync(int fd) { return flush(fd, SYS_fdatasync); }

/* --- what cannot be followed --- */

int syncfs(int fd) {
  if (inode(fd)) give_up("syncfs");
  return syscall(SYS_syncfs, fd);
}
void *mmap(void *address, size_t length, int protection, int flags, int fd, off_t at) {
  if (inode(fd) && flags & (MAP_SHARED | MAP_SHARED_VALIDATE) && protection & PROT_WRITE) give_up("a shared writable mapping");
  return (void *)syscall(SYS_mmap, address, length, protection, flags, fd, at);
}
void *mmap64(void *address, size_t length, int protection, int flags, int fd, off_t at) {
  return mmap(address, length, protection, flags, fd, at);
}
ssize_t copy_file_range(int from, off64_t *from_at, int to, off64_t *to_at, size_t length, unsigned flags) {
  if (inode(to)) {
    errno = ENOSYS; /* who calls it then copies by write */
    return -1;
  }
  return syscall(SYS_copy_file_range, from, from_at, to, to_at, length, flags);
}
ssize_t sendfile(int to, int from, off_t *at, size_t length) {
  if (inode(to)) {
    errno = EINVAL;
    return -1;
  }
  return syscall(SYS_sendfile, to, from, at, length);
}
ssize_t sendfile64(int to, int from, off_t *at, size_t length) { return sendfile(to, from, at, length); }
