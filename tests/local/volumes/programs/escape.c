/* Moves 4 KiB at a time to or from FILE, so many times, in one of the ways past a preloaded library:
 *
 *     escape stdio|plain|raw|map read|write FILE TIMES
 *
 * A timer's signal comes each millisecond: no call may fail of it, or count twice.
 */
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <unistd.h>

static char block[4096];

static long raw(long number, long fd, void *where, long n, long at)
{
#if defined(__x86_64__)
    long result;
    register long fourth __asm__("r10") = at;
    __asm__ volatile("syscall"
                     : "=a"(result)
                     : "a"(number), "D"(fd), "S"(where), "d"(n), "r"(fourth)
                     : "rcx", "r11", "memory");
    return result;
#else
    register long x8 __asm__("x8") = number, x0 __asm__("x0") = fd, x2 __asm__("x2") = n;
    register long x3 __asm__("x3") = at;
    register void *x1 __asm__("x1") = where;
    __asm__ volatile("svc 0" : "+r"(x0) : "r"(x8), "r"(x1), "r"(x2), "r"(x3) : "memory");
    return x0;
#endif
}

static void stream(int fd, int reads, int times)
{
    FILE *file = fdopen(fd, reads ? "r" : "w");
    setvbuf(file, NULL, _IONBF, 0);
    for (int i = 0; i < times; i++) {
        size_t moved = reads ? fread(block, sizeof block, 1, file) : fwrite(block, sizeof block, 1, file);
        if (moved != 1)
            exit(3);
    }
    fclose(file);
}

static void ignore(int number)
{
    (void)number;
}

int main(int count, char **arguments)
{
    if (count != 5)
        return 2;
    const char *way = arguments[1];
    struct itimerval each_ms = {{0, 1000}, {0, 1000}};
    struct sigaction restarts = {.sa_handler = ignore, .sa_flags = SA_RESTART};
    if (sigaction(SIGALRM, &restarts, NULL) != 0 || setitimer(ITIMER_REAL, &each_ms, NULL) != 0)
        return 3;
    int reads = strcmp(arguments[2], "read") == 0, times = atoi(arguments[4]);
    int fd = open(arguments[3], reads ? O_RDONLY : O_WRONLY | O_CREAT, 0600);
    if (fd < 0)
        return 3;
    if (strcmp(way, "stdio") == 0)
        stream(fd, reads, times);
    for (long i = 0; strcmp(way, "plain") == 0 && i < times; i++) {
        ssize_t moved = reads ? pread(fd, block, sizeof block, i * 4096)
                              : pwrite(fd, block, sizeof block, i * 4096);
        if (moved != sizeof block)
            return 3;
    }
    for (long i = 0; strcmp(way, "raw") == 0 && i < times; i++)
        if (raw(reads ? SYS_pread64 : SYS_pwrite64, fd, block, sizeof block, i * 4096) != sizeof block)
            return 3;
    if (strcmp(way, "map") == 0 &&
        mmap(NULL, sizeof block, PROT_READ, MAP_PRIVATE, fd, 0) == MAP_FAILED)
        return 3;
    return 0;
}
