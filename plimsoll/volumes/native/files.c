/* Which descriptors of this process lie on the volume. */
#include "shim.h"

#include <dirent.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

struct volume *the_volume;
static struct file files[FDS];
static pid_t owner; /* a vfork child shares our memory, but not our descriptors */

void say(const char *what, const char *detail)
{
    char line[1024];
    int length = snprintf(line, sizeof line, "plimsoll volume: %s%s\n", what, detail);
    size_t size = length < (int)sizeof line ? (size_t)length : sizeof line - 1;
    if (length > 0 && KERNEL(write, 2, line, size) < 0)
        return; /* nowhere left to say it */
}

struct file *file_of(int fd)
{
    if (fd < 0 || fd >= FDS || !the_volume)
        return NULL;
    uint32_t flags = atomic_load_explicit(&files[fd].flags, memory_order_relaxed);
    return flags & ON_VOLUME ? &files[fd] : NULL;
}

bool path_of(int fd, char *path, size_t size)
{
    char link[32];
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    ssize_t length = readlink(link, path, size - 1);
    if (length < 0)
        return false;
    path[length] = '\0';
    return true;
}

static bool lies_on_volume(int fd)
{
    char path[4200];
    size_t length = the_volume->directory_length;
    return path_of(fd, path, sizeof path) && strncmp(path, the_volume->directory, length) == 0 &&
           (path[length] == '/' || path[length] == '\0');
}

static uint32_t flags_of_status(int status)
{
    uint32_t flags = status & O_DIRECT ? IS_DIRECT : 0;
    return status & (O_SYNC | O_DSYNC) ? flags | IS_SYNC : flags;
}

int file_opened(int fd)
{
    if (fd < 0 || !the_volume)
        return fd;
    int before = errno;
    struct stat about;
    if (fd >= FDS) {
        REAL(close)(fd);
        errno = EMFILE;
        return -1;
    }
    uint32_t flags = 0;
    if (fstat(fd, &about) == 0 && (S_ISREG(about.st_mode) || S_ISDIR(about.st_mode)) &&
        lies_on_volume(fd)) {
        int status = REAL(fcntl)(fd, F_GETFL);
        flags = ON_VOLUME | flags_of_status(status);
        if (S_ISDIR(about.st_mode))
            flags |= IS_DIRECTORY;
        struct file *file = &files[fd];
        file->id = (uint64_t)about.st_ino ^ ((uint64_t)about.st_dev << 40);
        file->slot = (uint32_t)((file->id * 0x9e3779b97f4a7c15ULL) >> 54) % WRITEBACK_SLOTS;
        file->kind = -1;
        file->read_to = file->ahead_to = -1;
    }
    atomic_store_explicit(&files[fd].flags, flags, memory_order_release);
    errno = before;
    return fd;
}

void file_closed(int fd)
{
    if (file_of(fd) && getpid() == owner)
        atomic_store_explicit(&files[fd].flags, 0, memory_order_relaxed);
}

void file_copied(int from, int to)
{
    if (to < 0 || to >= FDS || from < 0 || from >= FDS || getpid() != owner)
        return;
    if (file_of(from)) {
        files[to] = files[from];
        files[to].kind = -1;
        atomic_store_explicit(&files[to].busy, 0, memory_order_relaxed);
    } else {
        atomic_store_explicit(&files[to].flags, 0, memory_order_relaxed);
    }
}

void file_flags_changed(int fd, int status)
{
    struct file *file = file_of(fd);
    if (!file)
        return;
    uint32_t flags = atomic_load_explicit(&file->flags, memory_order_relaxed);
    /* F_SETFL cannot change O_SYNC and O_DSYNC */
    flags = (flags & ~(uint32_t)IS_DIRECT) | (flags_of_status(status) & IS_DIRECT);
    atomic_store_explicit(&file->flags, flags, memory_order_relaxed);
}

/* Held for some nanoseconds. A fork may copy it while held: whoever cannot have it goes without
 * (its I/O is then counted on its own, not joined to a run). */
bool file_lock(struct file *file)
{
    for (int turn = 0; turn < 10000; turn++) {
        uint32_t expected = 0;
        if (atomic_compare_exchange_weak_explicit(&file->busy, &expected, 1, memory_order_acquire,
                                                  memory_order_relaxed))
            return true;
    }
    return false;
}

void file_unlock(struct file *file)
{
    atomic_store_explicit(&file->busy, 0, memory_order_release);
}

static void child_started(void)
{
    owner = getpid();
}

static void find_inherited_files(void)
{
    DIR *directory = opendir("/proc/self/fd");
    if (!directory) {
        say("cannot read /proc/self/fd, without which no file is recognized", "");
        _exit(126);
    }
    for (struct dirent *entry; (entry = readdir(directory));) {
        if (entry->d_name[0] != '.' && atoi(entry->d_name) != dirfd(directory))
            file_opened(atoi(entry->d_name));
    }
    closedir(directory);
}

void files_begin(struct volume *volume)
{
    owner = getpid();
    the_volume = volume;
    pthread_atfork(NULL, NULL, child_started);
    find_inherited_files();
}
