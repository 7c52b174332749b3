/* What is known of the places where operations (on locks, files, the clock) stand, so that they can be passed in C.
 *
 * Rules of this file:
 *
 * - The scheduler, which knows all cases, teaches the places. What is not known here is asked there, and only costs time.
 * - They stand in buckets, what was told last in front, and only the last of a full bucket is put out: a few places of
 *   one loop, at whatever addresses, never put each other out.
 * - What is put out is let go when the new stands in its place: other code may run then, and come by here.
 *
 * The look-ups stand in _accelerator.h, as they are part of the fast path.
 */
#include "_accelerator.h"
#include <string.h>

PyObject *places_know(Places *places, PyObject *arguments)
{
    PyObject *code, *place;
    int position;
    unsigned long long number;
    if (!PyArg_ParseTuple(arguments, "O!iOK", &PyCode_Type, &code, &position, &place, &number)) {
        return NULL;
    }
    Known *bucket = bucket_of(places, code, position);
    int index = 0; /* of what is known of this place; else of the last, which is put out */
    while (index < BUCKET_PLACES - 1 && (bucket[index].code != code || bucket[index].position != position)) {
        index++;
    }
    Known old = bucket[index];
    memmove(bucket + 1, bucket, (size_t)index * sizeof(Known));
    bucket[0] = (Known){Py_NewRef(code), place == Py_None ? NULL : Py_NewRef(place), position, number};
    Py_XDECREF(old.place);
    Py_XDECREF(old.code);
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
