/* The filter that the kernel holds against a process on the volume and all that it starts.
 *
 * Children inherit it, whether or not they load the library: with an empty environment, static, or
 * in any other way. It refuses what nobody can see (io_uring), and it shows to the volume's watcher
 * each call that moves data and does not bear our mark: the C library's own (stdio), system calls
 * that a program makes itself, and all calls of a program without the library.
 */
#include "shim.h"

#include <fcntl.h>
#include <limits.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/utsname.h>

#if defined(__x86_64__)
#define ARCHITECTURE AUDIT_ARCH_X86_64
#define FOREIGN_FROM 0x40000000 /* numbers of x32 */
#else
#define ARCHITECTURE AUDIT_ARCH_AARCH64
#define FOREIGN_FROM 0x7fffffff
#endif
#ifndef SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV /* headers before Linux 5.19 */
#define SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV (1UL << 5)
#endif
#define PROBE 0x70726f62U /* "prob": asks whether a filter of this volume holds */
#define HOLDS EXFULL      /* its answer, which the kernel itself never gives */

#define ANSWER(value) BPF_STMT(BPF_RET | BPF_K, value)
#define LOAD(at) BPF_STMT(BPF_LD | BPF_W | BPF_ABS, at)
#define IF(test, value, yes, no) BPF_JUMP(BPF_JMP | test | BPF_K, value, yes, no)
#define FIELD(name) ((uint32_t)offsetof(struct seccomp_data, name))
/* both machines have the low half of an argument first */
#define LOW(argument) (FIELD(args) + 8 * (argument))
#define HIGH(argument) (LOW(argument) + 4)

static const int shown[] = {
    SYS_read,    SYS_pread64,  SYS_readv,  SYS_preadv,  SYS_preadv2,  SYS_copy_file_range,
    SYS_write,   SYS_pwrite64, SYS_writev, SYS_pwritev, SYS_pwritev2, SYS_sendfile,
    SYS_splice,
};
#define SHOWN ((int)(sizeof shown / sizeof *shown))

struct code {
    struct sock_filter lines[128];
    unsigned short length;
};

static void add(struct code *code, const struct sock_filter *lines, size_t bytes)
{
    memcpy(code->lines + code->length, lines, bytes);
    code->length += (unsigned short)(bytes / sizeof *lines);
}
#define ADD(code, ...)                                                                  \
    do {                                                                                \
        const struct sock_filter lines_[] = {__VA_ARGS__};                              \
        add(code, lines_, sizeof lines_);                                               \
    } while (0)

/* `unmarked`: what becomes of a call that went past us */
static void write_filter(struct code *code, uint32_t volume_id, uint32_t unmarked)
{
    code->length = 0;
    ADD(code, LOAD(FIELD(arch)), IF(BPF_JEQ, ARCHITECTURE, 1, 0), ANSWER(SECCOMP_RET_KILL_PROCESS));
    ADD(code, LOAD(FIELD(nr)), IF(BPF_JGE, FOREIGN_FROM, 0, 1), ANSWER(SECCOMP_RET_KILL_PROCESS));
    ADD(code, IF(BPF_JEQ, SYS_io_uring_setup, 0, 1), ANSWER(SECCOMP_RET_ERRNO | EPERM));
    ADD(code, IF(BPF_JEQ, SYS_io_setup, 0, 8), LOAD(HIGH(0)), IF(BPF_JEQ, MARK, 0, 1),
        ANSWER(SECCOMP_RET_ALLOW), IF(BPF_JEQ, PROBE, 0, 2), LOAD(LOW(0)),
        IF(BPF_JEQ, volume_id, 1, 0), ANSWER(SECCOMP_RET_ERRNO | EPERM),
        ANSWER(SECCOMP_RET_ERRNO | HOLDS));
    ADD(code, IF(BPF_JEQ, SYS_mmap, 0, 6), LOAD(LOW(4)), IF(BPF_JEQ, UINT32_MAX, 2, 0),
        LOAD(HIGH(4)), IF(BPF_JEQ, MARK, 0, 1), ANSWER(SECCOMP_RET_ALLOW), ANSWER(unmarked));
    for (int i = 0; i < SHOWN; i++)
        ADD(code, IF(BPF_JEQ, (uint32_t)shown[i], 0, 4), LOAD(HIGH(0)), IF(BPF_JEQ, MARK, 0, 1),
            ANSWER(SECCOMP_RET_ALLOW), ANSWER(unmarked));
    ADD(code, ANSWER(SECCOMP_RET_ALLOW));
}

static int install(struct code *code, unsigned flags)
{
    struct sock_fprog program = {.len = code->length, .filter = code->lines};
    return (int)REAL(syscall)(SYS_seccomp, SECCOMP_SET_MODE_FILTER, flags, &program);
}

static bool holds_already(uint32_t volume_id)
{
    long number = (long)((uint64_t)PROBE << 32 | volume_id);
    return REAL(syscall)(SYS_io_setup, number, NULL) < 0 && errno == HOLDS;
}

/* The folder is named by its descriptor: the kernel takes 107 bytes of a path (unix(7)). */
static int connect_to_watcher(const char *state_path)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    char path[PATH_MAX];
    const char *name = strrchr(state_path, '/');
    if (name == NULL || strlen(state_path) >= sizeof path) {
        errno = ENAMETOOLONG;
        return -1;
    }
    memcpy(path, state_path, (size_t)(name - state_path) + 1);
    path[name - state_path + 1] = 0;
    int folder = (int)REAL(syscall)(SYS_openat, AT_FDCWD, path,
                                    O_PATH | O_DIRECTORY | O_CLOEXEC, 0);
    if (folder < 0)
        return -1;
    int size = snprintf(address.sun_path, sizeof address.sun_path, "/proc/self/fd/%d%s.watch",
                        folder, name);
    int to = -1;
    errno = ENAMETOOLONG;
    if (size < (int)sizeof address.sun_path)
        to = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    bool there = to >= 0 && connect(to, (struct sockaddr *)&address, sizeof address) == 0;
    int error = errno;
    REAL(syscall)(SYS_close, folder);
    if (there)
        return to;
    if (to >= 0)
        close(to);
    errno = error;
    return -1;
}

static bool hand_over(int to, int listener)
{
    char byte = 0;
    struct iovec part = {&byte, 1};
    union {
        char room[CMSG_SPACE(sizeof(int))];
        struct cmsghdr aligned;
    } control = {0};
    struct msghdr message = {.msg_iov = &part,
                             .msg_iovlen = 1,
                             .msg_control = control.room,
                             .msg_controllen = sizeof control.room};
    struct cmsghdr *header = CMSG_FIRSTHDR(&message);
    header->cmsg_level = SOL_SOCKET;
    header->cmsg_type = SCM_RIGHTS;
    header->cmsg_len = CMSG_LEN(sizeof(int));
    memcpy(CMSG_DATA(header), &listener, sizeof listener);
    return sendmsg(to, &message, MSG_NOSIGNAL) == 1;
}

/* Linux 5.5: before it, a call that is shown cannot be let go on. */
static bool can_be_watched(void)
{
    struct utsname kernel;
    int major = 0, minor = 0;
    if (uname(&kernel) == 0 && sscanf(kernel.release, "%d.%d", &major, &minor) == 2 &&
        (major > 5 || (major == 5 && minor >= 5)))
        return true;
    errno = ENOSYS;
    return false;
}

/* Answers whether the watcher sees us from now on; else errno says why not. */
static bool be_watched(const char *state_path, uint32_t volume_id)
{
    struct code code;
    int to = can_be_watched() ? connect_to_watcher(state_path) : -1;
    if (to < 0)
        return false;
    write_filter(&code, volume_id, SECCOMP_RET_USER_NOTIF);
    /* so that a signal does not let a call be seen twice (Linux 5.19) */
    unsigned flags = SECCOMP_FILTER_FLAG_NEW_LISTENER;
    int listener = install(&code, flags | SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV);
    if (listener < 0 && errno == EINVAL)
        listener = install(&code, flags);
    int error = errno;
    if (listener >= 0 && !hand_over(to, listener)) {
        say("its watcher is gone", "");
        _exit(126);
    }
    if (listener >= 0)
        close(listener);
    close(to);
    errno = error;
    return listener >= 0;
}

void filter_begin(const char *state_path)
{
    uint32_t volume_id = 2166136261u; /* FNV-1a */
    for (const char *letter = state_path; *letter; letter++)
        volume_id = (volume_id ^ (unsigned char)*letter) * 16777619u;
    if (holds_already(volume_id))
        return; /* that of whoever has started us */
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 && be_watched(state_path, volume_id))
        return;
    atomic_fetch_add_explicit(&the_volume->unwatched, 1, memory_order_relaxed);
    say("I/O that goes past the volume cannot be seen here: ", strerror(errno));
    struct code code;
    write_filter(&code, volume_id, SECCOMP_RET_ALLOW);
    if (install(&code, 0) != 0)
        say("io_uring cannot be refused on this kernel: see that the program does not use it", "");
}
