// Function heads of operators that are given as text, as in `concord run map --text`.

#include "fuzz.hpp"

#include <concord/function.hpp>

#include <cctype>

using namespace concord;
using namespace concord::fuzz;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const std::string_view text = text_of(data, size);
    Operator op;
    if (!accepts(ErrorCode::invalid_argument, [&] { op = operator_from_text(text); })) return 0;
    require(!op.arguments.empty(), "an operator has arguments");
    require(!op.name.empty(), "an operator has a name");
    for (const char c : op.name)
        require(std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_', "a name is an identifier");

    // The kernels call it by another name.
    const Operator again = operator_from_text(op.text);
    require(again.name == "concord_function", "the operator is renamed");
    require(again.signature() == op.signature(), "renaming keeps the signature");
    require(again.text == op.text, "renaming keeps the rest");
    return 0;
}
