#pragma once
// Signatures of functions for type checkers (nb::sig). python/src/stub_names.txt defines the names that begin with _.

#include <nanobind/nanobind.h>

#include <initializer_list>
#include <string_view>
#include <vector>

namespace concord::python {

// The type of an argument, and that of the result for it.
struct Overload {
    const char *argument, *result;
};

// One signature for each overload. The text is a definition, in which $x is the argument's type, $r that of the result
// and $common the keyword arguments of all functions.
nanobind::sig signature(std::string_view text, std::initializer_list<Overload> overloads);

// A definition with its overloads.
struct Definition {
    std::string_view text;
    std::vector<Overload> overloads;
};
// The signatures of several definitions. Errors and inspect.signature show the last one.
nanobind::sig signature(std::initializer_list<Definition> definitions);

// Results with the element type of the argument; with int64; with another type than integers have; of one element of
// the argument's type, or of another one.
#define CONCORD_SAME_TYPE                          \
    {                                              \
        {"_A", "_A"}, {"_Host", "NDArray[Any]"}, { \
            "_Memory", "Array"                     \
        }                                          \
    }
#define CONCORD_INT64                                                     \
    {                                                                     \
        {"NDArray[Any] | _Host", "NDArray[numpy.int64]"}, {"_A", "_A"}, { \
            "_Memory", "Array"                                            \
        }                                                                 \
    }
#define CONCORD_WIDENED                                                                           \
    {                                                                                             \
        {"NDArray[_F]", "NDArray[_F]"}, {"NDArray[Any] | _Host", "NDArray[Any]"}, {"_A", "_A"}, { \
            "_Memory", "Array"                                                                    \
        }                                                                                         \
    }
#define CONCORD_WIDENED_ELEMENT                                                 \
    {                                                                           \
        {"NDArray[_F]", "_F"}, {"NDArray[Any] | _Host", "Any"}, {"_A", "_A"}, { \
            "_Memory", "Array"                                                  \
        }                                                                       \
    }
#define CONCORD_ONE_ELEMENT                                      \
    {                                                            \
        {"NDArray[_S]", "_S"}, {"_Host", "Any"}, {"_A", "_A"}, { \
            "_Memory", "Array"                                   \
        }                                                        \
    }
#define CONCORD_ANY_ELEMENT                              \
    {                                                    \
        {"NDArray[Any] | _Host", "Any"}, {"_A", "_A"}, { \
            "_Memory", "Array"                           \
        }                                                \
    }
// Of a function of the user.
#define CONCORD_ANY_TYPE                                          \
    {                                                             \
        {"NDArray[Any] | _Host", "NDArray[Any]"}, {"_A", "_A"}, { \
            "_Memory", "Array"                                    \
        }                                                         \
    }

}  // namespace concord::python
