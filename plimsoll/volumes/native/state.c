/* The state file: made by Python through this library, mapped by every process on the volume. */
#include "volume.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#define load(x) atomic_load_explicit(&(x), memory_order_relaxed)
#define store(x, value) atomic_store_explicit(&(x), value, memory_order_relaxed)

/* Straight to the kernel: the shim interposes open() and close(), and this file is part of it. */
static int open_file(const char *path, int flags)
{
    return (int)syscall(SYS_openat, AT_FDCWD, path, flags | O_CLOEXEC | O_NOFOLLOW, 0600);
}

static int give_up(int fd, int error)
{
    syscall(SYS_close, fd);
    errno = error;
    return -1;
}

static void set_up(struct volume *volume, const struct volume_config *config, size_t size)
{
    volume->layout = VOLUME_LAYOUT;
    volume->size = (uint32_t)size;
    memcpy(volume->directory, config->directory, sizeof volume->directory);
    volume->directory[sizeof volume->directory - 1] = '\0';
    volume->directory_length = (uint32_t)strlen(volume->directory);
    volume->io_bytes = config->io_bytes;
    volume->readahead_bytes = config->readahead_bytes;
    volume->cache_sets = (uint64_t)config->cache_blocks / CACHE_WAYS;
    volume->read_cache_sets = (uint64_t)config->read_cache_blocks / CACHE_WAYS;
    strcpy(volume->escapers[ESCAPERS - 1].name, "others");
}

/* A hole would be filled when it is first written to: where the disk is full, by SIGBUS. */
static int allocate(int fd, size_t size)
{
    if (syscall(SYS_fallocate, fd, 0, 0L, (long)size) == 0)
        return 0;
    return errno == EOPNOTSUPP ? (int)syscall(SYS_ftruncate, fd, (long)size) : -1;
}

int volume_create(const char *path, const struct volume_config *config, int64_t now_ns)
{
    size_t sets = (size_t)config->cache_blocks / CACHE_WAYS +
                  (size_t)config->read_cache_blocks / CACHE_WAYS;
    size_t size = sizeof(struct volume) + sets * CACHE_WAYS * sizeof(uint64_t);
    int fd = open_file(path, O_RDWR | O_CREAT | O_EXCL);
    if (fd < 0)
        return -1;
    if (allocate(fd, size) != 0)
        return give_up(fd, errno);
    struct volume *volume = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (volume == MAP_FAILED)
        return give_up(fd, errno);
    set_up(volume, config, size);
    volume_configure(volume, config, now_ns);
    atomic_thread_fence(memory_order_seq_cst);
    volume->magic = VOLUME_MAGIC;
    munmap(volume, size);
    syscall(SYS_close, fd);
    return 0;
}

struct volume *volume_attach(const char *path)
{
    int fd = open_file(path, O_RDWR);
    if (fd < 0)
        return NULL;
    off_t end = lseek(fd, 0, SEEK_END);
    if (end < (off_t)sizeof(struct volume)) {
        give_up(fd, EINVAL);
        return NULL;
    }
    struct volume *volume = mmap(NULL, (size_t)end, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    give_up(fd, volume == MAP_FAILED ? errno : 0);
    if (volume == MAP_FAILED)
        return NULL;
    if (volume->magic != VOLUME_MAGIC || volume->layout != VOLUME_LAYOUT ||
        volume->size != (uint64_t)end) {
        munmap(volume, (size_t)end);
        errno = EINVAL;
        return NULL;
    }
    return volume;
}

void volume_detach(struct volume *volume)
{
    munmap(volume, volume->size);
}

void volume_configure(struct volume *volume, const struct volume_config *config, int64_t now_ns)
{
    for (int i = 0; i < LIMITS; i++)
        bucket_configure(&volume->buckets[i], &config->limits[i], now_ns);
    for (int kind = READ; kind <= WRITE; kind++)
        for (int i = 0; i < LATENCY_DRAWS; i++)
            store(volume->latency_ns[kind][i], config->latency_ns[kind][i]);
    store(volume->backlog_ns, config->backlog_ns);
    store(volume->flush_ios, config->flush_ios);
    store(volume->read_cache_scale, config->read_cache_scale);
    store(volume->read_cache_on, config->read_cache_on);
}

void volume_inject(struct volume *volume, const struct volume_fault *fault)
{
    struct fault_state *state = &volume->fault;
    switch (fault->kind) {
    case STALL:
        store(state->stall_from_ns, fault->from_ns);
        store(state->stall_to_ns, fault->to_ns);
        break;
    case SLOW:
        store(state->slow_from_ns, fault->from_ns);
        store(state->slow_to_ns, fault->to_ns);
        store(state->factor, fault->factor);
        break;
    case FAIL:
        store(state->error_after, fault->after);
        store(state->error_count, fault->count);
        store(state->error, fault->error);
        break;
    default:
        store(state->error, 0);
        store(state->factor, 1.0);
        store(state->stall_to_ns, 0);
    }
}

static void read_kind(struct kind_state *state, struct kind_sample *sample)
{
    sample->operations = load(state->operations);
    sample->ios = load(state->ios);
    sample->bytes = load(state->bytes);
    sample->time_ns = load(state->time_ns);
    for (int i = 0; i < HISTOGRAM_BUCKETS; i++)
        sample->histogram[i] = load(state->histogram[i]);
}

static void read_escaper(struct escaper *state, struct escaper_sample *sample)
{
    sample->operations = load(state->operations);
    sample->ios = load(state->ios);
    sample->bytes = load(state->bytes);
    memcpy(sample->name, state->name, sizeof sample->name);
}

void volume_read_sample(struct volume *volume, int64_t now_ns, struct volume_sample *sample)
{
    for (int kind = 0; kind < KINDS; kind++)
        read_kind(&volume->kinds[kind], &sample->kinds[kind]);
    for (int i = 0; i < ESCAPERS; i++)
        read_escaper(&volume->escapers[i], &sample->escapers[i]);
    sample->failed = load(volume->failed);
    sample->late = load(volume->late);
    sample->late_ns = load(volume->late_ns);
    sample->attached = load(volume->attached);
    sample->unwatched = load(volume->unwatched);
    sample->maps = load(volume->maps);
    sample->refused = load(volume->refused);
    struct bucket *lasting = &volume->buckets[LASTING_IOPS];
    sample->credits = bucket_credits(lasting, now_ns);
    double ns_per_unit = load(lasting->ns_per_unit);
    sample->credits_max =
        ns_per_unit == 0.0 ? -1 : (double)load(lasting->tolerance_ns) / ns_per_unit;
    sample->backlog_ns = 0;
    for (int i = 0; i < LIMITS; i++) {
        int64_t backlog = bucket_backlog_ns(&volume->buckets[i], now_ns);
        if (backlog > sample->backlog_ns)
            sample->backlog_ns = backlog;
    }
}

uint64_t volume_size_of(int structure)
{
    switch (structure) {
    case 0:
        return sizeof(struct volume_config);
    case 1:
        return sizeof(struct volume_sample);
    default:
        return sizeof(struct volume_fault);
    }
}
