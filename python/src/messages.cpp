// Lets concord._messages word the errors of calls: nanobind lists signatures where an argument is wrong, and C++ names
// its own functions. nanobind has no place for that, so that its functions' entry point for calls is replaced.

#include "array.hpp"

#include <array>

#ifdef Py_LIMITED_API
// CPython has it, but the headers of the stable ABI do not. Without it functions keep nanobind's messages.
extern "C" __attribute__((weak)) vectorcallfunc PyVectorcall_Function(PyObject* callable);
#endif

namespace concord::python {
namespace {

using Entry = PyObject* (*)(PyObject*, PyObject* const*, size_t, PyObject*);

Entry entry_of(PyObject* function) {
#ifdef Py_LIMITED_API
    if (&PyVectorcall_Function == nullptr) return nullptr;
#endif
    return PyVectorcall_Function(function);
}

// nanobind has a few entry points, for simple and for other signatures.
std::array<Entry, 8> entries{};

// Replaces the error of a call by that of _messages.explain(function, error, arguments, keywords).
NB_NOINLINE void explain(PyObject* function, PyObject* const* arguments, std::size_t count, PyObject* names) {
    nb::python_error error;
    try {
        nb::list given;
        for (std::size_t i = 0; i < count; ++i)
            given.append(nb::handle(arguments[i]));
        nb::dict keywords;
        for (std::size_t i = 0; names != nullptr && i < nb::len(nb::handle(names)); ++i)
            keywords[nb::handle(names)[i]] = nb::handle(arguments[count + i]);
        const nb::object worded = nb::module_::import_("concord._messages")
                                      .attr("explain")(nb::handle(function), error.value(), given, keywords);
        PyErr_SetObject(worded.type().ptr(), worded.ptr());
    } catch (const std::exception&) {
        error.restore();
    }
}

template <std::size_t I>
PyObject* call(PyObject* function, PyObject* const* arguments, size_t flags, PyObject* names) {
    PyObject* const result = entries[I](function, arguments, flags, names);
    if (result == nullptr) [[unlikely]]
        explain(function, arguments, static_cast<std::size_t>(PyVectorcall_NARGS(flags)), names);
    return result;
}

template <std::size_t... I>
constexpr std::array<Entry, sizeof...(I)> replacements(std::index_sequence<I...>) {
    return {&call<I>...};
}

void replace(nb::handle function) {
    constexpr auto calls = replacements(std::make_index_sequence<entries.size()>());
    // Where nanobind 3 keeps it: behind the head of the object.
    Entry& entry =
        *reinterpret_cast<Entry*>(reinterpret_cast<std::byte*>(function.ptr()) + sizeof(PyVarObject));
    if (entry != entry_of(function.ptr())) return;
    for (std::size_t i = 0; i < entries.size(); ++i) {
        if (entries[i] != nullptr && entries[i] != entry) continue;
        entries[i] = entry;
        entry = calls[i];
        return;
    }
}

void explain_errors_of(nb::handle scope) {
    const nb::object members = scope.attr("__dict__");
    for (nb::handle name : nb::list(members.attr("keys")())) {
        const nb::object member = members[name];
        const auto kind = nb::cast<std::string>(member.type().attr("__name__"));
        if (kind == "nb_func" || kind == "nb_method")
            replace(member);
        else if (PyType_Check(member.ptr()) && nb::hasattr(member, "__module__") &&
                 member.attr("__module__").equal(nb::str("concord._concord")))
            explain_errors_of(member);
    }
}

}  // namespace

void explain_errors(nb::module_& m) {
    explain_errors_of(m);
}

}  // namespace concord::python
