/* What the accelerator's table of functions takes from _databases.c. */
#include <Python.h>

/* control_databases(library, sleep): let SQLite sleep through a function. The library's file, or None where the
 * interpreter contains it. Whether this worked. */
PyObject *databases_control(PyObject *module, PyObject *arguments);

/* database_lock_is_held(*lock): whether another connection of this process has a lock that conflicts with this one. */
PyObject *databases_is_held(PyObject *module, PyObject *arguments);

/* database_lock_is_held_elsewhere(*lock): the same of other processes. */
PyObject *databases_is_held_elsewhere(PyObject *module, PyObject *arguments);
