/* libaio: the host's I/O runs at once; its completions are held back until the volume's are due. */
#include "shim.h"
#include "aio_context.h"

#include <stdlib.h>

extern int io_setup(int depth, aio_id *id);
extern int io_destroy(aio_id id);
extern int io_submit(aio_id id, long n, struct iocb **calls);
extern int io_getevents(aio_id id, long least, long most, struct io_event *events,
                        struct timespec *timeout);
extern int io_pgetevents(aio_id id, long least, long most, struct io_event *events,
                         struct timespec *timeout, void *signals);
extern int io_queue_run(aio_id id);
extern int io_cancel(aio_id id, struct iocb *call, struct io_event *event);

/* As libaio itself does it, and marked: whoever sets one up past us is refused. */
EXPORT int io_setup(int depth, aio_id *id)
{
    if (KERNEL(io_setup, depth, id) != 0)
        return -errno;
    if (the_volume)
        context_open(*id);
    return 0;
}

EXPORT int io_destroy(aio_id id)
{
    int result = REAL(io_destroy)(id);
    if (result == 0)
        context_close(id);
    return result;
}

static int kind_of(const struct iocb *call)
{
    switch (call->aio_lio_opcode) {
    case IOCB_CMD_PREAD:
    case IOCB_CMD_PREADV:
        return READ;
    case IOCB_CMD_PWRITE:
    case IOCB_CMD_PWRITEV:
        return WRITE;
    case IOCB_CMD_FSYNC:
    case IOCB_CMD_FDSYNC:
        return FLUSH;
    default:
        return KINDS;
    }
}

static uint64_t bytes_of(const struct iocb *call)
{
    if (call->aio_lio_opcode != IOCB_CMD_PREADV && call->aio_lio_opcode != IOCB_CMD_PWRITEV)
        return call->aio_nbytes;
    const struct iovec *parts = (const struct iovec *)(uintptr_t)call->aio_buf;
    uint64_t bytes = 0;
    for (uint64_t i = 0; i < call->aio_nbytes; i++)
        bytes += parts[i].iov_len;
    return bytes;
}

/* Every call of a context with us carries a ticket, since its events cannot be told apart else. */
static struct ticket *ticket_for(struct iocb *call)
{
    struct ticket *ticket = calloc(1, sizeof *ticket);
    if (!ticket)
        abort();
    ticket->data = call->aio_data;
    ticket->kind = KINDS;
    struct op op;
    int kind = kind_of(call);
    if (kind != KINDS && op_begin(&op, kind, (int)call->aio_fildes)) {
        ticket->kind = kind;
        ticket->op = op;
    }
    call->aio_data = (uint64_t)(uintptr_t)ticket;
    return ticket;
}

static void book_ticket(struct ticket *ticket, const struct iocb *call)
{
    if (ticket->kind == KINDS)
        return;
    if (ticket->kind == FLUSH) {
        ticket->cost.booking = flush_booking(ticket->op.file, ticket->op.arrived_ns);
        ticket->cost.on_disk = true;
        return;
    }
    bool sync = (call->aio_rw_flags & (RWF_DSYNC | RWF_SYNC)) != 0;
    ticket->cost = op_cost(&ticket->op, call->aio_offset, bytes_of(call), sync);
    if (!ticket->cost.waits)
        ticket->cost.booking.due_ns = ticket->op.arrived_ns;
}

EXPORT int io_submit(aio_id id, long n, struct iocb **calls)
{
    struct context *context = the_volume ? context_of(id) : NULL;
    if (!context)
        return REAL(io_submit)(id, n, calls);
    context_lock(context); /* no event is taken before its due time is known */
    for (long i = 0; i < n; i++)
        ticket_for(calls[i]);
    int taken = REAL(io_submit)(id, n, calls);
    int64_t wait_ns = 0;
    for (long i = 0; i < n; i++) {
        struct ticket *ticket = (struct ticket *)(uintptr_t)calls[i]->aio_data;
        calls[i]->aio_data = ticket->data;
        if (i >= taken) {
            free(ticket);
            continue;
        }
        book_ticket(ticket, calls[i]);
        context->under_way++;
        /* whoever waits on an eventfd would be woken too early: such a call waits here */
        if (calls[i]->aio_flags & IOCB_FLAG_RESFD && ticket->cost.booking.due_ns > wait_ns)
            wait_ns = ticket->cost.booking.due_ns;
    }
    context_unlock(context);
    if (wait_ns)
        wait_until(wait_ns);
    return taken;
}

/* Takes what the host has completed; `waited` tells that it completed while we looked. */
static int harvest(struct context *context, long least, struct timespec *timeout, bool waited)
{
    struct io_event events[64];
    int n = REAL(io_getevents)(context->id, least, 64, events, timeout);
    int64_t done_ns = now_ns();
    context_lock(context);
    for (int i = 0; i < n; i++) {
        struct ticket *ticket = (struct ticket *)(uintptr_t)events[i].data;
        events[i].data = ticket->data;
        if (ticket->op.error)
            events[i].res = -ticket->op.error;
        int64_t due_ns = ticket->cost.booking.due_ns;
        if (ticket->kind != KINDS && ticket->cost.on_disk && events[i].res >= 0) {
            int64_t ended_ns = waited && done_ns > due_ns ? done_ns : due_ns;
            volume_count(the_volume, ticket->kind, ticket->cost.ios, ticket->cost.bytes,
                         ended_ns - ticket->op.arrived_ns);
            if (waited)
                volume_count_late(the_volume, done_ns - due_ns);
        }
        context_push(context, due_ns, &events[i]);
        context->under_way--;
        free(ticket);
    }
    context_unlock(context);
    return n;
}

static struct timespec span(int64_t ns)
{
    ns = ns > 0 ? ns : 0;
    return (struct timespec){ns / 1000000000LL, ns % 1000000000LL};
}

static long take_due(struct context *context, long most, struct io_event *events, int64_t *next)
{
    long taken = 0;
    context_lock(context);
    while (taken < most && context_pop_due(context, now_ns(), &events[taken]))
        taken++;
    *next = context_next_due(context);
    context_unlock(context);
    return taken;
}

static int get_events(struct context *context, long least, long most, struct io_event *events,
                      const struct timespec *timeout)
{
    int64_t deadline = INT64_MAX;
    if (timeout)
        deadline = now_ns() + timeout->tv_sec * 1000000000LL + timeout->tv_nsec;
    long taken = 0;
    struct timespec none = {0, 0};
    for (;;) {
        int64_t next;
        while (context->under_way > 0 && harvest(context, 0, &none, false) == 64)
            ;
        taken += take_due(context, most - taken, events + taken, &next);
        int64_t now = now_ns();
        if (taken >= least || taken == most || now >= deadline)
            return (int)taken;
        int64_t until = next < deadline ? next : deadline;
        if (context->under_way == 0 && next != INT64_MAX) {
            wait_until(until);
            continue;
        }
        struct timespec wait = span(until - now);
        int n = harvest(context, 1, until == INT64_MAX ? NULL : &wait, true);
        if (n < 0)
            return taken ? (int)taken : n;
    }
}

EXPORT int io_getevents(aio_id id, long least, long most, struct io_event *events,
                        struct timespec *timeout)
{
    struct context *context = the_volume ? context_of(id) : NULL;
    if (!context)
        return REAL(io_getevents)(id, least, most, events, timeout);
    return get_events(context, least, most, events, timeout);
}

EXPORT int io_pgetevents(aio_id id, long least, long most, struct io_event *events,
                         struct timespec *timeout, void *signals)
{
    struct context *context = the_volume ? context_of(id) : NULL;
    if (!context || signals)
        return context ? -ENOSYS : REAL(io_pgetevents)(id, least, most, events, timeout, signals);
    return get_events(context, least, most, events, timeout);
}

EXPORT int io_cancel(aio_id id, struct iocb *call, struct io_event *event)
{
    /* the kernel cancels no file I/O; its answer would carry our ticket */
    return the_volume && context_of(id) ? -EAGAIN : REAL(io_cancel)(id, call, event);
}

EXPORT int io_queue_run(aio_id id)
{
    typedef void (*callback)(aio_id, struct iocb *, long, long);
    struct timespec none = {0, 0};
    struct io_event event;
    int n;
    while ((n = io_getevents(id, 0, 1, &event, &none)) == 1)
        ((callback)(uintptr_t)event.data)(id, (struct iocb *)(uintptr_t)event.obj,
                                          (long)event.res, (long)event.res2);
    return n;
}
