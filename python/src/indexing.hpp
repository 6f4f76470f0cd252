#pragma once
// Indices, views and operators of concord.Array.

#include "array.hpp"

namespace concord::python {

void define_indexing(nb::class_<ArrayObject>& array);

}  // namespace concord::python
