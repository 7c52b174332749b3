/* Memory of libraries with OpenSSL, at addresses that depend only on what they allocate themselves. */
#define _GNU_SOURCE 1
#include "library_entropy.h"
#include "regions.h"

#ifdef LIBRARIES_CAN_BE_COVERED
#include <sched.h>
#include <stdlib.h>
#include <string.h>

static int region_is_taken = 0; /* by a thread; those outside of control free memory, too */

static Region *take_region(void)
{
    while (__atomic_exchange_n(&region_is_taken, 1, __ATOMIC_ACQUIRE)) {
        sched_yield();
    }
    return &regions[LIBRARIES_REGION];
}

static void leave_region(void)
{
    __atomic_store_n(&region_is_taken, 0, __ATOMIC_RELEASE);
}

static int is_in_region(const void *memory)
{
    return regions_start != UINTPTR_MAX && region_of(memory) == &regions[LIBRARIES_REGION];
}

void *library_malloc(size_t size)
{
    if (size > REGION_LARGEST_BYTES || regions_start == UINTPTR_MAX || !library_draws()) {
        return malloc(size);
    }
    void *memory = region_take(take_region(), size);
    leave_region();
    return memory == NULL ? malloc(size) : memory;
}

void *library_calloc(size_t amount, size_t size)
{
    size_t bytes;
    if (__builtin_mul_overflow(amount, size, &bytes) || bytes > REGION_LARGEST_BYTES) {
        return calloc(amount, size);
    }
    void *memory = library_malloc(bytes);
    return memory == NULL ? NULL : memset(memory, 0, bytes);
}

void library_free(void *memory)
{
    if (!is_in_region(memory)) {
        free(memory);
        return;
    }
    region_put_back(take_region(), memory);
    leave_region();
}

void *library_realloc(void *memory, size_t size)
{
    if (memory == NULL) {
        return library_malloc(size);
    }
    if (!is_in_region(memory)) {
        return realloc(memory, size);
    }
    size_t room = room_of(number_of_block(memory));
    if (size > 0 && region_fits(room, size)) {
        return memory;
    }
    void *moved = size == 0 ? NULL : library_malloc(size);
    if (moved != NULL) {
        memcpy(moved, memory, size < room ? size : room);
    }
    if (moved != NULL || size == 0) {
        library_free(memory);
    }
    return moved;
}

void library_memory_in_fork(void)
{
    region_is_taken = 0;
}

#endif
