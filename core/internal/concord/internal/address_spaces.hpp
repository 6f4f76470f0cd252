#pragma once
// Pointers of bodies in OpenCL C, whose declarations name the address space of what they point to. Other languages need
// nothing of this. Found without compiling: a pointer has the space of the first pointer in the expression that
// initialises it, and points to a variable of the work-item if there is none.

#include <concord/function.hpp>

#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace concord::detail {

enum class AddressSpace : char { work_item = 'p', global = 'g', local = 'l' };

// The spaces of pointers and local arrays by their names.
using PointerSpaces = std::map<std::string, AddressSpace, std::less<>>;

// A body, or functions, in the subset of all languages, and which forms of functions with pointers they call.
struct SpacedText {
    std::string text;
    // "dot__gp": dot for a pointer to global memory and one to a variable of the work-item. The form for variables of
    // the work-item only has the plain name.
    std::set<std::string> forms;
};

// The body with address spaces. `pointers`: the buffers. Throws invalid_argument for a pointer that is neither
// initialised nor assigned.
SpacedText with_address_spaces(std::string_view body, PointerSpaces pointers,
                               const std::vector<const NamedFunction*>& helpers);

// A form of a function, and one of its types if it has several.
struct FunctionForm {
    const NamedFunction* function;
    std::string name;
    std::string text;  // of its definition
};

// The forms that the body calls, directly or through others, each after those that it calls.
std::vector<FunctionForm> forms_called(const SpacedText& body,
                                       const std::vector<const NamedFunction*>& helpers);

// A line that defines a macro of the form's private name, which calls NAME_of with pointers in place of references.
// Empty if the function has no references.
std::string reference_macro(const FunctionForm& form);

}  // namespace concord::detail
