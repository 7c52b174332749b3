/* Other interpreters of this process: what their code asks of the clock is answered in the main one.
 *
 * A thread that executes code in another interpreter still has its state in the main one. Functions put into the other
 * interpreter's module `time` change to that state, ask there, and change back. Threads that were started in the other
 * interpreter have no such state, and get the real functions' answers. See stdlib/interpreters.py.
 */
#include "_accelerator.h"

#if PY_VERSION_HEX >= 0x030D0000

enum { SLEEP, DATE, MONOTONIC }; /* as in stdlib/interpreters.py */

static PyObject *answering = NULL;               /* answer(question, nanoseconds) -> nanoseconds */
static _Thread_local PyThreadState *home = NULL; /* this thread's state in the main interpreter */

static int is_away(void)
{
    return home != NULL && answering != NULL && PyInterpreterState_Get() != PyInterpreterState_Main();
}

/* -1 where there is no answer. */
static long long ask(int question, long long nanoseconds)
{
    PyThreadState *away = PyThreadState_Swap(home);
    PyObject *answered = PyObject_CallFunction(answering, "iL", question, nanoseconds);
    long long answer = answered == NULL ? -1 : PyLong_AsLongLong(answered);
    Py_XDECREF(answered);
    PyErr_Clear(); /* the exceptions of this state are none of the other's */
    PyThreadState_Swap(away);
    return answer;
}

static PyObject *sleep_elsewhere(PyObject *real, PyObject *seconds)
{
    double wait_s = is_away() ? PyFloat_AsDouble(seconds) : -1;
    if (!(wait_s >= 0 && wait_s < 9e9)) { /* the real one says what is wrong */
        PyErr_Clear();
        return PyObject_CallOneArg(real, seconds);
    }
    ask(SLEEP, (long long)(wait_s * 1e9));
    Py_RETURN_NONE;
}

static PyObject *read_clock(PyObject *real, int question, int in_seconds)
{
    long long now_ns = is_away() ? ask(question, 0) : -1;
    if (now_ns < 0) {
        return PyObject_CallNoArgs(real);
    }
    return in_seconds ? PyFloat_FromDouble((double)now_ns / 1e9) : PyLong_FromLongLong(now_ns);
}

#define CLOCK(function, question, in_seconds)                                   \
    static PyObject *function(PyObject *real, PyObject *Py_UNUSED(ignored))     \
    {                                                                           \
        return read_clock(real, question, in_seconds);                          \
    }

CLOCK(date_s, DATE, 1)
CLOCK(date_ns, DATE, 0)
CLOCK(monotonic_s, MONOTONIC, 1)
CLOCK(monotonic_ns, MONOTONIC, 0)

static PyMethodDef sleeping = {"sleep", sleep_elsewhere, METH_O, NULL};

static PyMethodDef clocks[] = {
    {"time", date_s, METH_NOARGS, NULL},
    {"time_ns", date_ns, METH_NOARGS, NULL},
    {"monotonic", monotonic_s, METH_NOARGS, NULL},
    {"monotonic_ns", monotonic_ns, METH_NOARGS, NULL},
    {"perf_counter", monotonic_s, METH_NOARGS, NULL},
    {"perf_counter_ns", monotonic_ns, METH_NOARGS, NULL},
};

/* In the other interpreter. */
static void put_in_place(PyObject *module, PyMethodDef *function)
{
    PyObject *real = PyObject_GetAttrString(module, function->ml_name);
    PyObject *stand_in = real == NULL ? NULL : PyCFunction_NewEx(function, real, NULL);
    if (stand_in != NULL) {
        PyObject_SetAttrString(module, function->ml_name, stand_in);
    }
    Py_XDECREF(stand_in);
    Py_XDECREF(real);
}

PyObject *interpreters_adapt(PyObject *Py_UNUSED(module), PyObject *arguments)
{
    long long number;
    int with_clocks;
    PyObject *function;
    if (!PyArg_ParseTuple(arguments, "LpO", &number, &with_clocks, &function)) {
        return NULL;
    }
    Py_XSETREF(answering, Py_NewRef(function));
    PyInterpreterState *other = PyInterpreterState_Head();
    while (other != NULL && PyInterpreterState_GetID(other) != number) {
        other = PyInterpreterState_Next(other);
    }
    PyThreadState *state = other == NULL ? NULL : PyThreadState_New(other);
    if (state == NULL) {
        Py_RETURN_FALSE;
    }
    PyThreadState *own = PyThreadState_Swap(state);
    PyObject *time = PyImport_ImportModule("time");
    if (time != NULL) {
        put_in_place(time, &sleeping);
        for (size_t index = 0; with_clocks && index < Py_ARRAY_LENGTH(clocks); index++) {
            put_in_place(time, &clocks[index]);
        }
        Py_DECREF(time);
    }
    PyErr_Clear();
    PyThreadState_Clear(state);
    PyThreadState_Swap(own);
    PyThreadState_Delete(state);
    return PyBool_FromLong(time != NULL);
}

PyObject *interpreters_leave_home(PyObject *Py_UNUSED(module), PyObject *Py_UNUSED(ignored))
{
    home = PyThreadState_Get();
    Py_RETURN_NONE;
}

#else

PyObject *interpreters_adapt(PyObject *Py_UNUSED(module), PyObject *Py_UNUSED(arguments))
{
    Py_RETURN_FALSE;
}

PyObject *interpreters_leave_home(PyObject *Py_UNUSED(module), PyObject *Py_UNUSED(ignored))
{
    Py_RETURN_NONE;
}

#endif
