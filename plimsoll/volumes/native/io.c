/* One call on the volume: what it costs, when it is done, and waiting until then.
 *
 * The host's own I/O runs first and the wait after it, from the time at which the call arrived: the
 * two overlap. Where the host took longer than the volume would have, the difference is counted as
 * lateness, which tells a slow machine from a slow volume.
 */
#include "shim.h"

#include <sys/stat.h>
#include <unistd.h>

#define load(x) atomic_load_explicit(&(x), memory_order_relaxed)
/* A dirty page waits at most about this long for the kernel's flusher (dirty_writeback_centisecs) */
#define DIRTY_NS 5000000000LL
#define MOST_LATE_NS 200000

int64_t now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec * 1000000000LL + now.tv_nsec;
}

/* A sleeper wakes late, by some tens of microseconds: sleeping that much shorter is right on the
 * average. What is allowed for follows what is seen, one sixteenth of the way each time. */
void wait_until(int64_t due_ns)
{
    static _Atomic int64_t usual_ns;
    int64_t usual = load(usual_ns);
    int64_t wake_ns = due_ns - usual;
    struct timespec wake = {wake_ns / 1000000000LL, wake_ns % 1000000000LL};
    while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &wake, NULL) == EINTR)
        ;
    int64_t late = now_ns() - wake_ns;
    if (late < MOST_LATE_NS) /* more is the machine's doing, not the timer's */
        atomic_store_explicit(&usual_ns, usual + (late - usual) / 16, memory_order_relaxed);
}

static uint32_t draw(void) /* xorshift, one per thread */
{
    static __thread uint32_t state;
    if (state == 0)
        state = (uint32_t)((uintptr_t)&state >> 4) ^ (uint32_t)now_ns() ^ 0x9e3779b9u;
    state ^= state << 13;
    state ^= state >> 17;
    state ^= state << 5;
    return state >> 8;
}

bool op_begin(struct op *op, int kind, int fd)
{
    struct file *file = file_of(fd);
    if (!file)
        return false;
    *op = (struct op){.file = file, .fd = fd, .kind = kind};
    if (load(the_volume->fault.error))
        op->error = volume_fault_of(the_volume, kind);
    op->arrived_ns = now_ns();
    return true;
}

static void raise_writeback(const struct file *file, int64_t due_ns)
{
    _Atomic int64_t *slot = &the_volume->writeback_ns[file->slot];
    int64_t held = load(*slot);
    while (held < due_ns && !atomic_compare_exchange_weak_explicit(
                                slot, &held, due_ns, memory_order_relaxed, memory_order_relaxed))
        ;
}

int64_t writeback_due(const struct file *file)
{
    if (file)
        return load(the_volume->writeback_ns[file->slot]);
    int64_t due = 0;
    for (int slot = 0; slot < WRITEBACK_SLOTS; slot++) {
        int64_t held = load(the_volume->writeback_ns[slot]);
        due = held > due ? held : due;
    }
    return due;
}

/* A contiguous I/O joins the run before it: on a device while that is still queued, in the page
 * cache while it is still dirty (there, writing the same bytes again joins it too). */
static bool joins(const struct file *file, const struct op *op, int64_t offset, bool buffered)
{
    if (file->kind != op->kind || file->buffered != buffered || offset > file->run_to)
        return false;
    if (buffered)
        return offset >= file->run_from && op->arrived_ns - file->opened_ns < DIRTY_NS;
    return offset == file->run_to && file->start_ns > op->arrived_ns;
}

static bool has_read_cache(void)
{
    return the_volume->read_cache_sets && load(the_volume->read_cache_on);
}

/* Whether the read cache holds all that an operation reads; it holds it from now on, as it does what
 * is written: the extension of a buffer pool is written to with the volume. */
static bool in_read_cache(const struct op *op, int64_t offset, uint64_t bytes)
{
    bool held = true;
    for (int64_t at = offset / CACHE_BLOCK; at * CACHE_BLOCK < offset + (int64_t)bytes; at++)
        held &= read_cache_touch(the_volume, op->file->id, (uint64_t)at);
    return held;
}

static struct cost book(const struct op *op, int64_t offset, uint64_t bytes, bool buffered)
{
    struct file *file = op->file;
    struct cost cost = {.waits = true, .on_disk = true};
    if (has_read_cache() && in_read_cache(op, offset, bytes) && op->kind == READ) {
        double latency = load(the_volume->latency_ns[READ][draw() % LATENCY_DRAWS]);
        cost.on_disk = false;
        cost.booking.start_ns = op->arrived_ns;
        cost.booking.due_ns =
            op->arrived_ns + (int64_t)(load(the_volume->read_cache_scale) * latency);
        return cost;
    }
    int64_t end = offset + (int64_t)bytes;
    bool locked = file_lock(file);
    bool joined = locked && joins(file, op, offset, buffered);
    if (joined) {
        int64_t to = end > file->run_to ? end : file->run_to;
        cost.bytes = (uint64_t)(to - file->run_to);
        cost.ios = ios_of(the_volume, (uint64_t)(to - file->run_from)) -
                   ios_of(the_volume, (uint64_t)(file->run_to - file->run_from));
    } else {
        cost.bytes = bytes;
        cost.ios = ios_of(the_volume, bytes);
    }
    cost.booking = volume_reserve(the_volume, op->kind, (double)cost.ios, cost.bytes,
                                  op->arrived_ns, draw());
    if (joined) {
        if (cost.booking.start_ns < file->start_ns)
            cost.booking.start_ns = file->start_ns;
        if (cost.booking.due_ns < file->due_ns)
            cost.booking.due_ns = file->due_ns;
        file->run_to = end > file->run_to ? end : file->run_to;
    } else if (locked) {
        file->kind = op->kind;
        file->buffered = buffered;
        file->run_from = offset;
        file->run_to = end;
        file->opened_ns = op->arrived_ns;
    }
    if (locked) {
        file->start_ns = cost.booking.start_ns;
        file->due_ns = cost.booking.due_ns;
        file_unlock(file);
    }
    return cost;
}

static struct cost write_buffered(const struct op *op, int64_t offset, uint64_t bytes, bool sync)
{
    if (the_volume->cache_sets)
        for (int64_t at = offset / CACHE_BLOCK; at * CACHE_BLOCK < offset + (int64_t)bytes; at++)
            cache_touch(the_volume, op->file->id, (uint64_t)at);
    struct cost cost = book(op, offset, bytes, !sync);
    if (!sync) {
        raise_writeback(op->file, cost.booking.due_ns);
        cost.waits = false;
    }
    return cost;
}

/* The kernel reads ahead of a sequential reader: one I/O for many small reads. */
static struct cost read_ahead(const struct op *op, int64_t offset, uint64_t bytes)
{
    struct file *file = op->file;
    int64_t end = offset + (int64_t)bytes;
    struct cost cost = {.waits = true};
    if (end <= file->ahead_to) {
        cost.booking.due_ns = file->ahead_due_ns;
        return cost;
    }
    int64_t from = file->ahead_to > offset ? file->ahead_to : offset;
    int64_t to = from + the_volume->readahead_bytes;
    struct stat about;
    if (fstat(op->fd, &about) == 0 && to > about.st_size)
        to = about.st_size;
    to = to > end ? to : end;
    cost = book(op, from, (uint64_t)(to - from), false);
    file->ahead_to = to;
    file->ahead_due_ns = cost.booking.due_ns;
    return cost;
}

static bool all_cached(const struct op *op, int64_t offset, uint64_t bytes)
{
    bool held = true;
    for (int64_t at = offset / CACHE_BLOCK; at * CACHE_BLOCK < offset + (int64_t)bytes; at++)
        held &= cache_touch(the_volume, op->file->id, (uint64_t)at);
    return held;
}

static struct cost read_buffered(const struct op *op, int64_t offset, uint64_t bytes)
{
    struct file *file = op->file;
    if (the_volume->cache_sets && all_cached(op, offset, bytes))
        return (struct cost){.waits = true, .booking.due_ns = op->arrived_ns};
    bool sequential = offset == file->read_to;
    file->read_to = offset + (int64_t)bytes;
    if (sequential && the_volume->readahead_bytes)
        return read_ahead(op, offset, bytes);
    file->ahead_to = -1;
    return book(op, offset, bytes, false);
}

struct cost op_cost(const struct op *op, int64_t offset, uint64_t bytes, bool sync)
{
    uint32_t flags = load(op->file->flags);
    if (flags & IS_DIRECT)
        return book(op, offset, bytes, false);
    if (op->kind == READ)
        return read_buffered(op, offset, bytes);
    return write_buffered(op, offset, bytes, sync || flags & IS_SYNC);
}

ssize_t op_finish(struct op *op, int64_t offset, bool sync, ssize_t result)
{
    if (result <= 0)
        return result;
    int before = errno;
    int64_t done_ns = now_ns();
    if (offset == HERE)
        offset = (int64_t)lseek(op->fd, 0, SEEK_CUR) - result;
    struct cost cost = op_cost(op, offset, (uint64_t)result, sync);
    int64_t due_ns = cost.booking.due_ns;
    if (cost.on_disk) {
        int64_t ended_ns = cost.waits && done_ns > due_ns ? done_ns : due_ns;
        volume_count(the_volume, op->kind, cost.ios, cost.bytes, ended_ns - op->arrived_ns);
        if (cost.waits)
            volume_count_late(the_volume, done_ns - due_ns);
    }
    if (!cost.waits) /* as the kernel slows a writer down when too much is dirty */
        due_ns -= load(the_volume->backlog_ns);
    if (due_ns > done_ns)
        wait_until(due_ns);
    errno = before;
    return result;
}

struct booking flush_booking(const struct file *file, int64_t arrived_ns)
{
    struct booking booking = {.start_ns = arrived_ns, .due_ns = arrived_ns};
    double ios = load(the_volume->flush_ios);
    if (ios > 0)
        booking = volume_reserve(the_volume, FLUSH, ios, 0, arrived_ns, draw());
    int64_t written_ns = writeback_due(file);
    if (written_ns > booking.due_ns)
        booking.due_ns = written_ns;
    int64_t stall_to = load(the_volume->fault.stall_to_ns);
    if (booking.due_ns >= load(the_volume->fault.stall_from_ns) && booking.due_ns < stall_to)
        booking.due_ns = stall_to;
    return booking;
}

int op_finish_flush(struct op *op, int result)
{
    if (result != 0)
        return result;
    int before = errno;
    int64_t done_ns = now_ns();
    if (op->file)
        op->file->kind = -1; /* what is clean is not joined */
    struct booking booking = flush_booking(op->file, op->arrived_ns);
    int64_t ended_ns = done_ns > booking.due_ns ? done_ns : booking.due_ns;
    uint64_t ios = (uint64_t)load(the_volume->flush_ios);
    volume_count(the_volume, FLUSH, ios, 0, ended_ns - op->arrived_ns);
    volume_count_late(the_volume, done_ns - booking.due_ns);
    if (booking.due_ns > done_ns)
        wait_until(booking.due_ns);
    errno = before;
    return result;
}
