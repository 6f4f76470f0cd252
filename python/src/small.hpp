#pragma once
// Calls for few elements of NumPy's arrays.

#include "array.hpp"

namespace concord::python {

// Return nothing if the call is another one: for more elements, on another device, of other objects.
nb::object few_mapped(MapFunction function, nb::handle x, nb::handle out, const Common& common);
nb::object few_computed(BinaryFunction function, nb::handle x, nb::handle y, nb::handle out,
                        const Common& common);
nb::object few_multiplied(nb::handle a, nb::handle b, nb::handle out, const Common& common);
nb::object few_sorted_elements(nb::handle x, nb::handle axis, bool descending, nb::handle nan, nb::handle out,
                               const Common& common);

}  // namespace concord::python
