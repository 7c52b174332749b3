/* A thread that waits for a mutex of SQLite lets other threads run.
 *
 * Rules of this file:
 *
 * - Python gives up the GIL before most calls of SQLite, but not before those that are short. Some of them want the mutex
 *   of the connection (sqlite3_limit, since 3.51). A thread that waits in the runtime's turn, as SQLite sleeps, may have
 *   that mutex, and needs the GIL to go on: both would wait for ever. So who waits for a mutex gives up the GIL.
 * - Mutexes can only be replaced while SQLite is shut down, and it can only be that while nobody uses it.
 * - SQLite's header is not needed: the declarations below never change (https://sqlite.org/c3ref/mutex_methods.html).
 */
#include "_accelerator.h"
#include <dlfcn.h>

enum { OK = 0, CONFIG_MUTEX = 10, CONFIG_GETMUTEX = 11 };

typedef struct {
    int (*init)(void), (*end)(void);
    void *(*alloc)(int kind);
    void (*free)(void *), (*enter)(void *);
    int (*try)(void *);
    void (*leave)(void *);
    int (*is_held)(void *), (*is_not_held)(void *);
} Mutexes;

static Mutexes real;

static int has_gil(void)
{
#if PY_VERSION_HEX >= 0x030D0000
    return PyThreadState_GetUnchecked() != NULL;
#else
    return PyGILState_Check();
#endif
}

static void enter(void *mutex)
{
    if (real.try(mutex) == OK) {
        return;
    }
    if (!Py_IsInitialized() || !has_gil()) {
        real.enter(mutex);
        return;
    }
    Py_BEGIN_ALLOW_THREADS
    real.enter(mutex);
    Py_END_ALLOW_THREADS
}

/* Adapt the SQLite of this handle (dlopen), which nobody uses yet. */
void sqlite_share_mutexes(void *handle)
{
    int (*initialize)(void), (*shutdown)(void), (*config)(int, ...);
    long long (*memory_used)(void);
    *(void **)&initialize = dlsym(handle, "sqlite3_initialize");
    *(void **)&shutdown = dlsym(handle, "sqlite3_shutdown");
    *(void **)&config = dlsym(handle, "sqlite3_config");
    *(void **)&memory_used = dlsym(handle, "sqlite3_memory_used");
    if (initialize == NULL || shutdown == NULL || config == NULL || memory_used == NULL || memory_used() != 0 ||
        shutdown() != OK) {
        return;
    }
    Mutexes ours;
    if (config(CONFIG_GETMUTEX, &ours) == OK && ours.enter != NULL && ours.try != NULL && ours.enter != enter) {
        real = ours;
        ours.enter = enter;
        config(CONFIG_MUTEX, &ours);
    }
    initialize();
}
