/* The accelerator: an extension module for what the runtime cannot do in Python, or not fast enough.
 *
 * Its parts are the files beside this one, named after the Python modules that they belong to. They form one extension
 * and not several, as each would have to be found and loaded in every run. _accelerator.pyi is the interface.
 */
#include "_accelerator.h"

static PyMethodDef module_functions[] = {
    {"fold", (PyCFunction)(void (*)(void))counting_fold, METH_FASTCALL, "Pass one yield point; as counter.fold."},
    {"need_room", (PyCFunction)(void (*)(void))counting_need_room, METH_FASTCALL, "As stack_room.need_room."},
    {"outside_library", (PyCFunction)(void (*)(void))places_outside_library, METH_FASTCALL,
     "outside_library(kinds, frame): the innermost frame of a file that is not known to be of the library, or None."},
    {"use_locks", locks_use, METH_VARARGS, "As lock_operations.use_scheduler."},
    {"allocate_lock", locks_allocate, METH_NOARGS, NULL},
    {"life_of", deaths_life_of, METH_O, "A number that a list or dictionary shares with none before it; 0 for others."},
    {"watch_exit", fast_exit_watch_exit, METH_VARARGS, "watch_exit(leaves, unwinds): see exit_watch.py."},
    {"leave", fast_exit_leave, METH_O, "Call exit(3)."},
    {"wait_until_gone", fast_exit_wait_until_gone, METH_O, "Wait until the system has forgotten a thread of this process."},
    {"keep_memory_apart", memory_keep_apart, METH_NOARGS, "As own_memory.keep_apart."},
    {"use_own_memory", memory_use_own, METH_O, "As own_memory.use_own."},
    {"begin_memory_anew", memory_begin_anew, METH_O, "As own_memory.begin_anew."},
    {"forget_names", memory_forget_names, METH_NOARGS, "Empty the interpreter's cache of attributes."},
    {"frame_values", frame_values, METH_VARARGS, "frame_values(frame, first, count): what a running frame holds."},
    {"local_value", (PyCFunction)(void (*)(void))observing_local_value, METH_FASTCALL, "As observing.local_value."},
    {"without_own", observing_without_own, METH_O, "As own_memory.without_own."},
    {"written_pages", written_pages, METH_NOARGS, "The pages that no other process has, up to a limit."},
    {"fork", written_pages_fork, METH_O, "fork(2) without the interpreter's handlers; the copy gets some pages at once."},
    {"stay_on_processor", processors_stay_to_start, METH_NOARGS, "As processors.stay."},
    {"use_any_processor", processors_use_any, METH_NOARGS, "As processors.roam."},
    {"begin_on_processor", processors_begin, METH_NOARGS, "As processors.begin."},
    {"system_call", (PyCFunction)(void (*)(void))stuck_calls_system_call, METH_FASTCALL,
     "The system call that a thread is in, and whether only the world outside can end it."},
    {"adapt_interpreter", interpreters_adapt, METH_VARARGS, "Let another interpreter's module `time` ask a function of ours."},
    {"leave_home", interpreters_leave_home, METH_NOARGS, "This thread is about to execute code in another interpreter."},
    {"built_in", (PyCFunction)(void (*)(void))clocks_built_in, METH_FASTCALL, "A built-in function that calls another function."},
    {"changed_since", file_times_changed_since, METH_VARARGS,
     "changed_since(original, since_s, told): a function like os.stat; told() gets what it gives of files that are newer."},
    {"enlarge_pipe", (PyCFunction)(void (*)(void))pipes_enlarge, METH_FASTCALL, "Make a pipe larger; whether it is."},
    {"waiting_bytes", pipes_waiting_bytes, METH_O, "How many bytes can be read from a descriptor at once; -1 if unknown."},
    {"seed_libraries", entropy_seed_libraries, METH_VARARGS, "As library_entropy.seed_libraries."},
    {"seed_thread", entropy_seed_thread, METH_O, "Give this thread a stream of random numbers for libraries."},
    {"seed_process", entropy_seed_process, METH_NOARGS, "As library_entropy.seed_process."},
    {"cover_libraries", entropy_cover_libraries, METH_O, "As library_entropy.cover_libraries."},
    {"library_that_drew", entropy_library_that_drew, METH_NOARGS, "As library_entropy.library_that_drew."},
#ifndef WITHOUT_SQLITE
    {"control_databases", sqlite_control, METH_VARARGS, "Let SQLite ask functions what it wants of the system."},
    {"database_lock_is_held", sqlite_is_held, METH_VARARGS, "Whether a thread has such a lock on a database."},
    {"database_lock_is_held_elsewhere", sqlite_is_held_elsewhere, METH_VARARGS, "Whether a process has."},
#endif
    {NULL, NULL, 0, NULL},
};

static struct PyModuleDef module_definition = {
    PyModuleDef_HEAD_INIT,
    .m_name = "_accelerator",
    .m_doc = "The fast path of the runtime.",
    .m_size = -1,
    .m_methods = module_functions,
};

PyMODINIT_FUNC PyInit__accelerator(void)
{
    if (tables_prepare() < 0 || counting_prepare() < 0) {
        return NULL;
    }
    PyObject *module = PyModule_Create(&module_definition);
    if (module == NULL) {
        return NULL;
    }
#ifdef Py_GIL_DISABLED
    PyUnstable_Module_SetGIL(module, Py_MOD_GIL_NOT_USED); /* only the thread with the baton runs */
#endif
    if (locks_add(module) < 0 || PyModule_AddObjectRef(module, "ThreadCounts", (PyObject *)&ThreadCountsType) < 0 ||
        PyModule_AddObjectRef(module, "Counter", (PyObject *)&CounterType) < 0 ||
        PyModule_AddStringConstant(module, "interface", INTERFACE) < 0 ||
        PyModule_AddStringConstant(module, "source", SOURCE) < 0) {
        Py_DECREF(module);
        return NULL;
    }
    return module;
}
