/* What the watcher asks of each call that it is shown. */
#ifndef PLIMSOLL_ESCAPES_H
#define PLIMSOLL_ESCAPES_H

#include "volume.h"

#include <linux/seccomp.h>

/* Counts a call if it moves data of the volume, before it is made. */
void escape_seen(struct volume *volume, const struct seccomp_notif *call);

#endif
