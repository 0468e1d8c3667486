/* Counts what a program asks its allocator for: loaded before glibc's own (LD_PRELOAD), so that the
   release binary is measured as it is. SIGNET_BENCH_HEAP names the file of the counts: four
   numbers of 64 bits, which this process writes and the benchmark reads. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <malloc.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

extern void *__libc_malloc(size_t size);
extern void *__libc_calloc(size_t count, size_t size);
extern void *__libc_realloc(void *block, size_t size);
extern void *__libc_memalign(size_t alignment, size_t size);
extern void __libc_free(void *block);

struct counts {
    _Atomic uint64_t allocations; /* calls that gave a block, or moved one */
    _Atomic uint64_t asked;       /* bytes of these blocks */
    _Atomic uint64_t live;        /* bytes of blocks that are not freed */
    _Atomic uint64_t peak;        /* the most of them */
};

/* Before the file is there. */
static struct counts early;
static struct counts *counts = &early;

__attribute__((constructor)) static void begin(void)
{
    const char *path = getenv("SIGNET_BENCH_HEAP");
    int file = path == NULL ? -1 : open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    if (file < 0)
        return;
    struct counts *shared = MAP_FAILED;
    if (ftruncate(file, sizeof *shared) == 0)
        shared = mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    close(file);
    if (shared == MAP_FAILED)
        return;
    shared->allocations = early.allocations;
    shared->asked = early.asked;
    shared->live = early.live;
    shared->peak = early.peak;
    counts = shared;
}

static void *given(void *block)
{
    if (block == NULL)
        return NULL;
    uint64_t size = malloc_usable_size(block);
    atomic_fetch_add_explicit(&counts->allocations, 1, memory_order_relaxed);
    atomic_fetch_add_explicit(&counts->asked, size, memory_order_relaxed);
    uint64_t live = atomic_fetch_add_explicit(&counts->live, size, memory_order_relaxed) + size;
    uint64_t peak = atomic_load_explicit(&counts->peak, memory_order_relaxed);
    while (live > peak && live < UINT64_MAX / 2
           && !atomic_compare_exchange_weak_explicit(&counts->peak, &peak, live, memory_order_relaxed,
                                                     memory_order_relaxed))
        ;
    return block;
}

static void taken(void *block)
{
    if (block != NULL)
        atomic_fetch_sub_explicit(&counts->live, malloc_usable_size(block), memory_order_relaxed);
}

void *malloc(size_t size) { return given(__libc_malloc(size)); }

void *calloc(size_t count, size_t size) { return given(__libc_calloc(count, size)); }

void *realloc(void *block, size_t size)
{
    uint64_t before = block == NULL ? 0 : malloc_usable_size(block);
    void *moved = __libc_realloc(block, size);
    /* A block that could not grow is still there. */
    if (moved != NULL || size == 0)
        atomic_fetch_sub_explicit(&counts->live, before, memory_order_relaxed);
    return given(moved);
}

void *memalign(size_t alignment, size_t size) { return given(__libc_memalign(alignment, size)); }

void *aligned_alloc(size_t alignment, size_t size) { return given(__libc_memalign(alignment, size)); }

int posix_memalign(void **block, size_t alignment, size_t size)
{
    *block = given(__libc_memalign(alignment, size));
    return *block == NULL ? ENOMEM : 0;
}

void free(void *block)
{
    taken(block);
    __libc_free(block);
}
