#pragma once
// The functions of concord/vocabulary.hpp in kernel sources: which words mean them, and their definitions.

#include <concord/traits.hpp>

#include <string>
#include <string_view>
#include <vector>

namespace concord::detail {

// Whether the word is a function whose bits are the same on every backend: one of the vocabulary, or one of the
// languages' own whose results are exact or correctly rounded. Atomic functions are not among them.
bool is_portable_function(std::string_view word);
// Whether the word names a type: an element type, bool, a vector, or a fixed-width type of C.
bool is_type_name(std::string_view word);
// Whether the word names a vector: "f32x4".
bool is_vector(std::string_view word);
// Whether the word is a function of the vocabulary.
bool is_in_vocabulary(std::string_view word);
// Whether the word is an atomic function that gives the same memory in any order, if its result is unused. Of
// atomic_add that holds for integers only.
bool is_commutative_atomic(std::string_view word);
// Whether the source, a body or a kernel source, computes in f64: it names the type or one of its constants, or calls
// a math function of the vocabulary.
bool computes_in_f64(std::string_view text);

// The body in the language: calls of the vocabulary's functions under the names of their definitions, calls of these
// functions of the user under their private names, element types as casts, names of fixed-width types. Keeps lines.
std::string in_language(std::string_view body, Dialect dialect,
                        const std::vector<std::string_view>& functions = {});
// The name of a user's function in kernels, which no built-in function of the language has.
std::string private_name(std::string_view function);

// The definitions of the vocabulary that the source uses, directly or through others. Often empty.
std::string vocabulary_for(std::string_view source);

}  // namespace concord::detail
