#pragma once
// Functions of elements: how operands broadcast, and which type they get.

#include "array.hpp"

#include <functional>

namespace concord::python {

// An element type of Python: bool is one of its own, in bytes.
struct ElementKind {
    Type type = Type::u8;
    bool boolean = false;

    std::string name() const;
    friend bool operator==(const ElementKind&, const ElementKind&) = default;
};

// NumPy's type of a function of two arrays.
ElementKind promoted(ElementKind a, ElementKind b);
// The same for an array and a number of Python, which has the array's type if that is of its kind.
ElementKind promoted_number(ElementKind arrays, nb::handle number);
// The type of floats in which functions of floats compute elements of a type.
ElementKind float_for(ElementKind type);
// Whether NumPy stores results of one type in an output of the other one ("same_kind").
bool can_store(ElementKind from, ElementKind to);

bool is_python_number(nb::handle object);
// The bytes of a number. Raises OverflowError for an integer that the type does not have.
std::vector<std::byte> number_bytes(const char* call, const char* name, nb::handle number, Type type);
std::vector<i64> shape_of_extents(const NdExtents& extents);
detail::ExpressionPointer converted(ElementKind to, const detail::ExpressionPointer& node);

// An argument of a function of elements: an array, or a number of Python.
class Operand {
  public:
    // as_array: also a number becomes an array.
    Operand(Call& call, const char* name, nb::handle object, bool as_array);

    bool is_number() const { return argument_ == nullptr; }
    nb::handle object() const { return object_; }
    const Argument& argument() const { return *argument_; }
    // Of an array.
    ElementKind kind() const;
    // The elements as another type, once the call has begun.
    detail::NdSource source(const char* call, ElementKind type) const;

  private:
    const char* name_;
    nb::handle object_;
    const Argument* argument_ = nullptr;
};

// Two operands. At least one is an array.
struct Pair {
    Operand x, y;

    Pair(Call& call, nb::handle a, nb::handle b)
        : x(call, "x", a, is_python_number(a) && is_python_number(b)),
          y(call, "y", b, is_python_number(a) && is_python_number(b)) {}

    // The type in which NumPy computes.
    ElementKind common() const {
        if (x.is_number()) return promoted_number(y.kind(), x.object());
        if (y.is_number()) return promoted_number(x.kind(), y.object());
        return promoted(x.kind(), y.kind());
    }
};

// Evaluates the expression that `make` makes of the sources, broadcast to common extents, to `out` or a new array.
nb::object evaluated(
    Call& call, const char* name, const std::function<std::vector<detail::NdSource>()>& sources_of,
    nb::handle out, ElementKind result,
    const std::function<detail::ExpressionPointer(std::vector<detail::ExpressionPointer>)>& make);

// Built-in functions of one and two arrays.
nb::object mapped_elements(const char* name, MapFunction function, nb::handle x, nb::handle out,
                           const Common& common);
nb::object mapped_pairs(const char* name, PairFunction function, nb::handle x, nb::handle y, nb::handle out,
                        const Common& common);

}  // namespace concord::python
