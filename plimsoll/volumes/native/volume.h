/* The emulated volume: one state file, mapped by every process that uses the volume.
 *
 * All times are nanoseconds of CLOCK_MONOTONIC. Everything that processes share is atomic, nobody
 * ever holds a lock, so a process may be killed at any instruction without harm to the others.
 */
#ifndef PLIMSOLL_VOLUME_H
#define PLIMSOLL_VOLUME_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define VOLUME_MAGIC 0x6c6c6f736d696c70ULL /* "plimsoll" */
#define VOLUME_LAYOUT 4                    /* raised whenever a structure below changes */

#define LATENCY_DRAWS 1024 /* equally likely latencies: any distribution, without libm */
#define HISTOGRAM_BUCKETS 256
#define WRITEBACK_SLOTS 1024
#define CACHE_BLOCK 4096
#define CACHE_WAYS 8
#define ESCAPERS 8 /* programs told apart by name; the last one stands for all others */
#define NAME_BYTES 16

enum kind { READ, WRITE, FLUSH, KINDS };

/* Each is one GCRA: `peak` holds at every moment, `lasting` has credits for its tolerance. */
enum limit {
    PEAK_IOPS,
    LASTING_IOPS,
    PEAK_BYTES,
    LASTING_BYTES,
    INSTANCE_PEAK_IOPS,
    INSTANCE_LASTING_IOPS,
    INSTANCE_PEAK_BYTES,
    INSTANCE_LASTING_BYTES,
    LIMITS
};

/* --- what Python passes and gets; mirrored in native.py --- */

struct limit_config {
    double units_per_s; /* I/Os or bytes; 0: no such limit */
    double credits_max; /* units that may be taken ahead of the rate; 0: none */
    double credits;     /* at the start */
};

struct volume_config {
    struct limit_config limits[LIMITS];
    uint32_t latency_ns[2][LATENCY_DRAWS]; /* of reads, of writes, on an idle volume */
    double flush_ios;                      /* I/Os that a flush costs */
    int64_t backlog_ns;                    /* a buffered write waits once it lags this far behind */
    int64_t cache_blocks;                  /* of the simulated page cache; 0: none */
    int64_t read_cache_blocks;             /* of the cache below it, under direct reads too; 0: none */
    double read_cache_scale;               /* latency of a hit, relative to a read of the volume */
    int32_t read_cache_on;                 /* 0: it is there, and answers nothing */
    uint32_t io_bytes;                     /* the most that counts as one I/O */
    uint32_t readahead_bytes;              /* of a buffered sequential read */
    char directory[4096];                  /* canonical; what lies under it is on the volume */
};

struct kind_sample {
    uint64_t operations, ios, bytes, time_ns;
    uint64_t histogram[HISTOGRAM_BUCKETS];
};

struct escaper_sample { /* what one program moved past the library, as the watcher saw it */
    char name[NAME_BYTES];
    uint64_t operations, ios, bytes;
};

struct volume_sample {
    struct kind_sample kinds[KINDS];
    struct escaper_sample escapers[ESCAPERS];
    uint64_t failed, late, late_ns, attached, unwatched, maps, refused;
    int64_t backlog_ns; /* how long an I/O that came now would wait for its turn */
    double credits; /* of LASTING_IOPS; negative: no such limit */
    double credits_max;
};

enum fault_kind { HEAL, STALL, SLOW, FAIL };

struct volume_fault {
    int32_t kind;
    int32_t error;          /* FAIL: errno */
    int64_t from_ns, to_ns; /* STALL, SLOW: since when, until when */
    double factor;          /* SLOW */
    int64_t after, count;   /* FAIL: operations that succeed first, that then fail (<0: all) */
};

/* --- the shared state --- */

struct bucket { /* a limit's theoretical arrival time: when the next unit would be on schedule */
    _Alignas(64) _Atomic int64_t tat_ns;
    _Atomic double ns_per_unit; /* 0: no such limit */
    _Atomic int64_t tolerance_ns;
};

struct kind_state {
    _Alignas(64) _Atomic uint64_t operations;
    _Atomic uint64_t ios, bytes, time_ns;
    _Atomic uint64_t histogram[HISTOGRAM_BUCKETS];
};

struct fault_state {
    _Alignas(64) _Atomic int32_t error;
    _Atomic int64_t error_after, error_count;
    _Atomic int64_t stall_from_ns, stall_to_ns;
    _Atomic int64_t slow_from_ns, slow_to_ns;
    _Atomic double factor;
};

struct escaper {
    char name[NAME_BYTES]; /* written once, before anything is counted */
    _Atomic uint64_t operations, ios, bytes;
};

struct volume {
    uint64_t magic;
    uint32_t layout;
    uint32_t size;
    char directory[4096];
    uint32_t directory_length;
    uint32_t io_bytes, readahead_bytes;
    uint64_t cache_sets, read_cache_sets;
    _Atomic double read_cache_scale;
    _Atomic int32_t read_cache_on;
    _Atomic int64_t backlog_ns;
    _Atomic double flush_ios;
    _Atomic uint32_t latency_ns[2][LATENCY_DRAWS];
    struct bucket buckets[LIMITS];
    struct fault_state fault;
    struct kind_state kinds[KINDS];
    struct escaper escapers[ESCAPERS]; /* the watcher alone writes them */
    _Alignas(64) _Atomic uint64_t failed;
    _Atomic uint64_t late, late_ns, attached, maps, refused;
    _Atomic uint64_t unwatched; /* more than 0: nobody sees all that goes past; no count of whom */
    _Atomic int64_t writeback_ns[WRITEBACK_SLOTS]; /* when a file's last buffered write is done */
    /* (cache_sets + read_cache_sets) x CACHE_WAYS block names */
    _Atomic uint64_t cache[];
};

/* --- bucket.c: the arithmetic --- */

void bucket_configure(struct bucket *bucket, const struct limit_config *config, int64_t now_ns);
/* Books `units` that arrive at `now_ns`; answers when they may start. */
int64_t bucket_reserve(struct bucket *bucket, int64_t now_ns, double units);
double bucket_credits(const struct bucket *bucket, int64_t now_ns);
int64_t bucket_backlog_ns(const struct bucket *bucket, int64_t now_ns);

/* --- state.c: the file --- */

int volume_create(const char *path, const struct volume_config *config, int64_t now_ns);
struct volume *volume_attach(const char *path); /* NULL and errno */
void volume_detach(struct volume *volume);
void volume_configure(struct volume *volume, const struct volume_config *config, int64_t now_ns);
void volume_inject(struct volume *volume, const struct volume_fault *fault);
void volume_read_sample(struct volume *volume, int64_t now_ns, struct volume_sample *sample);
uint64_t volume_size_of(int structure); /* 0 config, 1 sample, 2 fault: checks the mirror */

/* --- account.c: one operation --- */

struct booking {
    int64_t start_ns; /* when the last limit lets it start */
    int64_t due_ns;   /* when it is done */
};

uint64_t ios_of(const struct volume *volume, uint64_t bytes);
struct booking volume_reserve(struct volume *volume, int kind, double ios, uint64_t bytes,
                              int64_t now_ns, uint32_t draw);
/* Answers the errno with which the operation must fail, or 0. */
int volume_fault_of(struct volume *volume, int kind);
void volume_count(struct volume *volume, int kind, uint64_t ios, uint64_t bytes, int64_t time_ns);
void volume_count_late(struct volume *volume, int64_t late_ns);
uint32_t histogram_index(uint64_t us);
uint64_t histogram_upper_us(uint32_t index);

/* --- cache.c: a page cache of the instance's size, and a read cache below it --- */

/* Answers whether the block was held, and holds it from now on. */
bool cache_touch(struct volume *volume, uint64_t file, uint64_t block);
bool read_cache_touch(struct volume *volume, uint64_t file, uint64_t block);

#endif
