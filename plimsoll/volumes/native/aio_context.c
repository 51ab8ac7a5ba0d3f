/* libaio contexts of this process, and for each a heap of completions that are not yet due. */
#include "aio_context.h"

#include <stdlib.h>

static struct context *contexts;
static pthread_mutex_t contexts_mutex = PTHREAD_MUTEX_INITIALIZER;

void context_open(aio_id id)
{
    struct context *context = calloc(1, sizeof *context);
    if (!context)
        abort();
    context->id = id;
    pthread_mutex_init(&context->mutex, NULL);
    pthread_mutex_lock(&contexts_mutex);
    context->next = contexts;
    contexts = context;
    pthread_mutex_unlock(&contexts_mutex);
}

struct context *context_of(aio_id id)
{
    pthread_mutex_lock(&contexts_mutex);
    struct context *context = contexts;
    while (context && context->id != id)
        context = context->next;
    pthread_mutex_unlock(&contexts_mutex);
    return context;
}

void context_close(aio_id id)
{
    pthread_mutex_lock(&contexts_mutex);
    struct context **link = &contexts;
    while (*link && (*link)->id != id)
        link = &(*link)->next;
    struct context *context = *link;
    if (context)
        *link = context->next;
    pthread_mutex_unlock(&contexts_mutex);
    if (context) {
        free(context->heap);
        free(context);
    }
}

void context_lock(struct context *context)
{
    pthread_mutex_lock(&context->mutex);
}

void context_unlock(struct context *context)
{
    pthread_mutex_unlock(&context->mutex);
}

static void swap(struct held *a, struct held *b)
{
    struct held kept = *a;
    *a = *b;
    *b = kept;
}

void context_push(struct context *context, int64_t due_ns, const struct io_event *event)
{
    if (context->held == context->room) {
        context->room = context->room ? 2 * context->room : 64;
        context->heap = realloc(context->heap, (size_t)context->room * sizeof *context->heap);
        if (!context->heap)
            abort();
    }
    struct held *heap = context->heap;
    long at = context->held++;
    heap[at] = (struct held){due_ns, *event};
    for (; at > 0 && heap[at].due_ns < heap[(at - 1) / 2].due_ns; at = (at - 1) / 2)
        swap(&heap[at], &heap[(at - 1) / 2]);
}

bool context_pop_due(struct context *context, int64_t now_ns, struct io_event *event)
{
    struct held *heap = context->heap;
    if (context->held == 0 || heap[0].due_ns > now_ns)
        return false;
    *event = heap[0].event;
    heap[0] = heap[--context->held];
    for (long at = 0;;) {
        long child = 2 * at + 1;
        if (child >= context->held)
            return true;
        if (child + 1 < context->held && heap[child + 1].due_ns < heap[child].due_ns)
            child++;
        if (heap[at].due_ns <= heap[child].due_ns)
            return true;
        swap(&heap[at], &heap[child]);
        at = child;
    }
}

int64_t context_next_due(const struct context *context)
{
    return context->held ? context->heap[0].due_ns : INT64_MAX;
}
