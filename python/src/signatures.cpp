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
    return signature({{text, overloads}});
}

nanobind::sig signature(std::initializer_list<Definition> definitions) {
    static std::list<std::string> kept;  // for the life of the process
    std::string& all = kept.emplace_back();
    const bool has_one = definitions.size() == 1 && definitions.begin()->overloads.size() == 1;
    for (const Definition& definition : definitions) {
        for (const Overload& overload : definition.overloads) {
            std::string one(definition.text);
            replace(one, "$x", overload.argument);
            replace(one, "$r", overload.result);
            replace(one, "$common",
                    "device: _Device | None = None, stream: Any = None, order: str | None = None, "
                    "variant: str | None = None");
            // The last one has no body: the generator of stubs adds it.
            if (!all.empty()) all += ": ...\n";
            all.append(has_one ? "" : "@overload\n").append("def ").append(one);
        }
    }
    return all.c_str();
}

}  // namespace concord::python
