/* What SQLite asks of the system, passed to the scheduler; see io/sqlite.py.
 *
 * Rules of this file:
 *
 * - SQLite uses an object of its own, the VFS, for everything it asks of the system (https://sqlite.org/vfs.html). Only
 *   its functions are replaced: how to sleep, the date, random bytes, and how to open a database, so that its locks are
 *   requested through here. Locking itself is not changed.
 * - A refused lock is remembered by the thread that requested it; if SQLite sleeps next, it does so for that lock. After
 *   the sleep SQLite requests it again.
 * - Each thread numbers its requests for locks. All those to read a write-ahead log get the same odd number, up to the
 *   next other one: whoever writes to it at that time decides how often SQLite has to make them. Python is asked before
 *   each, and can refuse it; it is told of the refused ones, and can want them to be repeated. Where Python saw a writer
 *   of another process before a request, and that is gone when the request is granted, nobody can tell which of its data
 *   are read. So the request is made anew, with the same number.
 * - Python is also told, and can want, that a transaction has read what is old by now, and so may not write.
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

enum { OK = 0, BUSY = 5, BUSY_SNAPSHOT = BUSY | 2 << 8 };
enum { LOCK_NONE = 0, LOCK_SHARED = 1, LOCK_RESERVED = 2, LOCK_PENDING = 3, LOCK_EXCLUSIVE = 4 };
enum { WAL_UNLOCK = 1, WAL_LOCK = 2, WAL_SHARED = 4, WAL_EXCLUSIVE = 8 };
/* Bits of the locks for writing, to copy the log into the database, and for reading. */
enum { WAL_WRITE = 1, WAL_CHECKPOINT = 2, WAL_FIRST_TO_READ = 8 };
/* How long the header of the index of a write-ahead log is (https://sqlite.org/walformat.html, section 2.1). */
enum { HEADER_SIZE = 48 };
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
    int (*unlock)(File *, int level);
    Function check_reserved_lock;
    int (*control)(File *, int what, void *argument);
    Function sector_size, device_characteristics;
    /* since version 2 */
    int (*map_wal)(File *, int region, int size, int extend, void volatile **address);
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
    const char *header; /* of that log's index, where it is mapped; NULL: nowhere */
    char header_read[HEADER_SIZE]; /* as it was when this database began to read */
    long long written_by_us; /* as it was then */
    char index[]; /* the name of the file whose bytes these locks are */
};

/* A lock of one database: a level, or (with level 0) bits of the write-ahead log. */
typedef struct { long long number; int level; unsigned wal; int shared; } Lock;

static pthread_mutex_t guard = PTHREAD_MUTEX_INITIALIZER; /* threads that are away come by here, too */
static Database *databases;
static long long opened;
static _Thread_local Lock refused; /* number 0: none */
static _Thread_local long long number; /* of the last request for a lock */
static long long written_by_us; /* how often a thread of this process was done writing to any write-ahead log */
static PyObject *asked, *told; /* called before a request, and of what became of it; NULL or None: nobody */

/* What Python says of a request; and what it is told, for which the names of io/sqlite.py stand. */
enum { NOTHING = 0, REFUSE = 1, REPEAT = 1, WATCH_WRITER = 2, IS_OLD = 3 };
#define WAS_REFUSED "refused"
#define WRITER_IS_DONE "done"
#define WAS_OLD "old"

/* what: became of the request; NULL before it is made. */
static int python_says(PyObject *function, const char *what, const Lock *wanted)
{
    if (function == NULL || function == Py_None || !Py_IsInitialized()) {
        return NOTHING;
    }
    PyGILState_STATE state = PyGILState_Ensure();
    int answer = NOTHING;
    if (!PyErr_Occurred()) {
        int was_own = memory_turn(1); /* a replay asks more often */
        PyObject *said = PyObject_CallFunction(function, "zL(LiIi)", what, number, wanted->number, wanted->level,
                                               wanted->wal, wanted->shared);
        answer = said == NULL ? NOTHING : (int)PyLong_AsLong(said);
        Py_XDECREF(said);
        PyErr_Clear(); /* there is nobody to report it to */
        memory_turn(was_own);
    }
    PyGILState_Release(state);
    return answer;
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

typedef int (*Taking)(Database *, const Lock *);

static int attempt(Database *database, const Lock *wanted, Taking take)
{
    int result = take(database, wanted);
    refused = (result & 0xFF) == BUSY ? *wanted : (Lock){0};
    return result;
}

/* Makes a request for a lock, as often as Python wants.
 *
 * take, give_back: lock and unlock, as SQLite wants them.
 * writing: the lock of whoever writes what this request lets the database read. */
static int request(Database *database, const Lock *wanted, const Lock *writing, Taking take,
                   void (*give_back)(Database *, const Lock *))
{
    int reads_log = wanted->level == 0 && wanted->wal >= WAL_FIRST_TO_READ;
    number = reads_log ? number | 1 : (number | 1) + 1;
    for (;;) {
        int said = python_says(asked, NULL, wanted);
        if (said == REFUSE) {
            refused = *wanted;
            return BUSY;
        }
        if (said == IS_OLD) {
            refused = (Lock){0};
            return BUSY_SNAPSHOT;
        }
        int result;
        do {
            result = attempt(database, wanted, take);
        } while (refused.number != 0 && python_says(told, WAS_REFUSED, wanted) == REPEAT);
        if (said != WATCH_WRITER || result != OK || another_process_conflicts(database, writing)) {
            return result;
        }
        give_back(database, wanted);
        python_says(told, WRITER_IS_DONE, wanted);
    }
}

static int take_level(Database *database, const Lock *wanted)
{ return database->real->lock(database->file, wanted->level); }

static void give_back_level(Database *database, const Lock *Py_UNUSED(wanted))
{ database->real->unlock(database->file, LOCK_NONE); }

static int lock(File *file, int level)
{
    Database *database = (Database *)file->methods;
    const Lock wanted = {database->number, level, 0, 0}, writing = {database->number, LOCK_RESERVED, 0, 0};
    return request(database, &wanted, &writing, take_level, give_back_level);
}

static int change_wal_locks(Database *database, const Lock *wanted, int what)
{
    int flags = what | (wanted->shared ? WAL_SHARED : WAL_EXCLUSIVE);
    return database->real->lock_wal(database->file, __builtin_ctz(wanted->wal), __builtin_popcount(wanted->wal), flags);
}

static int take_wal_locks(Database *database, const Lock *wanted)
{ return change_wal_locks(database, wanted, WAL_LOCK); }

static void give_back_wal_locks(Database *database, const Lock *wanted)
{ change_wal_locks(database, wanted, WAL_UNLOCK); }

/* SQLite refuses to write if the header is not as it was read. Whoever changed it is another process, or a thread that
 * the schedule let run meanwhile. */
static void look_at_header(Database *database, const Lock *taken)
{
    if (database->header == NULL) {
        return;
    }
    if (taken->shared && taken->wal >= WAL_FIRST_TO_READ) {
        memcpy(database->header_read, database->header, HEADER_SIZE);
        database->written_by_us = written_by_us;
    } else if (!taken->shared && taken->wal & WAL_WRITE && database->written_by_us == written_by_us &&
               memcmp(database->header_read, database->header, HEADER_SIZE) != 0) {
        python_says(told, WAS_OLD, taken);
    }
}

/* Whether SQLite goes on at once if a lock is refused, unless it copies the log into the database: it tells others how
 * far it will read, or mends an index that it has not begun to read. It may do both because it has met another process
 * just then, which no replay repeats. */
static int is_left_alone(const Database *database, const Lock *wanted)
{
    if (wanted->wal == WAL_CHECKPOINT || database->wal_exclusive & WAL_CHECKPOINT) {
        return 0;
    }
    return wanted->wal >= WAL_FIRST_TO_READ ? !wanted->shared : database->wal_shared == 0;
}

static int lock_wal(File *file, int first, int amount, int flags)
{
    Database *database = (Database *)file->methods;
    unsigned bits = ((1u << amount) - 1) << first;
    int shared = flags & WAL_SHARED;
    unsigned *held = shared ? &database->wal_shared : &database->wal_exclusive;
    if (!(flags & WAL_LOCK)) {
        written_by_us += (*held & bits & WAL_WRITE) != 0 && !shared;
        *held &= ~bits;
        return database->real->lock_wal(file, first, amount, flags);
    }
    const Lock wanted = {database->number, 0, bits, shared}, writing = {database->number, 0, WAL_WRITE, 0};
    int result = is_left_alone(database, &wanted)
                     ? attempt(database, &wanted, take_wal_locks)
                     : request(database, &wanted, &writing, take_wal_locks, give_back_wal_locks);
    if (result == OK) {
        *held |= bits;
        look_at_header(database, &wanted);
    }
    return result;
}

static int map_wal(File *file, int region, int size, int extend, void volatile **address)
{
    Database *database = (Database *)file->methods;
    int result = database->real->map_wal(file, region, size, extend, address);
    if (region == 0) {
        database->header = result == OK ? (const char *)*address : NULL;
    }
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
        database->methods.map_wal = map_wal;
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
    PyObject *sleep, *ask_before, *tell, *date, *seed;
    if (!PyArg_ParseTuple(arguments, "zOOOOO", &library, &sleep, &ask_before, &tell, &date, &seed)) {
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
    told = Py_NewRef(tell);
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
