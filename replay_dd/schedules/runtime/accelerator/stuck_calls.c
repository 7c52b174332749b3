/* Waiting for the baton, and checking meanwhile whether the thread with it stands still; see stuck_calls.py.
 *
 * Rules of this file:
 *
 * - A waiting thread checks in real time. If it created objects, the addresses of those that the thread with the baton
 *   creates would vary. So between two waits it creates none, and holds the GIL throughout; Python code runs only if
 *   the baton may have to be taken away. Without a GIL, the thread with the baton runs meanwhile, and other threads may
 *   check: one does at a time, and what it reads may be out of date when it is used (see stuck_calls.py).
 * - It does what PythonCounter does in counter.py.
 * - What a thread does in the system is read while holding the GIL, if there is one: else the thread could go on.
 */
#include "_accelerator.h"
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static long long now_by(clockid_t clock)
{
    struct timespec now = {0};
    clock_gettime(clock, &now);
    return now.tv_sec * 1000000000LL + now.tv_nsec;
}

/* For how long it has been found standing still; 0: it is not, or that is not known yet. */
static long long look_alone(Counter *counter, double every_s)
{
    Looks *last = &counter->looks;
    const ThreadCounts *holder = (const ThreadCounts *)counter->current;
    clockid_t processor_clock;
    if (counter->over || counter->busy || counter->idle || holder->atomic || holder->handle == 0 ||
        pthread_getcpuclockid((pthread_t)holder->handle, &processor_clock) != 0) {
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

static long long look(Counter *counter, double every_s)
{
    static char is_looking;
    if (__atomic_test_and_set(&is_looking, __ATOMIC_ACQUIRE)) {
        return 0;
    }
    long long still_ns = look_alone(counter, every_s);
    __atomic_clear(&is_looking, __ATOMIC_RELEASE);
    return still_ns;
}

/* Open another thread's gate with `opens`, if that is not NULL, then wait at the own one. */
static PyObject *wait_at(Counter *counter, PyObject *acquire, PyObject *arguments, double every_s, long long least_ns,
                         PyObject *opens)
{
    if (opens != NULL) {
        PyObject *opened = PyObject_CallNoArgs(opens);
        if (opened == NULL) {
            return NULL;
        }
        Py_DECREF(opened);
    }
    while (1) {
        PyObject *acquired = PyObject_Call(acquire, arguments, NULL);
        if (acquired == NULL) {
            return NULL;
        }
        Py_DECREF(acquired); /* True or False, which are immortal or shared */
        long long still_ns = acquired == Py_True ? 0 : look(counter, every_s);
        if (acquired == Py_True || (still_ns > 0 && still_ns >= least_ns)) {
            return PyLong_FromLongLong(still_ns);
        }
    }
}

PyObject *stuck_calls_wait_at(PyObject *counter, PyObject *const *arguments, Py_ssize_t amount)
{
    if (amount < 3 || amount > 4 || !PyTuple_Check(arguments[1]) || PyTuple_GET_SIZE(arguments[1]) != 2) {
        PyErr_SetString(PyExc_TypeError, "expected a function, its two arguments, a time, and perhaps another function");
        return NULL;
    }
    double every_s = PyFloat_AsDouble(PyTuple_GET_ITEM(arguments[1], 1));
    long long least_ns = PyLong_AsLongLong(arguments[2]);
    if ((every_s == -1 || least_ns == -1) && PyErr_Occurred()) {
        return NULL;
    }
    PyObject *opens = amount == 4 && arguments[3] != Py_None ? arguments[3] : NULL;
    processors_stay();
    PyObject *still_ns = wait_at((Counter *)counter, arguments[0], arguments[1], every_s, least_ns, opens);
    processors_roam();
    return still_ns;
}

/* -- What a thread is doing in the system -- */

static int read_of(const char *form, int native_id, char *text, size_t size)
{
    char path[64];
    snprintf(path, sizeof path, form, native_id);
    int descriptor = open(path, O_RDONLY | O_CLOEXEC);
    if (descriptor < 0) {
        return 0;
    }
    ssize_t length = read(descriptor, text, size - 1);
    close(descriptor);
    text[length > 0 ? length : 0] = 0;
    return length > 0;
}

static int is_of_disks(long number)
{
    switch (number) {
    case SYS_fsync:
    case SYS_fdatasync:
    case SYS_sync:
    case SYS_msync:
#ifdef SYS_syncfs
    case SYS_syncfs:
#endif
#ifdef SYS_sync_file_range
    case SYS_sync_file_range:
#endif
    case SYS_fallocate:
    case SYS_ftruncate:
        return 1;
    default:
        return 0;
    }
}

static int reads_or_writes(long number)
{
    switch (number) {
    case SYS_read:
    case SYS_readv:
    case SYS_pread64:
    case SYS_preadv:
    case SYS_write:
    case SYS_writev:
    case SYS_pwrite64:
    case SYS_pwritev:
    case SYS_sendfile:
#ifdef SYS_copy_file_range
    case SYS_copy_file_range:
#endif
        return 1;
    default:
        return 0;
    }
}

/* Whether what is read or written is a file, or one of some streams, given as (device, inode). */
static int no_thread_is_at_the_other_end(int descriptor, PyObject *streams)
{
    struct stat status;
    if (fstat(descriptor, &status) < 0) {
        return 0;
    }
    if (S_ISREG(status.st_mode) || S_ISBLK(status.st_mode) || S_ISDIR(status.st_mode)) {
        return 1;
    }
    PyObject *own = Py_BuildValue("(KK)", (unsigned long long)status.st_dev, (unsigned long long)status.st_ino);
    int found = own == NULL ? -1 : PySet_Contains(streams, own);
    Py_XDECREF(own);
    return found;
}

PyObject *stuck_calls_system_call(PyObject *Py_UNUSED(module), PyObject *const *arguments, Py_ssize_t amount)
{
    unsigned long long handle = amount == 2 ? PyLong_AsUnsignedLongLong(arguments[0]) : 0;
    if (handle == 0 || handle == (unsigned long long)-1) {
        if (!PyErr_Occurred()) {
            PyErr_SetString(PyExc_TypeError, "expected the identity of a thread and a set");
        }
        return NULL;
    }
    clockid_t clock;
    char text[256];
    long number = -1, argument = -1;
    int alone = 0, goes_on = 0;
    if (pthread_getcpuclockid((pthread_t)handle, &clock) == 0) {
        int native_id = ~((int)clock >> 3); /* the kernel makes such clocks of it (linux/posix-timers.h) */
        if (read_of("/proc/self/task/%d/syscall", native_id, text, sizeof text)) {
            if (sscanf(text, "%ld 0x%lx", &number, (unsigned long *)&argument) < 2) {
                number = -1; /* running, or not in a system call */
            }
            goes_on = number == SYS_futex && memory_is_the_interpreters((uintptr_t)argument); /* it waits for the GIL */
        }
        const char *state = read_of("/proc/self/task/%d/stat", native_id, text, sizeof text) ? strrchr(text, ')') : NULL;
        /* D: in a disk's or another machine's hands; t, T: stopped from outside; R: it waits for a processor (proc(5)). */
        alone = goes_on || is_of_disks(number) || (state != NULL && strlen(state) > 2 && strchr("DTtR", state[2]) != NULL);
    }
    if (!alone && reads_or_writes(number)) {
        alone = no_thread_is_at_the_other_end((int)argument, arguments[1]);
        if (alone < 0) {
            return NULL;
        }
    }
    return Py_BuildValue("(lN)", number, PyBool_FromLong(alone));
}
