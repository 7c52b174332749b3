/* Where objects stand: the runtime's apart from the program's, and both at addresses that nothing else moves.
 *
 * Rules of this file:
 *
 * - A program may iterate over a set of objects, and so depend on their addresses. A strategy that draws its choices and
 *   a replay that looks them up create and free different objects. So objects that are created while the runtime works
 *   stand in a region of their own. Freed memory is returned by its address, whoever frees it.
 * - What the interpreter allocates before the program begins depends on the environment, on paths, and on what stands in
 *   folders. So the program's objects have a region, too, and begin another one when the first thread starts. There, the
 *   address of an object depends on nothing but what the program has allocated and freed since the region was begun.
 * - The interpreter has free lists of floats, tuples, lists, dictionaries and slices, and counts objects for its garbage
 *   collector. The runtime has its own of both; they are swapped when runtime and program take turns. There is no
 *   automatic collection in the runtime's turn. With a new region, the program gets empty lists.
 * - The program has no free list of integers (3.14): small ones are not made at all, so the number of a user, of a process
 *   or of a port would decide how many there are in it.
 * - Their layout is private to the interpreter and may change with any version. So it is checked before anything is
 *   written; if anything is not as expected, nothing is changed, and addresses depend on all that.
 * - All of this happens while holding the GIL, so there are no locks.
 *
 * Longer than 400 lines because what checks the private layouts of five interpreters stands beside what swaps them.
 */
#define Py_BUILD_CORE_MODULE 1
#include "_accelerator.h"
#include "regions.h"

int memory_is_own;

#define MODULES (-1) /* whichever region is next */

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

/* -- The allocators; the context of each is the one that it replaces -- */

static PyMemAllocatorEx programs[2];
static PyInterpreterState *interpreter;
static Region *program_region; /* where the program's objects are made */
static int is_apart;

/* Interpreters with a GIL of their own do not hold ours. As long as ours is the only one, nobody need ask for the thread:
 * that took 7 % of a map over a pool of threads. New ones are put in front. */
#if PY_VERSION_HEX >= 0x030D0000
#define CURRENT_THREAD() PyThreadState_GetUnchecked()
#else
#define CURRENT_THREAD() _PyThreadState_UncheckedGet()
#endif
#if PY_VERSION_HEX >= 0x030C0000
#define IS_OTHER_INTERPRETER \
    (_PyRuntime.interpreters.head != interpreter && CURRENT_THREAD() != NULL && CURRENT_THREAD()->interp != interpreter)
#else
#define IS_OTHER_INTERPRETER 0
#endif

/* The interpreter's cache of attributes may keep the last reference to a name. Where it puts names depends on their
 * addresses and on how many classes the runtime has used, and so does the moment at which one name drives another one out.
 * So strings rest when they are freed, and are put back, together with all that the cache keeps, at moments that only
 * depend on the program: it has allocated so many blocks of odd sizes, which are mostly strings. (The interpreter also
 * creates objects for frames of the runtime if these are traced, as the strategy has it.) Numbers do not count: those up
 * to 256 need no block, so the number of a user, of a process or of a port would decide. */
#define STRINGS_BETWEEN_WAKES 2048
#define IS_ODD(size) ((size) % sizeof(void *) != 0 && (size) != sizeof(PyVarObject) + sizeof(digit))

static int strings_to_wake = STRINGS_BETWEEN_WAKES;

static int may_be_name(const Region *region, const void *memory)
{
    return region != &regions[RUNTIMES_REGION] && number_of_block(memory) < SMALL_SIZES &&
           Py_TYPE((PyObject *)memory) == &PyUnicode_Type; /* of other memory this may be true by chance; it may rest, too */
}

static inline void *take(size_t size)
{
    if (size > REGION_LARGEST_BYTES || IS_OTHER_INTERPRETER) {
        return NULL;
    }
    if (memory_is_own) {
        return region_take(&regions[RUNTIMES_REGION], size);
    }
    if (IS_ODD(size) && --strings_to_wake == 0) {
        strings_to_wake = STRINGS_BETWEEN_WAKES;
        PyType_ClearCache();
        region_wake(program_region);
    }
    return region_take(program_region, size);
}

static void *region_malloc(void *context, size_t size)
{
    PyMemAllocatorEx *before = context;
    void *memory = take(size);
    return memory != NULL ? memory : before->malloc(before->ctx, size);
}

static void *region_calloc(void *context, size_t amount, size_t size)
{
    PyMemAllocatorEx *before = context;
    if (size == 0 || amount <= REGION_LARGEST_BYTES / size) {
        void *memory = take(amount * size);
        if (memory != NULL) {
            return memset(memory, 0, amount * size);
        }
    }
    return before->calloc(before->ctx, amount, size);
}

static void region_free(void *context, void *memory)
{
    PyMemAllocatorEx *before = context;
    Region *region = region_of(memory);
    if (region == NULL) {
        before->free(before->ctx, memory);
    }
    else if (IS_OTHER_INTERPRETER) {
        return;
    }
    else if (may_be_name(region, memory)) {
        region_let_rest(region, memory);
    }
    else {
        region_put_back(region, memory);
    }
}

/* A block stays in its region if that suffices, whoever's turn it is. */
static void *region_realloc(void *context, void *memory, size_t size)
{
    PyMemAllocatorEx *before = context;
    if (memory == NULL) {
        return region_malloc(context, size);
    }
    Region *region = region_of(memory);
    if (region == NULL) {
        return before->realloc(before->ctx, memory, size);
    }
    size_t room = room_of(number_of_block(memory));
    if (region_fits(room, size)) {
        return memory;
    }
    void *other = region_malloc(context, size);
    if (other != NULL) {
        memcpy(other, memory, size < room ? size : room);
        region_free(context, memory);
    }
    return other;
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
    if (own != before && is_apart) {
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

/* Let the program's integers be freed at once: a size below zero closes a free list. The lists are those at this place. */
static void close_list_of_integers(char *lists)
{
#if PY_VERSION_HEX >= 0x030E0000
    struct _Py_freelist closed = {NULL, -1};
    memcpy(lists + offsetof(struct _Py_freelists, ints), &closed, sizeof(closed));
#else
    (void)lists;
#endif
}

/* A memory tracer that is already active would restore the allocators one day, and then free what is not its own. */
static int is_traced(void)
{ return PyTraceMalloc_Untrack(0, 0) != -2; }

static int keep_apart(void)
{
    interpreter = PyInterpreterState_Get();
    if (is_apart || is_traced() || !parts_fit() || !collector_is_as_expected() || !lists_are_as_expected() ||
        !regions_prepare()) {
        PyErr_Clear();
        return is_apart;
    }
    program_region = &regions[RUNTIMES_REGION + 1];
    region_open(&regions[RUNTIMES_REGION]);
    region_open(program_region);
    const PyMemAllocatorDomain domains[] = {PYMEM_DOMAIN_MEM, PYMEM_DOMAIN_OBJ};
    for (int number = 0; number < 2; number++) {
        PyMem_GetAllocator(domains[number], &programs[number]);
        PyMemAllocatorEx ours = {&programs[number], region_malloc, region_calloc, region_realloc, region_free};
        PyMem_SetAllocator(domains[number], &ours);
    }
    close_list_of_integers((char *)interpreter + parts[2].offset);
    is_apart = 1;
    return 1;
}

/* In the runtime's turn. What the lists hold is given up: it may be anywhere. */
static void begin_anew(long place)
{
    Region *next = place == MODULES ? program_region + 1 : &regions[place];
    if (!is_apart || !memory_is_own || next <= program_region || (place == MODULES && next >= &regions[LIBRARIES_REGION])) {
        return;
    }
    program_region = next;
    region_open(next);
    strings_to_wake = STRINGS_BETWEEN_WAKES;
    size_t kept = parts[0].size; /* whether collection is enabled */
    memset(others + kept, 0, sizeof(others) - kept);
    close_list_of_integers(others + kept + parts[1].size);
    interpreter->gc.generations[1].count = interpreter->gc.generations[2].count = 0;
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

static void begin_anew(long place)
{ (void)place; }

#endif

PyObject *memory_keep_apart(PyObject *Py_UNUSED(module), PyObject *Py_UNUSED(nothing))
{ return PyBool_FromLong(keep_apart()); }

/* Python 3.11 looks before each instruction whether a line begins, as long as a thread is traced, and makes a table of
 * lines for each function: in the runtime's turn, for nothing. */
#if PY_VERSION_HEX < 0x030C0000
static __thread int is_untraced;

static void trace_program_only(int own)
{
    if (own && !is_untraced) {
        PyThreadState_EnterTracing(PyThreadState_Get());
    }
    else if (!own && is_untraced) {
        PyThreadState_LeaveTracing(PyThreadState_Get());
    }
    is_untraced = own;
}
#else
static void trace_program_only(int own)
{ (void)own; }
#endif

PyObject *memory_use_own(PyObject *Py_UNUSED(module), PyObject *own)
{
    int is_own = own == Py_True, was_own = memory_turn(is_own);
    if (memory_is_own != was_own) { /* there are no turns unless memory is kept apart */
        trace_program_only(is_own);
    }
    return PyBool_FromLong(was_own);
}

PyObject *memory_begin_anew(PyObject *Py_UNUSED(module), PyObject *number)
{
    const long places[] = {PROGRAMS_REGION, MODULES, SETUPS_REGION, TESTS_REGION, THREADS_REGION};
    long place = PyLong_AsLong(number);
    if (place < 0 || place > 4) {
        return PyErr_Occurred() ? NULL : PyErr_Format(PyExc_ValueError, "expected 0 to 4, not %ld", place);
    }
    begin_anew(places[place]);
    Py_RETURN_NONE;
}

PyObject *memory_forget_names(PyObject *Py_UNUSED(module), PyObject *Py_UNUSED(nothing))
{ PyType_ClearCache(); Py_RETURN_NONE; }
