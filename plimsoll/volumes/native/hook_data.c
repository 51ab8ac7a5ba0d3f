/* Calls that move data. */
#include "shim.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <sys/uio.h>
#include <unistd.h>

#define SYNCS(flags) (((flags) & (RWF_DSYNC | RWF_SYNC)) != 0)

#define MOVES(kind, name, offset, sync, parameters, call)                               \
    EXPORT ssize_t name parameters                                                      \
    {                                                                                   \
        THROUGH_VOLUME(kind, fd, offset, sync, call);                                   \
    }

MOVES(READ, read, HERE, false, (int fd, void *to, size_t n), KERNEL(read, fd, to, n))
MOVES(READ, readv, HERE, false, (int fd, const struct iovec *v, int n), KERNEL(readv, fd, v, (long)n))
MOVES(WRITE, write, HERE, false, (int fd, const void *from, size_t n), KERNEL(write, fd, from, n))
MOVES(WRITE, writev, HERE, false, (int fd, const struct iovec *v, int n), KERNEL(writev, fd, v, (long)n))

/* with an offset; each under two names, which are one where a long has 64 bits */
#define MOVES_AT(kind, name, name64, sync, parameters, call)                            \
    MOVES(kind, name, at, sync, parameters, call)                                       \
    MOVES(kind, name64, at, sync, parameters, call)

MOVES_AT(READ, pread, pread64, false, (int fd, void *to, size_t n, off_t at),
         KERNEL(pread64, fd, to, n, at))
MOVES_AT(READ, preadv, preadv64, false, (int fd, const struct iovec *v, int n, off_t at),
         KERNEL(preadv, fd, v, (long)n, at, 0L))
MOVES_AT(READ, preadv2, preadv64v2, false,
         (int fd, const struct iovec *v, int n, off_t at, int flags),
         KERNEL(preadv2, fd, v, (long)n, at, 0L, (long)flags))
MOVES_AT(WRITE, pwrite, pwrite64, false, (int fd, const void *from, size_t n, off_t at),
         KERNEL(pwrite64, fd, from, n, at))
MOVES_AT(WRITE, pwritev, pwritev64, false, (int fd, const struct iovec *v, int n, off_t at),
         KERNEL(pwritev, fd, v, (long)n, at, 0L))
MOVES_AT(WRITE, pwritev2, pwritev64v2, SYNCS(flags),
         (int fd, const struct iovec *v, int n, off_t at, int flags),
         KERNEL(pwritev2, fd, v, (long)n, at, 0L, (long)flags))

/* what a fortified program calls: the C library's own ends it where the buffer is too small */
extern ssize_t __read_chk(int fd, void *to, size_t n, size_t size);
extern ssize_t __pread_chk(int fd, void *to, size_t n, off_t at, size_t size);
extern ssize_t __pread64_chk(int fd, void *to, size_t n, off64_t at, size_t size);
MOVES(READ, __read_chk, HERE, false, (int fd, void *to, size_t n, size_t size),
      n > size ? REAL(__read_chk)(fd, to, n, size) : KERNEL(read, fd, to, n))
MOVES_AT(READ, __pread_chk, __pread64_chk, false,
         (int fd, void *to, size_t n, off_t at, size_t size),
         n > size ? REAL(__pread_chk)(fd, to, n, at, size) : KERNEL(pread64, fd, to, n, at))

/* --- from one descriptor to another --- */

static ssize_t copied(int from, int64_t from_at, int to, int64_t to_at, int64_t arrived_ns,
                      ssize_t result)
{
    struct op op;
    if (op_begin(&op, READ, from) && !op.error) {
        op.arrived_ns = arrived_ns;
        op_finish(&op, from_at, false, result);
    }
    if (op_begin(&op, WRITE, to) && !op.error) {
        op.arrived_ns = arrived_ns;
        op_finish(&op, to_at, false, result);
    }
    return result;
}

EXPORT ssize_t copy_file_range(int from, off64_t *from_at, int to, off64_t *to_at, size_t n,
                               unsigned flags)
{
    int64_t read_at = from_at ? *from_at : HERE;
    int64_t write_at = to_at ? *to_at : HERE;
    int64_t arrived_ns = now_ns();
    return copied(from, read_at, to, write_at, arrived_ns,
                  KERNEL(copy_file_range, from, from_at, to, to_at, n, (long)flags));
}

#define SENDFILE(name, type)                                                            \
    EXPORT ssize_t name(int to, int from, type *at, size_t n)                           \
    {                                                                                   \
        int64_t read_at = at ? *at : HERE;                                              \
        int64_t arrived_ns = now_ns();                                                  \
        return copied(from, read_at, to, HERE, arrived_ns,                              \
                      CANCELABLE(KERNEL(sendfile, to, from, at, n)));                   \
    }

SENDFILE(sendfile, off_t)
SENDFILE(sendfile64, off64_t)

EXPORT ssize_t splice(int from, off64_t *from_at, int to, off64_t *to_at, size_t n,
                      unsigned flags)
{
    int64_t read_at = from_at ? *from_at : HERE;
    int64_t write_at = to_at ? *to_at : HERE;
    int64_t arrived_ns = now_ns();
    return copied(from, read_at, to, write_at, arrived_ns,
                  CANCELABLE(KERNEL(splice, from, from_at, to, to_at, n, (long)flags)));
}

/* --- space: metadata, which costs no I/O here, but may be out --- */

#define ALLOCATES(name, parameters, arguments, failure)                                 \
    EXPORT int name parameters                                                          \
    {                                                                                   \
        struct op op;                                                                   \
        if (op_begin(&op, WRITE, fd) && op.error)                                       \
            return failure;                                                             \
        return REAL(name) arguments;                                                    \
    }

ALLOCATES(fallocate, (int fd, int mode, off_t at, off_t n), (fd, mode, at, n),
          (errno = op.error, -1))
ALLOCATES(fallocate64, (int fd, int mode, off64_t at, off64_t n), (fd, mode, at, n),
          (errno = op.error, -1))
ALLOCATES(posix_fallocate, (int fd, off_t at, off_t n), (fd, at, n), op.error)
ALLOCATES(posix_fallocate64, (int fd, off64_t at, off64_t n), (fd, at, n), op.error)

/* --- memory maps: their I/O happens in page faults, where it cannot be seen: say so --- */

static void *mapped(int fd, int protection, void *result)
{
    static _Atomic bool said;
    if (result == MAP_FAILED || !file_of(fd) || protection & PROT_EXEC)
        return result;
    atomic_fetch_add_explicit(&the_volume->maps, 1, memory_order_relaxed);
    if (!atomic_exchange_explicit(&said, true, memory_order_relaxed)) {
        int before = errno;
        char path[4200];
        say("I/O through a memory map is not counted: ",
            path_of(fd, path, sizeof path) ? path : "?");
        errno = before;
    }
    return result;
}

/* A volume is no persistent memory. A program that asks for that (MAP_SYNC) is refused, as the kernel
 * refuses it on a disk; so is its next attempt to write the file through memory all the same, which
 * MariaDB makes with its log where that lies in /dev/shm: it writes then, and its I/O is seen. */
static bool asks_for_memory(int fd, int protection, int flags)
{
    struct file *file = flags & MAP_ANONYMOUS ? NULL : file_of(fd);
    if (!file)
        return false;
    uint32_t known = atomic_load_explicit(&file->flags, memory_order_relaxed);
    if ((flags & MAP_TYPE) == MAP_SHARED_VALIDATE && flags & MAP_SYNC)
        atomic_fetch_or_explicit(&file->flags, NO_MEMORY, memory_order_relaxed);
    else if (!(known & NO_MEMORY && flags & MAP_SHARED && protection & PROT_WRITE))
        return false;
    errno = EOPNOTSUPP;
    return true;
}

static void *map(void *where, size_t n, int protection, int flags, int fd, off64_t at)
{
    return (void *)REAL(syscall)(SYS_mmap, where, n, (long)protection, (long)flags, MARKED(fd), at);
}

EXPORT void *mmap(void *where, size_t n, int protection, int flags, int fd, off_t at)
{
    if (asks_for_memory(fd, protection, flags))
        return MAP_FAILED;
    return mapped(flags & MAP_ANONYMOUS ? -1 : fd, protection,
                  map(where, n, protection, flags, fd, at));
}

EXPORT void *mmap64(void *where, size_t n, int protection, int flags, int fd, off64_t at)
{
    if (asks_for_memory(fd, protection, flags))
        return MAP_FAILED;
    return mapped(flags & MAP_ANONYMOUS ? -1 : fd, protection,
                  map(where, n, protection, flags, fd, at));
}
