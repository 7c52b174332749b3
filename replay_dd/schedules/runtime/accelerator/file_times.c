/* Asks for the status of a file, and hands it to a function of Python only if the file has changed lately.
 *
 * Most of what programs and the import system look at is old: for that, no code of Python runs in the program's turn.
 * See stdlib/file_times.py.
 */
#include "_accelerator.h"

#define FIRST_TIME 7 /* where the times in whole seconds begin in the result of os.stat */
#define TIMES 3

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

/* It belongs to the arguments of changed_since(). */
static PyObject *tell(PyObject *given, PyObject *const *arguments, Py_ssize_t count, PyObject *names)
{
    PyObject *result = PyObject_Vectorcall(PyTuple_GET_ITEM(given, 0), arguments, (size_t)count, names);
    if (result == NULL || !has_changed_since(result, PyLong_AsLongLong(PyTuple_GET_ITEM(given, 1)))) {
        return result;
    }
    PyObject *told = PyObject_CallOneArg(PyTuple_GET_ITEM(given, 2), result);
    Py_DECREF(result);
    return told;
}

static PyMethodDef teller = {"tell", (PyCFunction)(void (*)(void))tell, METH_FASTCALL | METH_KEYWORDS, NULL};

PyObject *file_times_changed_since(PyObject *Py_UNUSED(module), PyObject *arguments)
{
    PyObject *original, *told;
    long long since_s;
    if (!PyArg_ParseTuple(arguments, "OLO", &original, &since_s, &told)) {
        return NULL;
    }
    return PyCFunction_New(&teller, arguments);
}
