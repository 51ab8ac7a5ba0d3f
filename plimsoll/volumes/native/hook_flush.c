/* Calls that make data durable: they always reach the host's disk. */
#include "shim.h"

#include <fcntl.h>
#include <unistd.h>

#define FLUSHES(name)                                                                   \
    EXPORT int name(int fd)                                                             \
    {                                                                                   \
        struct op op;                                                                   \
        if (!op_begin(&op, FLUSH, fd))                                                  \
            return REAL(name)(fd);                                                      \
        if (op.error) {                                                                 \
            errno = op.error;                                                           \
            return -1;                                                                  \
        }                                                                               \
        return op_finish_flush(&op, REAL(name)(fd));                                    \
    }

FLUSHES(fsync)
FLUSHES(fdatasync)

EXPORT int sync_file_range(int fd, off64_t at, off64_t n, unsigned flags)
{
    struct op op;
    int waits = flags & (SYNC_FILE_RANGE_WAIT_BEFORE | SYNC_FILE_RANGE_WAIT_AFTER);
    if (!waits || !op_begin(&op, FLUSH, fd))
        return REAL(sync_file_range)(fd, at, n, flags);
    if (op.error) {
        errno = op.error;
        return -1;
    }
    return op_finish_flush(&op, REAL(sync_file_range)(fd, at, n, flags));
}

EXPORT int syncfs(int fd)
{
    struct op op;
    if (!op_begin(&op, FLUSH, fd))
        return REAL(syncfs)(fd);
    op.file = NULL; /* all files */
    return op_finish_flush(&op, REAL(syncfs)(fd));
}

EXPORT void sync(void)
{
    struct op op = {.kind = FLUSH, .arrived_ns = now_ns()};
    REAL(sync)();
    if (the_volume)
        op_finish_flush(&op, 0);
}
