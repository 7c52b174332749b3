/* The yield points of a code object, as a table attached to the code object itself; see tables.py.
 *
 * The lookups are in _accelerator.h, as they are part of the fast path.
 */
#include "_accelerator.h"

#if PY_VERSION_HEX >= 0x030C0000
#define request_code_extra_index PyUnstable_Eval_RequestCodeExtraIndex
#define set_code_extra PyUnstable_Code_SetExtra
#else
#define request_code_extra_index _PyEval_RequestCodeExtraIndex
#define set_code_extra _PyCode_SetExtra
#endif

Py_ssize_t tables_index = -1;

static Table not_counted; /* shared, as most code is not */

static void free_table(void *table)
{
    if (table != &not_counted) {
        PyMem_Free(table);
    }
}

int tables_prepare(void)
{
    tables_index = request_code_extra_index(free_table);
    if (tables_index < 0) {
        PyErr_SetString(PyExc_ImportError, "the interpreter has no room for the tables of code objects");
        return -1;
    }
    return 0;
}

PyObject *tables_add_code(PyObject *Py_UNUSED(counter), PyObject *arguments)
{
    PyObject *code, *numbers, *key, *value;
    long long base, last;
    int shift;
    if (!PyArg_ParseTuple(arguments, "O!LLiO!", &PyCode_Type, &code, &base, &last, &shift, &PyDict_Type, &numbers)) {
        return NULL;
    }
    if (PyDict_GET_SIZE(numbers) == 0) {
        return set_code_extra(code, tables_index, &not_counted) < 0 ? NULL : Py_NewRef(Py_None);
    }
    Py_ssize_t length = (Py_ssize_t)((last - base) >> shift) + 1;
    if (length < 0 || shift < 0 || shift > 1) {
        PyErr_SetString(PyExc_ValueError, "the last position is before the first, or the shift is not 0 or 1");
        return NULL;
    }
    Table *table = PyMem_Calloc(1, sizeof(Table) + (size_t)length * sizeof(uint64_t));
    if (table == NULL) {
        return PyErr_NoMemory();
    }
    table->base = base;
    table->shift = shift;
    table->length = length;
    Py_ssize_t entry = 0;
    while (PyDict_Next(numbers, &entry, &key, &value)) {
        long long index = (PyLong_AsLongLong(key) - base) >> shift;
        unsigned long long number = PyLong_AsUnsignedLongLong(value);
        if (PyErr_Occurred() || index < 0 || index >= length) {
            PyMem_Free(table);
            if (!PyErr_Occurred()) {
                PyErr_SetString(PyExc_ValueError, "a position is outside the code");
            }
            return NULL;
        }
        /* 0 means that a position is not a yield point; Places.place_hash never returns it. */
        table->numbers[index] = number;
    }
    if (set_code_extra(code, tables_index, table) < 0) {
        PyMem_Free(table);
        return NULL;
    }
    Py_RETURN_NONE;
}
