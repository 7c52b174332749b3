/* One processor for all threads of a run; see processors.py.
 *
 * Rules of this file:
 *
 * - A thread stays on the processor where it is from before it gives the baton away until it has it again, and from
 *   before it copies itself or starts another one, so that the other begins there. While the program's code runs, the
 *   thread may run wherever it might without us; so the program does not see this, and the system can move it.
 * - Where the system does not allow that, or there is one processor only, nothing happens.
 */
#define _GNU_SOURCE 1
#include "_accelerator.h"
#include <sched.h>

#ifdef CPU_COUNT
static _Thread_local cpu_set_t allowed; /* before it stayed */
static _Thread_local char stays;
static cpu_set_t allowed_to_starter; /* of the thread that is being started */

void processors_stay(void)
{
    if (stays || sched_getaffinity(0, sizeof allowed, &allowed) != 0 || CPU_COUNT(&allowed) < 2) {
        return;
    }
    int number = sched_getcpu();
    if (number >= 0 && number < CPU_SETSIZE) {
        cpu_set_t here;
        CPU_ZERO(&here);
        CPU_SET(number, &here);
        stays = sched_setaffinity(0, sizeof here, &here) == 0;
    }
}

void processors_roam(void)
{
    if (stays) {
        stays = 0;
        sched_setaffinity(0, sizeof allowed, &allowed);
    }
}

#else
void processors_stay(void) {}
void processors_roam(void) {}
#endif

PyObject *processors_stay_to_start(PyObject *Py_UNUSED(module), PyObject *Py_UNUSED(ignored))
{
    processors_stay();
#ifdef CPU_COUNT
    allowed_to_starter = allowed;
#endif
    Py_RETURN_NONE;
}

PyObject *processors_use_any(PyObject *Py_UNUSED(module), PyObject *Py_UNUSED(ignored))
{
    processors_roam();
    Py_RETURN_NONE;
}

PyObject *processors_begin(PyObject *Py_UNUSED(module), PyObject *Py_UNUSED(ignored))
{
#ifdef CPU_COUNT
    allowed = allowed_to_starter;
    stays = CPU_COUNT(&allowed) > 1;
#endif
    Py_RETURN_NONE;
}
