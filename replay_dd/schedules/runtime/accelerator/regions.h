/* Memory at fixed addresses: where a block is depends only on the blocks of its size taken and put back before it.
 *
 * Rules of this file:
 *
 * - A region has a shelf for each size of blocks, and a shelf has a range of addresses of its own. A block that is put back
 *   is the next one to be taken.
 * - Small sizes are multiples of 16, above they are powers of two. Larger blocks are not made here: no object that is
 *   compared by its address is that large.
 * - A small block can rest when it is freed: it is put back later, with all others that rest, in the order of addresses.
 * - Memory is mapped piece by piece as it is needed where address space is limited, so that limits hold as without us.
 *   Elsewhere all first pieces of a region are mapped at once.
 * - The first pieces of all shelves stand side by side. Most shelves need no other one, and a forked copy pays for each
 *   part of the table of pages that is in use (2 MB of addresses, and again 1 GB).
 */
#ifndef REPLAY_DD_REGIONS_H
#define REPLAY_DD_REGIONS_H

#include <stddef.h>
#include <stdint.h>

#define STEP_BYTES ((size_t)16)
#define SMALL_BYTES ((size_t)512)
#define SMALL_SIZES (SMALL_BYTES / STEP_BYTES)
#define SIZES (SMALL_SIZES + 5)
#define REGION_LARGEST_BYTES (SMALL_BYTES << 5)

#define PIECE_BYTES ((size_t)1 << 18) /* mapped at once */
#define SHELF_BITS 32
#define SHELF_BYTES ((size_t)1 << SHELF_BITS) /* of addresses */
#define SHELVES 64                            /* in a region; SIZES of them are used */
#define SHELF_PIECES (SHELF_BYTES / PIECE_BYTES)
#define FIRST_PIECES_BYTES (REGIONS * SHELVES * PIECE_BYTES)

/* The first bytes of a piece with small blocks are for those that rest: a bit for each STEP_BYTES. */
#define RESTING_BYTES (PIECE_BYTES / STEP_BYTES / 8)

/* The runtime's; one for what the interpreter does before the program begins; the program's; one for each of the first
 * modules that a test runner loads; one for what a library with OpenSSL allocates; the program's from where its first test
 * is set up; from where it is called; from its first thread on. The last four have places of their own: addresses do not
 * depend on how many modules there were. */
#define RUNTIMES_REGION 0
#define PROGRAMS_REGION 2
#define REGIONS 64
#define LIBRARIES_REGION (REGIONS - 4)
#define SETUPS_REGION (REGIONS - 3)
#define TESTS_REGION (REGIONS - 2)
#define THREADS_REGION (REGIONS - 1)

#pragma GCC visibility push(hidden)

typedef struct FreeBlock {
    struct FreeBlock *next;
} FreeBlock;

typedef struct {
    FreeBlock *freed;
    char *fresh, *fresh_end; /* blocks that were never taken, in the last piece */
    size_t pieces;           /* so many are mapped */
} Shelf;

/* Whatever is used all the time stands close together: a forked copy pays for each page that it writes to. */
typedef struct {
    Shelf shelves[SIZES];
    int has_first_pieces; /* all of them are mapped */
    unsigned char has_resting[SHELF_PIECES][SMALL_SIZES];
} Region;

extern Region regions[REGIONS];
extern uintptr_t regions_start; /* all first pieces, then the shelves with all further ones */

/* Whether memory at these addresses can be had. */
int regions_prepare(void);

/* Map the first pieces of a region that is about to be used. */
void region_open(Region *region);

/* Begin a piece. 0 if there is no more memory. */
int shelf_extend(Shelf *shelf, size_t number);

/* Put back all blocks of a region that rest; the last one is taken first. */
void region_wake(Region *region);

static inline size_t size_number(size_t size)
{
    if (size <= SMALL_BYTES) {
        return size == 0 ? 0 : (size - 1) / STEP_BYTES;
    }
    return SMALL_SIZES + 8 * sizeof(long) - (size_t)__builtin_clzl((size - 1) / SMALL_BYTES) - 1;
}

static inline size_t room_of(size_t number)
{ return number < SMALL_SIZES ? (number + 1) * STEP_BYTES : SMALL_BYTES << (number - SMALL_SIZES + 1); }

/* A block of at most REGION_LARGEST_BYTES; NULL if there is no more memory. */
static inline void *region_take(Region *region, size_t size)
{
    size_t number = size_number(size);
    Shelf *shelf = &region->shelves[number];
    FreeBlock *block = shelf->freed;
    if (block != NULL) {
        shelf->freed = block->next;
        return block;
    }
    size_t room = room_of(number);
    if ((size_t)(shelf->fresh_end - shelf->fresh) < room && !shelf_extend(shelf, number)) {
        return NULL;
    }
    void *memory = shelf->fresh;
    shelf->fresh += room;
    return memory;
}

/* Which of all shelves a block is from; REGIONS * SHELVES or more for memory from elsewhere. */
static inline size_t shelf_of(const void *memory)
{
    uintptr_t offset = (uintptr_t)memory - regions_start;
    return offset < FIRST_PIECES_BYTES ? offset / PIECE_BYTES : (offset - FIRST_PIECES_BYTES) >> SHELF_BITS;
}

/* NULL for memory from elsewhere. */
static inline Region *region_of(const void *memory)
{
    size_t shelf = shelf_of(memory);
    return shelf < REGIONS * SHELVES ? &regions[shelf / SHELVES] : NULL;
}

static inline size_t number_of_block(const void *memory)
{ return shelf_of(memory) % SHELVES; }

/* Whether a block with this room is right for this size: large enough, and not wastefully large. */
static inline int region_fits(size_t room, size_t size)
{ return size <= room && (4 * size > 3 * room || room_of(size_number(size)) == room); }

static inline void region_put_back(Region *region, void *memory)
{
    Shelf *shelf = &region->shelves[number_of_block(memory)];
    FreeBlock *block = memory;
    block->next = shelf->freed;
    shelf->freed = block;
}

/* Like region_put_back, but region_wake makes it available again. Only for small blocks. */
static inline void region_let_rest(Region *region, const void *memory)
{
    uintptr_t offset = (uintptr_t)memory - regions_start;
    size_t piece = offset < FIRST_PIECES_BYTES ? 0 : (offset - FIRST_PIECES_BYTES) % SHELF_BYTES / PIECE_BYTES;
    size_t step = offset % PIECE_BYTES / STEP_BYTES;
    uint64_t *bits = (uint64_t *)((uintptr_t)memory - offset % PIECE_BYTES);
    bits[step / 64] |= (uint64_t)1 << step % 64;
    region->has_resting[piece][number_of_block(memory)] = 1;
}

#pragma GCC visibility pop
#endif
