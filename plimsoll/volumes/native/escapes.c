/* One call that went past the library: whether it moves data of the volume, and how much. */
#define _GNU_SOURCE
#include "escapes.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#define MOST_PARTS 64 /* of a vector that are looked at */
#define NONE (-1)

static pid_t blind_to; /* the last process whose descriptors we may not see */

/* Where a call's arguments say what it moves; NONE: it has no such argument. */
struct move {
    int number;
    int fd;     /* what is read or written */
    int bytes;  /* how many, or how many parts */
    int parts;  /* a vector */
    int source; /* what is read, by this call at its other end too: no more comes than it holds */
    int offset; /* where in the source */
    bool indirect; /* the offset is a pointer to one */
};

static const struct move moves[] = {
    {SYS_read, 0, 2, NONE, 0, NONE, false},
    {SYS_write, 0, 2, NONE, NONE, NONE, false},
    {SYS_pread64, 0, 2, NONE, 0, 3, false},
    {SYS_pwrite64, 0, 2, NONE, NONE, NONE, false},
    {SYS_readv, 0, 2, 1, 0, NONE, false},
    {SYS_writev, 0, 2, 1, NONE, NONE, false},
    {SYS_preadv, 0, 2, 1, 0, 3, false},
    {SYS_pwritev, 0, 2, 1, NONE, NONE, false},
    {SYS_preadv2, 0, 2, 1, 0, 3, false},
    {SYS_pwritev2, 0, 2, 1, NONE, NONE, false},
    {SYS_sendfile, 1, 3, NONE, 1, 2, true},
    {SYS_sendfile, 0, 3, NONE, 1, 2, true},
    {SYS_splice, 0, 4, NONE, 0, 1, true},
    {SYS_splice, 2, 4, NONE, 0, 1, true},
    {SYS_copy_file_range, 0, 4, NONE, 0, 1, true},
    {SYS_copy_file_range, 2, 4, NONE, 0, 1, true},
    {SYS_mmap, 4, NONE, NONE, NONE, NONE, false},
};
#define MOVES ((int)(sizeof moves / sizeof *moves))

static bool lies_on_volume(struct volume *volume, pid_t pid, int fd)
{
    char link[64], path[4200];
    snprintf(link, sizeof link, "/proc/%d/fd/%d", pid, fd);
    ssize_t length = readlink(link, path, sizeof path - 1);
    if (length < 0) {
        if ((errno == EACCES || errno == EPERM) && blind_to != pid) {
            blind_to = pid;
            atomic_fetch_add_explicit(&volume->unwatched, 1, memory_order_relaxed);
        }
        return false;
    }
    path[length] = '\0';
    size_t root = volume->directory_length;
    return strncmp(path, volume->directory, root) == 0 && (path[root] == '/' || !path[root]);
}

static int64_t position_of(pid_t pid, int fd)
{
    char path[64], text[64] = "";
    snprintf(path, sizeof path, "/proc/%d/fdinfo/%d", pid, fd);
    int from = open(path, O_RDONLY | O_CLOEXEC);
    if (from < 0)
        return 0;
    ssize_t length = read(from, text, sizeof text - 1);
    close(from);
    return length > 5 ? atoll(text + sizeof "pos:" - 1) : 0;
}

/* Reads a process's memory, where we may. */
static bool peek(pid_t pid, uint64_t where, void *to, size_t n)
{
    struct iovec here = {to, n}, there = {(void *)(uintptr_t)where, n};
    return process_vm_readv(pid, &here, 1, &there, 1, 0) == (ssize_t)n;
}

static uint64_t bytes_of_parts(pid_t pid, uint64_t where, uint64_t n)
{
    struct iovec parts[MOST_PARTS];
    uint64_t bytes = 0;
    n = n < MOST_PARTS ? n : MOST_PARTS;
    if (peek(pid, where, parts, n * sizeof *parts))
        for (uint64_t i = 0; i < n; i++)
            bytes += parts[i].iov_len;
    return bytes;
}

/* The size of a regular file; -1: it is none. */
static int64_t size_of(pid_t pid, int fd)
{
    char path[64];
    struct stat about;
    snprintf(path, sizeof path, "/proc/%d/fd/%d", pid, fd);
    return stat(path, &about) == 0 && S_ISREG(about.st_mode) ? about.st_size : -1;
}

/* Whether a call may be one by which a program or a shared library is loaded. */
static bool may_load(const struct move *move, const __u64 *arguments)
{
    return move->number == SYS_mmap ? (arguments[3] & MAP_TYPE) == MAP_PRIVATE
                                    : move->source == move->fd && !move->indirect;
}

/* Whether a regular file is a program or a shared library: what is loaded of it is no data.
 * Another kind of file must not even be opened: that would make us a FIFO's reader. */
static bool is_program(pid_t pid, int fd)
{
    char path[64], head[4];
    snprintf(path, sizeof path, "/proc/%d/fd/%d", pid, fd);
    int from = size_of(pid, fd) < 0 ? -1 : open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (from < 0)
        return false;
    ssize_t length = pread(from, head, sizeof head, 0);
    close(from);
    return length == 4 && memcmp(head, "\177ELF", 4) == 0;
}

/* How much a file has from where a call reads it. */
static int64_t left_in(pid_t pid, const struct move *move, const __u64 *arguments)
{
    int fd = (int)arguments[move->source];
    int64_t size = size_of(pid, fd);
    int64_t at = move->offset == NONE ? -1 : (int64_t)arguments[move->offset];
    if (move->indirect && (at == 0 || !peek(pid, (uint64_t)at, &at, sizeof at)))
        at = -1;
    if (size < 0)
        return INT64_MAX; /* a pipe's or a socket's end: nobody knows beforehand */
    int64_t left = size - (at < 0 ? position_of(pid, fd) : at);
    return left > 0 ? left : 0;
}

/* What a call moves: what it asks for, of a read as far as the file goes. -1: nothing.
 * It is 0 where that cannot be known. */
static int64_t bytes_moved(pid_t pid, const struct move *move, const __u64 *arguments)
{
    int64_t bytes = (int64_t)arguments[move->bytes];
    if (bytes == 0 || size_of(pid, (int)arguments[move->fd]) < 0)
        return -1;
    if (move->parts != NONE)
        bytes = (int64_t)bytes_of_parts(pid, arguments[move->parts], arguments[move->bytes]);
    if (move->source == NONE)
        return bytes;
    int64_t left = left_in(pid, move, arguments);
    if (left == INT64_MAX)
        return 0;
    return left == 0 ? -1 : bytes < left ? bytes : left;
}

/* The name of a process's program. */
static void name_of(pid_t pid, char name[NAME_BYTES])
{
    char link[64], path[4200] = "?";
    snprintf(link, sizeof link, "/proc/%d/exe", pid);
    ssize_t length = readlink(link, path, sizeof path - 1);
    path[length > 0 ? length : 1] = '\0';
    const char *slash = strrchr(path, '/');
    snprintf(name, NAME_BYTES, "%.*s", NAME_BYTES - 1, slash ? slash + 1 : path);
}

static struct escaper *escaper_of(struct volume *volume, pid_t pid)
{
    char name[NAME_BYTES] = "";
    name_of(pid, name);
    for (int i = 0; i < ESCAPERS; i++) {
        struct escaper *escaper = &volume->escapers[i];
        if (strcmp(escaper->name, name) == 0 || i == ESCAPERS - 1)
            return escaper;
        if (!*escaper->name) {
            memcpy(escaper->name, name, NAME_BYTES);
            return escaper;
        }
    }
    abort();
}

/* A call is an I/O; but small writes are not, until they fill another page together: a program's
 * messages, line by line, are no load. */
static void count(struct escaper *escaper, bool reads, uint64_t bytes)
{
    uint64_t before = atomic_load_explicit(&escaper->bytes, memory_order_relaxed);
    bool fills = bytes == 0 || (before + bytes - 1) / CACHE_BLOCK != (before - 1) / CACHE_BLOCK;
    atomic_fetch_add_explicit(&escaper->ios, reads || fills, memory_order_relaxed);
    atomic_fetch_add_explicit(&escaper->bytes, bytes, memory_order_relaxed);
    atomic_fetch_add_explicit(&escaper->operations, 1, memory_order_relaxed);
}

void escape_seen(struct volume *volume, const struct seccomp_notif *call)
{
    pid_t pid = (pid_t)call->pid;
    for (int i = 0; i < MOVES; i++) {
        const struct move *move = &moves[i];
        int fd = (int)call->data.args[move->fd];
        if (move->number != call->data.nr || !lies_on_volume(volume, pid, fd) ||
            (may_load(move, call->data.args) && is_program(pid, fd)))
            continue;
        if (move->number == SYS_mmap) {
            atomic_fetch_add_explicit(&volume->maps, 1, memory_order_relaxed);
            continue;
        }
        int64_t bytes = bytes_moved(pid, move, call->data.args);
        if (bytes >= 0)
            count(escaper_of(volume, pid), move->source == move->fd, (uint64_t)bytes);
    }
}
