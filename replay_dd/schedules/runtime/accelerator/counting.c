/* The fast path of the runtime: what happens at a yield point, in C.
 *
 * Rules of this file:
 *
 * - It does what monitoring.py and tracing.py do in Python, and nothing else: the same thread times, digests and
 *   questions. The tests compare both.
 * - Only the thread with the baton counts, also where there is no GIL: no locks. Any other is turned away by one
 *   comparison.
 * - Python code runs only when a question of the strategy is due, when code is new, or when visits of places are
 *   counted; otherwise a yield point is a table lookup, an addition and a multiplication.
 * - An operation (on a lock, a file, the clock) that can proceed is passed here if its place is known and no question is
 *   due; the scheduler handles all other cases and teaches the places.
 *
 * Longer than 400 lines because all ways to a yield point share functions that are compiled into each of them.
 */
#include "_accelerator.h"
#include <stddef.h>
#include <structmember.h>

#define NEAR_THE_LIMIT 40 /* calls left: then the scheduler itself checks whether they suffice */
_Static_assert(NEAR_THE_LIMIT > ROOM_FRAMES, "the scheduler has to be asked while there is room for it");

/* -- ThreadCounts: the numbers of a thread that the fast path needs -- */

static PyMemberDef thread_counts_members[] = {
    {"time", T_LONGLONG, offsetof(ThreadCounts, time), 0, "yield points passed"},
    {"ask_at", T_LONGLONG, offsetof(ThreadCounts, ask_at), 0, "the time at which to ask the scheduler"},
    {"atomic", T_LONGLONG, offsetof(ThreadCounts, atomic), 0, "above 0: no yield points"},
    {"hash", T_ULONGLONG, offsetof(ThreadCounts, hash), 0, "what the thread adds to the digest"},
    {"ident", T_ULONGLONG, offsetof(ThreadCounts, ident), 0, "the thread's identity, or 0"},
    {"handle", T_ULONGLONG, offsetof(ThreadCounts, handle), 0, "the thread's identity, unless it is away"},
    {"uncounted", T_LONGLONG, offsetof(ThreadCounts, uncounted), 0, "operations that were no yield points"},
    {"contacts", T_LONGLONG, offsetof(ThreadCounts, contacts), 0, "how often it met the runtime"},
    {"contacts_at", T_LONGLONG, offsetof(ThreadCounts, contacts_at), 0, "the time since which that is"},
    {"place", T_OBJECT, offsetof(ThreadCounts, place), 0, "where it does its operation"},
    {NULL, 0, 0, 0, NULL},
};

static void thread_counts_dealloc(ThreadCounts *self)
{
    Py_CLEAR(self->place);
    Py_TYPE(self)->tp_free((PyObject *)self);
}

PyTypeObject ThreadCountsType = {
    PyVarObject_HEAD_INIT(NULL, 0).tp_name = "_accelerator.ThreadCounts",
    .tp_basicsize = sizeof(ThreadCounts),
    .tp_flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE,
    .tp_doc = "The numbers of a thread that every yield point needs.",
    .tp_members = thread_counts_members,
    .tp_dealloc = (destructor)thread_counts_dealloc,
    .tp_new = PyType_GenericNew,
};

/* -- Counter -- */

static PyMemberDef counter_members[] = {
    {"current", T_OBJECT_EX, offsetof(Counter, current), 0, "the thread that has the baton"},
    {"question", T_OBJECT_EX, offsetof(Counter, question), 0, "called when a question is due"},
    {"stranger", T_OBJECT_EX, offsetof(Counter, stranger), 0, "called for a thread without the baton"},
    {"learn", T_OBJECT_EX, offsetof(Counter, learn), 0, "called with code that is seen for the first time"},
    {"kinds", T_OBJECT_EX, offsetof(Counter, kinds), 0, "what kind of code each file has"},
    {"executed", T_OBJECT_EX, offsetof(Counter, executed), 0, "called with each instruction of counted code"},
    {"watched", T_OBJECT_EX, offsetof(Counter, watched), 0, "numbers of places whose visits are counted"},
    {"visits", T_OBJECT_EX, offsetof(Counter, visits), 0, "visits by thread and number"},
    {"digest", T_ULONGLONG, offsetof(Counter, digest), 0, "the rolling digest"},
    {"lines", T_INT, offsetof(Counter, lines), 0, "trace lines, not opcodes"},
    {"counting", T_BOOL, offsetof(Counter, counting), 0, "yield points count"},
    {"busy", T_BOOL, offsetof(Counter, busy), 0, "the scheduler is at work"},
    {"over", T_BOOL, offsetof(Counter, over), 0, "the program has ended"},
    {"idle", T_BOOL, offsetof(Counter, idle), 0, "the thread with the baton may wait"},
    {"every_operation", T_BOOL, offsetof(Counter, every_operation), 0, "to ask at each operation"},
    {"noting", T_BYTE, offsetof(Counter, noting), 0, "whether to ask at notable visits, too, and at which"},
    {"notable", T_BOOL, offsetof(Counter, notable), 0, "the last yield point was such a visit"},
    {NULL, 0, 0, 0, NULL},
};

static int count_visit(Counter *self, PyObject *thread, uint64_t number)
{
    PyObject *key = NULL, *visits = NULL;
    int result = -1, was_own = memory_turn(1);
    PyObject *place = PyLong_FromUnsignedLongLong(number);
    if (place == NULL) {
        goto done;
    }
    int is_watched = PySet_Contains(self->watched, place);
    if (is_watched <= 0) {
        result = is_watched;
        goto done;
    }
    if ((key = PyTuple_Pack(2, thread, place)) == NULL) {
        goto done;
    }
    PyObject *before = PyDict_GetItemWithError(self->visits, key);
    if (before == NULL && PyErr_Occurred()) {
        goto done;
    }
    visits = PyLong_FromLong(before == NULL ? 1 : PyLong_AsLong(before) + 1);
    if (visits != NULL) {
        result = PyDict_SetItem(self->visits, key, visits);
    }
done:
    Py_XDECREF(place);
    Py_XDECREF(key);
    Py_XDECREF(visits);
    memory_turn(was_own);
    return result;
}

static inline int is_notable(Counter *self, const ThreadCounts *thread, uint64_t number)
{
    if (self->noting == AT_PLACES) {
        return visits_know(&self->noted, number);
    }
    if (visits_know(&self->left_out, number)) {
        return 0;
    }
    return visits_count(&self->noted, self->noting == BY_THREAD ? number ^ thread->hash : number);
}

/* Count a yield point of a thread and fold it into the digest. Returns -1 with an exception set. */
static inline int fold(Counter *self, ThreadCounts *thread, uint64_t number)
{
    thread->time++;
    self->digest = (self->digest ^ number ^ thread->hash) * DIGEST_PRIME;
    self->notable = self->noting && is_notable(self, thread, number);
    return self->watched == Py_None ? 0 : count_visit(self, (PyObject *)thread, number);
}

/* A yield point: count it, fold it, ask if it is time. Returns -1 with an exception set. */
static int pass(Counter *self, PyObject *code, long long position, uint64_t number, int is_line)
{
    ThreadCounts *thread = (ThreadCounts *)self->current;
    if (thread->ident != (unsigned long long)PyThread_get_thread_ident()) {
        PyObject *has_baton = PyObject_CallOneArg(self->stranger, code);
        int goes_on = has_baton == Py_True;
        Py_XDECREF(has_baton);
        if (!goes_on) {
            return has_baton == NULL ? -1 : 0;
        }
        thread = (ThreadCounts *)self->current;
    }
    if (thread->atomic) {
        return 0;
    }
    if (fold(self, thread, number) < 0) {
        return -1;
    }
    if (thread->time < thread->ask_at && !self->notable) {
        return 0;
    }
    Py_INCREF(thread); /* another thread has the baton meanwhile */
    PyObject *line = is_line ? Py_True : Py_False;
    memory_turn(1);
    PyObject *answer = PyObject_CallFunction(self->question, "OOLO", thread, code, position, line);
    Py_DECREF(thread);
    Py_XDECREF(answer);
    memory_turn(0);
    if (answer == NULL && PyErr_ExceptionMatches(PyExc_RecursionError)) {
        PyErr_Clear(); /* Too deep to ask: not switched here, so a replay is not asked here either. */ }
    return PyErr_Occurred() ? -1 : 0;
}

/* Report an instruction, in the runtime's turn: what that takes must not move the program's objects. The frame may be
 * NULL. Returns whether it was wanted; -1 with an exception set. */
static int report(Counter *self, PyObject *code, long long position, PyObject *frame)
{
    int was_own = memory_turn(1);
    PyObject *answer = frame == NULL ? PyObject_CallFunction(self->executed, "OL", code, position)
                                     : PyObject_CallFunction(self->executed, "OLO", code, position, frame);
    int is_wanted = answer == NULL ? -1 : answer == Py_True;
    Py_XDECREF(answer);
    memory_turn(was_own);
    return is_wanted;
}

/* Whether a code object that was not seen before is of a file that is not counted. In a copy of a process nearly all code is
 * new, so this must neither call Python nor write to a code object, whose page would be copied. */
static int is_of_other_file(const Counter *self, PyObject *code)
{
    PyObject *file = ((PyCodeObject *)code)->co_filename;
    if (!PyDict_Check(self->kinds) || !PyUnicode_CheckExact(file)) {
        return 0;
    }
    PyObject *kind = PyDict_GetItemWithError(self->kinds, file);
    int is_counted = kind == NULL || PyLong_AsLong(kind) == 0;
    PyErr_Clear();
    return !is_counted;
}

static PyObject *counter_event(Counter *self, PyObject *const *arguments, Py_ssize_t amount, int is_line)
{
    if (amount != 2) {
        PyErr_SetString(PyExc_TypeError, "expected a code object and a position");
        return NULL;
    }
    Table *table = table_of(arguments[0]);
    long long position = PyLong_AsLongLong(arguments[1]);
    uint64_t number = table == NULL ? 0 : number_at(table, position);
    if (number == 0) {
        return Py_NewRef(self->disable);
    }
    return pass(self, arguments[0], position, number, is_line) < 0 ? NULL : Py_NewRef(Py_None);
}

static PyObject *counter_on_instruction(Counter *self, PyObject *const *arguments, Py_ssize_t amount)
{ return counter_event(self, arguments, amount, 0); }

static PyObject *counter_on_line(Counter *self, PyObject *const *arguments, Py_ssize_t amount)
{ return counter_event(self, arguments, amount, 1); }

static PyObject *counter_on_start(Counter *self, PyObject *const *arguments, Py_ssize_t amount)
{
    if (amount != 2 || !PyCode_Check(arguments[0])) {
        PyErr_SetString(PyExc_TypeError, "expected a code object and a position");
        return NULL;
    }
    return is_of_other_file(self, arguments[0]) ? Py_NewRef(self->disable)
                                                : PyObject_Vectorcall(self->learn, arguments, 2, NULL);
}

/* Counts an instruction (not where lines count), and reports it, also if it is no yield point. */
static PyObject *counter_on_executed(Counter *self, PyObject *const *arguments, Py_ssize_t amount)
{
    PyObject *answer = self->lines ? Py_NewRef(self->disable) : counter_event(self, arguments, amount, 0);
    if (answer == NULL) {
        return NULL;
    }
    int is_wanted = report(self, arguments[0], PyLong_AsLongLong(arguments[1]), NULL);
    if (is_wanted == 0) {
        return answer;
    }
    Py_DECREF(answer);
    return is_wanted < 0 ? NULL : Py_NewRef(Py_None);
}

/* -- operations: on locks, files, the clock -- */

static int calls_left(void)
{
#if PY_VERSION_HEX >= 0x030C0000
    return PyThreadState_Get()->py_recursion_remaining;
#else
    return PyThreadState_Get()->recursion_remaining;
#endif
}

int counting_pass(Counter *self, const Call *call)
{
    ThreadCounts *thread = (ThreadCounts *)self->current;
    if (!self->counting || self->busy || self->over || self->every_operation || thread->atomic ||
        thread->time + 1 >= thread->ask_at || thread->ident != (unsigned long long)PyThread_get_thread_ident() ||
        calls_left() < NEAR_THE_LIMIT) {
        places_make_frames();
        return 0;
    }
    int is_library_only;
    const Known *known = places_of_operation(&self->places, call, &is_library_only);
    if (known == NULL) {
        if (!is_library_only || (thread->uncounted + 1) % LIBRARY_SPIN_LIMIT == 0) {
            return 0;
        }
        /* No yield point, as nobody in counted code asked for it: a thread of a pool looks for work. */
        thread->uncounted++;
        thread->contacts = thread->contacts_at == thread->time ? thread->contacts + 1 : 1;
        thread->contacts_at = thread->time;
        return 1;
    }
    uint64_t number = known->number; /* what lets go of the old place may move the entry */
    Py_XSETREF(thread->place, Py_NewRef(known->place));
    return fold(self, thread, number) < 0 ? -1 : 1;
}

static PyObject *counter_pass_operation(Counter *self, PyObject *Py_UNUSED(ignored))
{
    int passed = counting_pass(self, NULL);
    return passed < 0 ? NULL : PyBool_FromLong(passed);
}

static PyObject *counter_position_of(Counter *Py_UNUSED(self), PyObject *frame)
{
    if (!PyFrame_Check(frame)) {
        PyErr_SetString(PyExc_TypeError, "expected a frame");
        return NULL;
    }
    return PyLong_FromLong(PyFrame_GetLasti((PyFrameObject *)frame) + positions_shift((PyFrameObject *)frame, NULL));
}

static PyObject *add_places(Visits *visits, PyObject *numbers)
{
    PyObject *iterator = PyObject_GetIter(numbers), *number;
    if (iterator == NULL) {
        return NULL;
    }
    while ((number = PyIter_Next(iterator)) != NULL) {
        unsigned long long key = PyLong_AsUnsignedLongLong(number);
        Py_DECREF(number);
        if (PyErr_Occurred()) {
            break;
        }
        visits_count(visits, key);
    }
    Py_DECREF(iterator);
    return PyErr_Occurred() ? NULL : Py_NewRef(Py_None);
}

static PyObject *counter_ask_at_places(Counter *self, PyObject *numbers)
{
    self->noting = AT_PLACES;
    return add_places(&self->noted, numbers);
}

static PyObject *counter_leave_out(Counter *self, PyObject *numbers)
{ return add_places(&self->left_out, numbers); }

static PyObject *counter_know(Counter *self, PyObject *arguments)
{ return places_know(&self->places, arguments); }

static PyObject *counter_know_library(Counter *self, PyObject *const *arguments, Py_ssize_t amount)
{ return places_know_library(&self->places, arguments, amount); }

#if PY_VERSION_HEX < 0x030C0000
/* Python 3.11: a C trace function. */

static PyObject *name_lines, *name_opcodes;

static int trace(PyObject *object, PyFrameObject *frame, int what, PyObject *argument)
{
    Counter *self = (Counter *)object;
    if (what == PyTrace_EXCEPTION) {
        PyFrameObject *caller = PyFrame_GetBack(frame);
        if (caller == NULL) {
            fast_exit_unwinds(argument);
        }
        Py_XDECREF(caller);
        return 0;
    }
    if (what != PyTrace_OPCODE && what != PyTrace_LINE && what != PyTrace_CALL) {
        return 0;
    }
    PyObject *code = (PyObject *)PyFrame_GetCode(frame);
    Table *table = table_of(code);
    int result = 0;
    if (what == PyTrace_CALL) {
        if (table == NULL && !is_of_other_file(self, code)) {
            int was_own = memory_turn(1);
            PyObject *answer = PyObject_CallOneArg(self->learn, code);
            Py_XDECREF(answer);
            memory_turn(was_own);
            table = answer == NULL ? NULL : table_of(code);
            result = answer == NULL ? -1 : 0;
        }
        int counted = table != NULL && table->length > 0;
        if (result == 0) {
            result = PyObject_SetAttr((PyObject *)frame, name_lines, counted && self->lines ? Py_True : Py_False);
        }
        if (result == 0 && counted && (!self->lines || self->executed != Py_None)) {
            result = PyObject_SetAttr((PyObject *)frame, name_opcodes, Py_True);
        }
    }
    else if (table != NULL) {
        int is_line = what == PyTrace_LINE;
        long long position = is_line ? PyFrame_GetLineNumber(frame) : PyFrame_GetLasti(frame);
        uint64_t number = is_line == self->lines ? number_at(table, position) : 0;
        if (number != 0) {
            result = pass(self, code, position, number, is_line);
        }
        if (result == 0 && !is_line && table->length > 0 && self->executed != Py_None) {
            result = report(self, code, position, (PyObject *)frame) < 0 ? -1 : 0;
        }
    }
    Py_DECREF(code);
    return result;
}

static PyObject *counter_start_tracing(Counter *self, PyObject *Py_UNUSED(ignored))
{ PyEval_SetTrace(trace, (PyObject *)self); Py_RETURN_NONE; }
#endif

static PyMethodDef counter_methods[] = {
    {"on_instruction", (PyCFunction)(void (*)(void))counter_on_instruction, METH_FASTCALL,
     "The callback of sys.monitoring for instructions."},
    {"on_line", (PyCFunction)(void (*)(void))counter_on_line, METH_FASTCALL, "The same for lines."},
    {"on_start", (PyCFunction)(void (*)(void))counter_on_start, METH_FASTCALL,
     "The callback for functions that start: asks `learn` about those that may be counted."},
    {"on_executed", (PyCFunction)(void (*)(void))counter_on_executed, METH_FASTCALL,
     "The callback for instructions where each one is reported."},
    {"wait_at", (PyCFunction)(void (*)(void))stuck_calls_wait_at, METH_FASTCALL,
     "wait_at(acquire, arguments, least_ns, opens): call opens, if given, then wait for a lock; 0 when it is acquired,\n"
     "else for how long (in nanoseconds) the thread with the baton has stood still: as long as that or longer."},
    {"pass_operation", (PyCFunction)counter_pass_operation, METH_NOARGS,
     "Pass the yield point before an operation that can go on, if nobody has to be asked; whether it was passed."},
    {"position_of", (PyCFunction)counter_position_of, METH_O, "Where the frame of an operation stands, as the log has it."},
    {"ask_at_places", (PyCFunction)counter_ask_at_places, METH_O, "Ask also at each visit of places with these numbers."},
    {"leave_out", (PyCFunction)counter_leave_out, METH_O, "Take no visit of places with these numbers for notable."},
    {"know", (PyCFunction)counter_know, METH_VARARGS,
     "know(code, position, place, number): what pass_operation needs to know; no place: any position of library code."},
    {"know_library", (PyCFunction)(void (*)(void))counter_know_library, METH_FASTCALL,
     "know_library(frame, last): the same of all code between two frames, which is library code."},
    {"add_code", tables_add_code, METH_VARARGS,
     "add_code(code, first, last, shift, numbers): the yield points of a code object; none: it is not counted."},
#if PY_VERSION_HEX < 0x030C0000
    {"start_tracing", (PyCFunction)counter_start_tracing, METH_NOARGS, "Trace the calling thread."},
#endif
    {NULL, NULL, 0, NULL},
};

static int counter_traverse(Counter *self, visitproc visit, void *arg)
{
    Py_VISIT(self->current);
    Py_VISIT(self->question);
    Py_VISIT(self->stranger);
    Py_VISIT(self->learn);
    Py_VISIT(self->kinds);
    Py_VISIT(self->watched);
    Py_VISIT(self->visits);
    Py_VISIT(self->disable);
    Py_VISIT(self->executed);
    return places_traverse(&self->places, visit, arg);
}

static int counter_clear(Counter *self)
{
    Py_CLEAR(self->current);
    Py_CLEAR(self->question);
    Py_CLEAR(self->stranger);
    Py_CLEAR(self->learn);
    Py_CLEAR(self->kinds);
    Py_CLEAR(self->watched);
    Py_CLEAR(self->visits);
    Py_CLEAR(self->disable);
    Py_CLEAR(self->executed);
    places_clear(&self->places);
    return 0;
}

static void counter_dealloc(Counter *self)
{
    PyObject_GC_UnTrack(self);
    counter_clear(self);
    visits_clear(&self->noted);
    visits_clear(&self->left_out);
    Py_TYPE(self)->tp_free((PyObject *)self);
}

static int counter_init(Counter *self, PyObject *arguments, PyObject *keywords)
{
    PyObject *current, *disable;
    if (!PyArg_ParseTuple(arguments, "O!O", &ThreadCountsType, &current, &disable)) {
        return -1;
    }
    PyObject *visits = PyDict_New();
    if (visits == NULL) {
        return -1;
    }
    Py_XSETREF(self->current, Py_NewRef(current));
    Py_XSETREF(self->disable, Py_NewRef(disable));
    Py_XSETREF(self->executed, Py_NewRef(Py_None));
    Py_XSETREF(self->question, Py_NewRef(Py_None));
    Py_XSETREF(self->stranger, Py_NewRef(Py_None));
    Py_XSETREF(self->learn, Py_NewRef(Py_None));
    Py_XSETREF(self->kinds, Py_NewRef(Py_None));
    Py_XSETREF(self->watched, Py_NewRef(Py_None));
    Py_XSETREF(self->visits, visits);
    return 0;
}

PyTypeObject CounterType = {
    PyVarObject_HEAD_INIT(NULL, 0).tp_name = "_accelerator.Counter",
    .tp_basicsize = sizeof(Counter),
    .tp_flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC,
    .tp_doc = "Counter(current, disable): counts and folds yield points, and asks when a question is due.",
    .tp_members = counter_members,
    .tp_methods = counter_methods,
    .tp_init = (initproc)counter_init,
    .tp_new = PyType_GenericNew,
    .tp_traverse = (traverseproc)counter_traverse,
    .tp_clear = (inquiry)counter_clear,
    .tp_dealloc = (destructor)counter_dealloc,
};

int counting_prepare(void)
{
#if PY_VERSION_HEX < 0x030C0000
    if ((name_lines = PyUnicode_InternFromString("f_trace_lines")) == NULL ||
        (name_opcodes = PyUnicode_InternFromString("f_trace_opcodes")) == NULL) {
        return -1;
    }
#endif
    return PyType_Ready(&ThreadCountsType) < 0 ? -1 : PyType_Ready(&CounterType);
}

/* -- functions of the module -- */

PyObject *counting_fold(PyObject *Py_UNUSED(module), PyObject *const *arguments, Py_ssize_t amount)
{
    if (amount != 3 || !Py_IS_TYPE(arguments[0], &CounterType) || !PyObject_TypeCheck(arguments[1], &ThreadCountsType)) {
        PyErr_SetString(PyExc_TypeError, "expected a counter, a thread and a number");
        return NULL;
    }
    unsigned long long number = PyLong_AsUnsignedLongLong(arguments[2]);
    if (number == (unsigned long long)-1 && PyErr_Occurred()) {
        return NULL;
    }
    if (fold((Counter *)arguments[0], (ThreadCounts *)arguments[1], number) < 0) {
        return NULL;
    }
    Py_RETURN_NONE;
}

PyObject *counting_need_room(PyObject *Py_UNUSED(module), PyObject *const *arguments, Py_ssize_t amount)
{
    long calls = amount == 1 ? PyLong_AsLong(arguments[0]) : -1;
    if (calls < 0) {
        if (!PyErr_Occurred()) {
            PyErr_SetString(PyExc_TypeError, "expected a number of calls");
        }
        return NULL;
    }
    if (calls_left() < calls) {
        PyErr_SetString(PyExc_RecursionError, "maximum recursion depth exceeded");
        return NULL;
    }
    Py_RETURN_NONE;
}
