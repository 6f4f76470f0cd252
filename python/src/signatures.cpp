#include "signatures.hpp"

#include <list>
#include <string>

namespace concord::python {
namespace {

void replace(std::string& text, std::string_view name, std::string_view by) {
    for (std::size_t at = text.find(name); at != std::string::npos; at = text.find(name, at + by.size()))
        text.replace(at, name.size(), by);
}

}  // namespace

nanobind::sig signature(std::string_view text, std::initializer_list<Overload> overloads) {
    static std::list<std::string> kept;  // for the life of the process
    std::string& all = kept.emplace_back();
    for (const Overload& overload : overloads) {
        std::string one(text);
        replace(one, "$x", overload.argument);
        replace(one, "$r", overload.result);
        replace(one, "$common",
                "device: _Device | None = None, stream: Any = None, order: str | None = None, "
                "variant: str | None = None");
        // The last one has no body: the generator of stubs adds it.
        if (!all.empty()) all += ": ...\n";
        all.append(overloads.size() > 1 ? "@overload\n" : "").append("def ").append(one);
    }
    return all.c_str();
}

}  // namespace concord::python
