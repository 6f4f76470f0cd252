#pragma once
// The functions of concord/vocabulary.hpp in kernel sources: which words mean them, and their definitions.

#include <concord/traits.hpp>

#include <string>
#include <string_view>

namespace concord::detail {

// Whether the word is a function whose bits are the same on every backend: one of the vocabulary, or one of the
// languages' own whose results are exact or correctly rounded. Atomic functions are not among them.
bool is_portable_function(std::string_view word);
// Whether the word names a type: an element type, bool, or a fixed-width type of C.
bool is_type_name(std::string_view word);
// Whether the word is a function of the vocabulary.
bool is_in_vocabulary(std::string_view word);
// Whether the word is an atomic function of integers that gives the same memory in any order, if its result is unused.
bool is_commutative_atomic(std::string_view word);
// Whether the source, a body or a kernel source, calls exp or its like: these compute in f64.
bool calls_f64_math(std::string_view text);

// The body in the language: calls of the vocabulary's functions under the names of their definitions, element types as
// casts, names of fixed-width types. Keeps lines.
std::string in_language(std::string_view body, Dialect dialect);

// The definitions of the vocabulary that the source uses, directly or through others. Often empty.
std::string vocabulary_for(std::string_view source);

}  // namespace concord::detail
