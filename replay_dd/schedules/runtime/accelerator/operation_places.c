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

PyObject *places_know(Places *places, PyObject *arguments)
{
    PyObject *code, *place;
    int position;
    unsigned long long number;
    if (!PyArg_ParseTuple(arguments, "O!iOK", &PyCode_Type, &code, &position, &place, &number)) {
        return NULL;
    }
    Known *bucket = bucket_of(places, code, position);
    int index = 0; /* of this place if it is known, else of the last one, which is evicted */
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
