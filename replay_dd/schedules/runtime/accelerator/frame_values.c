/* What a running frame holds: its local variables, its cells, and the values on its stack.
 *
 * Only for runs that are observed. How deep the stack is at an instruction is not known here: the caller knows it from
 * the bytecode, and asks for nothing above it.
 */
#ifndef WITHOUT_FRAMES
#define Py_BUILD_CORE_MODULE 1
#endif
#include "_accelerator.h"

#if !defined(WITHOUT_FRAMES) && __has_include(<internal/pycore_frame.h>)
#include <internal/pycore_frame.h>

/* An object that a frame holds; NULL where it holds none. */
#if PY_VERSION_HEX >= 0x030E0000
#include <internal/pycore_interpframe.h>

/* The lowest bit says who counts the reference; with the second one it is a number or a mark, and no object. */
static PyObject *object_of(_PyStackRef held)
{
    return held.bits & 2 ? NULL : (PyObject *)(held.bits & ~(uintptr_t)1);
}
#else
static PyObject *object_of(PyObject *held) { return held; }
#endif

PyObject *frame_values(PyObject *Py_UNUSED(module), PyObject *arguments)
{
    PyFrameObject *frame;
    Py_ssize_t first, count;
    if (!PyArg_ParseTuple(arguments, "O!nn", &PyFrame_Type, &frame, &first, &count)) {
        return NULL;
    }
    PyCodeObject *code = PyFrame_GetCode(frame);
    Py_ssize_t most = (Py_ssize_t)code->co_nlocalsplus + code->co_stacksize;
    Py_DECREF(code); /* the frame keeps it alive */
    if (first < 0 || count < 0 || first > most - count || frame->f_frame == NULL) {
        PyErr_SetString(PyExc_IndexError, "the frame holds no such values");
        return NULL;
    }
    PyObject *values = PyTuple_New(count);
    if (values == NULL) {
        return NULL;
    }
    for (Py_ssize_t index = 0; index < count; index++) {
        PyObject *value = object_of(frame->f_frame->localsplus[first + index]);
        PyTuple_SET_ITEM(values, index, Py_NewRef(value == NULL ? (PyObject *)frame : value));
    }
    return values;
}
#else
PyObject *frame_values(PyObject *Py_UNUSED(module), PyObject *Py_UNUSED(arguments))
{ Py_RETURN_NONE; }
#endif
