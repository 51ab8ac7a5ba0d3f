/* Replays a history on the emulated volume's own core in virtual time: benchmarks/advise.py.
 *
 * Each second's I/Os arrive evenly: in batches of 5 ms in a second above the peak, of 100 ms while
 * I/Os wait, else in one batch, which books the same units.
 */
#include "volume.h"

#define SECOND 1000000000LL

struct replayed {
    double late, all; /* I/Os that queued longer than `late_ns`, and all */
};

static void spread(double *queue, int64_t minutes, int64_t from_ns, int64_t to_ns, double ios)
{
    for (int64_t minute = from_ns / (60 * SECOND); from_ns < to_ns && minute < minutes; minute++) {
        int64_t end_ns = (minute + 1) * 60 * SECOND;
        int64_t until_ns = to_ns < end_ns ? to_ns : end_ns;
        queue[minute] += ios * (double)(until_ns - from_ns) / 60e9;
        from_ns = until_ns;
    }
}

/* `done` and `queue` are means of each minute: I/Os a second that were completed, and in progress.
 * Ends once `most_late` I/Os were late: whether the rest is does not matter any more. */
struct replayed replay(struct volume *volume, const double *ios, const double *bytes,
                       int64_t seconds, int64_t late_ns, double most_late, double *done,
                       double *queue)
{
    struct replayed total = {0, 0};
    int64_t minutes = seconds / 60;
    bool waits = false;
    for (int64_t second = 0; second < seconds && total.late <= most_late; second++) {
        int64_t at_ns = second * SECOND;
        double needs_s = 0;
        for (int i = 0; i < LIMITS; i++) {
            bool of_bytes = i == PEAK_BYTES || i == INSTANCE_PEAK_BYTES;
            bool peak = of_bytes || i == PEAK_IOPS || i == INSTANCE_PEAK_IOPS;
            double peak_s = (of_bytes ? bytes[second] : ios[second]) * volume->buckets[i].ns_per_unit / 1e9;
            if (peak && peak_s > needs_s)
                needs_s = peak_s;
        }
        int batches = needs_s > 0.98 ? 200 : waits ? 10 : 1;
        double each = ios[second] / batches, each_bytes = bytes[second] / batches;
        waits = false;
        for (int batch = 0; batch < batches && each > 0; batch++) {
            int64_t now_ns = at_ns + batch * (SECOND / batches);
            struct booking booking = volume_reserve(volume, READ, each, (uint64_t)each_bytes,
                                                    now_ns, (uint32_t)(second * 389 + batch));
            bool late = booking.start_ns - now_ns > late_ns;
            waits = booking.start_ns > now_ns;
            total.late += late ? each : 0;
            total.all += each;
            spread(queue, minutes, now_ns, booking.due_ns, each);
            int64_t minute = booking.due_ns / (60 * SECOND);
            if (minute < minutes)
                done[minute] += each / 60;
        }
    }
    return total;
}
