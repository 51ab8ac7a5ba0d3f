/* What is kept of one libaio context: how much is under way, and completions that are not yet due. */
#ifndef PLIMSOLL_AIO_CONTEXT_H
#define PLIMSOLL_AIO_CONTEXT_H

#include "shim.h"

#include <linux/aio_abi.h>
#include <pthread.h>
#include <sys/uio.h>

typedef void *aio_id; /* libaio's io_context_t */

struct ticket { /* travels through the kernel in the place of the caller's data */
    uint64_t data;
    int kind; /* KINDS: not on the volume */
    struct op op;
    struct cost cost;
};

struct held {
    int64_t due_ns;
    struct io_event event;
};

struct context {
    aio_id id;
    struct context *next;
    pthread_mutex_t mutex;
    _Atomic long under_way; /* with the host */
    long held, room;        /* a heap, the earliest due first */
    struct held *heap;
};

void context_open(aio_id id);
void context_close(aio_id id);
struct context *context_of(aio_id id);
void context_lock(struct context *context);
void context_unlock(struct context *context);
void context_push(struct context *context, int64_t due_ns, const struct io_event *event);
bool context_pop_due(struct context *context, int64_t now_ns, struct io_event *event);
int64_t context_next_due(const struct context *context); /* INT64_MAX: nothing is held */

#endif
