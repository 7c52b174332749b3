/* What SQLite asks of the system, passed to the scheduler; see io/sqlite.py.
 *
 * Rules of this file:
 *
 * - SQLite uses an object of its own, the VFS, for everything it asks of the system (https://sqlite.org/vfs.html). Only
 *   its functions are replaced: how to sleep, the date, random bytes, and how to open a database, so that its locks are
 *   requested through here. Locking itself is not changed.
 * - A refused lock is remembered by the thread that requested it; if SQLite sleeps next, it does so for that lock. After
 *   the sleep SQLite requests it again.
 * - Each thread numbers its requests for locks. Python is told of the refused ones; it can want them to be repeated.
 *   If a log has refused requests, it is asked before each, and can refuse it.
 * - No Python code runs except there, in a sleep, and for the date. A sleep that Python declines happens in real time.
 * - SQLite requests random bytes to seed a generator of its own. It gets new ones each time, in an order that only the
 *   seed of the run determines.
 * - SQLite's header is not needed: the few declarations of its interface are below. They never change.
 *
 * Longer than 400 lines because all of it needs these declarations, which no other file should see.
 */
#include "_accelerator.h"
#include <dirent.h>
#include <dlfcn.h>
#include <fcntl.h>
#include <pthread.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* -- what SQLite declares (sqlite3.h) -- */

enum { OK = 0, BUSY = 5 };
enum { LOCK_SHARED = 1, LOCK_RESERVED = 2, LOCK_PENDING = 3, LOCK_EXCLUSIVE = 4 };
enum { WAL_UNLOCK = 1, WAL_LOCK = 2, WAL_SHARED = 4, WAL_EXCLUSIVE = 8 };
enum { OPEN_MAIN_DATABASE = 0x100, TELL_LOCK = 1 };

/* Which bytes of a file the locks are (https://sqlite.org/fileformat2.html, sections 1.6 and 4, and walformat.html). */
enum { PENDING_BYTE = 0x40000000, RESERVED_BYTE, SHARED_BYTES, SHARED_LENGTH = 510, WAL_BYTES = 120 };

typedef struct Methods Methods;
typedef struct Vfs Vfs;
typedef struct { const Methods *methods; } File;
typedef void (*Function)(void);

struct Methods {
    int version;
    int (*close)(File *);
    Function read, write, truncate, sync, file_size;
    int (*lock)(File *, int level);
    Function unlock, check_reserved_lock;
    int (*control)(File *, int what, void *argument);
    Function sector_size, device_characteristics;
    /* since version 2 */
    Function map_wal;
    int (*lock_wal)(File *, int first, int amount, int flags);
    Function wal_barrier, unmap_wal;
    /* since version 3 */
    Function fetch, unfetch;
};

struct Vfs {
    int version, file_size, longest_path;
    Vfs *next;
    const char *name;
    void *data;
    int (*open)(Vfs *, const char *name, File *, int flags, int *flags_out);
    Function delete, access, full_path, load, load_error, symbol, unload;
    int (*randomness)(Vfs *, int size, char *bytes);
    int (*sleep)(Vfs *, int microseconds);
    int (*date)(Vfs *, double *days);
    Function last_error;
    /* since version 2 */
    int (*date_ms)(Vfs *, long long *ms);
    /* more follows */
};

/* -- the databases that are open -- */

typedef struct Database Database;
struct Database {
    Methods methods; /* the first, so that the methods of a file lead to its database */
    const Methods *real;
    Database *next;
    File *file;
    long long number; /* never given twice */
    dev_t device;
    ino_t inode;
    unsigned wal_shared, wal_exclusive; /* the locks that it has on its write-ahead log, a bit each */
    char index[]; /* the name of the file whose bytes these locks are */
};

/* A lock of one database: a level, or (with level 0) bits of the write-ahead log. */
typedef struct { long long number; int level; unsigned wal; int shared; } Lock;

static pthread_mutex_t guard = PTHREAD_MUTEX_INITIALIZER; /* threads that are away come by here, too */
static Database *databases;
static long long opened;
static _Thread_local Lock refused; /* number 0: none */
static _Thread_local long long requests; /* for locks, so far */
static PyObject *asked, *told; /* called before a request, and where it was refused; NULL or None: nobody */

/* Whether Python says so of a request. */
static int python_says(PyObject *function, const Lock *wanted)
{
    if (function == NULL || function == Py_None || !Py_IsInitialized()) {
        return 0;
    }
    PyGILState_STATE state = PyGILState_Ensure();
    int answer = 0;
    if (!PyErr_Occurred()) {
        int was_own = memory_turn(1); /* a replay asks more often */
        PyObject *said = PyObject_CallFunction(function, "L(LiIi)", requests, wanted->number, wanted->level, wanted->wal,
                                               wanted->shared);
        answer = said == Py_True;
        Py_XDECREF(said);
        PyErr_Clear(); /* there is nobody to report it to */
        memory_turn(was_own);
    }
    PyGILState_Release(state);
    return answer;
}

static int is_refused_in_replay(const Lock *wanted)
{
    requests++;
    return python_says(asked, wanted);
}

/* Notes the result of a request; whether to repeat it. */
static int is_to_be_repeated(int result, const Lock *wanted)
{
    int is_refused = (result & 0xFF) == BUSY;
    refused = is_refused ? *wanted : (Lock){0};
    return is_refused && python_says(told, wanted);
}

static int lock(File *file, int level)
{
    Database *database = (Database *)file->methods;
    const Lock wanted = {database->number, level, 0, 0};
    if (is_refused_in_replay(&wanted)) {
        refused = wanted;
        return BUSY;
    }
    int result;
    do {
        result = database->real->lock(file, level);
    } while (is_to_be_repeated(result, &wanted));
    return result;
}

static int lock_wal(File *file, int first, int amount, int flags)
{
    Database *database = (Database *)file->methods;
    unsigned bits = ((1u << amount) - 1) << first;
    int shared = flags & WAL_SHARED;
    unsigned *held = shared ? &database->wal_shared : &database->wal_exclusive;
    if (!(flags & WAL_LOCK)) {
        *held &= ~bits;
        return database->real->lock_wal(file, first, amount, flags);
    }
    const Lock wanted = {database->number, 0, bits, shared};
    if (is_refused_in_replay(&wanted)) {
        refused = wanted;
        return BUSY;
    }
    int result;
    do {
        result = database->real->lock_wal(file, first, amount, flags);
    } while (is_to_be_repeated(result, &wanted));
    *held |= result == OK ? bits : 0;
    return result;
}

static int close_database(File *file)
{
    Database *database = (Database *)file->methods;
    pthread_mutex_lock(&guard);
    for (Database **link = &databases; *link != NULL; link = &(*link)->next) {
        if (*link == database) {
            *link = database->next;
            break;
        }
    }
    pthread_mutex_unlock(&guard);
    file->methods = database->real;
    free(database);
    return file->methods->close(file);
}

static int (*real_open)(Vfs *, const char *, File *, int, int *);
static int (*real_sleep)(Vfs *, int);

static int open_database(Vfs *vfs, const char *name, File *file, int flags, int *flags_out)
{
    struct stat status;
    int result = real_open(vfs, name, file, flags, flags_out);
    if (result != OK || !(flags & OPEN_MAIN_DATABASE) || name == NULL || stat(name, &status) != 0) {
        return result;
    }
    Database *database = calloc(1, sizeof(Database) + strlen(name) + sizeof("-shm"));
    if (database == NULL) {
        return result;
    }
    strcat(strcpy(database->index, name), "-shm");
    const Methods *real = database->real = file->methods;
    memcpy(&database->methods, real,
           real->version > 2 ? sizeof(Methods) : real->version > 1 ? offsetof(Methods, fetch) : offsetof(Methods, map_wal));
    database->methods.version = real->version > 3 ? 3 : real->version;
    database->methods.close = close_database;
    database->methods.lock = lock;
    if (real->version > 1 && real->lock_wal != NULL) {
        database->methods.lock_wal = lock_wal;
    }
    database->file = file;
    database->device = status.st_dev;
    database->inode = status.st_ino;
    pthread_mutex_lock(&guard);
    database->number = ++opened;
    database->next = databases;
    databases = database;
    pthread_mutex_unlock(&guard);
    file->methods = &database->methods;
    return result;
}

/* Whether a database has a lock that conflicts with one that another database of the same file wants. */
static int conflicts(const Database *database, const Lock *wanted)
{
    if (wanted->level == 0) {
        return (wanted->wal & (database->wal_exclusive | (wanted->shared ? 0 : database->wal_shared))) != 0;
    }
    int level = 0;
    database->real->control(database->file, TELL_LOCK, &level);
    /* https://sqlite.org/lockingv3.html, section 3 */
    switch (wanted->level) {
    case LOCK_SHARED: return level >= LOCK_PENDING;
    case LOCK_RESERVED: return level >= LOCK_RESERVED;
    default: return level >= LOCK_SHARED;
    }
}

/* Whether another process has a lock on these bytes. Locks of this kind are a process's own, and it is told of those of
 * others only. The file must not be opened to ask: when it is closed, the process loses all its locks on it. */
static int locked_elsewhere(dev_t device, ino_t inode, short type, int first, int length)
{
    struct flock question = {.l_type = type, .l_whence = SEEK_SET, .l_start = first, .l_len = length};
    DIR *descriptors = opendir("/proc/self/fd");
    int answer = -1;
    for (struct dirent *entry; descriptors != NULL && answer < 0 && (entry = readdir(descriptors)) != NULL;) {
        struct stat status;
        int descriptor = atoi(entry->d_name);
        if (fstat(descriptor, &status) == 0 && status.st_dev == device && status.st_ino == inode) {
            answer = fcntl(descriptor, F_GETLK, &question) == 0 && question.l_type != F_UNLCK;
        }
    }
    if (descriptors != NULL) {
        closedir(descriptors);
    }
    return answer > 0;
}

static int another_process_conflicts(const Database *database, const Lock *wanted)
{
    dev_t device = database->device;
    ino_t inode = database->inode;
    struct stat status;
    switch (wanted->level) {
    case 0:
        if (stat(database->index, &status) != 0) {
            return 0;
        }
        return locked_elsewhere(status.st_dev, status.st_ino, wanted->shared ? F_RDLCK : F_WRLCK,
                                WAL_BYTES + __builtin_ctz(wanted->wal), __builtin_popcount(wanted->wal));
    case LOCK_RESERVED:
        /* Whoever gives up its locks gives up this one before the others, without which nobody gets so far as to ask for it:
         * any lock that is not for reading alone. */
        return locked_elsewhere(device, inode, F_RDLCK, PENDING_BYTE, SHARED_BYTES + SHARED_LENGTH - PENDING_BYTE);
    default:;
        short type = wanted->level == LOCK_SHARED ? F_RDLCK : F_WRLCK;
        return locked_elsewhere(device, inode, type, PENDING_BYTE, 1) ||
               locked_elsewhere(device, inode, type, SHARED_BYTES, SHARED_LENGTH);
    }
}

/* -- sleeping -- */

static PyObject *sleeper; /* called with the microseconds and the refused lock or None; returns whether it slept */

static int sleep_under_schedule(Vfs *vfs, int microseconds)
{
    if (sleeper == NULL || !Py_IsInitialized()) {
        return real_sleep(vfs, microseconds);
    }
    Lock wanted = refused;
    refused = (Lock){0};
    PyGILState_STATE state = PyGILState_Ensure();
    int slept = 0;
    if (!PyErr_Occurred()) {
        PyObject *answer;
        if (wanted.number == 0) {
            answer = PyObject_CallFunction(sleeper, "iO", microseconds, Py_None);
        } else {
            answer = PyObject_CallFunction(sleeper, "i(LiIi)", microseconds, wanted.number, wanted.level, wanted.wal,
                                           wanted.shared);
        }
        slept = answer == Py_True;
        Py_XDECREF(answer);
        PyErr_Clear(); /* there is nobody to report it to */
    }
    PyGILState_Release(state);
    return slept ? microseconds : real_sleep(vfs, microseconds);
}

/* -- the date, and random bytes -- */

static PyObject *dater; /* called for the date in nanoseconds since 1970 */
static int (*real_date)(Vfs *, double *);
static int (*real_date_ms)(Vfs *, long long *);

/* SQLite counts from a noon in the year -4713 (https://sqlite.org/lang_datefunc.html). */
#define MS_OF_1970 210866760000000LL
#define MS_PER_DAY 86400000.0

/* In milliseconds, as SQLite counts; negative if unknown. */
static long long tell_date_ms(void)
{
    if (!Py_IsInitialized()) {
        return -1;
    }
    PyGILState_STATE state = PyGILState_Ensure();
    long long date_ns = -1;
    if (!PyErr_Occurred()) {
        PyObject *answer = PyObject_CallNoArgs(dater);
        date_ns = answer == NULL ? -1 : PyLong_AsLongLong(answer);
        Py_XDECREF(answer);
        PyErr_Clear(); /* there is nobody to report it to */
    }
    PyGILState_Release(state);
    return date_ns < 0 ? -1 : MS_OF_1970 + date_ns / 1000000;
}

static int virtual_date_ms(Vfs *vfs, long long *ms)
{
    long long told = tell_date_ms();
    return told < 0 ? real_date_ms(vfs, ms) : (*ms = told, OK);
}

static int virtual_date(Vfs *vfs, double *days)
{
    long long told = tell_date_ms();
    return told < 0 ? real_date(vfs, days) : (*days = (double)told / MS_PER_DAY, OK);
}

static unsigned long long entropy;

/* SplitMix64, as in splitmix.py. */
static int fixed_randomness(Vfs *Py_UNUSED(vfs), int size, char *bytes)
{
    for (int at = 0; at < size; at += 8) {
        unsigned long long word = entropy += SPLITMIX_STEP;
        word = (word ^ (word >> 30)) * SPLITMIX_FIRST;
        word = (word ^ (word >> 27)) * SPLITMIX_SECOND;
        word ^= word >> 31;
        memcpy(bytes + at, &word, size - at < 8 ? (size_t)(size - at) : 8);
    }
    return size;
}

/* -- what io/sqlite.py calls -- */

PyObject *sqlite_control(PyObject *Py_UNUSED(module), PyObject *arguments)
{
    const char *library;
    PyObject *sleep, *ask_before, *tell_refused, *date, *seed;
    if (!PyArg_ParseTuple(arguments, "zOOOOO", &library, &sleep, &ask_before, &tell_refused, &date, &seed)) {
        return NULL;
    }
    void *handle = dlopen(library, RTLD_LAZY | RTLD_NOLOAD);
    Vfs *(*find)(const char *) = NULL;
    if (handle != NULL) {
        *(void **)&find = dlsym(handle, "sqlite3_vfs_find");
    }
    Vfs *vfs = find == NULL ? NULL : find(NULL);
    if (vfs == NULL) {
        Py_RETURN_FALSE;
    }
    if (vfs->open == open_database) {
        Py_XSETREF(asked, Py_NewRef(ask_before)); /* the rest stays as it is */
        Py_RETURN_TRUE;
    }
    sqlite_share_mutexes(handle);
    sleeper = Py_NewRef(sleep);
    asked = Py_NewRef(ask_before);
    told = Py_NewRef(tell_refused);
    real_open = vfs->open;
    real_sleep = vfs->sleep;
    vfs->open = open_database;
    vfs->sleep = sleep_under_schedule;
    if (date != Py_None) {
        dater = Py_NewRef(date);
        real_date = vfs->date;
        vfs->date = virtual_date;
        if (vfs->version > 1 && vfs->date_ms != NULL) {
            real_date_ms = vfs->date_ms;
            vfs->date_ms = virtual_date_ms;
        }
    }
    if (seed != Py_None) {
        entropy = PyLong_AsUnsignedLongLongMask(seed);
        vfs->randomness = fixed_randomness;
    }
    Py_RETURN_TRUE;
}

static int parse_lock(PyObject *arguments, Lock *lock)
{
    return PyArg_ParseTuple(arguments, "LiIi", &lock->number, &lock->level, &lock->wal, &lock->shared);
}

static PyObject *ask(PyObject *arguments, int elsewhere)
{
    Lock wanted;
    if (!parse_lock(arguments, &wanted)) {
        return NULL;
    }
    int answer = 0;
    pthread_mutex_lock(&guard);
    const Database *own = databases;
    while (own != NULL && own->number != wanted.number) {
        own = own->next;
    }
    if (own != NULL && elsewhere) {
        answer = another_process_conflicts(own, &wanted);
    } else if (own != NULL) {
        for (const Database *other = databases; other != NULL && !answer; other = other->next) {
            int is_same = other != own && other->device == own->device && other->inode == own->inode;
            answer = is_same && conflicts(other, &wanted);
        }
    }
    pthread_mutex_unlock(&guard);
    return PyBool_FromLong(answer);
}

PyObject *sqlite_is_held(PyObject *Py_UNUSED(module), PyObject *arguments)
{ return ask(arguments, 0); }

PyObject *sqlite_is_held_elsewhere(PyObject *Py_UNUSED(module), PyObject *arguments)
{ return ask(arguments, 1); }
