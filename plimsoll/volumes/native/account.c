/* What one operation costs, when it is done, and what is counted of it. */
#include "volume.h"

#include <errno.h>

#define load(x) atomic_load_explicit(&(x), memory_order_relaxed)
#define add(x, value) atomic_fetch_add_explicit(&(x), value, memory_order_relaxed)

uint64_t ios_of(const struct volume *volume, uint64_t bytes)
{
    return (bytes + volume->io_bytes - 1) / volume->io_bytes;
}

static bool counts_bytes(int limit)
{
    return limit == PEAK_BYTES || limit == LASTING_BYTES || limit == INSTANCE_PEAK_BYTES || limit == INSTANCE_LASTING_BYTES;
}

static double slowness(struct volume *volume, int64_t now_ns)
{
    struct fault_state *fault = &volume->fault;
    double factor = load(fault->factor);
    bool slow = factor > 1.0 && now_ns >= load(fault->slow_from_ns) &&
                now_ns < load(fault->slow_to_ns);
    return slow ? factor : 1.0;
}

struct booking volume_reserve(struct volume *volume, int kind, double ios, uint64_t bytes,
                              int64_t now_ns, uint32_t draw)
{
    double factor = slowness(volume, now_ns);
    struct booking booking = {.start_ns = now_ns};
    for (int i = 0; i < LIMITS; i++) {
        double units = factor * (counts_bytes(i) ? (double)bytes : ios);
        int64_t start = bucket_reserve(&volume->buckets[i], now_ns, units);
        if (start > booking.start_ns)
            booking.start_ns = start;
    }
    uint32_t latency = load(volume->latency_ns[kind == READ ? READ : WRITE][draw % LATENCY_DRAWS]);
    booking.due_ns = booking.start_ns + (int64_t)(factor * latency);
    int64_t stall_to = load(volume->fault.stall_to_ns);
    if (booking.due_ns > load(volume->fault.stall_from_ns) && booking.due_ns < stall_to)
        booking.due_ns = stall_to;
    return booking;
}

int volume_fault_of(struct volume *volume, int kind)
{
    struct fault_state *fault = &volume->fault;
    int error = load(fault->error);
    if (error == 0 || (error == ENOSPC && kind != WRITE))
        return 0;
    if (atomic_fetch_sub_explicit(&fault->error_after, 1, memory_order_relaxed) > 0)
        return 0;
    atomic_store_explicit(&fault->error_after, 0, memory_order_relaxed);
    int64_t count = load(fault->error_count);
    if (count >= 0 && atomic_fetch_sub_explicit(&fault->error_count, 1, memory_order_relaxed) <= 0) {
        atomic_store_explicit(&fault->error, 0, memory_order_relaxed);
        return 0;
    }
    add(volume->failed, 1);
    return error;
}

/* Log-linear: exact below 8 us, then eight buckets to each doubling (an error of 12.5 % at most). */
uint32_t histogram_index(uint64_t us)
{
    if (us < 8)
        return (uint32_t)us;
    uint32_t doubling = 63 - (uint32_t)__builtin_clzll(us);
    uint32_t index = (doubling - 2) * 8 + (uint32_t)((us >> (doubling - 3)) & 7);
    return index < HISTOGRAM_BUCKETS ? index : HISTOGRAM_BUCKETS - 1;
}

uint64_t histogram_upper_us(uint32_t index)
{
    if (index < 8)
        return index;
    uint32_t shift = index / 8 - 1;
    return ((uint64_t)(8 + index % 8 + 1) << shift) - 1;
}

void volume_count(struct volume *volume, int kind, uint64_t ios, uint64_t bytes, int64_t time_ns)
{
    struct kind_state *state = &volume->kinds[kind];
    uint64_t ns = time_ns > 0 ? (uint64_t)time_ns : 0;
    add(state->operations, 1);
    add(state->ios, ios);
    add(state->bytes, bytes);
    add(state->time_ns, ns);
    add(state->histogram[histogram_index(ns / 1000)], 1);
}

void volume_count_late(struct volume *volume, int64_t late_ns)
{
    if (late_ns <= 0)
        return;
    add(volume->late, 1);
    add(volume->late_ns, (uint64_t)late_ns);
}
