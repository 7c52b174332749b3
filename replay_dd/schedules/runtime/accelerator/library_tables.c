/* Finds the tables through which libraries call the C library, and replaces addresses there; see library_entropy.h. */
#define _GNU_SOURCE 1
#include "library_entropy.h"

#ifdef LIBRARIES_CAN_BE_COVERED
#include <elf.h>
#include <link.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* Left alone: the system's own libraries; the interpreter; and those for TLS, whose connections may go to real servers and
 * whose messages replays follow anyway. */
static const char *const left_alone[] = {
    "ld-linux", "libc.so", "libm.so", "libdl.so", "libpthread.so", "librt.so", "linux-", "libpython", "libcrypto",
    "libssl", "_ssl.", "_hashlib.", "_accelerator.", NULL,
};

/* Where OpenSSL is built in. */
static const char openssl_inside[] = "/cryptography/hazmat/bindings/";

typedef struct {
    ElfW(Addr) base, sealed_from, sealed_to; /* sealed: read-only since the library was loaded */
    const ElfW(Sym) *symbols;
    const char *names;
    int has_openssl;
} Library;

static void put(const Library *library, ElfW(Addr) place, const void *function)
{
    if (*(const void **)place == function) {
        return;
    }
    ElfW(Addr) size = (ElfW(Addr))sysconf(_SC_PAGESIZE), page = place & ~(size - 1);
    int sealed = place >= library->sealed_from && place < library->sealed_to;
    if (sealed && mprotect((void *)page, size, PROT_READ | PROT_WRITE) < 0) {
        return;
    }
    __atomic_store_n((const void **)place, function, __ATOMIC_RELEASE);
    if (sealed) {
        mprotect((void *)page, size, PROT_READ);
    }
}

static void replace_in(const Library *library, const ElfW(Rela) *table, size_t bytes)
{
#ifdef __x86_64__
    const unsigned long imported = R_X86_64_GLOB_DAT, called = R_X86_64_JUMP_SLOT, stored = R_X86_64_64;
#else
    const unsigned long imported = R_AARCH64_GLOB_DAT, called = R_AARCH64_JUMP_SLOT, stored = R_AARCH64_ABS64;
#endif
    for (size_t index = 0; index < bytes / sizeof *table; index++) {
        unsigned long kind = ELF64_R_TYPE(table[index].r_info), symbol = ELF64_R_SYM(table[index].r_info);
        if (symbol == 0 || (kind != imported && kind != called && kind != stored)) {
            continue;
        }
        if (library->symbols[symbol].st_shndx != SHN_UNDEF) {
            continue; /* its own function of that name */
        }
        const void *function = library_stand_in(library->names + library->symbols[symbol].st_name, library->has_openssl);
        if (function != NULL && table[index].r_addend == 0) {
            put(library, library->base + table[index].r_offset, function);
        }
    }
}

static int visit(struct dl_phdr_info *info, size_t Py_UNUSED(size), void *Py_UNUSED(data))
{
    const char *slash = strrchr(info->dlpi_name, '/'), *name = slash == NULL ? info->dlpi_name : slash + 1;
    if (*name == '\0') {
        return 0; /* the interpreter */
    }
    for (const char *const *start = left_alone; *start != NULL; start++) {
        if (strncmp(name, *start, strlen(*start)) == 0) {
            return 0;
        }
    }
    Library library = {.base = info->dlpi_addr, .has_openssl = strstr(info->dlpi_name, openssl_inside) != NULL};
    const ElfW(Dyn) *dynamic = NULL;
    for (int index = 0; index < info->dlpi_phnum; index++) {
        const ElfW(Phdr) *part = &info->dlpi_phdr[index];
        if (part->p_type == PT_DYNAMIC) {
            dynamic = (const ElfW(Dyn) *)(library.base + part->p_vaddr);
        }
        else if (part->p_type == PT_GNU_RELRO) {
            library.sealed_from = library.base + part->p_vaddr;
            library.sealed_to = library.sealed_from + part->p_memsz;
        }
    }
    const ElfW(Rela) *data_table = NULL, *call_table = NULL;
    size_t data_bytes = 0, call_bytes = 0;
    int with_addends = 1;
    for (; dynamic != NULL && dynamic->d_tag != DT_NULL; dynamic++) {
        switch (dynamic->d_tag) {
        case DT_SYMTAB: library.symbols = (const ElfW(Sym) *)dynamic->d_un.d_ptr; break;
        case DT_STRTAB: library.names = (const char *)dynamic->d_un.d_ptr; break;
        case DT_RELA: data_table = (const ElfW(Rela) *)dynamic->d_un.d_ptr; break;
        case DT_RELASZ: data_bytes = dynamic->d_un.d_val; break;
        case DT_JMPREL: call_table = (const ElfW(Rela) *)dynamic->d_un.d_ptr; break;
        case DT_PLTRELSZ: call_bytes = dynamic->d_un.d_val; break;
        case DT_PLTREL: with_addends = dynamic->d_un.d_val == DT_RELA; break;
        }
    }
    if (library.symbols == NULL || library.names == NULL || !with_addends) {
        return 0;
    }
    if (data_table != NULL) {
        replace_in(&library, data_table, data_bytes);
    }
    if (call_table != NULL) {
        replace_in(&library, call_table, call_bytes);
    }
    return 0;
}

static int add_up(struct dl_phdr_info *info, size_t Py_UNUSED(size), void *loaded)
{
    *(unsigned long long *)loaded = info->dlpi_adds;
    return 1;
}

void library_tables_cover(void)
{
    static unsigned long long covered = 0;
    unsigned long long loaded = 0;
    dl_iterate_phdr(add_up, &loaded);
    if (loaded != covered) {
        covered = loaded;
        dl_iterate_phdr(visit, NULL);
    }
}

#endif
