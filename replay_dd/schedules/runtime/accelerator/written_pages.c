/* Which pages of memory a forked copy of a process has written to, and how the next copy gets its own of them at once.
 *
 * A copy shares all pages with the process that it was made of, and the system copies each when the copy first writes to
 * it. That interrupts the copy some 600 times, even if it runs the smallest program. Copies of the same process write to
 * much the same pages. See written_pages.py.
 */
#include "_accelerator.h"
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#ifndef MADV_POPULATE_WRITE
#define MADV_POPULATE_WRITE 23 /* from Linux 5.14 on */
#endif

#define MOST_PAGES 1024 /* they are copied in vain if the next run ends sooner */
#define LARGEST_AREA_BYTES ((uintptr_t)64 << 20)
#define PAGES_AT_ONCE 1024

/* A bit for each page; see pagemap.rst in the documentation of Linux. */
#define IS_PRESENT (UINT64_C(1) << 63)
#define IS_OF_A_FILE (UINT64_C(1) << 61)
#define IS_ITS_OWN (UINT64_C(1) << 56)

typedef struct {
    uintptr_t start, end;
} Stretch;

typedef struct {
    Stretch stretches[MOST_PAGES];
    size_t amount, pages;
    uintptr_t page_bytes;
    int pagemap;
} Found;

static void add_page(Found *found, uintptr_t page)
{
    if (found->amount == 0 || found->stretches[found->amount - 1].end != page) {
        found->stretches[found->amount++].start = page;
    }
    found->stretches[found->amount - 1].end = page + found->page_bytes;
    found->pages++;
}

static void look_at_area(Found *found, uintptr_t page, uintptr_t end)
{
    uint64_t bits[PAGES_AT_ONCE];
    while (page < end) {
        size_t wanted = (end - page) / found->page_bytes;
        if (wanted > PAGES_AT_ONCE) {
            wanted = PAGES_AT_ONCE;
        }
        off_t place = (off_t)(page / found->page_bytes * sizeof(*bits));
        ssize_t got = pread(found->pagemap, bits, wanted * sizeof(*bits), place);
        if (got < (ssize_t)sizeof(*bits)) {
            return;
        }
        for (size_t number = 0; number < (size_t)got / sizeof(*bits); number++, page += found->page_bytes) {
            uint64_t state = bits[number] & (IS_PRESENT | IS_OF_A_FILE | IS_ITS_OWN);
            if (state == (IS_PRESENT | IS_ITS_OWN) && found->pages < MOST_PAGES) {
                add_page(found, page);
            }
        }
    }
}

static void look_at_all(Found *found, FILE *areas)
{
    char line[512]; /* a longer one has a long path, and what then follows is no area */
    while (fgets(line, sizeof(line), areas) != NULL) {
        unsigned long start, end;
        char rights[5];
        if (sscanf(line, "%lx-%lx %4s", &start, &end, rights) == 3 && strcmp(rights, "rw-p") == 0 &&
            end - start <= LARGEST_AREA_BYTES) {
            look_at_area(found, start, end);
        }
    }
}

PyObject *written_pages(PyObject *Py_UNUSED(module), PyObject *Py_UNUSED(nothing))
{
    static Found found;
    found.amount = found.pages = 0;
    found.page_bytes = (uintptr_t)sysconf(_SC_PAGESIZE);
    found.pagemap = open("/proc/self/pagemap", O_RDONLY | O_CLOEXEC);
    FILE *areas = found.pagemap < 0 ? NULL : fopen("/proc/self/maps", "re");
    if (areas != NULL) {
        look_at_all(&found, areas);
        fclose(areas);
    }
    if (found.pagemap >= 0) {
        close(found.pagemap);
    }
    return PyBytes_FromStringAndSize((char *)found.stretches, (Py_ssize_t)(found.amount * sizeof(Stretch)));
}

PyObject *written_pages_fork(PyObject *Py_UNUSED(module), PyObject *pages)
{
    if (!PyBytes_Check(pages)) {
        return PyErr_Format(PyExc_TypeError, "expected bytes, not %.100s", Py_TYPE(pages)->tp_name);
    }
    const char *next = PyBytes_AS_STRING(pages), *end = next + PyBytes_GET_SIZE(pages);
    pid_t process = fork();
    for (Stretch one; process == 0 && (size_t)(end - next) >= sizeof(one); next += sizeof(one)) {
        memcpy(&one, next, sizeof(one));
        if (madvise((void *)one.start, one.end - one.start, MADV_POPULATE_WRITE) != 0 && errno == EINVAL) {
            break; /* the system does not know that */
        }
    }
    return PyLong_FromLong((long)process);
}
