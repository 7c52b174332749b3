/* What is known about the places of operations (on locks, files, the clock), so that they can be passed in C.
 *
 * Rules of this file:
 *
 * - The scheduler, which handles all cases, teaches the places. Whatever is unknown here is asked there, and only costs
 *   time.
 * - Places are kept in buckets, the most recent in front, and only the last of a full bucket is evicted: a few places of
 *   one loop never evict each other, whatever their addresses.
 * - What is evicted is released only after the new place is stored: releasing may run other code, which may come here.
 *
 * The lookups are in _accelerator.h, as they are part of the fast path.
 */
#include "_accelerator.h"
#include <string.h>

/* A place of NULL: any position of library code. */
static void keep(Places *places, PyObject *code, int position, PyObject *place, unsigned long long number)
{
    Known *bucket = bucket_of(places, code, position);
    int index = 0; /* of this place if it is known, else of the last one, which is evicted */
    while (index < BUCKET_PLACES - 1 && (bucket[index].code != code || bucket[index].position != position)) {
        index++;
    }
    Known old = bucket[index];
    memmove(bucket + 1, bucket, (size_t)index * sizeof(Known));
    bucket[0] = (Known){Py_NewRef(code), Py_XNewRef(place), position, number};
    Py_XDECREF(old.place);
    Py_XDECREF(old.code);
}

PyObject *places_know(Places *places, PyObject *arguments)
{
    PyObject *code, *place;
    int position;
    unsigned long long number;
    if (!PyArg_ParseTuple(arguments, "O!iOK", &PyCode_Type, &code, &position, &place, &number)) {
        return NULL;
    }
    keep(places, code, position, place == Py_None ? NULL : place, number);
    Py_RETURN_NONE;
}

/* All library code between two frames, the second of which may be None. */
PyObject *places_know_library(Places *places, PyObject *const *arguments, Py_ssize_t amount)
{
    if (amount != 2 || !PyFrame_Check(arguments[0])) {
        PyErr_SetString(PyExc_TypeError, "expected two frames");
        return NULL;
    }
    PyObject *frame = Py_NewRef(arguments[0]);
    while (frame != NULL && frame != arguments[1]) {
        PyObject *code = (PyObject *)PyFrame_GetCode((PyFrameObject *)frame);
        keep(places, code, LOOKED_THROUGH, NULL, 0);
        Py_DECREF(code);
        Py_SETREF(frame, (PyObject *)PyFrame_GetBack((PyFrameObject *)frame));
    }
    Py_XDECREF(frame);
    Py_RETURN_NONE;
}

/* The innermost frame of a file that is not known to be of the library; None if there is none. */
PyObject *places_outside_library(PyObject *Py_UNUSED(module), PyObject *const *arguments, Py_ssize_t amount)
{
    if (amount != 2 || !PyDict_Check(arguments[0]) || !PyFrame_Check(arguments[1])) {
        PyErr_SetString(PyExc_TypeError, "expected the kinds of files, and a frame");
        return NULL;
    }
    PyObject *frame = Py_NewRef(arguments[1]);
    while (frame != NULL) {
        PyCodeObject *code = PyFrame_GetCode((PyFrameObject *)frame);
        PyObject *kind = PyDict_GetItemWithError(arguments[0], code->co_filename);
        Py_DECREF(code);
        if (kind == NULL ? PyErr_Occurred() == NULL : PyLong_AsLong(kind) != LIBRARY_FILES) {
            return frame;
        }
        if (kind == NULL) {
            Py_DECREF(frame);
            return NULL;
        }
        Py_SETREF(frame, (PyObject *)PyFrame_GetBack((PyFrameObject *)frame));
    }
    Py_RETURN_NONE;
}

int places_traverse(Places *places, visitproc visit, void *arg)
{
    for (int index = 0; index < KNOWN_PLACES; index++) {
        Py_VISIT(places->known[index].code);
        Py_VISIT(places->known[index].place);
    }
    return 0;
}

void places_clear(Places *places)
{
    for (int index = 0; index < KNOWN_PLACES; index++) {
        Py_CLEAR(places->known[index].code);
        Py_CLEAR(places->known[index].place);
    }
}
