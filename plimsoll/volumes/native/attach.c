/* The start of a process on a volume: before its main(), its files are put there. */
#include "shim.h"

#include <stdlib.h>
#include <sys/prctl.h>
#include <unistd.h>

__attribute__((constructor)) static void attach(void)
{
    const char *path = getenv("PLIMSOLL_VOLUME");
    if (!path || the_volume)
        return;
    struct volume *volume = volume_attach(path);
    if (!volume) {
        say("cannot use the volume's state file: ", path);
        _exit(126);
    }
    prctl(PR_SET_TIMERSLACK, 1UL, 0UL, 0UL, 0UL); /* sleep to the microsecond; threads inherit it */
    files_begin(volume);
    filter_begin(path);
    atomic_fetch_add_explicit(&volume->attached, 1, memory_order_relaxed);
}
