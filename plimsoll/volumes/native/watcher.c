/* The watcher of a volume: a process that the kernel shows each call that went past the library.
 *
 *     watcher STATE SOCKET
 *
 * STATE is the volume's state file. On SOCKET (a descriptor) come the listeners of filters, one for
 * each tree of processes (filter.c). A call whose descriptor lies on the volume is counted; every
 * call then goes on as if nobody had looked. The watcher outlives the volume's owner, whose end it
 * sees on its standard input: it ends with the last process that it watches, since a filter without
 * a listener fails every call that it would show. Its process id is what this program prints.
 */
#define _GNU_SOURCE
#include "escapes.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#define MOST_LISTENERS 1024

static struct volume *volume;

static void answer(int listener)
{
    static union {
        struct seccomp_notif call;
        char room[4096]; /* a newer kernel's may be larger */
    } shown;
    memset(&shown, 0, sizeof shown);
    if (ioctl(listener, SECCOMP_IOCTL_NOTIF_RECV, &shown.call) != 0)
        return; /* it was killed meanwhile */
    escape_seen(volume, &shown.call);
    struct {
        struct seccomp_notif_resp response;
        char room[256];
    } go_on = {.response = {.id = shown.call.id, .flags = SECCOMP_USER_NOTIF_FLAG_CONTINUE}};
    ioctl(listener, SECCOMP_IOCTL_NOTIF_SEND, &go_on.response);
}

/* Takes a listener that a process has sent; -1: none has come. */
static int take_listener(int socket)
{
    char byte;
    struct iovec part = {&byte, 1};
    union {
        char room[CMSG_SPACE(sizeof(int))];
        struct cmsghdr aligned;
    } control;
    struct msghdr message = {.msg_iov = &part,
                             .msg_iovlen = 1,
                             .msg_control = control.room,
                             .msg_controllen = sizeof control.room};
    int listener = -1;
    if (recvmsg(socket, &message, MSG_CMSG_CLOEXEC | MSG_DONTWAIT) == 1 && CMSG_FIRSTHDR(&message))
        memcpy(&listener, CMSG_DATA(CMSG_FIRSTHDR(&message)), sizeof listener);
    return listener;
}

static void watch(int owner, int socket)
{
    static struct pollfd polled[2 + MOST_LISTENERS];
    int n = 2;
    while (socket >= 0 || n > 2) {
        polled[0] = (struct pollfd){.fd = socket < 0 ? -1 : owner};
        polled[1] = (struct pollfd){.fd = n < 2 + MOST_LISTENERS ? socket : -1, .events = POLLIN};
        if (poll(polled, (nfds_t)n, -1) < 0)
            continue;
        for (int i = n - 1; i >= 2; i--) {
            if (polled[i].revents & POLLIN) {
                answer(polled[i].fd);
            } else if (polled[i].revents) { /* the last process under this filter has ended */
                close(polled[i].fd);
                polled[i] = polled[--n];
            }
        }
        for (int taken; n < 2 + MOST_LISTENERS && (taken = take_listener(socket)) >= 0;)
            polled[n++] = (struct pollfd){.fd = taken, .events = POLLIN};
        if (polled[0].revents) { /* the owner is gone: nobody can come any more */
            close(socket);
            socket = -1;
        }
    }
}

/* Says why not, for whoever started us. */
static int failed(void)
{
    fprintf(stderr, "%s\n", strerror(errno));
    return 1;
}

int main(int count, char **arguments)
{
    if (count != 3) {
        fputs("watcher STATE SOCKET\n", stderr);
        return 2;
    }
    if (!(volume = volume_attach(arguments[1])))
        return failed();
    int nowhere = open("/dev/null", O_WRONLY);
    if (nowhere < 0 || chdir("/") != 0)
        return failed();
    int child = fork(); /* nobody has to wait for us, since we may outlive whoever started us */
    if (child != 0)
        return child < 0 || printf("%d\n", child) < 0 ? failed() : 0;
    dup2(nowhere, STDOUT_FILENO); /* whoever started us reads both to their ends */
    dup2(nowhere, STDERR_FILENO);
    setsid();
    const int ignored[] = {SIGINT, SIGTERM, SIGHUP, SIGPIPE};
    for (size_t i = 0; i < sizeof ignored / sizeof *ignored; i++)
        signal(ignored[i], SIG_IGN);
    watch(0, atoi(arguments[2]));
    return 0;
}
