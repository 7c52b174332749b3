/* The runtime's own memory: nothing it does moves an object of the program to another address.
 *
 * Rules of this file:
 *
 * - A program may iterate over a set of objects, and so depend on their addresses. A strategy that draws its choices and
 *   a replay that looks them up create and free different objects. So while the runtime works, objects are created in a
 *   region of its own. Freed memory is returned by its address, whoever frees it.
 * - The interpreter has free lists of floats, tuples, lists, dictionaries and slices, and counts objects for its garbage
 *   collector. The runtime has its own of both; they are swapped when runtime and program take turns. There is no
 *   automatic collection in the runtime's turn.
 * - Their layout is private to the interpreter and may change with any version. So it is checked before anything is
 *   written; if anything is not as expected, nothing is changed, and addresses depend on the strategy.
 * - All of this happens while holding the GIL, so there are no locks.
 */
#define Py_BUILD_CORE_MODULE 1
#include "_accelerator.h"

int memory_is_own;

/* Before 3.14 the lists of freed objects are an option. Early releases of 3.14 have another collector. */
#if PY_VERSION_HEX >= 0x030E0A00 && PY_VERSION_HEX < 0x03100000
#define HAS_LISTS 1
#elif PY_VERSION_HEX < 0x030E0000 && defined(WITH_FREELISTS)
#define HAS_LISTS 1
#else
#define HAS_LISTS 0
#endif

#if !defined(WITHOUT_OWN_MEMORY) && HAS_LISTS && !defined(Py_GIL_DISABLED) && __has_include(<internal/pycore_interp.h>)
#include <internal/pycore_interp.h>
#include <internal/pycore_runtime.h>
#include <stddef.h>
#include <string.h>
#include <sys/mman.h>
#ifdef __SANITIZE_ADDRESS__
#include <sanitizer/lsan_interface.h>
#endif

/* -- The region: blocks by their size -- */

#define REGION_BYTES ((size_t)256 << 20) /* of addresses; memory is taken when it is first used */
#define SMALL_BYTES 512                  /* up to here, sizes are multiples of 16; above, powers of two */
#define STEP_BYTES 16
#define SMALL_SIZES (SMALL_BYTES / STEP_BYTES)
#define SIZES (SMALL_SIZES + 20) /* the last one is larger than the region */

typedef struct Block {
    size_t room;        /* bytes behind this head */
    struct Block *next; /* among the free ones */
} Block;

static char *region, *region_end, *unused;
static Block *free_blocks[SIZES];

static int size_number(size_t size)
{
    if (size <= SMALL_BYTES) {
        return size == 0 ? 0 : (int)((size - 1) / STEP_BYTES);
    }
    int number = SMALL_SIZES;
    for (size_t room = 2 * SMALL_BYTES; room < size; room *= 2) {
        number++;
    }
    return number;
}

static size_t room_of(int number)
{ return number < SMALL_SIZES ? (size_t)(number + 1) * STEP_BYTES : (size_t)2 * SMALL_BYTES << (number - SMALL_SIZES); }

static int is_own(const void *memory)
{ return (const char *)memory >= region && (const char *)memory < region_end; }

/* NULL if the region is full. */
static void *take(size_t size)
{
    if (size > REGION_BYTES) {
        return NULL;
    }
    int number = size_number(size);
    Block *block = free_blocks[number];
    if (block != NULL) {
        free_blocks[number] = block->next;
        return block + 1;
    }
    size_t room = room_of(number);
    if (sizeof(Block) + room > (size_t)(region_end - unused)) {
        return NULL;
    }
    block = (Block *)unused;
    unused += sizeof(Block) + room;
    block->room = room;
    return block + 1;
}

static void put_back(void *memory)
{
    Block *block = (Block *)memory - 1;
    int number = size_number(block->room);
    block->next = free_blocks[number];
    free_blocks[number] = block;
}

/* -- The allocators; the context of each is the one that it replaces -- */

static PyMemAllocatorEx programs[2];

static void *own_malloc(void *context, size_t size)
{
    PyMemAllocatorEx *program = context;
    void *memory = memory_is_own ? take(size) : NULL;
    return memory != NULL ? memory : program->malloc(program->ctx, size);
}

static void *own_calloc(void *context, size_t amount, size_t size)
{
    PyMemAllocatorEx *program = context;
    if (memory_is_own && (size == 0 || amount <= REGION_BYTES / size)) {
        void *memory = take(amount * size);
        if (memory != NULL) {
            return memset(memory, 0, amount * size);
        }
    }
    return program->calloc(program->ctx, amount, size);
}

static void own_free(void *context, void *memory)
{
    PyMemAllocatorEx *program = context;
    if (is_own(memory)) {
        put_back(memory);
    }
    else {
        program->free(program->ctx, memory);
    }
}

/* A block stays in the memory it came from, whoever's turn it is. */
static void *own_realloc(void *context, void *memory, size_t size)
{
    PyMemAllocatorEx *program = context;
    if (memory == NULL) {
        return own_malloc(context, size);
    }
    if (!is_own(memory)) {
        return program->realloc(program->ctx, memory, size);
    }
    size_t room = ((Block *)memory - 1)->room;
    if (size <= room) {
        return memory;
    }
    void *larger = take(size);
    if (larger == NULL) {
        larger = program->malloc(program->ctx, size);
    }
    if (larger != NULL) {
        memcpy(larger, memory, room);
        put_back(memory);
    }
    return larger;
}

/* -- The interpreter's free lists -- */

#if PY_VERSION_HEX >= 0x030E0000
#define FREED object_state.freelists
#define FREED_FLOATS FREED.floats.freelist
#define FREED_TUPLES_OF(size) FREED.tuples[(size) - 1].freelist
#define FREED_SLICE FREED.slices.freelist
#elif PY_VERSION_HEX >= 0x030D0000
#define FREED object_state.freelists
#define FREED_FLOATS FREED.floats.items
#define FREED_TUPLES_OF(size) FREED.tuples.items[(size) - 1]
#define FREED_LISTS FREED.lists.items
#define AMOUNT_OF_LISTS FREED.lists.numfree
#define FREED_DICTS FREED.dicts.items
#define AMOUNT_OF_DICTS FREED.dicts.numfree
#define FREED_KEYS FREED.dictkeys.items
#define AMOUNT_OF_KEYS FREED.dictkeys.numfree
#define FREED_SLICE FREED.slices.slice_cache
#else
#define FREED_FLOATS float_state.free_list
#define FREED_TUPLES_OF(size) tuple.free_list[(size) - 1]
#define FREED_LISTS list.free_list
#define AMOUNT_OF_LISTS list.numfree
#define FREED_DICTS dict_state.free_list
#define AMOUNT_OF_DICTS dict_state.numfree
#define FREED_KEYS dict_state.keys_free_list
#define AMOUNT_OF_KEYS dict_state.keys_numfree
#define FREED_SLICE slice_cache
#endif

#define PART(field) {offsetof(PyInterpreterState, field), sizeof(((PyInterpreterState *)0)->field)}
static const struct {
    size_t offset, size;
} parts[] = {
    PART(gc.enabled),
    PART(gc.generations[0].count),
#if PY_VERSION_HEX >= 0x030E0000
    PART(FREED), /* of all kinds of objects */
#else
#if PY_VERSION_HEX >= 0x030D0000
    PART(FREED.floats),
    PART(FREED.tuples),
#else
    PART(float_state),
    PART(tuple),
#endif
    PART(FREED_LISTS),
    PART(AMOUNT_OF_LISTS),
    PART(FREED_DICTS),
    PART(AMOUNT_OF_DICTS),
    PART(FREED_KEYS),
    PART(AMOUNT_OF_KEYS),
    PART(FREED_SLICE),
#endif
};
#define PARTS (sizeof(parts) / sizeof(parts[0]))

static PyInterpreterState *interpreter;
static char others[4096]; /* the parts of whoever's turn it is not */

static void exchange(char *one, char *other, size_t size)
{
    char held[1024];
    memcpy(held, one, size);
    memcpy(one, other, size);
    memcpy(other, held, size);
}

int memory_turn(int own)
{
    int before = memory_is_own;
    if (own != before && region != NULL) {
        char *other = others;
        for (size_t part = 0; part < PARTS; part++) {
            exchange((char *)interpreter + parts[part].offset, other, parts[part].size);
            other += parts[part].size;
        }
        memory_is_own = own;
    }
    return before;
}

/* -- Is the interpreter as its headers say? -- */

static int parts_fit(void)
{
    size_t all = 0;
    for (size_t part = 0; part < PARTS; part++) {
        if (parts[part].size > 1024) {
            return 0;
        }
        all += parts[part].size;
    }
    return all <= sizeof(others);
}

static int collector_is_as_expected(void)
{
    int was_enabled = PyGC_Disable();
    int is_as_expected = interpreter->gc.enabled == 0;
    PyGC_Enable();
    is_as_expected = is_as_expected && interpreter->gc.enabled == 1;
    if (!was_enabled) {
        PyGC_Disable();
    }
    PyObject *collector = PyImport_ImportModule("gc");
    PyObject *told = collector == NULL ? NULL : PyObject_CallMethod(collector, "get_threshold", NULL);
    int thresholds[3];
    is_as_expected = is_as_expected && told != NULL &&
                     PyArg_ParseTuple(told, "iii", &thresholds[0], &thresholds[1], &thresholds[2]);
    for (int number = 0; is_as_expected && number < 3; number++) {
        is_as_expected = interpreter->gc.generations[number].threshold == thresholds[number];
    }
    Py_XDECREF(told);
    Py_XDECREF(collector);
    return is_as_expected;
}

/* Whether a freed object goes to the head of a free list. */
#define GOES_TO(head, object) \
    ((object) != NULL && (freed = (void *)(object), Py_DECREF((PyObject *)freed), (void *)(head) == freed))

static int dicts_and_lists_are_as_expected(PyObject *list, PyObject *dict)
{
    void *freed, *keys = ((PyDictObject *)dict)->ma_keys;
#if PY_VERSION_HEX >= 0x030E0000
    struct _Py_freelists *all = &interpreter->FREED;
    Py_ssize_t lists = all->lists.size, dicts = all->dicts.size, sets_of_keys = all->dictkeys.size;
    return GOES_TO(all->lists.freelist, list) && all->lists.size == lists + 1 &&
           GOES_TO(all->dicts.freelist, dict) && all->dicts.size == dicts + 1 &&
           all->dictkeys.freelist == keys && all->dictkeys.size == sets_of_keys + 1 &&
           GOES_TO(all->ints.freelist, PyLong_FromLong(1 << 20));
#else
    int lists = interpreter->AMOUNT_OF_LISTS, dicts = interpreter->AMOUNT_OF_DICTS, all = interpreter->AMOUNT_OF_KEYS;
    if (lists < 0 || lists >= 80 || dicts < 0 || dicts >= 80 || all < 0 || all >= 80) {
        return 0;
    }
    return GOES_TO(interpreter->FREED_LISTS[lists], list) && interpreter->AMOUNT_OF_LISTS == lists + 1 &&
           GOES_TO(interpreter->FREED_DICTS[dicts], dict) && interpreter->AMOUNT_OF_DICTS == dicts + 1 &&
           (void *)interpreter->FREED_KEYS[all] == keys && interpreter->AMOUNT_OF_KEYS == all + 1;
#endif
}

static int lists_are_as_expected(void)
{
    void *freed;
    if (!GOES_TO(interpreter->FREED_FLOATS, PyFloat_FromDouble(0.5)) ||
        !GOES_TO(interpreter->FREED_SLICE, PySlice_New(NULL, NULL, NULL))) {
        return 0;
    }
    PyObject *tuples[] = {PyTuple_New(1), PyTuple_New(2), PyTuple_New(7), PyTuple_New(19)};
    for (int number = 0; number < 4; number++) {
        Py_ssize_t size = tuples[number] == NULL ? 1 : PyTuple_GET_SIZE(tuples[number]);
        for (Py_ssize_t place = 0; tuples[number] != NULL && place < size; place++) {
            PyTuple_SET_ITEM(tuples[number], place, Py_NewRef(Py_None));
        }
        if (!GOES_TO(interpreter->FREED_TUPLES_OF(size), tuples[number])) {
            return 0;
        }
    }
    PyObject *list = PyList_New(0), *dict = PyDict_New();
    if (list == NULL || dict == NULL || PyDict_SetItemString(dict, "name", Py_None) < 0) {
        return 0;
    }
    return dicts_and_lists_are_as_expected(list, dict);
}

/* A memory tracer that is already active would restore the allocators one day, and then free what is not its own. */
static int is_traced(void)
{ return PyTraceMalloc_Untrack(0, 0) != -2; }

static int keep_apart(void)
{
    interpreter = PyInterpreterState_Get();
    if (region != NULL || is_traced() || !parts_fit() || !collector_is_as_expected() || !lists_are_as_expected()) {
        PyErr_Clear();
        return region != NULL;
    }
    char *memory = mmap(NULL, REGION_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (memory == MAP_FAILED) {
        return 0;
    }
    (void)madvise(memory, REGION_BYTES, MADV_NOHUGEPAGE); /* forked copies would copy large pages as a whole */
#ifdef __SANITIZE_ADDRESS__
    __lsan_register_root_region(memory, REGION_BYTES); /* what is only known from in there is no leak */
#endif
    region = unused = memory;
    region_end = memory + REGION_BYTES;
    const PyMemAllocatorDomain domains[] = {PYMEM_DOMAIN_MEM, PYMEM_DOMAIN_OBJ};
    for (int number = 0; number < 2; number++) {
        PyMem_GetAllocator(domains[number], &programs[number]);
        PyMemAllocatorEx ours = {&programs[number], own_malloc, own_calloc, own_realloc, own_free};
        PyMem_SetAllocator(domains[number], &ours);
    }
    return 1;
}

int memory_is_the_interpreters(uintptr_t address)
{
    return address - (uintptr_t)&_PyRuntime < sizeof _PyRuntime;
}

#else

int memory_turn(int own)
{
    (void)own;
    return 0;
}

int memory_is_the_interpreters(uintptr_t address)
{
    (void)address;
    return 0;
}

static int keep_apart(void)
{ return 0; }

#endif

PyObject *memory_keep_apart(PyObject *Py_UNUSED(module), PyObject *Py_UNUSED(nothing))
{ return PyBool_FromLong(keep_apart()); }

PyObject *memory_use_own(PyObject *Py_UNUSED(module), PyObject *own)
{ return PyBool_FromLong(memory_turn(own == Py_True)); }

PyObject *memory_forget_names(PyObject *Py_UNUSED(module), PyObject *Py_UNUSED(nothing))
{ PyType_ClearCache(); Py_RETURN_NONE; }
