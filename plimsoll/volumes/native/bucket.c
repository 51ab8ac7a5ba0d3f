/* A limit as a generic cell rate algorithm (virtual scheduling, ITU-T I.371), without locks.
 *
 * TAT, the theoretical arrival time, is when the next unit would be on schedule. A unit may start
 * `tolerance` ahead of it: credits = tolerance x rate. With peak 3,000/s and a lasting 3/s per GiB
 * whose tolerance is 5.4 million units, that is gp2. Units queue rather than being refused: TAT
 * moves on with each, so what is booked later starts later.
 */
#include "volume.h"

#define load(x) atomic_load_explicit(&(x), memory_order_relaxed)
#define store(x, value) atomic_store_explicit(&(x), value, memory_order_relaxed)

void bucket_configure(struct bucket *bucket, const struct limit_config *config, int64_t now_ns)
{
    if (config->units_per_s <= 0) {
        store(bucket->ns_per_unit, 0.0);
        return;
    }
    double ns_per_unit = 1e9 / config->units_per_s;
    int64_t tolerance = (int64_t)(config->credits_max * ns_per_unit);
    store(bucket->tolerance_ns, tolerance);
    store(bucket->tat_ns, now_ns + tolerance - (int64_t)(config->credits * ns_per_unit));
    store(bucket->ns_per_unit, ns_per_unit);
}

int64_t bucket_reserve(struct bucket *bucket, int64_t now_ns, double units)
{
    double ns_per_unit = load(bucket->ns_per_unit);
    if (ns_per_unit == 0.0 || units <= 0)
        return now_ns;
    int64_t cost = (int64_t)(units * ns_per_unit + 0.5);
    int64_t tat = load(bucket->tat_ns);
    int64_t next;
    do {
        next = (tat > now_ns ? tat : now_ns) + cost;
    } while (!atomic_compare_exchange_weak_explicit(&bucket->tat_ns, &tat, next,
                                                    memory_order_relaxed, memory_order_relaxed));
    int64_t start = tat - load(bucket->tolerance_ns);
    return start > now_ns ? start : now_ns;
}

double bucket_credits(const struct bucket *bucket, int64_t now_ns)
{
    double ns_per_unit = load(bucket->ns_per_unit);
    if (ns_per_unit == 0.0)
        return -1;
    int64_t tolerance = load(bucket->tolerance_ns);
    int64_t ahead = load(bucket->tat_ns) - now_ns;
    if (ahead <= 0)
        return (double)tolerance / ns_per_unit;
    return ahead >= tolerance ? 0 : (double)(tolerance - ahead) / ns_per_unit;
}

int64_t bucket_backlog_ns(const struct bucket *bucket, int64_t now_ns)
{
    int64_t wait = load(bucket->tat_ns) - load(bucket->tolerance_ns) - now_ns;
    return load(bucket->ns_per_unit) == 0.0 || wait <= 0 ? 0 : wait;
}
