/* Random numbers of libraries in C and Rust: drawn from a recorded key, so that a replay gets the same; see library_entropy.py.
 *
 * Rules of these files:
 *
 * - A library calls the system through a table of addresses that the dynamic linker has filled in. There, the functions
 *   that give random numbers are replaced: for libraries only, not for the interpreter, nor for the C library itself.
 * - The numbers are a ChaCha20 keystream (RFC 8439, with a counter and a nonce of 64 bits each): who does not know the key
 *   cannot predict keys that are made from them. The nonce is the thread, the counter counts its blocks.
 * - Threads that the runtime does not know, and processes that the program forks, get the system's random numbers.
 * - OpenSSL mixes the date, the number of the process and the address of its generator into its own. Where a library has it
 *   built in, these are fixed, too: it has memory of its own, so that its addresses depend on nothing else.
 */
#ifndef REPLAY_DD_LIBRARY_ENTROPY_H
#define REPLAY_DD_LIBRARY_ENTROPY_H

#include "_accelerator.h"

#if defined(__linux__) && defined(__GLIBC__) && (defined(__x86_64__) || defined(__aarch64__))
#define LIBRARIES_CAN_BE_COVERED 1
#endif

#pragma GCC visibility push(hidden)

/* Whether this thread draws from the key. */
int library_draws(void);

/* What a library calls in the place of a function; NULL: that function itself. */
void *library_stand_in(const char *name, int has_openssl);

/* library_tables.c: put the stand-ins into the tables of all libraries that are loaded and need them. */
void library_tables_cover(void);

/* library_memory.c: malloc(3) and the like, in a region of memory for libraries. */
void *library_malloc(size_t size);
void *library_calloc(size_t amount, size_t size);
void *library_realloc(void *memory, size_t size);
void library_free(void *memory);

/* In a forked process: no other thread is here. */
void library_memory_in_fork(void);

#pragma GCC visibility pop
#endif
