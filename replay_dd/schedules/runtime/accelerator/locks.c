/* The locks of `_thread`: what of stdlib/lock_operations.py nearly every operation needs.
 *
 * Rules of this file:
 *
 * - An operation is done here if it can go on at once and nobody has to be asked. Whatever else there is, wrong arguments
 *   included, the function of the same name in Python does: it finds the lock as it was.
 * - The state of a lock is that of the class in Python: members of the same names, None where nobody has it.
 */
#include "_accelerator.h"
#include <structmember.h>

#if HAS_LOCKS

typedef struct {
    PyObject_HEAD
    PyObject *holder;    /* the thread that has it, a ThreadCounts; None: nobody */
    PyObject *taken;     /* where that thread took it */
    PyObject *made;      /* where it was made */
    PyObject *ends_with; /* the thread that is joined through it */
    long long number;    /* of this lock; of a reentrant one, how often its holder has it */
} Lock;

enum { ACQUIRE, RELEASE, ENTER, EXIT }; /* in Python, the last one is like RELEASE */
#define OPERATIONS EXIT
#define MOST_ARGUMENTS 6

static Counter *counter;
static PyObject *in_python[2][OPERATIONS]; /* the functions of locks, and of reentrant ones */
static PyObject *where_made;               /* asked where a lock is made; see lock_makers.c */
static PyTypeObject *plain_class;          /* what allocate_lock makes */
static long long made_so_far;

/* -- Operations -- */

/* Let Python do it. For its arguments it makes no object: that would be one among the program's, at some operations only. */
static PyObject *ask(const Call *call, int is_reentrant, int operation, PyObject *keywords)
{
    PyObject *all[1 + MOST_ARGUMENTS] = {call->self};
    Py_ssize_t given = 1, named = 0;
    if (operation == EXIT) {
        operation = RELEASE;
    }
    else {
        given += call->amount;
        named = keywords == NULL ? 0 : PyTuple_GET_SIZE(keywords);
    }
    if (given + named > 1 + MOST_ARGUMENTS) {
        PyErr_SetString(PyExc_TypeError, "too many arguments");
        return NULL;
    }
    for (Py_ssize_t index = 1; index < given + named; index++) {
        all[index] = call->arguments[index - 1];
    }
    Asking before = positions_begin_asking(call);
    PyObject *answer = PyObject_Vectorcall(in_python[is_reentrant][operation], all, (size_t)given, keywords);
    positions_end_asking(before);
    return answer;
}

static inline int is_free(const Lock *self)
{ return self->holder == NULL || self->holder == Py_None; }

/* The running thread has it from here on. */
static inline void take(Lock *self)
{
    ThreadCounts *thread = (ThreadCounts *)counter->current;
    Py_XSETREF(self->holder, Py_NewRef(thread));
    Py_XSETREF(self->taken, Py_NewRef(thread->place == NULL ? Py_None : thread->place));
}

static inline void let_go(Lock *self)
{
    Py_XSETREF(self->holder, Py_NewRef(Py_None));
    Py_XSETREF(self->taken, Py_NewRef(Py_None));
}

/* What the arguments of `acquire` say: 1: it may wait, for any time; 0: it does not wait; -1: something else. */
static inline int may_wait(const Call *call, PyObject *keywords)
{
    if (keywords != NULL || call->amount > 1) {
        return -1;
    }
    return call->amount == 0 || call->arguments[0] == Py_True ? 1 : call->arguments[0] == Py_False ? 0 : -1;
}

static PyObject *lock_acquire(PyObject *lock, PyObject *const *arguments, Py_ssize_t amount, PyObject *keywords)
{
    Lock *self = (Lock *)lock;
    const Call call = {lock, arguments, amount};
    int waits = may_wait(&call, keywords);
    if (waits >= 0 && (!waits || is_free(self))) {
        int passed = counting_pass(counter, &call);
        if (passed != 0) {
            if (passed < 0) {
                return NULL;
            }
            if (!is_free(self)) {
                Py_RETURN_FALSE;
            }
            take(self);
            Py_RETURN_TRUE;
        }
    }
    return ask(&call, 0, ACQUIRE, keywords);
}

static PyObject *lock_enter(PyObject *lock, PyObject *const *arguments, Py_ssize_t amount)
{
    const Call call = {lock, arguments, amount};
    if (amount == 0 && is_free((Lock *)lock)) {
        int passed = counting_pass(counter, &call);
        if (passed != 0) {
            return passed < 0 ? NULL : (take((Lock *)lock), Py_NewRef(Py_True));
        }
    }
    return ask(&call, 0, ENTER, NULL);
}

static PyObject *release(Lock *self, const Call *call, int operation)
{
    if (!is_free(self) && (call->amount == 0 || operation == EXIT)) {
        int passed = counting_pass(counter, call);
        if (passed != 0) {
            return passed < 0 ? NULL : (let_go(self), Py_NewRef(Py_None));
        }
    }
    return ask(call, 0, operation, NULL);
}

static PyObject *lock_release(PyObject *lock, PyObject *const *arguments, Py_ssize_t amount)
{ return release((Lock *)lock, &(Call){lock, arguments, amount}, RELEASE); }

static PyObject *lock_exit(PyObject *lock, PyObject *const *arguments, Py_ssize_t amount)
{ return release((Lock *)lock, &(Call){lock, arguments, amount}, EXIT); }

/* -- The same of reentrant locks -- */

static inline void take_again(Lock *self)
{
    if (self->number == 0) {
        take(self);
    }
    self->number++;
}

static PyObject *rlock_acquire(PyObject *lock, PyObject *const *arguments, Py_ssize_t amount, PyObject *keywords)
{
    Lock *self = (Lock *)lock;
    const Call call = {lock, arguments, amount};
    int waits = may_wait(&call, keywords), can_take = is_free(self) || self->holder == counter->current;
    if (waits >= 0 && (!waits || can_take)) {
        int passed = counting_pass(counter, &call);
        if (passed != 0) {
            if (passed < 0) {
                return NULL;
            }
            if (!can_take) {
                Py_RETURN_FALSE;
            }
            take_again(self);
            Py_RETURN_TRUE;
        }
    }
    return ask(&call, 1, ACQUIRE, keywords);
}

static PyObject *rlock_enter(PyObject *lock, PyObject *const *arguments, Py_ssize_t amount)
{
    Lock *self = (Lock *)lock;
    const Call call = {lock, arguments, amount};
    if (amount == 0 && (is_free(self) || self->holder == counter->current)) {
        int passed = counting_pass(counter, &call);
        if (passed != 0) {
            return passed < 0 ? NULL : (take_again(self), Py_NewRef(Py_True));
        }
    }
    return ask(&call, 1, ENTER, NULL);
}

static PyObject *rlock_let_go(Lock *self, const Call *call, int operation)
{
    /* Only the last release is a yield point. Whether the calling thread really runs is asked there, or else here. */
    int passed = 0;
    if (self->holder == counter->current && (call->amount == 0 || operation == EXIT)) {
        if (self->number == 1) {
            passed = counting_pass(counter, call);
        }
        else if (self->number > 1) {
            passed = ((ThreadCounts *)self->holder)->ident == (unsigned long long)PyThread_get_thread_ident();
        }
    }
    if (passed == 0) {
        return ask(call, 1, operation, NULL);
    }
    if (passed < 0) {
        return NULL;
    }
    if (--self->number == 0) {
        let_go(self);
    }
    Py_RETURN_NONE;
}

static PyObject *rlock_release(PyObject *lock, PyObject *const *arguments, Py_ssize_t amount)
{ return rlock_let_go((Lock *)lock, &(Call){lock, arguments, amount}, RELEASE); }

static PyObject *rlock_exit(PyObject *lock, PyObject *const *arguments, Py_ssize_t amount)
{ return rlock_let_go((Lock *)lock, &(Call){lock, arguments, amount}, EXIT); }

/* -- Types -- */

static PyObject *make(PyTypeObject *type)
{
    Lock *self = (Lock *)type->tp_alloc(type, 0);
    if (self != NULL && (self->made = lock_makers_now(&counter->places, where_made)) == NULL) {
        Py_CLEAR(self);
    }
    return (PyObject *)self;
}

static PyObject *make_plain(PyTypeObject *type)
{
    PyObject *self = make(type);
    if (self != NULL) {
        ((Lock *)self)->number = ++made_so_far;
    }
    return self;
}

static PyObject *lock_new(PyTypeObject *type, PyObject *arguments, PyObject *keywords)
{
    if (PyTuple_GET_SIZE(arguments) > 0 || (keywords != NULL && PyDict_GET_SIZE(keywords) > 0)) {
        return PyErr_Format(PyExc_TypeError, "%s() takes no arguments", type->tp_name);
    }
    return make_plain(type);
}

/* Until 3.14, the original ignores arguments; since then, unless a class of the program takes them in its __init__. */
static PyObject *rlock_new(PyTypeObject *type, PyObject *arguments, PyObject *keywords)
{
    int given = PyTuple_GET_SIZE(arguments) > 0 || (keywords != NULL && PyDict_GET_SIZE(keywords) > 0);
    if (given && PY_VERSION_HEX >= 0x030F0000 && type->tp_init == PyBaseObject_Type.tp_init) {
        return PyErr_Format(PyExc_TypeError, "RLock() takes no arguments");
    }
    return make(type);
}

static int lock_traverse(Lock *self, visitproc visit, void *arg)
{
    Py_VISIT(self->holder);
    Py_VISIT(self->taken);
    Py_VISIT(self->made);
    Py_VISIT(self->ends_with);
    return 0;
}

static int lock_clear(Lock *self)
{
    Py_CLEAR(self->holder);
    Py_CLEAR(self->taken);
    Py_CLEAR(self->made);
    Py_CLEAR(self->ends_with);
    return 0;
}

static void lock_dealloc(Lock *self)
{
    PyObject_GC_UnTrack(self);
    lock_clear(self);
    Py_TYPE(self)->tp_free((PyObject *)self);
}

#define METHOD(name, function) \
    {name, (PyCFunction)(void (*)(void))function, METH_FASTCALL, NULL}
#define METHOD_WITH_KEYWORDS(name, function) \
    {name, (PyCFunction)(void (*)(void))function, METH_FASTCALL | METH_KEYWORDS, NULL}
#define MEMBER(name, kind, field) \
    {name, kind, offsetof(Lock, field), 0, NULL}

static PyMethodDef lock_methods[] = {
    METHOD_WITH_KEYWORDS("acquire", lock_acquire), METHOD("release", lock_release),
    METHOD("__enter__", lock_enter), METHOD("__exit__", lock_exit), {NULL, NULL, 0, NULL},
};

static PyMethodDef rlock_methods[] = {
    METHOD_WITH_KEYWORDS("acquire", rlock_acquire), METHOD("release", rlock_release),
    METHOD("__enter__", rlock_enter), METHOD("__exit__", rlock_exit), {NULL, NULL, 0, NULL},
};

static PyMemberDef lock_members[] = {
    MEMBER("_holder", T_OBJECT, holder), MEMBER("_taken", T_OBJECT, taken), MEMBER("_made", T_OBJECT, made),
    MEMBER("_ends_with", T_OBJECT, ends_with), MEMBER("_number", T_LONGLONG, number), {NULL, 0, 0, 0, NULL},
};

static PyMemberDef rlock_members[] = {
    MEMBER("_holder", T_OBJECT, holder), MEMBER("_taken", T_OBJECT, taken), MEMBER("_made", T_OBJECT, made),
    MEMBER("_count", T_LONGLONG, number), {NULL, 0, 0, 0, NULL},
};

#define LOCK_TYPE(name, doc, methods, members, new)                                                            \
    {                                                                                                          \
        PyVarObject_HEAD_INIT(NULL, 0).tp_name = "_accelerator." name, .tp_basicsize = sizeof(Lock),           \
        .tp_flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE | Py_TPFLAGS_HAVE_GC, .tp_doc = doc,              \
        .tp_methods = methods, .tp_members = members, .tp_new = new, .tp_traverse = (traverseproc)lock_traverse, \
        .tp_clear = (inquiry)lock_clear, .tp_dealloc = (destructor)lock_dealloc,                               \
    }

static PyTypeObject lock_type = LOCK_TYPE("Lock", "As PythonLock.", lock_methods, lock_members, lock_new);
static PyTypeObject rlock_type = LOCK_TYPE("RLock", "As PythonRLock.", rlock_methods, rlock_members, rlock_new);

int locks_add(PyObject *module)
{
    if (PyType_Ready(&lock_type) < 0 || PyType_Ready(&rlock_type) < 0) {
        return -1;
    }
    return PyModule_AddObjectRef(module, "Lock", (PyObject *)&lock_type) < 0
               ? -1
               : PyModule_AddObjectRef(module, "RLock", (PyObject *)&rlock_type);
}

PyObject *locks_use(PyObject *Py_UNUSED(module), PyObject *arguments)
{
    static const char *const names[OPERATIONS] = {"acquire", "release", "__enter__"};
    PyObject *new_counter, *classes[2], *class, *where;
    if (!PyArg_ParseTuple(arguments, "O!OOO!O", &CounterType, &new_counter, &classes[0], &classes[1], &PyType_Type, &class,
                          &where)) {
        return NULL;
    }
    if (!PyType_IsSubtype((PyTypeObject *)class, &lock_type)) {
        PyErr_SetString(PyExc_TypeError, "expected a class of locks");
        return NULL;
    }
    for (int is_reentrant = 0; is_reentrant < 2; is_reentrant++) {
        for (int operation = 0; operation < OPERATIONS; operation++) {
            PyObject *function = PyObject_GetAttrString(classes[is_reentrant], names[operation]);
            if (function == NULL) {
                return NULL;
            }
            Py_XSETREF(in_python[is_reentrant][operation], function);
        }
    }
    Py_XSETREF(counter, (Counter *)Py_NewRef(new_counter));
    Py_XSETREF(plain_class, (PyTypeObject *)Py_NewRef(class));
    Py_XSETREF(where_made, Py_NewRef(where));
    Py_RETURN_NONE;
}

PyObject *locks_allocate(PyObject *Py_UNUSED(module), PyObject *Py_UNUSED(nothing))
{ return make_plain(plain_class); }

#else

int locks_add(PyObject *module)
{
    return PyModule_AddObjectRef(module, "Lock", Py_None) < 0 ? -1 : PyModule_AddObjectRef(module, "RLock", Py_None);
}

PyObject *locks_use(PyObject *Py_UNUSED(module), PyObject *Py_UNUSED(arguments))
{ Py_RETURN_NONE; }

PyObject *locks_allocate(PyObject *Py_UNUSED(module), PyObject *Py_UNUSED(nothing))
{ Py_RETURN_NONE; }

#endif
