/* Where the memory of regions comes from. */
#include "regions.h"

#include <sys/mman.h>
#include <sys/resource.h>
#ifdef __SANITIZE_ADDRESS__
#include <sanitizer/lsan_interface.h>
#endif

/* Far from what the system chooses by itself, and from what the address sanitizer needs. */
#define START ((uintptr_t)1 << 45)

Region regions[REGIONS];
uintptr_t regions_start = UINTPTR_MAX;

static int map(char *at, size_t bytes)
{
#ifdef MAP_FIXED_NOREPLACE
    int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE;
    char *memory = mmap(at, bytes, PROT_READ | PROT_WRITE, flags, -1, 0);
    if (memory == MAP_FAILED) {
        return 0;
    }
    if (memory != at) { /* an old kernel takes the flag for a wish */
        munmap(memory, bytes);
        return 0;
    }
    (void)madvise(memory, bytes, MADV_NOHUGEPAGE); /* forked copies would copy large pages as a whole */
#ifdef __SANITIZE_ADDRESS__
    __lsan_register_root_region(memory, bytes); /* what is only known from in there is no leak */
#endif
    return 1;
#else
    (void)at, (void)bytes;
    return 0;
#endif
}

static char *piece_of(size_t region, size_t number, size_t piece)
{
    size_t shelf = region * SHELVES + number;
    char *further = (char *)START + FIRST_PIECES_BYTES;
    return piece == 0 ? (char *)START + shelf * PIECE_BYTES : further + shelf * SHELF_BYTES + piece * PIECE_BYTES;
}

int regions_prepare(void)
{
    char *last = piece_of(REGIONS - 1, SHELVES - 1, SHELF_PIECES - 1);
    if (!map(last, PIECE_BYTES)) {
        return 0;
    }
    munmap(last, PIECE_BYTES);
    regions_start = START;
    return 1;
}

static int is_unlimited(int resource)
{
    struct rlimit limit;
    return getrlimit(resource, &limit) == 0 && limit.rlim_cur == RLIM_INFINITY;
}

void region_open(Region *region)
{
    if (is_unlimited(RLIMIT_AS) && is_unlimited(RLIMIT_DATA)) {
        region->has_first_pieces = map(piece_of((size_t)(region - regions), 0, 0), SIZES * PIECE_BYTES);
    }
}

int shelf_extend(Shelf *shelf, size_t number)
{
    size_t region = (size_t)((Region *)(void *)(shelf - number) - regions);
    char *piece = piece_of(region, number, shelf->pieces);
    int is_mapped = shelf->pieces == 0 && regions[region].has_first_pieces;
    if (shelf->pieces == SHELF_PIECES || (!is_mapped && !map(piece, PIECE_BYTES))) {
        return 0;
    }
    shelf->pieces++;
    shelf->fresh = piece + (number < SMALL_SIZES ? RESTING_BYTES : 0);
    shelf->fresh_end = piece + PIECE_BYTES;
    return 1;
}

static void wake_piece(Region *region, char *piece)
{
    uint64_t *bits = (uint64_t *)(void *)piece;
    for (size_t word = 0; word < RESTING_BYTES / sizeof(uint64_t); word++) {
        for (; bits[word] != 0; bits[word] &= bits[word] - 1) {
            size_t step = word * 64 + (size_t)__builtin_ctzll(bits[word]);
            region_put_back(region, piece + step * STEP_BYTES);
        }
    }
}

void region_wake(Region *region)
{
    size_t place = (size_t)(region - regions);
    for (size_t number = 0; number < SMALL_SIZES; number++) {
        for (size_t piece = 0; piece < region->shelves[number].pieces; piece++) {
            if (region->has_resting[piece][number]) {
                wake_piece(region, piece_of(place, number, piece));
                region->has_resting[piece][number] = 0;
            }
        }
    }
}
