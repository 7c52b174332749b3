/* Waiting for the baton, and looking meanwhile whether the thread with it stands still; see stuck_calls.py.
 *
 * Rules of this file:
 *
 * - A thread that waits looks in real time. If it made objects, those that the thread with the baton makes would now stand
 *   here, now there. So between two waits it makes none, and holds the GIL throughout; Python code runs only where the
 *   baton may have to be taken away.
 * - It does what PythonCounter does in counter.py.
 */
#include "_accelerator.h"
#include <pthread.h>
#include <time.h>

static long long now_by(clockid_t clock)
{
    struct timespec now = {0};
    clock_gettime(clock, &now);
    return now.tv_sec * 1000000000LL + now.tv_nsec;
}

/* For how long looks have found, one after the other, that it stands still; 0: it does not, or that is not known yet. */
static long long look(Counter *counter, double every_s)
{
    Looks *last = &counter->looks;
    const ThreadCounts *holder = (const ThreadCounts *)counter->current;
    clockid_t processor_clock;
    if (counter->over || counter->busy || counter->idle || holder->atomic || holder->ident == 0 ||
        pthread_getcpuclockid((pthread_t)holder->ident, &processor_clock) != 0) {
        last->holder = NULL;
        return 0;
    }
    long long now_ns = now_by(CLOCK_MONOTONIC), processor_ns = now_by(processor_clock);
    if (last->holder == holder && last->time == holder->time) {
        long long passed_ns = now_ns - last->seen_ns;
        if (passed_ns < every_s * (double)EARLIEST_LOOK_NS_PER_S) {
            return 0;
        }
        long long used_ns = processor_ns - last->processor_ns;
        last->still = used_ns * 100 < passed_ns * BUSY_PERCENT ? last->still + 1 : 0;
    }
    else {
        last->holder = holder;
        last->still = 0;
    }
    last->time = holder->time;
    last->seen_ns = now_ns;
    last->processor_ns = processor_ns;
    if (last->still == 0) {
        last->still_since_ns = now_ns;
    }
    return last->still < STILL_LOOKS ? 0 : now_ns - last->still_since_ns;
}

PyObject *stuck_calls_wait_at(PyObject *counter, PyObject *const *arguments, Py_ssize_t amount)
{
    if (amount != 3 || !PyTuple_Check(arguments[1]) || PyTuple_GET_SIZE(arguments[1]) != 2) {
        PyErr_SetString(PyExc_TypeError, "expected a function, its two arguments, and a time");
        return NULL;
    }
    double every_s = PyFloat_AsDouble(PyTuple_GET_ITEM(arguments[1], 1));
    long long least_ns = PyLong_AsLongLong(arguments[2]);
    if ((every_s == -1 || least_ns == -1) && PyErr_Occurred()) {
        return NULL;
    }
    while (1) {
        PyObject *acquired = PyObject_Call(arguments[0], arguments[1], NULL);
        if (acquired == NULL) {
            return NULL;
        }
        Py_DECREF(acquired); /* one of two objects that are always there */
        long long still_ns = acquired == Py_True ? 0 : look((Counter *)counter, every_s);
        if (acquired == Py_True || (still_ns > 0 && still_ns >= least_ns)) {
            return PyLong_FromLongLong(still_ns);
        }
    }
}
