/* Asks for the status of a file, and hands it to a function of Python only if the file has changed lately.
 *
 * Most of what programs and the import system look at is old: for that, no code of Python runs in the program's turn.
 * See stdlib/file_times.py.
 */
#include "_accelerator.h"

#include <stddef.h>

#define FIRST_TIME 7 /* where the times in whole seconds begin in the result of os.stat */
#define TIMES 3

typedef struct {
    PyObject_HEAD
    vectorcallfunc call;
    PyObject *original;
    long long since_s;
    PyObject *told;
} Teller;

static int has_changed_since(PyObject *result, long long since_s)
{
    if (!PyTuple_Check(result) || PyTuple_GET_SIZE(result) < FIRST_TIME + TIMES) {
        return 0;
    }
    for (int number = FIRST_TIME; number < FIRST_TIME + TIMES; number++) {
        long long seconds = PyLong_AsLongLong(PyTuple_GET_ITEM(result, number));
        if (seconds == -1 && PyErr_Occurred()) {
            PyErr_Clear();
        } else if (seconds >= since_s) {
            return 1;
        }
    }
    return 0;
}

static PyObject *teller_call(PyObject *self, PyObject *const *arguments, size_t count, PyObject *names)
{
    Teller *teller = (Teller *)self;
    PyObject *result = PyObject_Vectorcall(teller->original, arguments, count, names);
    if (result == NULL || !has_changed_since(result, teller->since_s)) {
        return result;
    }
    PyObject *told = PyObject_CallOneArg(teller->told, result);
    Py_DECREF(result);
    return told;
}

static int teller_traverse(PyObject *self, visitproc visit, void *arg)
{
    Py_VISIT(((Teller *)self)->original);
    Py_VISIT(((Teller *)self)->told);
    return 0;
}

static int teller_clear(PyObject *self)
{
    Py_CLEAR(((Teller *)self)->original);
    Py_CLEAR(((Teller *)self)->told);
    return 0;
}

static void teller_dealloc(PyObject *self)
{
    PyObject_GC_UnTrack(self);
    teller_clear(self);
    Py_TYPE(self)->tp_free(self);
}

static PyTypeObject TellerType = {
    PyVarObject_HEAD_INIT(NULL, 0)
    .tp_name = "_accelerator.Teller",
    .tp_basicsize = sizeof(Teller),
    .tp_flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_HAVE_VECTORCALL,
    .tp_call = PyVectorcall_Call,
    .tp_vectorcall_offset = offsetof(Teller, call),
    .tp_traverse = teller_traverse,
    .tp_clear = teller_clear,
    .tp_dealloc = teller_dealloc,
};

PyObject *file_times_changed_since(PyObject *Py_UNUSED(module), PyObject *arguments)
{
    PyObject *original, *told;
    long long since_s;
    if (!PyArg_ParseTuple(arguments, "OLO", &original, &since_s, &told) || PyType_Ready(&TellerType) < 0) {
        return NULL;
    }
    Teller *teller = PyObject_GC_New(Teller, &TellerType);
    if (teller == NULL) {
        return NULL;
    }
    teller->call = teller_call;
    teller->original = Py_NewRef(original);
    teller->since_s = since_s;
    teller->told = Py_NewRef(told);
    PyObject_GC_Track((PyObject *)teller);
    return (PyObject *)teller;
}
