#pragma once
// What the source of an operator calls and computes, found without compiling it.

#include <concord/function.hpp>
#include <concord/traits.hpp>

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

// The functions that the source calls and the structs that it names, directly or through others, each after those that
// it uses itself. They are in its translation unit. A text may use all; of several with one name it takes that of its
// file. Throws invalid_argument if several come into question and differ, and if one of this file has a name of the
// vocabulary.
std::vector<const NamedFunction*> functions_called(std::string_view text, const SourcePlace& place);
// The text with the values of the CONCORD_CONSTANTs of its translation unit in place of their names, except names that
// the text or the parameters declare. Throws invalid_argument if two have one name and different values.
std::string with_constants(std::string_view text, const SourcePlace& place, std::string_view parameters = {});
// The definition of a function or struct with the values of constants, once for each of its types.
std::vector<std::string> texts_of(const NamedFunction& function);
// The text of a function under its private name.
std::string named(std::string_view text, std::string_view name);
// The text with the suffix behind each of the words, except in lines of directives.
std::string with_suffix(std::string_view text, std::span<const std::string> words, std::string_view suffix);

// The operator in a language: the functions and structs that it uses, `concord_function`, the struct `Op` of its bound
// values, and apply().
std::string operator_source(const Operator& op, Dialect dialect);

// Whether the operator may divide or take the square root of f32 values: its text or that of a function that it calls
// contains `/` or `sqrt`, and f32 is among the types or literals. Also true if only integers or f64 values are divided
// next to f32 ones.
bool may_divide_f32(const Operator& op);

}  // namespace concord::detail
