/* Random numbers of libraries in C and Rust: drawn from a recorded key, so that a replay gets the same; see library_entropy.py.
 *
 * Rules of this file:
 *
 * - A library calls the system through a table of addresses that the dynamic linker has filled in. There, the functions
 *   that give random numbers are replaced: for libraries only, not for the interpreter, nor for the C library itself.
 * - The numbers are a ChaCha20 keystream (RFC 8439, with a counter and a nonce of 64 bits each): who does not know the key
 *   cannot predict keys that are made from them. The nonce is the thread, the counter counts its blocks.
 * - Threads that the runtime does not know, and processes that the program forks, get the system's random numbers.
 * - OpenSSL mixes the date, the number of the process and the address of its generator into its own. Where a library has it
 *   built in, these are fixed, too: it has memory of its own, so that its addresses depend on nothing else.
 */
#define _GNU_SOURCE 1
#include "_accelerator.h"
#include "regions.h"

#if defined(__linux__) && defined(__GLIBC__) && (defined(__x86_64__) || defined(__aarch64__))
#include <dlfcn.h>
#include <elf.h>
#include <link.h>
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#define KEY_WORDS 8
#define BLOCK_WORDS 16
#define LARGEST_REQUEST 256  /* of getentropy */
#define ONLY_A_HASH_SEED 16  /* bytes; Rust seeds its hash tables with so many */
#define TOLD_PROCESS 1000    /* any number */

typedef struct {
    uint64_t nonce, counter;
    size_t left; /* bytes of the block that are not used yet */
    unsigned char block[BLOCK_WORDS * sizeof(uint32_t)];
    int given;
} Stream;

static __thread Stream stream;
static uint32_t key[KEY_WORDS];
static int has_key = 0;
static int is_own_process = 0; /* not one that the program forked */
static long long date_ns = -1; /* told to libraries with OpenSSL; -1: the real one */
static char first_to_draw[256] = "";

static uint32_t rotated(uint32_t word, int bits)
{
    return word << bits | word >> (32 - bits);
}

static void quarter_round(uint32_t *a, uint32_t *b, uint32_t *c, uint32_t *d)
{
    *a += *b, *d = rotated(*d ^ *a, 16);
    *c += *d, *b = rotated(*b ^ *c, 12);
    *a += *b, *d = rotated(*d ^ *a, 8);
    *c += *d, *b = rotated(*b ^ *c, 7);
}

static void next_block(void)
{
    uint32_t start[BLOCK_WORDS] = {0x61707865, 0x3320646e, 0x79622d32, 0x6b206574}; /* "expand 32-byte k" */
    uint32_t word[BLOCK_WORDS];
    memcpy(start + 4, key, sizeof key);
    memcpy(start + 12, &stream.counter, sizeof stream.counter);
    memcpy(start + 14, &stream.nonce, sizeof stream.nonce);
    memcpy(word, start, sizeof word);
    for (int rounds = 0; rounds < 10; rounds++) {
        for (int column = 0; column < 4; column++) {
            quarter_round(word + column, word + 4 + column, word + 8 + column, word + 12 + column);
        }
        for (int column = 0; column < 4; column++) {
            quarter_round(word + column, word + 4 + (column + 1) % 4, word + 8 + (column + 2) % 4, word + 12 + (column + 3) % 4);
        }
    }
    for (int index = 0; index < BLOCK_WORDS; index++) {
        word[index] += start[index];
    }
    memcpy(stream.block, word, sizeof word);
    stream.left = sizeof word;
    stream.counter++;
}

/* Whether this thread draws from the key. */
static int draws(void)
{
    return has_key && stream.given && is_own_process;
}

static void draw(unsigned char *bytes, size_t size, const void *caller)
{
    Dl_info library;
    if (size > ONLY_A_HASH_SEED && first_to_draw[0] == '\0' && dladdr(caller, &library) && library.dli_fname != NULL) {
        strncpy(first_to_draw, library.dli_fname, sizeof first_to_draw - 1);
    }
    while (size > 0) {
        if (stream.left == 0) {
            next_block();
        }
        size_t part = size < stream.left ? size : stream.left;
        memcpy(bytes, stream.block + sizeof stream.block - stream.left, part);
        stream.left -= part;
        bytes += part;
        size -= part;
    }
}

/* -- what libraries call in the place of the C library's functions -- */

#define CALLER __builtin_return_address(0)

static ssize_t drawn_getrandom(void *bytes, size_t size, unsigned int flags)
{
    if (!draws()) {
        return getrandom(bytes, size, flags);
    }
    draw(bytes, size, CALLER);
    return (ssize_t)size;
}

static int drawn_getentropy(void *bytes, size_t size)
{
    if (!draws() || size > LARGEST_REQUEST) {
        return getentropy(bytes, size);
    }
    draw(bytes, size, CALLER);
    return 0;
}

static long drawn_syscall(long number, long first, long second, long third, long fourth, long fifth, long sixth)
{
    if (number == SYS_getrandom && draws()) {
        draw((unsigned char *)first, (size_t)second, CALLER);
        return second;
    }
    return syscall(number, first, second, third, fourth, fifth, sixth);
}

static void drawn_arc4random_buf(void *bytes, size_t size)
{
    if (draws()) {
        draw(bytes, size, CALLER);
        return;
    }
    for (size_t done = 0; done < size;) {
        ssize_t got = getrandom((char *)bytes + done, size - done, 0);
        done += got > 0 ? (size_t)got : 0;
    }
}

static uint32_t drawn_arc4random(void)
{
    uint32_t number;
    drawn_arc4random_buf(&number, sizeof number);
    return number;
}

static uint32_t drawn_arc4random_uniform(uint32_t bound)
{
    if (bound < 2) {
        return 0;
    }
    uint32_t number, least = -bound % bound; /* what is below would make small numbers more frequent */
    do {
        number = drawn_arc4random();
    } while (number < least);
    return number % bound;
}

static int told_clock_gettime(clockid_t clock, struct timespec *time)
{
    if (clock != CLOCK_REALTIME || date_ns < 0 || !draws()) {
        return clock_gettime(clock, time);
    }
    time->tv_sec = (time_t)(date_ns / 1000000000);
    time->tv_nsec = (long)(date_ns % 1000000000);
    return 0;
}

static int told_gettimeofday(struct timeval *time, void *zone)
{
    if (time == NULL || date_ns < 0 || !draws()) {
        return gettimeofday(time, zone);
    }
    time->tv_sec = (time_t)(date_ns / 1000000000);
    time->tv_usec = (suseconds_t)(date_ns % 1000000000 / 1000);
    return 0;
}

static time_t told_time(time_t *into)
{
    time_t now = date_ns < 0 || !draws() ? time(NULL) : (time_t)(date_ns / 1000000000);
    if (into != NULL) {
        *into = now;
    }
    return now;
}

static pid_t told_getpid(void)
{
    pid_t number = getpid();
    return has_key && is_own_process ? TOLD_PROCESS : number;
}

/* -- memory of libraries with OpenSSL -- */

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

static void *placed_malloc(size_t size)
{
    if (size > REGION_LARGEST_BYTES || regions_start == UINTPTR_MAX || !draws()) {
        return malloc(size);
    }
    void *memory = region_take(take_region(), size);
    leave_region();
    return memory == NULL ? malloc(size) : memory;
}

static void *placed_calloc(size_t amount, size_t size)
{
    size_t bytes;
    if (__builtin_mul_overflow(amount, size, &bytes) || bytes > REGION_LARGEST_BYTES) {
        return calloc(amount, size);
    }
    void *memory = placed_malloc(bytes);
    return memory == NULL ? NULL : memset(memory, 0, bytes);
}

static void placed_free(void *memory)
{
    if (!is_in_region(memory)) {
        free(memory);
        return;
    }
    region_put_back(take_region(), memory);
    leave_region();
}

static void *placed_realloc(void *memory, size_t size)
{
    if (memory == NULL) {
        return placed_malloc(size);
    }
    if (!is_in_region(memory)) {
        return realloc(memory, size);
    }
    size_t room = room_of(number_of_block(memory));
    if (size > 0 && region_fits(room, size)) {
        return memory;
    }
    void *moved = size == 0 ? NULL : placed_malloc(size);
    if (moved != NULL) {
        memcpy(moved, memory, size < room ? size : room);
    }
    if (moved != NULL || size == 0) {
        placed_free(memory);
    }
    return moved;
}

/* -- which functions those are -- */

typedef struct {
    const char *name;
    void *function;
    int only_openssl;
} Replacement;

static const Replacement replacements[] = {
    {"getrandom", drawn_getrandom, 0},
    {"getentropy", drawn_getentropy, 0},
    {"syscall", drawn_syscall, 0},
    {"arc4random", drawn_arc4random, 0},
    {"arc4random_buf", drawn_arc4random_buf, 0},
    {"arc4random_uniform", drawn_arc4random_uniform, 0},
    {"clock_gettime", told_clock_gettime, 1},
    {"gettimeofday", told_gettimeofday, 1},
    {"time", told_time, 1},
    {"getpid", told_getpid, 1},
    {"malloc", placed_malloc, 1},
    {"calloc", placed_calloc, 1},
    {"realloc", placed_realloc, 1},
    {"free", placed_free, 1},
    {NULL, NULL, 0},
};

/* -- finding the tables -- */

/* Left alone: the system's own libraries; the interpreter; and those for TLS, whose connections may go to real servers and
 * whose messages replays follow anyway. */
static const char *const left_alone[] = {
    "ld-linux", "libc.so", "libm.so", "libdl.so", "libpthread.so", "librt.so", "linux-", "libpython", "libcrypto",
    "libssl", "_ssl.", "_hashlib.", "_accelerator.", NULL,
};

/* Where OpenSSL is built in. */
static const char openssl_inside[] = "/cryptography/hazmat/bindings/";

static const void *replacement_of(const char *name, int has_openssl)
{
    for (const Replacement *one = replacements; one->name != NULL; one++) {
        if (strcmp(name, one->name) == 0) {
            return one->only_openssl && !has_openssl ? NULL : one->function;
        }
    }
    return NULL;
}

typedef struct {
    ElfW(Addr) base, sealed_from, sealed_to; /* sealed: read-only since the library was loaded */
    const ElfW(Sym) *symbols;
    const char *names;
    int has_openssl;
} Library;

static void put(const Library *library, ElfW(Addr) place, const void *function)
{
    if (*(const void **)place == function) {
        return;
    }
    ElfW(Addr) size = (ElfW(Addr))sysconf(_SC_PAGESIZE), page = place & ~(size - 1);
    int sealed = place >= library->sealed_from && place < library->sealed_to;
    if (sealed && mprotect((void *)page, size, PROT_READ | PROT_WRITE) < 0) {
        return;
    }
    __atomic_store_n((const void **)place, function, __ATOMIC_RELEASE);
    if (sealed) {
        mprotect((void *)page, size, PROT_READ);
    }
}

static void replace_in(const Library *library, const ElfW(Rela) *table, size_t bytes)
{
#ifdef __x86_64__
    const unsigned long imported = R_X86_64_GLOB_DAT, called = R_X86_64_JUMP_SLOT, stored = R_X86_64_64;
#else
    const unsigned long imported = R_AARCH64_GLOB_DAT, called = R_AARCH64_JUMP_SLOT, stored = R_AARCH64_ABS64;
#endif
    for (size_t index = 0; index < bytes / sizeof *table; index++) {
        unsigned long kind = ELF64_R_TYPE(table[index].r_info), symbol = ELF64_R_SYM(table[index].r_info);
        if (symbol == 0 || (kind != imported && kind != called && kind != stored)) {
            continue;
        }
        if (library->symbols[symbol].st_shndx != SHN_UNDEF) {
            continue; /* its own function of that name */
        }
        const void *function = replacement_of(library->names + library->symbols[symbol].st_name, library->has_openssl);
        if (function != NULL && table[index].r_addend == 0) {
            put(library, library->base + table[index].r_offset, function);
        }
    }
}

static void in_fork(void)
{
    is_own_process = 0;
    region_is_taken = 0; /* by a thread that is not here */
}

static int visit(struct dl_phdr_info *info, size_t Py_UNUSED(size), void *Py_UNUSED(data))
{
    const char *slash = strrchr(info->dlpi_name, '/'), *name = slash == NULL ? info->dlpi_name : slash + 1;
    if (*name == '\0') {
        return 0; /* the interpreter */
    }
    for (const char *const *start = left_alone; *start != NULL; start++) {
        if (strncmp(name, *start, strlen(*start)) == 0) {
            return 0;
        }
    }
    Library library = {.base = info->dlpi_addr, .has_openssl = strstr(info->dlpi_name, openssl_inside) != NULL};
    const ElfW(Dyn) *dynamic = NULL;
    for (int index = 0; index < info->dlpi_phnum; index++) {
        const ElfW(Phdr) *part = &info->dlpi_phdr[index];
        if (part->p_type == PT_DYNAMIC) {
            dynamic = (const ElfW(Dyn) *)(library.base + part->p_vaddr);
        }
        else if (part->p_type == PT_GNU_RELRO) {
            library.sealed_from = library.base + part->p_vaddr;
            library.sealed_to = library.sealed_from + part->p_memsz;
        }
    }
    const ElfW(Rela) *data_table = NULL, *call_table = NULL;
    size_t data_bytes = 0, call_bytes = 0;
    int with_addends = 1;
    for (; dynamic != NULL && dynamic->d_tag != DT_NULL; dynamic++) {
        switch (dynamic->d_tag) {
        case DT_SYMTAB: library.symbols = (const ElfW(Sym) *)dynamic->d_un.d_ptr; break;
        case DT_STRTAB: library.names = (const char *)dynamic->d_un.d_ptr; break;
        case DT_RELA: data_table = (const ElfW(Rela) *)dynamic->d_un.d_ptr; break;
        case DT_RELASZ: data_bytes = dynamic->d_un.d_val; break;
        case DT_JMPREL: call_table = (const ElfW(Rela) *)dynamic->d_un.d_ptr; break;
        case DT_PLTRELSZ: call_bytes = dynamic->d_un.d_val; break;
        case DT_PLTREL: with_addends = dynamic->d_un.d_val == DT_RELA; break;
        }
    }
    if (library.symbols == NULL || library.names == NULL || !with_addends) {
        return 0;
    }
    if (data_table != NULL) {
        replace_in(&library, data_table, data_bytes);
    }
    if (call_table != NULL) {
        replace_in(&library, call_table, call_bytes);
    }
    return 0;
}

static int add_up(struct dl_phdr_info *info, size_t Py_UNUSED(size), void *loaded)
{
    *(unsigned long long *)loaded = info->dlpi_adds;
    return 1;
}

static void cover(void)
{
    static unsigned long long covered = 0;
    unsigned long long loaded = 0;
    dl_iterate_phdr(add_up, &loaded);
    if (loaded != covered) {
        covered = loaded;
        dl_iterate_phdr(visit, NULL);
    }
}

/* -- the module's functions -- */

PyObject *entropy_seed_libraries(PyObject *Py_UNUSED(module), PyObject *arguments)
{
    const char *bytes;
    Py_ssize_t size;
    if (!PyArg_ParseTuple(arguments, "y#L", &bytes, &size, &date_ns)) {
        return NULL;
    }
    if (size != sizeof key) {
        PyErr_SetString(PyExc_ValueError, "the key must have 32 bytes");
        return NULL;
    }
    memcpy(key, bytes, sizeof key);
    if (!has_key && pthread_atfork(NULL, NULL, in_fork) != 0) {
        Py_RETURN_FALSE;
    }
    has_key = is_own_process = 1;
    cover();
    Py_RETURN_TRUE;
}

PyObject *entropy_seed_thread(PyObject *Py_UNUSED(module), PyObject *nonce)
{
    unsigned long long number = PyLong_AsUnsignedLongLong(nonce);
    if (number == (unsigned long long)-1 && PyErr_Occurred()) {
        return NULL;
    }
    if (has_key) {
        stream = (Stream){.nonce = number, .given = 1};
    }
    Py_RETURN_NONE;
}

PyObject *entropy_seed_process(PyObject *Py_UNUSED(module), PyObject *Py_UNUSED(ignored))
{
    is_own_process = 1;
    Py_RETURN_NONE;
}

PyObject *entropy_cover_libraries(PyObject *Py_UNUSED(module), PyObject *path)
{
    if (has_key && path != Py_None) {
        const char *file = PyUnicode_AsUTF8(path);
        if (file == NULL) {
            PyErr_Clear();
        }
        else {
            dlopen(file, RTLD_NOW); /* never closed, as the interpreter does not either; it tells what fails */
        }
    }
    if (has_key) {
        cover();
    }
    Py_RETURN_NONE;
}

PyObject *entropy_library_that_drew(PyObject *Py_UNUSED(module), PyObject *Py_UNUSED(ignored))
{
    return PyUnicode_DecodeFSDefault(first_to_draw);
}

#else

PyObject *entropy_seed_libraries(PyObject *Py_UNUSED(module), PyObject *Py_UNUSED(arguments))
{
    Py_RETURN_FALSE;
}

PyObject *entropy_seed_thread(PyObject *Py_UNUSED(module), PyObject *Py_UNUSED(nonce))
{
    Py_RETURN_NONE;
}

PyObject *entropy_seed_process(PyObject *Py_UNUSED(module), PyObject *Py_UNUSED(ignored))
{
    Py_RETURN_NONE;
}

PyObject *entropy_cover_libraries(PyObject *Py_UNUSED(module), PyObject *Py_UNUSED(path))
{
    Py_RETURN_NONE;
}

PyObject *entropy_library_that_drew(PyObject *Py_UNUSED(module), PyObject *Py_UNUSED(ignored))
{
    return PyUnicode_FromString("");
}

#endif
