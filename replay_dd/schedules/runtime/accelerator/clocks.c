/* Built-in functions that ask functions of Python: what stands in for a clock is of the kind that the original is.
 *
 * Extension modules take the functions of `time` for what they have always been, and write into their method tables
 * without a look, as time-machine does. So each stand-in has a table of its own, with the flags of the original: what is
 * written there is called as the original would be, and what was read there can be called instead.
 * See stdlib/time_functions.py.
 */
#include "_accelerator.h"

#define MOST 24 /* the functions of `time` that read a clock, and two of `datetime` */

static PyMethodDef tables[MOST];
static PyObject *asked[MOST];
static size_t amount = 0;

/* A function of a class gets the class first. */
static PyObject *ask(size_t number, PyObject *self, PyObject *const *arguments, Py_ssize_t count, PyObject *names)
{
    if (!(tables[number].ml_flags & METH_CLASS)) {
        return PyObject_Vectorcall(asked[number], arguments, (size_t)count, names);
    }
    PyObject *method = PyMethod_New(asked[number], self);
    PyObject *answer = method == NULL ? NULL : PyObject_Vectorcall(method, arguments, (size_t)count, names);
    Py_XDECREF(method);
    return answer;
}

static PyObject *ask_plainly(size_t number, PyObject *self, PyObject *argument)
{
    if (tables[number].ml_flags & METH_VARARGS) {
        return ask(number, self, PySequence_Fast_ITEMS(argument), PyTuple_GET_SIZE(argument), NULL);
    }
    return ask(number, self, &argument, argument == NULL ? 0 : 1, NULL);
}

/* The system of calls tells a function which object it belongs to, but not which function it is: so there is one for each
 * table, and for each way of giving arguments. */
#define FUNCTIONS(number)                                                                                          \
    static PyObject *plain_##number(PyObject *self, PyObject *argument)                                            \
    {                                                                                                              \
        return ask_plainly(number, self, argument);                                                                \
    }                                                                                                              \
    static PyObject *fast_##number(PyObject *self, PyObject *const *arguments, Py_ssize_t count)                   \
    {                                                                                                              \
        return ask(number, self, arguments, count, NULL);                                                          \
    }                                                                                                              \
    static PyObject *named_##number(PyObject *self, PyObject *const *arguments, Py_ssize_t count, PyObject *names) \
    {                                                                                                              \
        return ask(number, self, arguments, count, names);                                                         \
    }

#define ALL(use) \
    use(0) use(1) use(2) use(3) use(4) use(5) use(6) use(7) use(8) use(9) use(10) use(11) use(12) use(13) use(14) \
    use(15) use(16) use(17) use(18) use(19) use(20) use(21) use(22) use(23)

#define AS_METHODS(number) \
    {plain_##number, (PyCFunction)(void (*)(void))fast_##number, (PyCFunction)(void (*)(void))named_##number},

ALL(FUNCTIONS)

static const PyCFunction functions[MOST][3] = {ALL(AS_METHODS)};

/* Which of the three, by the flags of a table; -1 for none. */
static int way_of(int flags)
{
    switch (flags & ~METH_CLASS) {
    case METH_NOARGS:
    case METH_O:
    case METH_VARARGS:
        return 0;
    case METH_FASTCALL:
        return 1;
    case METH_FASTCALL | METH_KEYWORDS:
        return 2;
    default:
        return -1;
    }
}

PyObject *clocks_built_in(PyObject *Py_UNUSED(module), PyObject *const *arguments, Py_ssize_t count)
{
    PyObject *original = count == 2 ? arguments[0] : NULL;
    int of_class = original != NULL && Py_IS_TYPE(original, &PyClassMethodDescr_Type);
    if (!of_class && (original == NULL || !PyCFunction_CheckExact(original))) {
        PyErr_SetString(PyExc_TypeError, "expected a built-in function and what stands in for it");
        return NULL;
    }
    const PyMethodDef *table =
        of_class ? ((PyMethodDescrObject *)original)->d_method : ((PyCFunctionObject *)original)->m_ml;
    int way = way_of(table->ml_flags);
    if (way < 0 || amount == MOST) {
        Py_RETURN_NONE;
    }
    PyMethodDef *own = &tables[amount];
    *own = *table;
    own->ml_meth = functions[amount][way];
    asked[amount++] = Py_NewRef(arguments[1]);
    return of_class ? PyDescr_NewClassMethod(PyDescr_TYPE(original), own)
                    : PyCFunction_NewEx(own, PyCFunction_GET_SELF(original), ((PyCFunctionObject *)original)->m_module);
}
