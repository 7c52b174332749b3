/* Reads a local variable of a frame that is running.
 *
 * Until Python 3.12, `frame.f_locals` copies all variables into a dictionary that the frame then keeps. Objects would
 * live longer than without us, and a dictionary that the program got from `locals()` would change.
 */
#define Py_BUILD_CORE_MODULE 1
#include "_accelerator.h"
#include "regions.h"
#if PY_VERSION_HEX < 0x030C0000
#include <internal/pycore_code.h>
#include <internal/pycore_frame.h>

static PyObject *variable_of(PyFrameObject *frame, PyObject *name)
{
    PyCodeObject *code = frame->f_frame->f_code;
    for (int index = 0; index < code->co_nlocalsplus; index++) {
        if (PyUnicode_Compare(PyTuple_GET_ITEM(code->co_localsplusnames, index), name) == 0) {
            PyObject *value = frame->f_frame->localsplus[index];
            if (value != NULL && PyCell_Check(value) &&
                _PyLocals_GetKind(code->co_localspluskinds, index) & (CO_FAST_CELL | CO_FAST_FREE)) {
                value = PyCell_GET(value);
            }
            return Py_XNewRef(value);
        }
    }
    return NULL;
}
#else
#define variable_of PyFrame_GetVar
#endif

PyObject *observing_local_value(PyObject *module, PyObject *const *arguments, Py_ssize_t amount)
{
    if (amount != 2 || !PyFrame_Check(arguments[0]) || !PyUnicode_CheckExact(arguments[1])) {
        PyErr_SetString(PyExc_TypeError, "local_value(frame, name)");
        return NULL;
    }
    PyObject *value = variable_of((PyFrameObject *)arguments[0], arguments[1]);
    if (value == NULL) {
        PyErr_Clear(); /* it has no value yet */
        Py_RETURN_NONE;
    }
    return value;
}

PyObject *observing_without_own(PyObject *Py_UNUSED(module), PyObject *objects)
{
    if (!PyList_Check(objects)) {
        PyErr_SetString(PyExc_TypeError, "expected a list");
        return NULL;
    }
    PyObject *kept = PyList_New(0);
    for (Py_ssize_t place = 0; kept != NULL && place < PyList_GET_SIZE(objects); place++) {
        PyObject *object = PyList_GET_ITEM(objects, place);
        int is_own = regions_start != UINTPTR_MAX && region_of(object) == &regions[RUNTIMES_REGION];
        if (!is_own && PyList_Append(kept, object) < 0) {
            Py_CLEAR(kept);
        }
    }
    return kept;
}
