/* Submits nine writes and a flush, then looks at what comes back: `aio_program FILE BESIDE`. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <linux/aio_abi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

int io_setup(int depth, void **id);
int io_destroy(void *id);
int io_submit(void *id, long n, struct iocb **calls);
int io_getevents(void *id, long least, long most, struct io_event *events, struct timespec *t);

enum { CALLS = 9, SIZE = 8192 };

static long ms_since(const struct timespec *then)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (now.tv_sec - then->tv_sec) * 1000 + (now.tv_nsec - then->tv_nsec) / 1000000;
}

int main(int count, char **arguments)
{
    if (count != 3)
        return 2;
    int fd = open(arguments[1], O_RDWR | O_CREAT | O_DIRECT, 0600);
    int beside = open(arguments[2], O_RDWR | O_CREAT | O_DIRECT, 0600);
    char *buffer = aligned_alloc(4096, CALLS * SIZE);
    memset(buffer, 'x', CALLS * SIZE);
    void *id = NULL;
    if (fd < 0 || beside < 0 || io_setup(32, &id) != 0)
        return 3;
    struct iocb calls[CALLS + 1], *list[CALLS + 1];
    memset(calls, 0, sizeof calls);
    for (int i = 0; i <= CALLS; i++) {
        calls[i].aio_data = 1000 + (uint64_t)i;
        calls[i].aio_lio_opcode = i == CALLS ? IOCB_CMD_FDSYNC : IOCB_CMD_PWRITE;
        calls[i].aio_fildes = (uint32_t)(i == 0 ? beside : fd);
        calls[i].aio_buf = i == CALLS ? 0 : (uintptr_t)(buffer + i * SIZE);
        calls[i].aio_nbytes = i == CALLS ? 0 : SIZE;
        calls[i].aio_offset = i == CALLS ? 0 : 2 * i * SIZE;
        list[i] = &calls[i];
    }
    struct timespec before, none = {0, 0};
    clock_gettime(CLOCK_MONOTONIC, &before);
    if (io_submit(id, CALLS, list) != CALLS)
        return 4;
    struct io_event events[CALLS + 1];
    long first_ms = -1; /* when the first of the volume's came, of which none does before it is due */
    for (int taken = 0, waits = 0; taken < CALLS; waits = 1) { /* at first only what is there */
        int came = io_getevents(id, waits, CALLS - taken, events + taken, waits ? NULL : &none);
        if (came < waits)
            return 5;
        long now_ms = ms_since(&before);
        for (; came > 0; came--, taken++)
            if (first_ms < 0 && events[taken].obj != (uintptr_t)&calls[0])
                first_ms = now_ms;
    }
    if (io_submit(id, 1, list + CALLS) != 1 || io_getevents(id, 1, 1, events + CALLS, NULL) != 1)
        return 5;
    int told = 0;
    for (int i = 0; i <= CALLS; i++) {
        int at = (int)events[i].data - 1000; /* the caller's own data and call come back */
        if (at < 0 || at > CALLS || events[i].obj != (uintptr_t)&calls[at] || told & 1 << at)
            return 6;
        told |= 1 << at;
        printf("%d:%lld ", at, (long long)events[i].res);
    }
    printf("%ld\n", first_ms);
    return calls[0].aio_data == 1000 ? io_destroy(id) : 7;
}
