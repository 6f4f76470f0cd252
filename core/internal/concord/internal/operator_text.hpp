#pragma once
// What the source of an operator calls and computes, found without compiling it.

#include <concord/function.hpp>

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace concord::detail {

// A definition "RESULT NAME(PARAMETER, ...) { ... }", for the call that takes it.
struct DefinitionText {
    std::string_view call, text;
    std::string_view example;  // a definition that the call accepts, for messages

    // Throws invalid_argument.
    [[noreturn]] void refuse(std::string_view why) const;
};

// "const f32* in" as {"const f32*", "in"}.
struct Declarator {
    std::string_view type, name;
};

// The parts of a definition, without spaces around them.
struct DefinitionParts {
    Declarator head;                           // result and name
    std::vector<std::string_view> parameters;  // one that is empty if the parentheses are
    std::size_t parenthesis, brace;            // where they open
};

// Throws invalid_argument unless the text has these parts.
DefinitionParts parts_of(const DefinitionText& definition);
// Throws invalid_argument unless the text is a type and a name.
Declarator declarator(const DefinitionText& definition, std::string_view text);
// The parameters of a list without its parentheses, without spaces around them.
std::vector<std::string_view> parameters_in(std::string_view list);
// The element type that the text spells. "unsigned int" and other spellings of C mean the same in all three languages
// on every supported system.
Type element_type(const DefinitionText& definition, std::string_view text);

// The first function that the source calls and that devices may compute differently. Empty if there is none. `text`:
// one definition in the common subset. Finds calls with parentheses around the name, and with comments in between.
std::string unportable_call(std::string_view text);
// The same if the source may also call these functions.
std::string unportable_call(std::string_view text, const std::vector<const NamedFunction*>& known);

// The same for a function that a body calls. It does not know what its pointers point to, so that every atomic function
// counts.
std::string unportable_helper(const NamedFunction& function, const std::vector<const NamedFunction*>& known);

// Where a source is: its file, and its translation unit, which is null for a text of the program.
struct SourcePlace {
    std::string_view file;
    const void* unit;
};

// The functions of CONCORD_FUNCTION that the source calls, directly or through others, each after those that it calls.
// They are in its translation unit. A text may call all functions; of several with one name it takes the one of its
// file. Throws invalid_argument if several come into question and differ, and if a function of this file has a name of
// the vocabulary.
std::vector<const NamedFunction*> functions_called(std::string_view text, const SourcePlace& place);
// The text of a function under its private name.
std::string named(std::string_view text, std::string_view name);

// The text with the name of types[i] in place of the word names[i]. `names`: such as "T, Bin".
std::string with_types(std::string_view text, std::string_view names, std::span<const Type> types);

// Whether the operator may divide or take the square root of f32 values: its text or that of a function that it calls
// contains `/` or `sqrt`, and f32 is among the types or literals. Also true if only integers or f64 values are divided
// next to f32 ones.
bool may_divide_f32(const Operator& op);

}  // namespace concord::detail
