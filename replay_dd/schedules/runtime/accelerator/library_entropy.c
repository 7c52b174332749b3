/* What libraries get in the place of the system's random numbers; see library_entropy.h. */
#define _GNU_SOURCE 1
#include "library_entropy.h"

#ifdef LIBRARIES_CAN_BE_COVERED
#include <dlfcn.h>
#include <pthread.h>
#include <string.h>
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

int library_draws(void)
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
    if (!library_draws()) {
        return getrandom(bytes, size, flags);
    }
    draw(bytes, size, CALLER);
    return (ssize_t)size;
}

static int drawn_getentropy(void *bytes, size_t size)
{
    if (!library_draws() || size > LARGEST_REQUEST) {
        return getentropy(bytes, size);
    }
    draw(bytes, size, CALLER);
    return 0;
}

static long drawn_syscall(long number, long first, long second, long third, long fourth, long fifth, long sixth)
{
    if (number == SYS_getrandom && library_draws()) {
        draw((unsigned char *)first, (size_t)second, CALLER);
        return second;
    }
    return syscall(number, first, second, third, fourth, fifth, sixth);
}

static void drawn_arc4random_buf(void *bytes, size_t size)
{
    if (library_draws()) {
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
    if (clock != CLOCK_REALTIME || date_ns < 0 || !library_draws()) {
        return clock_gettime(clock, time);
    }
    time->tv_sec = (time_t)(date_ns / 1000000000);
    time->tv_nsec = (long)(date_ns % 1000000000);
    return 0;
}

static int told_gettimeofday(struct timeval *time, void *zone)
{
    if (time == NULL || date_ns < 0 || !library_draws()) {
        return gettimeofday(time, zone);
    }
    time->tv_sec = (time_t)(date_ns / 1000000000);
    time->tv_usec = (suseconds_t)(date_ns % 1000000000 / 1000);
    return 0;
}

static time_t told_time(time_t *into)
{
    time_t now = date_ns < 0 || !library_draws() ? time(NULL) : (time_t)(date_ns / 1000000000);
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

typedef struct {
    const char *name;
    void *function;
    int only_openssl;
} StandIn;

static const StandIn stand_ins[] = {
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
    {"malloc", library_malloc, 1},
    {"calloc", library_calloc, 1},
    {"realloc", library_realloc, 1},
    {"free", library_free, 1},
    {NULL, NULL, 0},
};

void *library_stand_in(const char *name, int has_openssl)
{
    for (const StandIn *one = stand_ins; one->name != NULL; one++) {
        if (strcmp(name, one->name) == 0) {
            return one->only_openssl && !has_openssl ? NULL : one->function;
        }
    }
    return NULL;
}

static void in_fork(void)
{
    is_own_process = 0;
    library_memory_in_fork();
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
    library_tables_cover();
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
        library_tables_cover();
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
