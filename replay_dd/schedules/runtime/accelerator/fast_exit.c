/* How threads and forked copies begin and end: what only C can do, or Python code would disturb.
 *
 * See written_pages.c for how copies are made, fast_exit.py for how they end, and the scheduler for the end of threads.
 */
#include "_accelerator.h"
#include <sched.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

/* Without the GIL and without allocating, so that the exiting thread frees its memory undisturbed. */
PyObject *fast_exit_wait_until_gone(PyObject *Py_UNUSED(module), PyObject *argument)
{
    const struct timespec moment = {0, 20000};
    long native_id = PyLong_AsLong(argument);
    if (native_id == -1 && PyErr_Occurred()) {
        return NULL;
    }
    Py_BEGIN_ALLOW_THREADS
    for (int looks = 0; syscall(SYS_tgkill, (long)getpid(), native_id, 0) == 0; looks++) {
        if (looks < 100) {
            sched_yield();
        } else {
            nanosleep(&moment, NULL);
        }
    }
    Py_END_ALLOW_THREADS
    Py_RETURN_NONE;
}

/* -- An uncaught SystemExit -- */

/* For one, the interpreter reads the attribute `code` of the exception and turns it into the exit status; nothing else
 * tells of it. So the attribute is replaced by one that calls a function if no Python code is running. */
static PyObject *leaves = NULL;  /* called with the exception and its code */
static PyObject *unwinds = NULL; /* see fast_exit_unwinds() */

static void tell(PyObject *function, PyObject *error, PyObject *what)
{
    int was_own = memory_turn(1);
    PyObject *answer = PyObject_CallFunctionObjArgs(function, error, what, NULL);
    if (answer == NULL) {
        PyErr_Clear(); /* the program ends as it does without us */
    }
    Py_XDECREF(answer);
    memory_turn(was_own);
}

static PyObject *system_exit_code(PyObject *self, void *Py_UNUSED(closure))
{
    PyObject *code = ((PySystemExitObject *)self)->code;
    code = Py_NewRef(code == NULL ? Py_None : code);
    if (PyEval_GetFrame() == NULL) {
        tell(leaves, self, code);
    }
    return code;
}

static int set_system_exit_code(PyObject *self, PyObject *value, void *Py_UNUSED(closure))
{
    Py_XINCREF(value);
    Py_XSETREF(((PySystemExitObject *)self)->code, value);
    return 0;
}

static PyGetSetDef code_attribute = {"code", system_exit_code, set_system_exit_code, "exception code", NULL};

PyObject *fast_exit_watch_exit(PyObject *Py_UNUSED(module), PyObject *arguments)
{
    PyTypeObject *type = (PyTypeObject *)PyExc_SystemExit;
    PyObject *on_leaving, *on_unwinding;
    if (!PyArg_ParseTuple(arguments, "OO", &on_leaving, &on_unwinding)) {
        return NULL;
    }
    Py_XSETREF(leaves, Py_NewRef(on_leaving));
    Py_XSETREF(unwinds, Py_NewRef(on_unwinding));
    PyObject *descriptor = PyDescr_NewGetSet(type, &code_attribute);
#if PY_VERSION_HEX >= 0x030C0000
    PyObject *attributes = PyType_GetDict(type);
#else
    PyObject *attributes = Py_XNewRef(type->tp_dict);
#endif
    int status = -1;
    if (descriptor != NULL && attributes != NULL) {
        Py_XINCREF(PyDict_GetItemString(attributes, "code")); /* never freed, as without us */
        status = PyDict_SetItemString(attributes, "code", descriptor);
    }
    PyType_Modified(type);
    Py_XDECREF(attributes);
    Py_XDECREF(descriptor);
    if (status < 0) {
        return NULL;
    }
    Py_RETURN_NONE;
}

void fast_exit_unwinds(PyObject *exception)
{
    PyObject *type, *error, *trace;
    if (unwinds == NULL || !PyArg_ParseTuple(exception, "OOO", &type, &error, &trace)) {
        PyErr_Clear();
        return;
    }
    if (PyType_Check(type) && PyType_IsSubtype((PyTypeObject *)type, (PyTypeObject *)PyExc_SystemExit)) {
        tell(unwinds, error, trace);
    }
}

/* The exit handlers of C libraries run. */
PyObject *fast_exit_leave(PyObject *Py_UNUSED(module), PyObject *status)
{
    long number = PyLong_AsLong(status);
    if (number == -1 && PyErr_Occurred()) {
        return NULL;
    }
    exit((int)number);
}
