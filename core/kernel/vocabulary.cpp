#include <concord/internal/embedded_source.hpp>
#include <concord/internal/language.hpp>
#include <concord/internal/vocabulary.hpp>
#include <concord/kernel.hpp>
#include <concord/vocabulary.hpp>

#include "kernel/source_words.hpp"

#include <functional>
#include <map>
#include <set>
#include <vector>

namespace concord::detail {
namespace kernel_sources {
extern const EmbeddedFile prelude_h, vectors_h, tables_h, f32_h, f64_h, vocabulary_h, random_h, group_h;
}

namespace {

#define CONCORD_WORD(NAME) #NAME,
constexpr std::string_view unary_math[] = {CONCORD_MATH_UNARY(CONCORD_WORD)};
constexpr std::string_view binary_math[] = {CONCORD_MATH_BINARY(CONCORD_WORD)};
constexpr std::string_view other_words[] = {
    CONCORD_VOCABULARY(CONCORD_WORD, CONCORD_WORD, CONCORD_WORD) "fminf",
    "fmaxf",
    "fmodf",
    "sincos",
    "philox4x32",
    "uniform_f32",
    "uniform_f64"};
constexpr std::string_view vectors[] = {CONCORD_VECTORS(CONCORD_WORD)};
#undef CONCORD_WORD
constexpr std::string_view others_of_f32[] = {"fminf", "fmaxf", "fmodf"};
constexpr std::string_view others_in_f64[] = {"sincos", "uniform_f64"};

// Functions of the languages that are exact or correctly rounded, also with an f for f32. OpenCL C lacks the latter.
constexpr std::string_view exact_functions[] = {"sqrt", "fma",   "fabs", "copysign", "floor",
                                                "ceil", "trunc", "rint", "round"};
constexpr std::string_view classifications[] = {"isnan", "isinf", "isfinite"};
constexpr std::string_view commutative_atomics[] = {"atomic_add", "atomic_min", "atomic_max",
                                                    "atomic_or",  "atomic_and", "atomic_xor"};

// The name without its f: "sqrt" for "sqrtf". Empty for other words.
std::string_view exact_function_of_f32(std::string_view word) {
    if (!word.ends_with('f')) return {};
    word.remove_suffix(1);
    return is_one_of(word, exact_functions) ? word : std::string_view();
}

// Whether the word is a math function of f32: "expf".
bool is_math_of_f32(std::string_view word) {
    if (!word.ends_with('f')) return false;
    word.remove_suffix(1);
    return is_one_of(word, unary_math) || is_one_of(word, binary_math);
}

bool is_math(std::string_view word) {
    return is_one_of(word, unary_math) || is_one_of(word, binary_math) || is_math_of_f32(word);
}

// "u32" for "uint32_t". Empty for other words.
std::string_view fixed_width_type(std::string_view word) {
    static constexpr std::string_view names[][2] = {
        {"int8_t", "i8"},    {"int16_t", "i16"},  {"int32_t", "i32"},  {"int64_t", "i64"}, {"uint8_t", "u8"},
        {"uint16_t", "u16"}, {"uint32_t", "u32"}, {"uint64_t", "u64"}, {"size_t", "u64"}};
    for (const auto& [name, type] : names) {
        if (word == name) return type;
    }
    return {};
}

// The name of the definition in vocabulary.h, f32.h or vocabulary_for(): "concord_exp" for exp, "concord_exp_f32" for
// expf.
std::string definition_name(std::string_view word) {
    if (is_math_of_f32(word) || is_one_of(word, others_of_f32))
        return "concord_" + std::string(word.substr(0, word.size() - 1)) + (is_math(word) ? "_f32" : "");
    return "concord_" + std::string(word);
}

// --- definitions -----------------------------------------------------------------------------------------------------

constexpr std::string_view prefixes[] = {"concord_", "CONCORD_"};

bool is_own_word(std::string_view word) {
    return word.starts_with(prefixes[0]) || word.starts_with(prefixes[1]);
}

// The definitions of the embedded files, in order. A definition ends at an empty line. The first one of all selects the
// language.
class Definitions {
  public:
    Definitions() {
        for (const EmbeddedFile* file :
             {&kernel_sources::prelude_h, &kernel_sources::vectors_h, &kernel_sources::tables_h,
              &kernel_sources::f32_h, &kernel_sources::f64_h}) {
            add_all(file->text);
        }
        // The functions of OpenCL C under their names for f32.
        for (const std::string_view name : exact_functions) {
            const std::string f(name);
            const bool two = name == "copysign", three = name == "fma";
            std::string text = "CONCORD_MATH f32 concord_";
            text.append(f)
                .append("_f32(f32 x")
                .append(two || three ? ", f32 y" : "")
                .append(three ? ", f32 z" : "");
            text.append(") { return ").append(f).append("(x").append(two || three ? ", y" : "");
            text.append(three ? ", z" : "").append("); }");
            add(std::move(text));
        }
        for (const std::string_view name : unary_math)
            add_overloads(name, " x", "x");
        for (const std::string_view name : binary_math) {
            if (name != "pow") add_overloads(name, " x, TYPE y", "x, y");  // f64.h has those of pow
        }
        add_all(kernel_sources::vocabulary_h.text);
        add_all(kernel_sources::random_h.text);
        add_all(kernel_sources::group_h.text);
    }

    // The definitions that these words need.
    std::string of(const std::set<std::string_view>& words) const {
        std::set<std::size_t> needed;
        for (const std::string_view word : words)
            need(word, needed);
        if (needed.empty()) return {};
        needed.insert(0);
        std::string text;
        for (const std::size_t i : needed)
            text.append("\n").append(list_[i].text).append("\n");
        return text;
    }

  private:
    struct Definition {
        std::string text;
        std::vector<std::string> words;  // own words in it
    };

    void add(std::string text) {
        Definition d{.text = std::move(text), .words = {}};
        const std::string plain = blanked(d.text);
        find_word(plain, [&](std::string_view word, std::size_t, std::size_t) {
            if (!is_own_word(word)) return false;
            // A definition precedes its uses.
            place_.emplace(word, list_.size());
            d.words.emplace_back(word);
            return false;
        });
        if (plain.find_first_not_of(" \n") != std::string::npos) list_.push_back(std::move(d));
    }
    void add_all(std::string_view text) {
        while (!text.empty()) {
            const std::size_t end = std::min(text.find("\n\n"), text.size());
            add(std::string(text.substr(0, end)));
            text.remove_prefix(std::min(end + 2, text.size()));
        }
    }
    void add_overloads(std::string_view name, std::string_view parameters, std::string_view arguments) {
        std::string text;
        for (const std::string_view type : {"f32", "f64"}) {
            std::string list(parameters);
            if (const std::size_t at = list.find("TYPE"); at != std::string::npos) list.replace(at, 4, type);
            text.append("CONCORD_OVERLOAD ").append(type).append(" concord_").append(name).append("(");
            text.append(type).append(list).append(") { return concord_").append(name).append("_");
            text.append(type).append("(").append(arguments).append("); }\n");
        }
        add(std::move(text));
    }
    void need(std::string_view word, std::set<std::size_t>& needed) const {
        const auto found = place_.find(word);
        if (found == place_.end() || !needed.insert(found->second).second) return;
        for (const std::string& other : list_[found->second].words)
            need(other, needed);
    }

    std::vector<Definition> list_;
    std::map<std::string, std::size_t, std::less<>> place_;  // of each word's definition
};

}  // namespace

bool is_vector(std::string_view word) {
    return is_one_of(word, vectors);
}

// Whether the word is a function that makes a vector.
bool makes_vector(std::string_view word) {
    constexpr std::string_view make = "make_";
    return word.starts_with(make) && is_vector(word.substr(make.size()));
}

bool is_in_vocabulary(std::string_view word) {
    return is_math(word) || is_one_of(word, other_words) || makes_vector(word);
}

bool is_type_name(std::string_view word) {
    return type_spelled(word) || word == "bool" || is_vector(word) || !fixed_width_type(word).empty();
}

bool is_portable_function(std::string_view word) {
    return (is_in_vocabulary(word) && !word.starts_with("atomic_")) || is_one_of(word, exact_functions) ||
           !exact_function_of_f32(word).empty() || is_one_of(word, classifications);
}

bool is_commutative_atomic(std::string_view word) {
    return is_one_of(word, commutative_atomics);
}

bool computes_in_f64(std::string_view text) {
    const std::string plain = plain_text(text);
    bool found = false;
    find_word(plain, [&](std::string_view word, std::size_t begin, std::size_t end) {
        if (is_number(word)) {
            found = real_literal_at(plain, begin) == Type::f64;
            return found;
        }
        const std::string_view name = word.starts_with(prefixes[0]) ? word.substr(prefixes[0].size()) : word;
        const bool is_call = (is_math(name) || is_one_of(name, others_in_f64)) &&
                             is_called(plain, begin, end) &&
                             !trimmed_end(std::string_view(plain).substr(0, begin)).ends_with("::");
        const bool is_vector_of_f64 =
            word.find("f64x") != std::string_view::npos && (is_vector(word) || makes_vector(word));
        found = is_call || is_vector_of_f64 || type_spelled(word) == Type::f64 || word.starts_with("M_") ||
                word.starts_with("DBL_");
        return found;
    });
    return found;
}

std::string in_language(std::string_view source, Dialect dialect,
                        const std::vector<std::string_view>& functions) {
    const bool is_c = language_of(dialect).is_c;
    const std::string body = joined(source);
    const std::string plain = blanked(body);
    std::string text;
    std::size_t done = 0;
    const auto replace = [&](std::size_t begin, std::size_t end, std::string_view by) {
        text.append(body, done, begin - done).append(by);
        done = end;
    };
    find_word(plain, [&](std::string_view word, std::size_t begin, std::size_t end) {
        if (begin < done) return false;
        std::string_view before = trimmed_end(std::string_view(plain).substr(0, begin));
        const bool is_qualified = before.ends_with("::") && !before.ends_with("concord::");
        if (before.ends_with('.') || before.ends_with("->") || is_qualified) return false;
        if (const std::string_view type = fixed_width_type(word); !type.empty()) {
            const bool is_cast = is_c && next_mark(plain, end) == '(';
            replace(begin, begin + word.size(), is_cast ? "(" + std::string(type) + ")" : std::string(type));
        } else if (word == "concord") {
            if (plain.compare(end, 2, "::") == 0) replace(begin, end + 2, "");
        } else if (word == "native") {
            std::size_t at = end;
            if (next_mark(plain, at) == ':' && plain.compare(at, 2, "::") == 0)
                replace(begin, at + 2, is_c ? "" : "::");
        } else if (is_vector(word) || (is_in_vocabulary(word) && is_called(plain, begin, end))) {
            replace(begin, end, definition_name(word));
        } else if (std::find(functions.begin(), functions.end(), word) != functions.end() &&
                   is_called(plain, begin, end)) {
            replace(begin, end, private_name(word));
        } else if (is_c && word == "static_cast") {
            std::size_t at = end;
            if (next_mark(plain, at) != '<') return false;
            const std::size_t close = plain.find('>', at);
            if (close == std::string::npos) return false;
            replace(begin, close + 1, "(" + body.substr(at + 1, close - at - 1) + ")");
        } else if (is_c && word == "auto") {
            replace(begin, end, "__auto_type");
        } else if (is_c && word == "constexpr") {
            replace(begin, end, "const");
        } else if (is_c && !exact_function_of_f32(word).empty()) {
            // The argument becomes an f32, as that of the C function.
            const std::string name(exact_function_of_f32(word));
            replace(begin, end, "concord_" + name + "_f32");
        } else if (is_c && is_type_name(word)) {
            std::size_t at = end;
            if (next_mark(plain, at) == '(') replace(begin, end, "(" + std::string(word) + ")");
        }
        return false;
    });
    return text.append(body, done);
}

std::string private_name(std::string_view function) {
    return "concord_user_" + std::string(function);
}

std::string vocabulary_for(std::string_view source) {
    std::set<std::string_view> words;
    find_word(source, [&](std::string_view word, std::size_t, std::size_t) {
        if (is_own_word(word)) words.insert(word);
        return false;
    });
    if (words.empty()) return {};
    static const Definitions definitions;
    std::string text = definitions.of(words);
    return text.empty() ? text : "#line 1 \"vocabulary\"\n" + text;
}

}  // namespace concord::detail
