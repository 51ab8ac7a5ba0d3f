/* Calls that make, copy or close descriptors. */
#include "shim.h"

#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#define MODE_OF(flags)                                                                  \
    ({                                                                                  \
        mode_t mode_ = 0;                                                               \
        if ((flags) & (O_CREAT | O_TMPFILE)) {                                          \
            va_list rest_;                                                              \
            va_start(rest_, flags);                                                     \
            mode_ = va_arg(rest_, mode_t);                                              \
            va_end(rest_);                                                              \
        }                                                                               \
        mode_;                                                                          \
    })

EXPORT int open(const char *path, int flags, ...)
{
    return file_opened(REAL(open)(path, flags, MODE_OF(flags)));
}

EXPORT int open64(const char *path, int flags, ...)
{
    return file_opened(REAL(open64)(path, flags, MODE_OF(flags)));
}

EXPORT int openat(int at, const char *path, int flags, ...)
{
    return file_opened(REAL(openat)(at, path, flags, MODE_OF(flags)));
}

EXPORT int openat64(int at, const char *path, int flags, ...)
{
    return file_opened(REAL(openat64)(at, path, flags, MODE_OF(flags)));
}

/* what a fortified program calls */
EXPORT int __open_2(const char *path, int flags)
{
    return file_opened(REAL(open)(path, flags));
}

EXPORT int __open64_2(const char *path, int flags)
{
    return file_opened(REAL(open64)(path, flags));
}

EXPORT int __openat_2(int at, const char *path, int flags)
{
    return file_opened(REAL(openat)(at, path, flags));
}

EXPORT int __openat64_2(int at, const char *path, int flags)
{
    return file_opened(REAL(openat64)(at, path, flags));
}

#define OPENS(type, name, parameters, arguments)                                        \
    EXPORT type name parameters                                                         \
    {                                                                                   \
        return file_opened(REAL(name) arguments);                                       \
    }

OPENS(int, creat, (const char *path, mode_t mode), (path, mode))
OPENS(int, creat64, (const char *path, mode_t mode), (path, mode))
OPENS(int, mkstemp, (char *name), (name))
OPENS(int, mkstemp64, (char *name), (name))
OPENS(int, mkostemp, (char *name, int flags), (name, flags))
OPENS(int, mkostemp64, (char *name, int flags), (name, flags))
OPENS(int, mkstemps, (char *name, int suffix), (name, suffix))
OPENS(int, mkstemps64, (char *name, int suffix), (name, suffix))
OPENS(int, mkostemps, (char *name, int suffix, int flags), (name, suffix, flags))
OPENS(int, mkostemps64, (char *name, int suffix, int flags), (name, suffix, flags))
/* never files, but they may get the number of one whose closing was not seen */
OPENS(int, socket, (int domain, int type, int protocol), (domain, type, protocol))
OPENS(int, accept, (int fd, __SOCKADDR_ARG address, socklen_t *size), (fd, address, size))
OPENS(int, accept4, (int fd, __SOCKADDR_ARG address, socklen_t *size, int flags),
      (fd, address, size, flags))
OPENS(int, epoll_create1, (int flags), (flags))

#define OPENS_PAIR(name, parameters, arguments)                                         \
    EXPORT int name parameters                                                          \
    {                                                                                   \
        int result = REAL(name) arguments;                                              \
        if (result == 0) {                                                              \
            file_opened(pair[0]);                                                       \
            file_opened(pair[1]);                                                       \
        }                                                                               \
        return result;                                                                  \
    }

OPENS_PAIR(pipe, (int pair[2]), (pair))
OPENS_PAIR(pipe2, (int pair[2], int flags), (pair, flags))
OPENS_PAIR(socketpair, (int domain, int type, int protocol, int pair[2]),
           (domain, type, protocol, pair))

/* A stream of the volume that is only read, or only written, stands before the C library's own, so
 * that its calls come by here: PostgreSQL's backends each read some files so when they start. */
static ssize_t stream_read(void *behind, char *to, size_t n)
{
    return read(fileno(behind), to, n);
}

static ssize_t stream_write(void *behind, const char *from, size_t n)
{
    size_t done = 0;
    while (done < n) { /* as the C library's own streams do, where some was taken */
        ssize_t written = write(fileno(behind), from + done, n - done);
        if (written <= 0)
            break;
        done += (size_t)written;
    }
    return (ssize_t)done; /* fewer is an error: fopencookie(3) */
}

static int stream_seek(void *behind, off64_t *at, int whence)
{
    off64_t reached = lseek64(fileno(behind), *at, whence);
    *at = reached < 0 ? *at : reached;
    return reached < 0 ? -1 : 0;
}

static int stream_close(void *behind)
{
    return fclose(behind);
}

static FILE *through_us(FILE *behind, const char *mode)
{
    cookie_io_functions_t calls = {stream_read, stream_write, stream_seek, stream_close};
    if (mode[0] == 'a' || strpbrk(mode, "+,") || !file_of(fileno(behind)))
        return behind;
    FILE *stream = fopencookie(behind, mode, calls);
    if (!stream)
        return behind;
    stream->_fileno = fileno(behind); /* as the C library's own: its fileno() answers it */
    return stream;
}

/* What other streams do stays inside the C library: the watcher sees it. A stream's descriptor may be
 * used too. */
#define OPENS_STREAM(name, parameters, arguments, after)                                \
    EXPORT FILE *name parameters                                                        \
    {                                                                                   \
        FILE *stream = REAL(name) arguments;                                            \
        if (!stream || fileno(stream) < 0)                                              \
            return stream;                                                              \
        file_opened(fileno(stream));                                                    \
        return after;                                                                   \
    }

OPENS_STREAM(fopen, (const char *path, const char *mode), (path, mode), through_us(stream, mode))
OPENS_STREAM(fopen64, (const char *path, const char *mode), (path, mode), through_us(stream, mode))
OPENS_STREAM(freopen, (const char *path, const char *mode, FILE *old), (path, mode, old), stream)
OPENS_STREAM(freopen64, (const char *path, const char *mode, FILE *old), (path, mode, old), stream)

EXPORT int fclose(FILE *stream)
{
    file_closed(fileno(stream));
    return REAL(fclose)(stream);
}

EXPORT int close(int fd)
{
    file_closed(fd);
    return REAL(close)(fd);
}

EXPORT int close_range(unsigned first, unsigned last, int flags)
{
    if (!(flags & 4 /* CLOSE_RANGE_CLOEXEC */))
        for (unsigned fd = first; fd <= last && fd < FDS; fd++)
            file_closed((int)fd);
    return REAL(close_range)(first, last, flags);
}

EXPORT void closefrom(int first)
{
    for (int fd = first < 0 ? 0 : first; fd < FDS; fd++)
        file_closed(fd);
    REAL(closefrom)(first);
}

EXPORT int dup(int fd)
{
    int copy = REAL(dup)(fd);
    file_copied(fd, copy);
    return copy;
}

EXPORT int dup2(int fd, int to)
{
    int copy = REAL(dup2)(fd, to);
    if (copy != fd)
        file_copied(fd, copy);
    return copy;
}

EXPORT int dup3(int fd, int to, int flags)
{
    int copy = REAL(dup3)(fd, to, flags);
    file_copied(fd, copy);
    return copy;
}

static int after_fcntl(int fd, int command, void *argument, int result)
{
    if (result >= 0 && (command == F_DUPFD || command == F_DUPFD_CLOEXEC))
        file_copied(fd, result);
    if (result == 0 && command == F_SETFL)
        file_flags_changed(fd, (int)(intptr_t)argument);
    return result;
}

#define FCNTL(name)                                                                     \
    EXPORT int name(int fd, int command, ...)                                           \
    {                                                                                   \
        va_list rest;                                                                   \
        va_start(rest, command);                                                        \
        void *argument = va_arg(rest, void *);                                          \
        va_end(rest);                                                                   \
        return after_fcntl(fd, command, argument, REAL(name)(fd, command, argument));   \
    }

FCNTL(fcntl)
FCNTL(fcntl64)
