/* What Python offers only in a module that the program may not have loaded; see pipes.py. */
#define _GNU_SOURCE 1
#include "_accelerator.h"
#include <fcntl.h>
#include <sys/ioctl.h>

PyObject *pipes_enlarge(PyObject *Py_UNUSED(module), PyObject *const *arguments, Py_ssize_t amount)
{
    long descriptor = amount == 2 ? PyLong_AsLong(arguments[0]) : -1;
    long size = amount == 2 ? PyLong_AsLong(arguments[1]) : -1;
    if (descriptor < 0 || size < 0) {
        if (!PyErr_Occurred()) {
            PyErr_SetString(PyExc_TypeError, "expected a descriptor and a size");
        }
        return NULL;
    }
#ifdef F_SETPIPE_SZ
    return PyBool_FromLong(fcntl((int)descriptor, F_SETPIPE_SZ, (int)size) >= 0);
#else
    Py_RETURN_FALSE;
#endif
}

PyObject *pipes_waiting_bytes(PyObject *Py_UNUSED(module), PyObject *descriptor)
{
    long number = PyLong_AsLong(descriptor);
    if (number < 0) {
        return PyErr_Occurred() ? NULL : PyLong_FromLong(-1);
    }
    int amount = -1;
    return PyLong_FromLong(ioctl((int)number, FIONREAD, &amount) < 0 ? -1 : amount);
}
