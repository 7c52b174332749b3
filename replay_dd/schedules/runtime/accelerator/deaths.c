/* Lists and dictionaries cannot be referred to weakly: whether one still lives is known by seeing each of them go.
 *
 * Rules of this file:
 * - Nothing lives longer for being watched, and nothing is allocated where the program's objects are.
 * - The destructors of both types are taken over when the first object is watched, and stay so: they cost a comparison
 *   while none is.
 * - Another thread, or another interpreter, may destroy something at any time: the table has a lock of its own, and
 *   nothing of the interpreter is called while that is held.
 */
#define _GNU_SOURCE 1
#include "_accelerator.h"
#include <stdatomic.h>
#include <sys/mman.h>

/* Until 3.13, the interpreter saves its C stack only where it finds its own destructor in the type: containers within
 * containers beyond this depth get that back. What goes there is not seen. */
#define DEEPEST 100

typedef struct {
    uintptr_t address; /* 0: none */
    long long life;
} Watched;

static Watched *table;
static size_t room, used; /* room is a power of two */
static long long lives;
static atomic_flag busy = ATOMIC_FLAG_INIT;
static destructor destroy_list, destroy_dict;
static _Thread_local int depth;

static void begin(void)
{
    while (atomic_flag_test_and_set_explicit(&busy, memory_order_acquire)) {
    }
}

static void end(void) { atomic_flag_clear_explicit(&busy, memory_order_release); }

static size_t first_place(uintptr_t address) { return (size_t)((address >> 4) * 0x9E3779B97F4A7C15ULL >> 20) & (room - 1); }

/* Where an address is, or would be. */
static Watched *find(uintptr_t address)
{
    size_t at = first_place(address);
    while (table[at].address != 0 && table[at].address != address) {
        at = (at + 1) & (room - 1);
    }
    return &table[at];
}

static int make_room(void)
{
    if (used * 2 < room) {
        return 1;
    }
    size_t old_room = room, new_room = room == 0 ? 4096 : room * 2;
    Watched *old = table;
    Watched *made = mmap(NULL, new_room * sizeof(Watched), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (made == MAP_FAILED) {
        return 0;
    }
    table = made;
    room = new_room;
    for (size_t at = 0; at < old_room; at++) {
        if (old[at].address != 0) {
            *find(old[at].address) = old[at];
        }
    }
    if (old != NULL) {
        munmap(old, old_room * sizeof(Watched));
    }
    return 1;
}

static void forget(uintptr_t address)
{
    begin();
    Watched *gone = find(address);
    if (gone->address != 0) {
        /* Move up what stands behind it only because this place was taken. */
        size_t hole = (size_t)(gone - table), at = hole;
        for (;;) {
            at = (at + 1) & (room - 1);
            if (table[at].address == 0) {
                break;
            }
            if (((at - first_place(table[at].address)) & (room - 1)) >= ((at - hole) & (room - 1))) {
                table[hole] = table[at];
                hole = at;
            }
        }
        table[hole].address = 0;
        used--;
    }
    end();
}

static void destroy(PyObject *thing, PyTypeObject *type, destructor theirs, destructor ours)
{
    if (used > 0) {
        forget((uintptr_t)thing);
    }
    if (depth < DEEPEST) {
        depth++;
        theirs(thing);
        depth--;
    }
    else {
        type->tp_dealloc = theirs;
        theirs(thing);
        type->tp_dealloc = ours;
    }
}

static void list_goes(PyObject *thing) { destroy(thing, &PyList_Type, destroy_list, list_goes); }

static void dict_goes(PyObject *thing) { destroy(thing, &PyDict_Type, destroy_dict, dict_goes); }

PyObject *deaths_life_of(PyObject *Py_UNUSED(module), PyObject *thing)
{
    if (!PyList_Check(thing) && !PyDict_Check(thing)) {
        return PyLong_FromLong(0);
    }
    long long life = 0;
    begin();
    if (destroy_list == NULL) {
        destroy_list = PyList_Type.tp_dealloc;
        destroy_dict = PyDict_Type.tp_dealloc;
        PyList_Type.tp_dealloc = list_goes;
        PyDict_Type.tp_dealloc = dict_goes;
    }
    if (make_room()) {
        Watched *found = find((uintptr_t)thing);
        if (found->address == 0) {
            found->address = (uintptr_t)thing;
            found->life = ++lives;
            used++;
        }
        life = found->life;
    }
    end();
    return PyLong_FromLongLong(life);
}
