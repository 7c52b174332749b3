/* What the source files of the accelerator use of each other.
 *
 * Whatever runs at every yield point and operation is here as inline functions, so that the compiler can merge it: a
 * call between files costs 3 of the 80 ns of an operation.
 *
 * Longer than 400 lines because it is the one place that says what each file offers to the others.
 */
#ifndef REPLAY_DD_ACCELERATOR_H
#define REPLAY_DD_ACCELERATOR_H

#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <stdint.h>

#include "constants.h"

#if PY_VERSION_HEX >= 0x030C0000
#define get_code_extra PyUnstable_Code_GetExtra
#else
#define get_code_extra _PyCode_GetExtra
#endif

/* Until 3.12, locks in C need to know the insides of frames; see operation_positions.c. */
#if PY_VERSION_HEX >= 0x030D0000 || (!defined(WITHOUT_FRAMES) && __has_include(<internal/pycore_frame.h>))
#define HAS_LOCKS 1
#else
#define HAS_LOCKS 0
#endif

/* A program may have libraries with functions of the same names. */
#pragma GCC visibility push(hidden)

/* -- own_memory.c: the runtime's own memory -- */

extern int memory_is_own; /* whether objects are made in it */

/* Begin the turn of the runtime (1) or of the program (0). Returns whose turn it was. */
int memory_turn(int own);

/* keep_memory_apart(): take over the interpreter's allocators. False if that is impossible; then turns have no effect. */
PyObject *memory_keep_apart(PyObject *module, PyObject *nothing);

/* use_own_memory(own): memory_turn for Python. */
PyObject *memory_use_own(PyObject *module, PyObject *own);

/* begin_memory_anew(number): what the program allocates from now on stands at addresses that do not depend on what it and the
 * interpreter have allocated before. Call it in the runtime's turn. */
PyObject *memory_begin_anew(PyObject *module, PyObject *number);

/* forget_names(): empty the interpreter's attribute cache, which keeps names alive. */
PyObject *memory_forget_names(PyObject *module, PyObject *nothing);

/* Whether an address is in the interpreter's own state, where its lock is. */
int memory_is_the_interpreters(uintptr_t address);

/* -- tables.c: the yield points of a code object -- */

typedef struct {
    long long base;    /* the position of entry 0 */
    int shift;         /* positions between two entries, as a power of two */
    Py_ssize_t length; /* 0: not counted */
    uint64_t numbers[];
} Table;

extern Py_ssize_t tables_index; /* where code objects have their tables */

/* Call this before the others. Returns -1 with an exception set. */
int tables_prepare(void);

/* Counter.add_code */
PyObject *tables_add_code(PyObject *counter, PyObject *arguments);

/* NULL: the code has not been seen before. */
static inline Table *table_of(PyObject *code)
{
    void *table = NULL;
    if (get_code_extra(code, tables_index, &table) < 0) {
        PyErr_Clear();
    }
    return table;
}

/* What a position adds to the digest; 0: not a yield point. */
static inline uint64_t number_at(const Table *table, long long position)
{
    long long index = (position - table->base) >> table->shift;
    return index >= 0 && index < table->length ? table->numbers[index] : 0;
}

/* -- operation_places.c: what is known about the places of operations -- */

typedef struct {
    PyObject *code;  /* kept alive, so that its address stays its own */
    PyObject *place; /* NULL: library code, which is looked through */
    int position;
    uint64_t number;
} Known;

#define BUCKETS 128 /* a power of two */
#define BUCKET_PLACES 4
#define KNOWN_PLACES (BUCKETS * BUCKET_PLACES)

typedef struct {
    Known known[KNOWN_PLACES];
} Places;

/* Counter.know */
PyObject *places_know(Places *places, PyObject *arguments);

/* Counter.know_library */
PyObject *places_know_library(Places *places, PyObject *const *arguments, Py_ssize_t amount);

/* outside_library(kinds, frame) */
PyObject *places_outside_library(PyObject *module, PyObject *const *arguments, Py_ssize_t amount);

int places_traverse(Places *places, visitproc visit, void *arg);
void places_clear(Places *places);

/* Spreads neighbouring addresses and offsets. */
static inline Known *bucket_of(Places *places, PyObject *code, int position)
{
    uint64_t mixed = ((uint64_t)(uintptr_t)code + (unsigned int)position) * SPLITMIX_STEP;
    return &places->known[(mixed >> 32 & (BUCKETS - 1)) * BUCKET_PLACES];
}

static inline const Known *find_known(Places *places, PyObject *code, int position)
{
    const Known *bucket = bucket_of(places, code, position);
    for (int index = 0; index < BUCKET_PLACES; index++) {
        if (bucket[index].code == code && bucket[index].position == position) {
            return &bucket[index];
        }
    }
    return NULL;
}

/* The interpreter creates an object for each frame that is inspected. For the frames that the scheduler will inspect,
 * create them in the runtime's memory, where they are also created when inspected here. */
static inline void places_make_frames(void)
{
    int was_own = memory_is_own;
    memory_is_own = 1; /* without a full turn: nothing else is created or freed */
    PyFrameObject *frame = PyEval_GetFrame();
    PyFrameObject *caller = frame == NULL ? NULL : PyFrame_GetBack(frame);
    Py_XDECREF(caller);
    memory_is_own = was_own;
}

/* How one of our functions was called: a method of an object, with arguments. */
typedef struct {
    PyObject *self;
    PyObject *const *arguments;
    Py_ssize_t amount;
} Call;

/* -- operation_positions.c: where operations stand in the bytecode -- */

/* How far the position of an operation in the log is behind where the frame stands that does it by this call; NULL: while
 * Python is asked about one. */
int positions_shift(PyFrameObject *frame, const Call *call);

/* The call in C on whose behalf a thread asks Python. */
typedef struct {
    PyObject *code; /* only compared */
    int position, shift;
} Asking;

/* Call these before and after a function in Python that does the operation of this call. */
Asking positions_begin_asking(const Call *call);
void positions_end_asking(Asking before);

/* What is known about the innermost frame outside the library; NULL if there is none, or if the scheduler has to look.
 * The call of the operation if it is one in C, else NULL. */
static inline const Known *places_of_operation(Places *places, const Call *call, int *is_library_only)
{
    *is_library_only = 0;
    int was_own = memory_is_own;
    memory_is_own = 1; /* as above */
    PyFrameObject *frame = PyEval_GetFrame();
    const Known *found = NULL;
    Py_XINCREF(frame);
    while (frame != NULL) {
        PyObject *code = (PyObject *)PyFrame_GetCode(frame);
        PyFrameObject *next = NULL;
        if (find_known(places, code, LOOKED_THROUGH) != NULL) {
            next = PyFrame_GetBack(frame);
            *is_library_only = next == NULL;
        }
        else {
            int position = PyFrame_GetLasti(frame);
            if (PY_VERSION_HEX < 0x030D0000) {
                position += positions_shift(frame, call);
            }
            found = find_known(places, code, position);
        }
        call = NULL; /* it is that of the innermost frame */
        Py_DECREF(code); /* the frame keeps it alive */
        Py_DECREF(frame);
        frame = next;
    }
    memory_is_own = was_own;
    return found;
}

/* -- stuck_calls.c: does the thread with the baton stand still? -- */

typedef struct {
    const void *holder; /* who had the baton at the last check; only compared */
    long long time;     /* its thread time then */
    long long seen_ns;  /* when that was */
    long long processor_ns, still_since_ns;
    int still; /* checks in a row that found it standing still */
} Looks;

/* Counter.wait_at */
PyObject *stuck_calls_wait_at(PyObject *counter, PyObject *const *arguments, Py_ssize_t amount);

/* system_call(handle, streams): the number of the system call that a thread is in, or -1; and whether only the world
 * outside can end it: it reads or writes a file or one of the streams, given as (device, inode). */
PyObject *stuck_calls_system_call(PyObject *module, PyObject *const *arguments, Py_ssize_t amount);

/* -- processors.c: one processor for all threads -- */

/* Keep the calling thread on the processor where it is, and let it go wherever it could before. */
void processors_stay(void);
void processors_roam(void);

/* As processors.stay, processors.roam and processors.begin. */
PyObject *processors_stay_to_start(PyObject *module, PyObject *nothing);
PyObject *processors_use_any(PyObject *module, PyObject *nothing);
PyObject *processors_begin(PyObject *module, PyObject *nothing);

/* -- interpreters.c: other interpreters of this process -- */

/* adapt_interpreter(number, clocks, answer): let the functions of its module `time` ask. False if that is impossible. */
PyObject *interpreters_adapt(PyObject *module, PyObject *arguments);

/* leave_home(): remember the state to come back to. Call it before each call that executes code in another interpreter. */
PyObject *interpreters_leave_home(PyObject *module, PyObject *nothing);

/* -- clocks.c -- */

/* built_in(original, stand_in): a built-in function as the original, or class method, that calls the stand-in. None where
 * its kind is not known. */
PyObject *clocks_built_in(PyObject *module, PyObject *const *arguments, Py_ssize_t count);

/* -- file_times.c -- */

/* changed_since(original, since_s, told) */
PyObject *file_times_changed_since(PyObject *module, PyObject *arguments);

/* -- pipes.c -- */

/* enlarge_pipe(descriptor, size): whether the system agreed. */
PyObject *pipes_enlarge(PyObject *module, PyObject *const *arguments, Py_ssize_t amount);

/* waiting_bytes(descriptor): how many bytes can be read from it at once; -1 where that is not known. */
PyObject *pipes_waiting_bytes(PyObject *module, PyObject *descriptor);

/* -- library_entropy.c: random numbers of libraries -- */

/* seed_libraries(key, date_ns): whether libraries draw from this key from now on. */
PyObject *entropy_seed_libraries(PyObject *module, PyObject *arguments);

/* seed_thread(nonce): this thread does, too. */
PyObject *entropy_seed_thread(PyObject *module, PyObject *nonce);

/* seed_process(): this copy of the process does as the one that it was copied from. */
PyObject *entropy_seed_process(PyObject *module, PyObject *nothing);

/* cover_libraries(path): those that have been loaded since, and this one, which is loaded now; None for none. */
PyObject *entropy_cover_libraries(PyObject *module, PyObject *path);

/* library_that_drew(): the file of the first one that drew more than a seed for hash tables; empty if none did. */
PyObject *entropy_library_that_drew(PyObject *module, PyObject *nothing);

/* -- visits.c: which visits of places are notable -- */

typedef struct {
    uint64_t key;
    uint64_t visits; /* 0: not in use */
} VisitEntry;

typedef struct {
    VisitEntry *entries;
    size_t amount, used;
} Visits;

/* Count a visit; whether it is one of the first, or doubles their number. */
int visits_count(Visits *visits, uint64_t key);

/* Whether this key was counted. */
int visits_know(const Visits *visits, uint64_t key);

void visits_clear(Visits *visits);

/* -- counting.c: threads, counters, what happens at a yield point -- */

typedef struct {
    PyObject_HEAD
    long long time;
    long long ask_at;
    long long atomic;
    unsigned long long hash;
    unsigned long long ident;  /* 0: at its next yield point it asks for the baton; see stuck_calls.py */
    unsigned long long handle; /* the same, except while it is away without the baton */
    long long uncounted;       /* operations so far that were not yield points */
    long long contacts;        /* how often it met the runtime since its last yield point, */
    long long contacts_at;     /* as of this time */
    PyObject *place; /* where it performs its operation */
} ThreadCounts;

typedef struct {
    PyObject_HEAD
    PyObject *current;  /* the thread that has the baton: a ThreadCounts */
    PyObject *question; /* called with thread, code, position, is_line when a question is due */
    PyObject *stranger; /* called with the code in which a thread without the baton reaches a yield point */
    PyObject *learn;    /* called with a code object not seen before */
    PyObject *kinds;    /* a dict: file -> what kind of code it has, 0 if that is counted (see places.py); or None */
    PyObject *watched;  /* the numbers of places whose visits are counted, or None */
    PyObject *visits;   /* a dict: (thread, number) -> visits */
    PyObject *disable;  /* sys.monitoring.DISABLE, or None */
    PyObject *executed; /* called with each instruction of counted code, or None */
    unsigned long long digest;
    int lines;          /* trace lines, not opcodes */
    char counting;      /* yield points count: the first thread has been started */
    char busy;          /* the scheduler is at work */
    char over;          /* the program has ended */
    char every_operation; /* the strategy wants to be asked at each operation */
    char idle;          /* the thread with the baton waits in real time, on purpose */
    char noting;        /* ask also at notable visits: 0, BY_THREAD, BY_PLACE or AT_PLACES */
    char notable;       /* so was the last yield point */
    Looks looks;
    Places places;
    Visits noted, left_out;
} Counter;

extern PyTypeObject ThreadCountsType, CounterType;

/* Call this before the types are used. Returns -1 with an exception set. */
int counting_prepare(void);

/* Pass the yield point of an operation that can go on, if nobody has to be asked. The call of the operation if it is one in
 * C, else NULL. Returns whether it was passed, or -1 with an exception set. */
int counting_pass(Counter *counter, const Call *call);

/* As counter.fold and stack_room.need_room. */
PyObject *counting_fold(PyObject *module, PyObject *const *arguments, Py_ssize_t amount);
PyObject *counting_need_room(PyObject *module, PyObject *const *arguments, Py_ssize_t amount);

/* -- lock_makers.c: where locks are made -- */

/* Where the running thread makes a lock. `where_made` is called, without arguments, unless that is known; it returns this, and
 * the code outside the library that does so, or None. */
PyObject *lock_makers_now(Places *places, PyObject *where_made);

/* -- locks.c: what stands in for the locks of `_thread` -- */

/* Add the types Lock and RLock to the module, or None in their places. Returns -1 with an exception set. */
int locks_add(PyObject *module);

/* use_locks(counter, PythonLock, PythonRLock, class, where): what they ask, and what allocate_lock makes. */
PyObject *locks_use(PyObject *module, PyObject *arguments);

/* As lock_operations.allocate_lock. */
PyObject *locks_allocate(PyObject *module, PyObject *nothing);

/* -- fast_exit.c: threads and forked copies, how they begin and end -- */

/* wait_until_gone(native_id): wait until the system has forgotten a thread of this process. */
PyObject *fast_exit_wait_until_gone(PyObject *module, PyObject *native_id);

/* watch_exit(leaves, unwinds): call a function with the SystemExit that ends the program and its code, and another one
 * as fast_exit_unwinds() says. */
PyObject *fast_exit_watch_exit(PyObject *module, PyObject *arguments);

/* An exception (type, value, traceback) leaves the outermost function of a thread: call a function with the last two if
 * it is a SystemExit. */
void fast_exit_unwinds(PyObject *exception);

/* leave(status): call exit(3). */
PyObject *fast_exit_leave(PyObject *module, PyObject *status);

/* -- written_pages.c: which pages copies of a process write to -- */

/* Where this process has pages of its own and shares them with no other one, up to a limit; as bytes for the next function. */
PyObject *written_pages(PyObject *module, PyObject *nothing);

/* fork(pages): fork(2) without the interpreter's handlers; the copy gets these pages at once. Sound only in a process with a
 * single thread. */
PyObject *written_pages_fork(PyObject *module, PyObject *pages);

/* -- deaths.c: when lists and dictionaries go -- */

/* life_of(thing): a number that a list or a dictionary has for as long as it lives, and none after it; 0 for anything else,
 * or if there is no room. */
PyObject *deaths_life_of(PyObject *module, PyObject *thing);

/* -- frame_values.c: what a running frame holds -- */

/* frame_values(frame, first, count): values from its variables and its stack; the frame itself stands for an empty place.
 * None where the insides of frames are not known. */
PyObject *frame_values(PyObject *module, PyObject *arguments);

/* -- observing.c: objects of the program, looked at without running its code -- */

/* local_value(frame, name): the value of a local variable, None if it has none. */
PyObject *observing_local_value(PyObject *module, PyObject *const *arguments, Py_ssize_t amount);

/* without_own(objects): those that do not stand in the runtime's memory; a list. */
PyObject *observing_without_own(PyObject *module, PyObject *objects);

/* -- sqlite.c: what SQLite asks of the system -- */

/* control_databases(library, sleep, ask, tell, date, seed): let SQLite sleep through a function, ask one before each
 * request for a lock (None: never) and tell one of refused requests, ask one for the date, and seed its random numbers;
 * None leaves these two as they are. The library's file, or None where the interpreter contains it. Whether this worked. */
PyObject *sqlite_control(PyObject *module, PyObject *arguments);

/* database_lock_is_held(*lock): whether another connection of this process has a lock that conflicts with this one. */
PyObject *sqlite_is_held(PyObject *module, PyObject *arguments);

/* database_lock_is_held_elsewhere(*lock): the same of other processes. */
PyObject *sqlite_is_held_elsewhere(PyObject *module, PyObject *arguments);

/* -- sqlite_mutex.c: what its threads wait for in SQLite itself -- */

/* Threads that wait for a mutex of the SQLite of this handle give up the GIL; not if it is in use already. */
void sqlite_share_mutexes(void *handle);

#pragma GCC visibility pop
#endif
