/* A stand-in for libaio with its interface and nothing more: system calls by number. */
#include <linux/aio_abi.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

int io_setup(int depth, void **id)
{
    return (int)syscall(SYS_io_setup, depth, id);
}

int io_destroy(void *id)
{
    return (int)syscall(SYS_io_destroy, id);
}

int io_submit(void *id, long n, struct iocb **calls)
{
    return (int)syscall(SYS_io_submit, id, n, calls);
}

int io_getevents(void *id, long least, long most, struct io_event *events, struct timespec *t)
{
    return (int)syscall(SYS_io_getevents, id, least, most, events, t);
}
