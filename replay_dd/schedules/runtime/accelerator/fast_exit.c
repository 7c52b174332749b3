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

/* -- The end of a copy: its exit status, known before the interpreter is finalized -- */

/* For an uncaught SystemExit, the interpreter reads the attribute `code` of the exception and turns it into the exit
 * status. So the attribute is replaced by one that remembers the value if no Python code is running. */
static PyObject *code_of_exit = NULL; /* NULL: not read yet */

static PyObject *system_exit_code(PyObject *self, void *Py_UNUSED(closure))
{
    PyObject *code = ((PySystemExitObject *)self)->code;
    if (code == NULL) {
        code = Py_None;
    }
    if (PyEval_GetFrame() == NULL) {
        Py_XSETREF(code_of_exit, Py_NewRef(code));
    }
    return Py_NewRef(code);
}

static int set_system_exit_code(PyObject *self, PyObject *value, void *Py_UNUSED(closure))
{
    Py_XINCREF(value);
    Py_XSETREF(((PySystemExitObject *)self)->code, value);
    return 0;
}

static PyGetSetDef code_attribute = {"code", system_exit_code, set_system_exit_code, "exception code", NULL};

PyObject *fast_exit_watch_exit(PyObject *Py_UNUSED(module), PyObject *Py_UNUSED(ignored))
{
    PyTypeObject *type = (PyTypeObject *)PyExc_SystemExit;
    PyObject *descriptor = PyDescr_NewGetSet(type, &code_attribute);
#if PY_VERSION_HEX >= 0x030C0000
    PyObject *attributes = PyType_GetDict(type);
#else
    PyObject *attributes = Py_XNewRef(type->tp_dict);
#endif
    int status = -1;
    if (descriptor != NULL && attributes != NULL) {
        Py_XINCREF(PyDict_GetItemString(attributes, "code")); /* never freed, as in runs that are not copies */
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

PyObject *fast_exit_exit_code(PyObject *Py_UNUSED(module), PyObject *Py_UNUSED(ignored))
{
    return code_of_exit == NULL ? PyTuple_New(0) : PyTuple_Pack(1, code_of_exit);
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
