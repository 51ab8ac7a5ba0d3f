/* The preloaded half: what one process knows of its files, and how one call is put on the volume.
 *
 * Each file uses only those that are named before it:
 * - bucket.c, account.c, cache.c, state.c: the volume itself (volume.h);
 * - files.c: the process's files;
 * - io.c: one call on the volume;
 * - aio_context.c: the calls that libaio has under way;
 * - hook_*.c: the C library's functions that are interposed;
 * - refuse.c: what is refused, and system calls by number, which go to the hooks;
 * - filter.c: what the kernel refuses, and what it shows to the watcher (watcher.c);
 * - attach.c: the start.
 */
#ifndef PLIMSOLL_SHIM_H
#define PLIMSOLL_SHIM_H

#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "volume.h"

#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <time.h>
#include <unistd.h>

/* The C library's own function behind one that we interpose; found at its first call. */
#define REAL(name)                                                                      \
    ({                                                                                  \
        static _Atomic(void *) found_;                                                  \
        void *real_ = atomic_load_explicit(&found_, memory_order_relaxed);              \
        if (!real_) {                                                                   \
            real_ = dlsym(RTLD_NEXT, #name);                                            \
            atomic_store_explicit(&found_, real_, memory_order_relaxed);                \
        }                                                                               \
        (__typeof__(&name))real_;                                                       \
    })

/* Calls that move data are made by number, and marked: in the half of the descriptor that the kernel
 * does not read. By that the filter tells them from those that went past us. */
#define MARK 0x706c696dU /* "plim" */
#define MARKED(fd) ((long)((uint64_t)MARK << 32 | (uint32_t)(fd)))
#define KERNEL(name, fd, ...) REAL(syscall)(SYS_##name, MARKED(fd), __VA_ARGS__)

/* A call that may wait for long, where the C library lets a thread be cancelled. */
#define CANCELABLE(call)                                                                \
    ({                                                                                  \
        int before_;                                                                    \
        pthread_setcanceltype(PTHREAD_CANCEL_ASYNCHRONOUS, &before_);                   \
        __typeof__(call) result_ = call;                                                \
        pthread_setcanceltype(before_, &before_);                                       \
        result_;                                                                        \
    })

#define EXPORT __attribute__((visibility("default")))
#define FDS 262144 /* beyond it open() fails with EMFILE, so that no I/O passes uncounted */
#define HERE (-1)  /* the offset of a call without one */

enum { ON_VOLUME = 1, IS_DIRECT = 2, IS_SYNC = 4, IS_DIRECTORY = 8, NO_MEMORY = 16 };

struct file {
    _Atomic uint32_t flags;
    _Atomic uint32_t busy;
    uint32_t slot; /* of volume->writeback_ns */
    uint64_t id;
    /* the run of contiguous I/O that a further one may still join */
    int kind;
    bool buffered;
    int64_t run_from, run_to; /* offsets */
    int64_t opened_ns, start_ns, due_ns;
    /* buffered reading ahead */
    int64_t read_to, ahead_to, ahead_due_ns;
};

extern struct volume *the_volume; /* NULL until attached */

/* --- files.c --- */
void say(const char *what, const char *detail); /* one line on standard error */
void files_begin(struct volume *volume); /* from now on: classifies open files, and what is opened */
struct file *file_of(int fd);            /* NULL: not on the volume */
int file_opened(int fd); /* classifies a new descriptor; returns it, or -1 and EMFILE */
void file_closed(int fd);
void file_copied(int from, int to);
void file_flags_changed(int fd, int status_flags);
bool file_lock(struct file *file);
void file_unlock(struct file *file);
bool path_of(int fd, char *path, size_t size);

/* --- io.c --- */
struct op {
    struct file *file;
    int fd, kind, error;
    int64_t arrived_ns;
};
struct cost {
    struct booking booking;
    uint64_t ios, bytes;
    bool waits;   /* the caller waits for it; else its next flush does */
    bool on_disk; /* it is I/O of the volume; else a page cache answered */
};

int64_t now_ns(void);
void wait_until(int64_t due_ns);
bool op_begin(struct op *op, int kind, int fd); /* false: not on the volume */
struct cost op_cost(const struct op *op, int64_t offset, uint64_t bytes, bool sync);
ssize_t op_finish(struct op *op, int64_t offset, bool sync, ssize_t result);
int op_finish_flush(struct op *op, int result);
int64_t writeback_due(const struct file *file); /* NULL: of all files */
struct booking flush_booking(const struct file *file, int64_t arrived_ns);

/* A call of the program that moves data: put on the volume if its descriptor is. */
#define THROUGH_VOLUME(kind, fd, offset, sync, call)                                    \
    do {                                                                                \
        struct op op_;                                                                  \
        if (!op_begin(&op_, kind, fd))                                                  \
            return CANCELABLE(call);                                                                \
        if (op_.error) {                                                                \
            errno = op_.error;                                                          \
            return -1;                                                                  \
        }                                                                               \
        return op_finish(&op_, offset, sync, call);                                     \
    } while (0)

/* --- filter.c --- */
void filter_begin(const char *state_path);

#endif
