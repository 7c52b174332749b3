/* Where an operation stands in the bytecode: the same whether it is one in C or in Python.
 *
 * Until Python 3.12, a frame that calls a function in Python has already gone over the cache of the instruction CALL. One that
 * calls a function in C stands at the instruction, or, once that is specialised, still at the one before (3.11). The log has
 * the former, as operations are in Python where there is no accelerator.
 */
#define Py_BUILD_CORE_MODULE 1
#include "_accelerator.h"

#if HAS_LOCKS && PY_VERSION_HEX < 0x030D0000
#include <internal/pycore_code.h>
#include <internal/pycore_frame.h>
#include <opcode.h>

#define UNIT_AT(code, position) (_PyCode_CODE(code)[(position) / (int)sizeof(_Py_CODEUNIT)])
#define UNITS(amount) ((int)(sizeof(_Py_CODEUNIT) * (amount)))

static _Thread_local Asking asking;

static int is_asking(PyFrameObject *frame)
{ return asking.shift != 0 && asking.code == (PyObject *)frame->f_frame->f_code && asking.position == PyFrame_GetLasti(frame); }

int positions_shift(PyFrameObject *frame, const Call *call)
{
    if (call == NULL) {
        return is_asking(frame) ? asking.shift : 0;
    }
    PyCodeObject *code = frame->f_frame->f_code;
    PyObject *const *bottom = frame->f_frame->localsplus + code->co_nlocalsplus, *const *arguments = call->arguments;
    if (arguments <= bottom || arguments > bottom + code->co_stacksize) {
        return 0; /* they are not on its stack: another function in C has called */
    }
    PyObject *called = arguments[-1]; /* the lock itself, behind the method of its class, or its bound method */
    PyObject *method = arguments - bottom > 1 ? arguments[-2] : NULL;
    if (called == call->self ? method == NULL || !Py_IS_TYPE(method, &PyMethodDescr_Type)
                             : called == NULL || !PyCFunction_Check(called) || PyCFunction_GET_SELF(called) != call->self) {
        return 0; /* so it has, with these arguments */
    }
    int position = PyFrame_GetLasti(frame), shift = 0;
#if PY_VERSION_HEX < 0x030C0000
    int operation = _Py_OPCODE(UNIT_AT(code, position));
    if (operation != CALL && operation != CALL_ADAPTIVE && operation != CALL_PY_EXACT_ARGS &&
        operation != CALL_PY_WITH_DEFAULTS) {
        shift = UNITS(1 + INLINE_CACHE_ENTRIES_PRECALL);
    }
#endif
    /* The end of `with` gives one argument more than its instruction says. There, functions in Python are called from C. */
    int is_end_of_with = call->amount == 3 && _Py_OPARG(UNIT_AT(code, position)) == 2;
    return is_end_of_with ? shift : shift + UNITS(INLINE_CACHE_ENTRIES_CALL);
}

Asking positions_begin_asking(const Call *call)
{
    Asking before = asking;
    int was_own = memory_is_own;
    memory_is_own = 1; /* as in places_make_frames */
    PyFrameObject *frame = PyEval_GetFrame();
    memory_is_own = was_own;
    asking.shift = frame == NULL ? 0 : positions_shift(frame, call);
    if (asking.shift != 0) {
        asking.code = (PyObject *)frame->f_frame->f_code;
        asking.position = PyFrame_GetLasti(frame);
    }
    return before;
}

void positions_end_asking(Asking before)
{ asking = before; }

#else

int positions_shift(PyFrameObject *Py_UNUSED(frame), const Call *Py_UNUSED(call))
{ return 0; }

Asking positions_begin_asking(const Call *Py_UNUSED(call))
{ return (Asking){NULL, 0, 0}; }

void positions_end_asking(Asking Py_UNUSED(before))
{ }

#endif
