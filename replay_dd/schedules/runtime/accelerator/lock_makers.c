/* Where locks are made: a Future makes two for each task of a pool, and Python takes 4 us to tell.
 *
 * Rules of this file:
 *
 * - Python tells, in the runtime's turn, and is asked again only for other code. An answer depends on the place outside the
 *   library where a lock is made, and on the two innermost frames: which functions of the library make it.
 * - An answer is kept only if the frame that was found here is the one that Python has found. Library code that is not known
 *   yet is not looked through here, and only costs time.
 */
#include "_accelerator.h"

#if HAS_LOCKS

/* What an answer depends on. `makers`: the innermost frame's, and its caller's unless that is where the walk has ended. */
typedef struct {
    PyObject *makers[2], *code; /* kept alive, so that their addresses stay their own */
    int position;
} Maker;

typedef struct {
    Maker maker;
    PyObject *answer; /* NULL: none is kept here */
} Answer;

#define ANSWERS 128 /* a power of two */

static Answer answers[ANSWERS];

static Answer *answer_of(const Maker *maker)
{
    uint64_t mixed = (uint64_t)(uintptr_t)maker->makers[0] * SPLITMIX_STEP + (uint64_t)(uintptr_t)maker->makers[1];
    mixed = mixed * SPLITMIX_STEP + (uint64_t)(uintptr_t)maker->code + (unsigned int)maker->position;
    return &answers[mixed * SPLITMIX_STEP >> 32 & (ANSWERS - 1)];
}

static int is_same(const Maker *one, const Maker *other)
{
    return one->makers[0] == other->makers[0] && one->makers[1] == other->makers[1] && one->code == other->code &&
           one->position == other->position;
}

/* Who makes a lock now. Its frames keep the code alive. `code` is NULL if all of it is library code. */
static Maker maker_now(Places *places)
{
    Maker maker = {{NULL, NULL}, NULL, 0};
    int was_own = memory_is_own, depth = 0;
    memory_is_own = 1; /* as in places_make_frames */
    PyFrameObject *frame = PyEval_GetFrame();
    Py_XINCREF(frame);
    while (frame != NULL) {
        PyObject *code = (PyObject *)PyFrame_GetCode(frame);
        PyFrameObject *next = NULL;
        if (find_known(places, code, LOOKED_THROUGH) == NULL) {
            maker.code = code;
            maker.position = PyFrame_GetLasti(frame);
        }
        else {
            next = PyFrame_GetBack(frame);
        }
        if (depth < 2) {
            maker.makers[depth++] = code;
        }
        Py_DECREF(code);
        Py_DECREF(frame);
        frame = next;
    }
    memory_is_own = was_own;
    return maker;
}

static void keep(const Maker *maker, PyObject *answer)
{
    Answer *place = answer_of(maker), old = *place;
    place->maker = *maker;
    Py_XINCREF(maker->makers[0]), Py_XINCREF(maker->makers[1]), Py_XINCREF(maker->code);
    place->answer = Py_NewRef(answer);
    Py_XDECREF(old.maker.makers[0]), Py_XDECREF(old.maker.makers[1]), Py_XDECREF(old.maker.code);
    Py_XDECREF(old.answer);
}

static PyObject *ask(PyObject *where_made, const Maker *maker)
{
    PyObject *code, *answer = NULL, *told = PyObject_CallNoArgs(where_made);
    if (told != NULL && PyArg_ParseTuple(told, "OO", &answer, &code)) {
        Py_INCREF(answer);
        if (maker->code != NULL && maker->code == code) {
            keep(maker, answer);
        }
    }
    Py_XDECREF(told);
    return answer;
}

PyObject *lock_makers_now(Places *places, PyObject *where_made)
{
    Maker maker = maker_now(places);
    Answer *kept = answer_of(&maker);
    if (kept->answer != NULL && is_same(&kept->maker, &maker)) {
        return Py_NewRef(kept->answer);
    }
    PyObject *turn = memory_use_own(NULL, Py_True);
    PyObject *answer = ask(where_made, &maker);
    Py_DECREF(memory_use_own(NULL, turn));
    Py_DECREF(turn);
    return answer;
}

#endif
