/* A cache of a given size, such as a page cache in an instance's memory; only names, no data.
 *
 * Set-associative with CLOCK's second chance: the lowest bit of a name says that it was used since
 * the hand passed. The hand begins anywhere: if it began at a place of the name's own, two blocks with
 * the same place would drive each other out for ever, beside others that nobody uses. A race between
 * processes costs at worst one block held a little less long.
 */
#include "volume.h"

#define load(x) atomic_load_explicit(&(x), memory_order_relaxed)
#define store(x, value) atomic_store_explicit(&(x), value, memory_order_relaxed)

static uint64_t mix(uint64_t x) /* the finalizer of MurmurHash3 */
{
    x = (x ^ (x >> 33)) * 0xff51afd7ed558ccdULL;
    x = (x ^ (x >> 33)) * 0xc4ceb9fe1a85ec53ULL;
    return x ^ (x >> 33);
}

static bool touch(_Atomic uint64_t *cache, uint64_t sets, uint64_t file, uint64_t block)
{
    uint64_t name = (mix(file + mix(block + 1)) | 2) & ~1ULL; /* never 0, lowest bit free */
    _Atomic uint64_t *set = &cache[(mix(name) % sets) * CACHE_WAYS];
    _Atomic uint64_t *empty = NULL;
    for (int way = 0; way < CACHE_WAYS; way++) {
        uint64_t held = load(set[way]);
        if ((held & ~1ULL) == name) {
            store(set[way], name | 1);
            return true;
        }
        if (held == 0)
            empty = &set[way];
    }
    if (empty) {
        store(*empty, name);
        return false;
    }
    static _Atomic uint64_t evictions;
    unsigned hand = (unsigned)mix(atomic_fetch_add_explicit(&evictions, 1, memory_order_relaxed));
    for (unsigned turn = 0; turn < 2 * CACHE_WAYS; turn++) {
        _Atomic uint64_t *way = &set[(hand + turn) % CACHE_WAYS];
        uint64_t held = load(*way);
        if ((held & 1) == 0) {
            store(*way, name);
            return false;
        }
        store(*way, held & ~1ULL);
    }
    store(set[hand % CACHE_WAYS], name); /* others use it all the while */
    return false;
}

bool cache_touch(struct volume *volume, uint64_t file, uint64_t block)
{
    return touch(volume->cache, volume->cache_sets, file, block);
}

bool read_cache_touch(struct volume *volume, uint64_t file, uint64_t block)
{
    return touch(volume->cache + volume->cache_sets * CACHE_WAYS, volume->read_cache_sets, file, block);
}
