/* What cannot be seen is refused aloud, so that no I/O passes uncounted: io_uring and POSIX AIO.
 *
 * Whoever does not come by here meets the filter (filter.c). io_uring fails with EPERM, as on
 * machines where an administrator has switched it off, and programs fall back to other calls.
 */
#include "shim.h"

#include <aio.h>
#include <fcntl.h>
#include <stdarg.h>

static void count_refusal(const char *what)
{
    static _Atomic bool said;
    atomic_fetch_add_explicit(&the_volume->refused, 1, memory_order_relaxed);
    if (!atomic_exchange_explicit(&said, true, memory_order_relaxed))
        say(what, " is refused: its I/O would pass uncounted; use pread/pwrite or libaio");
}

/* --- liburing, where it is a library: the same refusal, said aloud --- */

extern int io_uring_setup(unsigned entries, void *parameters);
extern int io_uring_queue_init(unsigned entries, void *ring, unsigned flags);
extern int io_uring_queue_init_params(unsigned entries, void *ring, void *parameters);
extern int io_uring_queue_init_mem(unsigned entries, void *ring, void *parameters, void *buffer,
                                   size_t size);

#define REFUSES_RING(name, parameters, arguments)                                       \
    EXPORT int name parameters                                                          \
    {                                                                                   \
        if (!the_volume)                                                                \
            return REAL(name) arguments;                                                \
        count_refusal("io_uring");                                                      \
        return -EPERM;                                                                  \
    }

REFUSES_RING(io_uring_setup, (unsigned entries, void *parameters), (entries, parameters))
REFUSES_RING(io_uring_queue_init, (unsigned entries, void *ring, unsigned flags),
             (entries, ring, flags))
REFUSES_RING(io_uring_queue_init_params, (unsigned entries, void *ring, void *parameters),
             (entries, ring, parameters))
REFUSES_RING(io_uring_queue_init_mem,
             (unsigned entries, void *ring, void *parameters, void *buffer, size_t size),
             (entries, ring, parameters, buffer, size))

/* --- system calls by number: io_uring refused, file calls sent the usual way --- */

static bool answered_here(long number, const long a[6], long *result)
{
    switch (number) {
    case SYS_io_uring_setup:
        count_refusal("io_uring");
        errno = EPERM;
        *result = -1;
        return true;
    case SYS_io_setup:
        count_refusal("io_setup by system call number");
        errno = EPERM;
        *result = -1;
        return true;
    case SYS_openat:
        *result = openat((int)a[0], (const char *)a[1], (int)a[2], (mode_t)a[3]);
        return true;
    case SYS_close:
        *result = close((int)a[0]);
        return true;
    case SYS_read:
        *result = read((int)a[0], (void *)a[1], (size_t)a[2]);
        return true;
    case SYS_write:
        *result = write((int)a[0], (const void *)a[1], (size_t)a[2]);
        return true;
    case SYS_pread64:
        *result = pread64((int)a[0], (void *)a[1], (size_t)a[2], a[3]);
        return true;
    case SYS_pwrite64:
        *result = pwrite64((int)a[0], (const void *)a[1], (size_t)a[2], a[3]);
        return true;
    case SYS_fsync:
        *result = fsync((int)a[0]);
        return true;
    case SYS_fdatasync:
        *result = fdatasync((int)a[0]);
        return true;
    default:
        return false;
    }
}

EXPORT long syscall(long number, ...)
{
    long a[6];
    va_list rest;
    va_start(rest, number);
    for (int i = 0; i < 6; i++)
        a[i] = va_arg(rest, long);
    va_end(rest);
    long result;
    if (the_volume && answered_here(number, a, &result))
        return result;
    return REAL(syscall)(number, a[0], a[1], a[2], a[3], a[4], a[5]);
}

/* --- POSIX AIO: the C library's own threads do its I/O, unseen --- */

#define REFUSES_AIO(name, type)                                                         \
    EXPORT int name(type *call)                                                         \
    {                                                                                   \
        if (!file_of(call->aio_fildes))                                                 \
            return REAL(name)(call);                                                    \
        count_refusal("POSIX AIO");                                                     \
        errno = ENOSYS;                                                                 \
        return -1;                                                                      \
    }

REFUSES_AIO(aio_read, struct aiocb)
REFUSES_AIO(aio_write, struct aiocb)
REFUSES_AIO(aio_read64, struct aiocb64)
REFUSES_AIO(aio_write64, struct aiocb64)

#define REFUSES_LIST(name, type)                                                        \
    EXPORT int name(int mode, type *const calls[], int n, struct sigevent *event)       \
    {                                                                                   \
        for (int i = 0; i < n; i++) {                                                   \
            if (calls[i] && file_of(calls[i]->aio_fildes)) {                            \
                count_refusal("POSIX AIO");                                             \
                errno = ENOSYS;                                                         \
                return -1;                                                              \
            }                                                                           \
        }                                                                               \
        return REAL(name)(mode, calls, n, event);                                       \
    }

REFUSES_LIST(lio_listio, struct aiocb)
REFUSES_LIST(lio_listio64, struct aiocb64)
