#include <concord/internal/address_spaces.hpp>

#include <concord/error.hpp>
#include <concord/internal/operator_text.hpp>
#include <concord/internal/vocabulary.hpp>

#include "kernel/source_words.hpp"

#include <algorithm>

namespace concord::detail {
namespace {

constexpr std::string_view own_name = "concord_function";
constexpr auto npos = std::string_view::npos;

std::string_view qualifier(AddressSpace space) {
    switch (space) {
        case AddressSpace::global:
            return "__global ";
        case AddressSpace::local:
            return "CONCORD_LOCAL_SPACE ";
        default:
            return "";
    }
}

// "dot__gp"; "dot" if all are variables of the work-item.
std::string form_name(std::string_view name, std::string_view spaces) {
    const bool is_plain = spaces.find_first_not_of(static_cast<char>(AddressSpace::work_item)) == npos;
    return is_plain ? std::string(name) : std::string(name).append("__").append(spaces);
}

// The parameters of a function's text, without the parentheses.
std::string_view parameter_list(std::string_view text) {
    const std::size_t open = text.find('(', text.find(own_name));
    return text.substr(open + 1, text.find(')', open) - open - 1);
}

// A reference is a pointer in OpenCL C, and a value if it is const.
bool is_reference(std::string_view parameter) {
    return parameter.find('&') != npos && parameter.find("const") == npos;
}
bool is_pointer(std::string_view parameter) {
    return parameter.find('*') != npos || is_reference(parameter);
}
bool has_pointers(const NamedFunction& function) {
    if (function.kind != NamedKind::function) return false;
    const std::vector<std::string_view> parameters = parameters_in(parameter_list(function.text));
    return std::any_of(parameters.begin(), parameters.end(), is_pointer);
}

// The text with `(*name)` in place of the name, except of members.
std::string dereferenced(std::string_view text, std::string_view name) {
    const std::string plain = blanked(text);
    std::string result;
    std::size_t done = 0;
    find_word(plain, [&](std::string_view word, std::size_t begin, std::size_t end) {
        const std::string_view before = trimmed_end(std::string_view(plain).substr(0, begin));
        if (word != name || before.ends_with('.') || before.ends_with("->")) return false;
        result.append(text, done, begin - done).append("(*").append(name).append(")");
        done = end;
        return false;
    });
    return result.append(text, done);
}

bool is_struct(std::string_view word, const std::vector<const NamedFunction*>& helpers) {
    return std::any_of(helpers.begin(), helpers.end(), [&](const NamedFunction* helper) {
        return helper->kind == NamedKind::structure && helper->name == word;
    });
}

// Words that may stand between a type and `*`, and around it.
bool is_qualifier(std::string_view word) {
    constexpr std::string_view qualifiers[] = {"const", "volatile", "restrict"};
    return is_one_of(word, qualifiers);
}

// The end of the expression at `at`: a comma, a semicolon or a closing bracket outside of its own brackets.
std::size_t expression_end(std::string_view plain, std::size_t at) {
    for (int depth = 0; at < plain.size(); ++at) {
        const char c = plain[at];
        if (c == '(' || c == '[' || c == '{') ++depth;
        if (c == ')' || c == ']' || c == '}') {
            if (--depth < 0) return at;
        }
        if (depth == 0 && (c == ',' || c == ';')) return at;
    }
    return at;
}

class Spacer {
  public:
    Spacer(std::string_view text, PointerSpaces pointers, const std::vector<const NamedFunction*>& helpers)
        : text_(joined(text)), plain_(blanked(text_)), pointers_(std::move(pointers)), helpers_(helpers) {}

    SpacedText result() {
        find_word(plain_, [&](std::string_view word, std::size_t begin, std::size_t end) {
            if (word == "CONCORD_LOCAL" || word == "CONCORD_PRIVATE") {
                group_declaration(word, end);
            } else if (word == "auto") {
                deduced(end);
            } else if (is_type(word)) {
                declaration(begin, end);
            } else if (const NamedFunction* const function = function_with_pointers(word)) {
                call(*function, begin, end);
            }
            return false;
        });
        out_.text.append(text_, done_);
        return std::move(out_);
    }

  private:
    bool is_type(std::string_view word) const {
        return is_type_name(word) || word == "unsigned" || word == "signed" || is_struct(word, helpers_);
    }
    const NamedFunction* function_with_pointers(std::string_view word) const {
        for (const NamedFunction* helper : helpers_) {
            if (helper->name == word && has_pointers(*helper)) return helper;
        }
        return nullptr;
    }
    std::string_view word_at(std::size_t at) const {
        std::size_t end = at;
        while (end < plain_.size() && is_word(plain_[end]))
            ++end;
        if (at >= plain_.size()) return {};
        return std::string_view(plain_).substr(at, end - at);
    }
    void insert(std::size_t at, std::string_view text) {
        out_.text.append(text_, done_, at - done_).append(text);
        done_ = at;
    }

    // CONCORD_LOCAL(f32, tile, [16][17]), CONCORD_PRIVATE(f32*, p) = x + 1 in the body of a group kernel.
    void group_declaration(std::string_view word, std::size_t open) {
        if (next_mark(plain_, open) != '(') return;
        const std::size_t type_end = expression_end(plain_, open + 1);
        std::size_t at = type_end + 1;
        if (next_mark(plain_, at) == '\0') return;
        const std::string name(word_at(at));
        while (at < plain_.size() && plain_[at] != ')')
            at = expression_end(plain_, at + 1);
        std::size_t value = at + 1;
        if (word == "CONCORD_LOCAL") {
            pointers_[name] = AddressSpace::local;
        } else if (is_pointer(std::string_view(plain_).substr(open, type_end - open)) &&
                   next_mark(plain_, value) == '=') {
            const AddressSpace space =
                space_of(value + 1, expression_end(plain_, value + 1)).value_or(AddressSpace::work_item);
            pointers_[name] = space;
            insert(plain_.find('(', open) + 1, qualifier(space));
        }
    }

    // auto p = x + 1;
    void deduced(std::size_t at) {
        if (next_mark(plain_, at) == '\0') return;
        const std::string name(word_at(at));
        at += name.size();
        if (next_mark(plain_, at) != '=') return;
        const std::size_t end = expression_end(plain_, at + 1);
        // Not `x[i]` and `*x`.
        const std::string_view value = std::string_view(plain_).substr(at + 1, end - at - 1);
        const bool is_element = value.find('[') != npos && value.find('&') == npos;
        const std::size_t first = value.find_first_not_of(" \n(");
        if (is_element || (first != npos && value[first] == '*')) return;
        if (const auto space = space_of(at + 1, end)) pointers_[name] = *space;
    }

    // The space of what the expression points to. Empty if it names no pointer and no address.
    std::optional<AddressSpace> space_of(std::size_t begin, std::size_t end) const {
        std::optional<AddressSpace> found;
        const std::string_view expression = std::string_view(plain_).substr(0, end);
        find_word(expression.substr(begin), [&](std::string_view word, std::size_t at, std::size_t) {
            std::string_view before = trimmed_end(expression.substr(0, begin + at));
            if (before.ends_with('.') || before.ends_with("->") || is_number(word)) return false;
            if (const auto pointer = pointers_.find(word); pointer != pointers_.end()) {
                found = pointer->second;
            } else if (before.ends_with('&')) {
                before = trimmed_end(before.substr(0, before.size() - 1));
                const bool is_address = before.empty() ||
                                        (!is_word(before.back()) && before.back() != ')' &&
                                         before.back() != ']' && before.back() != '&') ||
                                        last_word(before) == "return";
                if (is_address) found = AddressSpace::work_item;
            }
            return found.has_value();
        });
        return found;
    }
    // The space of the first value that is assigned to the pointer.
    std::optional<AddressSpace> space_assigned(std::string_view name, std::size_t from) const {
        std::optional<AddressSpace> found;
        find_word(std::string_view(plain_).substr(from),
                  [&](std::string_view word, std::size_t, std::size_t end) {
                      std::size_t at = from + end;
                      if (next_mark(plain_, at) == '[')
                          at = std::min(plain_.find(']', at), plain_.size() - 1) + 1;
                      if (word != name || next_mark(plain_, at) != '=' || plain_.compare(at, 2, "==") == 0)
                          return false;
                      found = space_of(at + 1, expression_end(plain_, at + 1));
                      return found.has_value();
                  });
        return found;
    }

    // A cast to a pointer, or the declaration of pointers and arrays, whose type is the word in [begin, end).
    void declaration(std::size_t begin, std::size_t end) {
        const std::string_view type = std::string_view(plain_).substr(begin, end - begin);
        bool is_first = true, is_spaced = false;
        for (std::size_t at = end; at < plain_.size(); is_first = false) {
            bool points = false;
            char mark = next_mark(plain_, at);
            while (mark == '*' || is_qualifier(word_at(at))) {
                points = points || mark == '*';
                at += mark == '*' ? 1 : word_at(at).size();
                mark = next_mark(plain_, at);
            }
            if (is_first && points && mark == ')') {
                if (const auto space = space_of(at + 1, expression_end(plain_, at + 1)))
                    insert(begin, qualifier(*space));
                return;
            }
            const std::string_view name = word_at(at);
            if (name.empty() || is_number(name)) return;
            at += name.size();
            mark = next_mark(plain_, at);
            const bool is_array = mark == '[';
            while (mark == '[') {
                at = std::min(plain_.find(']', at), plain_.size() - 1) + 1;
                mark = next_mark(plain_, at);
            }
            const bool has_value = mark == '=';
            if (mark != ',' && mark != ';' && !has_value) return;
            const std::size_t value = at;
            if (has_value) at = expression_end(plain_, at + 1);
            if (points) {
                auto space = has_value ? space_of(value + 1, at) : std::nullopt;
                if (!space) space = space_assigned(name, at);
                if (!space && !has_value)
                    throw Error(ErrorCode::invalid_argument, std::string(name),
                                "a pointer of a body without a value; initialise it where it is declared");
                pointers_[std::string(name)] = space.value_or(AddressSpace::work_item);
                if (!is_spaced) insert(begin, qualifier(pointers_[std::string(name)]));
                is_spaced = true;
            } else if (is_array || is_struct(type, helpers_)) {
                // What group kernels declare by CONCORD_LOCAL.
                const bool is_local =
                    last_word(trimmed_end(std::string_view(plain_).substr(0, begin))) == "CONCORD_SHARED";
                pointers_[std::string(name)] = is_local ? AddressSpace::local : AddressSpace::work_item;
            } else if (const auto shadowed = pointers_.find(name); shadowed != pointers_.end()) {
                pointers_.erase(shadowed);
            }
            if (at >= plain_.size() || plain_[at] != ',') return;
            ++at;
        }
    }

    void call(const NamedFunction& function, std::size_t begin, std::size_t end) {
        std::size_t at = end;
        if (!is_called(plain_, begin, end) || next_mark(plain_, at) != '(') return;
        std::string spaces;
        for (const std::string_view parameter : parameters_in(parameter_list(function.text))) {
            const std::size_t first = at + 1;
            at = first > plain_.size() ? first : expression_end(plain_, first);
            if (is_pointer(parameter))
                spaces += static_cast<char>((at > plain_.size() ? std::nullopt : space_of(first, at))
                                                .value_or(AddressSpace::work_item));
        }
        const std::string name = form_name(function.name, spaces);
        out_.forms.insert(name);
        insert(begin, name);
        done_ = end;
    }

    std::string text_, plain_;
    PointerSpaces pointers_;
    const std::vector<const NamedFunction*>& helpers_;
    SpacedText out_;
    std::size_t done_ = 0;
};

// The function with pointers to these spaces.
SpacedText form_of(std::string_view text, std::string_view spaces,
                   const std::vector<const NamedFunction*>& helpers) {
    const std::string_view list = parameter_list(text);
    const auto open = static_cast<std::size_t>(list.data() - text.data());
    PointerSpaces pointers;
    std::string head, result(trimmed_end(text.substr(0, text.find(own_name))));
    std::string body(text.substr(open + list.size() + 1));
    std::size_t next = 0;
    for (const std::string_view parameter : parameters_in(list)) {
        if (!head.empty()) head += ", ";
        if (is_pointer(parameter)) {
            const auto space = static_cast<AddressSpace>(spaces[next++]);
            if (next == 1 && is_pointer(result)) result.insert(0, qualifier(space));
            pointers[std::string(last_word(parameter))] = space;
            head += qualifier(space);
            if (is_reference(parameter)) {
                body = dereferenced(body, last_word(parameter));
                head.append(parameter).replace(head.rfind('&'), 1, "*");
                continue;
            }
        } else if (const std::string_view name = last_word(parameter);
                   is_struct(last_word(trimmed_end(parameter.substr(0, parameter.size() - name.size()))),
                             helpers)) {
            pointers[std::string(name)] = AddressSpace::work_item;  // may hold an array
        }
        head += parameter;
        if (const std::size_t mark = head.rfind('&'); mark != npos) head.erase(mark, 1);
    }
    SpacedText spaced = with_address_spaces(body, std::move(pointers), helpers);
    spaced.text = result + " " + std::string(own_name) + "(" + head + ")" + spaced.text;
    return spaced;
}

}  // namespace

SpacedText with_address_spaces(std::string_view body, PointerSpaces pointers,
                               const std::vector<const NamedFunction*>& helpers) {
    return Spacer(body, std::move(pointers), helpers).result();
}

std::vector<FunctionForm> forms_called(const SpacedText& body,
                                       const std::vector<const NamedFunction*>& helpers) {
    std::set<std::string> needed = body.forms;
    std::vector<FunctionForm> forms;
    // Callers come before what they call, then the order is reversed.
    for (auto at = helpers.rbegin(); at != helpers.rend(); ++at) {
        const NamedFunction& function = **at;
        if (function.kind != NamedKind::function) continue;
        const std::string_view list = parameter_list(function.text);
        const std::vector<std::string_view> parameters = parameters_in(list);
        const auto count = std::count_if(parameters.begin(), parameters.end(), is_pointer);
        std::vector<std::string> names;
        if (count == 0) {
            names.emplace_back(function.name);
        } else {
            for (const std::string& name : needed) {
                const bool is_form =
                    name.size() == function.name.size() + 2 + static_cast<std::size_t>(count) &&
                    name.starts_with(std::string(function.name) + "__");
                if (is_form || name == function.name) names.push_back(name);
            }
        }
        for (const std::string& name : names) {
            const std::string spaces = name == function.name
                                           ? std::string(static_cast<std::size_t>(count), 'p')
                                           : name.substr(function.name.size() + 2);
            for (const std::string& text : texts_of(function)) {
                SpacedText spaced = form_of(text, spaces, helpers);
                needed.insert(spaced.forms.begin(), spaced.forms.end());
                forms.push_back({&function, name, std::move(spaced.text)});
            }
        }
    }
    std::reverse(forms.begin(), forms.end());
    return forms;
}

std::string reference_macro(const FunctionForm& form) {
    const std::string_view list = parameter_list(form.function->text);
    const std::vector<std::string_view> parameters = parameters_in(list);
    if (std::none_of(parameters.begin(), parameters.end(), is_reference)) return {};
    std::string names, values;
    for (const std::string_view parameter : parameters) {
        const std::string name = "a" + std::to_string(std::count(names.begin(), names.end(), 'a'));
        names.append(names.empty() ? "" : ", ").append(name);
        values.append(values.empty() ? "" : ", ").append(is_reference(parameter) ? "&(" + name + ")" : name);
    }
    const std::string function = private_name(form.name);
    return "#define " + function + "(" + names + ") " + function + "_of(" + values + ")\n";
}

}  // namespace concord::detail
