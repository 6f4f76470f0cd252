#pragma once
// The body of a group kernel, read as tokens: its phases and declarations, and what cannot run on all devices. At
// compile time for CONCORD_GROUP_KERNEL, at run time for a kernel from text and for the sources of devices.

#include <concord/types.hpp>

#include <array>
#include <string_view>

namespace concord::detail {

struct BodyToken {
    std::string_view text;  // empty at the end
    bool is_word = false;   // a name, keyword or number

    constexpr bool operator==(std::string_view other) const { return text == other; }
};

// Splits a body into tokens, without comments. A string or character is one token.
class BodyTokens {
  public:
    constexpr explicit BodyTokens(std::string_view body) : rest_(body) {}

    constexpr BodyToken next() {
        skip_space();
        if (rest_.empty()) return {};
        std::size_t length = 1;
        const bool is_word = in_word(rest_[0]);
        if (is_word) {
            while (length < rest_.size() && (in_word(rest_[length]) || is_fraction(length)))
                ++length;
        } else if (const char quote = rest_[0]; quote == '"' || quote == '\'') {
            while (length < rest_.size() && rest_[length] != quote)
                length += rest_[length] == '\\' ? 2 : 1;
            length = length < rest_.size() ? length + 1 : rest_.size();
        } else {
            length = mark_length();
        }
        const BodyToken token{rest_.substr(0, length), is_word};
        rest_.remove_prefix(length);
        return token;
    }
    constexpr BodyToken peek() const { return BodyTokens(*this).next(); }
    constexpr std::string_view rest() const { return rest_; }

    // The text up to the closing bracket of an open one, which it passes.
    constexpr std::string_view inside() {
        const std::string_view all = rest_;
        for (int depth = 1; !rest_.empty();) {
            const std::size_t before = all.size() - rest_.size();
            const BodyToken token = next();
            if (token == "(" || token == "[" || token == "{") ++depth;
            if (token == ")" || token == "]" || token == "}") --depth;
            if (depth == 0) return all.substr(0, before);
            if (token.text.empty()) break;
        }
        return all;
    }

  private:
    // The length of a mark such as `(`, `+=` and `<<=`.
    constexpr std::size_t mark_length() const {
        if (rest_.size() < 2) return 1;
        const char first = rest_[0], second = rest_[1];
        switch (first) {
            case '<':
            case '>':
                if (first == second) return rest_.size() > 2 && rest_[2] == '=' ? 3 : 2;
                return second == '=' ? 2 : 1;
            case '+':
            case '&':
            case '|':
            case '=':
                return second == '=' || second == first ? 2 : 1;
            case '-':
                return second == '=' || second == '-' || second == '>' ? 2 : 1;
            case '*':
            case '/':
            case '%':
            case '^':
            case '!':
                return second == '=' ? 2 : 1;
            case ':':
                return second == ':' ? 2 : 1;
            default:
                return 1;
        }
    }

    static constexpr bool in_word(char c) {
        return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
    }
    // Whether the character continues a number: 1.5, 1e-3, 0x1p+4.
    constexpr bool is_fraction(std::size_t at) const {
        if (rest_[0] < '0' || rest_[0] > '9') return false;
        if (rest_[at] == '.') return true;
        const char before = rest_[at - 1];
        const bool is_hex = rest_.size() > 1 && (rest_[1] == 'x' || rest_[1] == 'X');
        return (rest_[at] == '+' || rest_[at] == '-') &&
               (is_hex ? before == 'p' || before == 'P' : before == 'e' || before == 'E');
    }
    constexpr void skip_space() {
        while (!rest_.empty()) {
            if (rest_.substr(0, 2) == "//") {
                while (!rest_.empty() && rest_[0] != '\n')
                    rest_.remove_prefix(1);
            } else if (rest_.substr(0, 2) == "/*") {
                const std::size_t end = rest_.find("*/", 2);
                rest_.remove_prefix(end == std::string_view::npos ? rest_.size() : end + 2);
            } else if (rest_[0] == ' ' || rest_[0] == '\n' || rest_[0] == '\t' || rest_[0] == '\r') {
                rest_.remove_prefix(1);
            } else {
                return;
            }
        }
    }

    std::string_view rest_;
};

// The part of a list up to its next comma outside of brackets, without spaces around it. Removes both from the list.
constexpr std::string_view take_item(std::string_view& list) {
    BodyTokens tokens(list);
    std::string_view item = list;
    for (std::size_t at = 0;;) {
        const BodyToken token = tokens.next();
        if (token == "(" || token == "[" || token == "{") tokens.inside();
        at = list.size() - tokens.rest().size();
        if (token.text.empty()) {
            list = {};
            break;
        }
        if (token == ",") {
            item = list.substr(0, at - 1);
            list.remove_prefix(at);
            break;
        }
    }
    while (!item.empty() && (item.front() == ' ' || item.front() == '\n' || item.front() == '\t'))
        item.remove_prefix(1);
    while (!item.empty() && (item.back() == ' ' || item.back() == '\n' || item.back() == '\t'))
        item.remove_suffix(1);
    return item;
}

// The collectives of a group and of a sub-group. The names of those of sub-groups begin with "sub_".
enum class CollectiveKind { reduce, inclusive, exclusive, broadcast, shuffle, vote };
struct CollectiveWord {
    std::string_view name;  // of the group's
    CollectiveKind kind;
    std::string_view operation;  // sum, min, max; any, all, count; empty: the last argument names a function
};
inline constexpr CollectiveWord collective_words[] = {
    {"group_sum", CollectiveKind::reduce, "sum"},
    {"group_min", CollectiveKind::reduce, "min"},
    {"group_max", CollectiveKind::reduce, "max"},
    {"group_reduce", CollectiveKind::reduce, ""},
    {"group_inclusive_sum", CollectiveKind::inclusive, "sum"},
    {"group_inclusive_scan", CollectiveKind::inclusive, ""},
    {"group_exclusive_sum", CollectiveKind::exclusive, "sum"},
    {"group_exclusive_scan", CollectiveKind::exclusive, ""},
    {"group_broadcast", CollectiveKind::broadcast, ""},
    {"group_shuffle", CollectiveKind::shuffle, ""},
    {"group_any", CollectiveKind::vote, "any"},
    {"group_all", CollectiveKind::vote, "all"},
    {"group_count", CollectiveKind::vote, "count"},
};
constexpr bool is_sub_group(std::string_view word) {
    return word.substr(0, 4) == "sub_";
}
// The collective that the word names. Null if there is none.
constexpr const CollectiveWord* collective_of(std::string_view word) {
    if (word[0] != 'g' && word[0] != 's') return nullptr;
    if (is_sub_group(word)) word.remove_prefix(4);
    if (word.substr(0, 6) != "group_") return nullptr;
    for (const CollectiveWord& collective : collective_words) {
        if (collective.name == word) return &collective;
    }
    return nullptr;
}

// Whether the word declares something in a group kernel or begins a phase.
constexpr bool is_group_word(std::string_view word) {
    for (const std::string_view other :
         {"CONCORD_LOCAL", "CONCORD_PRIVATE", "CONCORD_ITEMS", "CONCORD_STRIDED"}) {
        if (word == other) return true;
    }
    return false;
}

// Why a body cannot be a group kernel's.
// clang-format off
#define CONCORD_GROUP_FAULTS(X)                                                                                      \
    X(returns, "a phase cannot return; 'continue' ends it for a work-item")                                          \
    X(breaks, "a phase cannot break; 'continue' ends it for a work-item")                                            \
    X(nested, "a phase cannot contain a phase")                                                                      \
    X(without_braces, "a phase needs braces")                                                                        \
    X(values, "a phase names the private values that it uses after its index, and nothing else")                     \
    X(index_count, "CONCORD_ITEMS takes as many names as the group has dimensions, as in (x, y), and "               \
                   "CONCORD_STRIDED takes (i, begin, end)")                                                          \
    X(inner_declaration, "CONCORD_LOCAL and CONCORD_PRIVATE stand outside of all blocks")                            \
    X(collective, "a collective is called between phases")                                                           \
    X(local_outside, "only phases use local memory")                                                                 \
    X(private_outside, "only phases and collectives use private values")                                             \
    X(output_outside, "only phases use buffers that the kernel may write")                                           \
    X(assigned, "a phase assigns to a variable that is declared outside of it; declare it in the phase, by "         \
                "CONCORD_PRIVATE or by CONCORD_LOCAL")                                                               \
    X(too_many_names, "a group kernel has at most 256 names")
// clang-format on
enum class GroupFault {
    none,
#define CONCORD_FAULT_NAME(NAME, TEXT) NAME,
    CONCORD_GROUP_FAULTS(CONCORD_FAULT_NAME)
#undef CONCORD_FAULT_NAME
};
struct GroupFinding {
    GroupFault fault = GroupFault::none;
    std::string_view word;  // the name at fault
};

// Finds the first fault of a body.
class GroupScan {
  public:
    // parameters: "(f32* out, const f32* in, u64 n)".
    static constexpr GroupFinding of(std::string_view body, std::string_view parameters, u32 rank) {
        GroupScan scan(body, parameters, rank);
        while (!scan.is_done())
            scan.advance(1);
        return scan.finding();
    }

    // The same in parts, because compilers limit the steps of one evaluation.
    constexpr GroupScan(std::string_view body, std::string_view parameters, u32 rank)
        : tokens_(body), rank_(rank) {
        add_outputs(parameters);
    }
    constexpr void advance(u32 tokens) {
        for (u32 i = 0; i < tokens && !is_done(); ++i)
            is_at_end_ = !step();
    }
    constexpr bool is_done() const { return is_at_end_ || finding_.fault != GroupFault::none; }
    constexpr const GroupFinding& finding() const { return finding_; }

  private:
    enum class Kind { output, local, item, phase };  // item: private; phase: declared in the phase
    struct Name {
        std::string_view text;
        Kind kind;
        u32 extents = 0;  // of arrays, and 1 for pointers
        bool is_pointer = false;
    };

    constexpr void fail(GroupFault fault, std::string_view word) {
        if (finding_.fault == GroupFault::none) finding_ = {fault, word};
    }
    constexpr void add(std::string_view name, Kind kind, u32 extents = 0, bool is_pointer = false) {
        if (count_ == names_.size()) return fail(GroupFault::too_many_names, name);
        names_[count_++] = {name, kind, extents, is_pointer};
    }
    // The innermost name.
    constexpr const Name* find(std::string_view word) const {
        for (std::size_t i = count_; i-- > 0;) {
            const std::string_view text = names_[i].text;
            if (text.size() == word.size() && text[0] == word[0] && text == word) return &names_[i];
        }
        return nullptr;
    }
    constexpr bool in_phase() const { return phase_depth_ > 0; }

    constexpr void add_outputs(std::string_view parameters) {
        BodyTokens list(parameters);
        list.next();
        std::string_view rest = list.inside();
        while (!rest.empty()) {
            BodyTokens parameter(take_item(rest));
            bool is_const = false, is_pointer = false;
            std::string_view name;
            for (BodyToken token = parameter.next(); !token.text.empty(); token = parameter.next()) {
                is_const = is_const || (token == "const" && !is_pointer);
                is_pointer = is_pointer || token == "*";
                if (token.is_word) name = token.text;
            }
            if (is_pointer && !is_const) add(name, Kind::output, 1, true);
        }
    }

    // Reads a token and what belongs to it. False at the end.
    constexpr bool step() {
        const bool starts = starts_;
        starts_ = false;
        if (starts && in_phase()) declare(tokens_);
        const BodyToken token = tokens_.next();
        if (token.text.empty()) return false;
        if (token.is_word) {
            word(token.text);
        } else {
            mark(token.text);
        }
        third_ = before_;
        before_ = last_;
        last_ = token.text;
        return true;
    }

    constexpr void mark(std::string_view mark) {
        if (mark == "{") {
            if (depth_ + 1 < blocks_.size()) ++depth_;
            blocks_[depth_] = loop_body_ || pending_ || (in_phase() && blocks_[depth_ - 1]);
            outer_pending_[depth_] = pending_;
            loop_body_ = pending_ = false;
            starts_ = true;
        } else if (mark == "}") {
            if (in_phase() && depth_ == phase_depth_) {
                phase_depth_ = 0;
                while (count_ > 0 && names_[count_ - 1].kind == Kind::phase)
                    --count_;
            }
            // The statement goes on.
            pending_ = outer_pending_[depth_] && tokens_.peek() == "else";
            if (depth_ > 0) --depth_;
            starts_ = true;
        } else if (mark == "(" || mark == "[") {
            ++brackets_;
            starts_ = header_ == brackets_ && last_ == "for";
        } else if (mark == ")" || mark == "]") {
            if (header_ == brackets_ && mark == ")") {
                header_ = 0;
                loop_body_ = true;
                if (tokens_.peek() != "{") {
                    loop_body_ = false;
                    pending_ = true;
                }
                starts_ = true;
            }
            if (brackets_ > 0) --brackets_;
        } else if (mark == ";") {
            if (brackets_ == 0) {
                pending_ = pending_ && tokens_.peek() == "else";
                points_ = false;
                pointer_ = {};
            }
            starts_ = true;
        } else if (mark == "," && brackets_ == 0) {
            points_ = false;
        } else if (mark == "=" && !in_phase() && brackets_ == 0) {
            const Name* const name = find(last_);
            if (star_ || before_ == "auto" || (name != nullptr && name->is_pointer)) {
                points_ = true;
                has_place_ = false;
                pointer_ = last_;
            }
        }
        star_ = mark == "*" || (star_ && mark != "=" && mark != "," && mark != ";" && mark != "{" &&
                                mark != "}" && mark != ")");
    }

    constexpr void word(std::string_view word) {
        const bool is_member = last_ == "." || last_ == "->" || last_ == "::";
        if (is_member) return;
        if (word == "CONCORD_LOCAL" || word == "CONCORD_PRIVATE") return declaration(word);
        if (word == "CONCORD_ITEMS" || word == "CONCORD_STRIDED") return phase(word);
        if (collective_of(word) != nullptr && tokens_.peek() == "(") return collective(word);
        if (word == "for" || word == "while" || word == "switch") header_ = brackets_ + 1;
        if (word == "do") loop_body_ = true;
        if (in_phase()) {
            in_phase_word(word);
        } else {
            between_word(word);
        }
    }

    constexpr void declaration(std::string_view word) {
        if (depth_ > 0) return fail(GroupFault::inner_declaration, word);
        tokens_.next();
        std::string_view list = tokens_.inside();
        const std::string_view type = take_item(list), name = take_item(list);
        u32 extents = 0;
        for (const char c : list)
            extents += c == '[' ? 1 : 0;
        add(name, word == "CONCORD_LOCAL" ? Kind::local : Kind::item, extents);
        // CONCORD_PRIVATE(f32*, p) = out + 1;
        if (!type.empty() && type.back() == '*' && tokens_.peek() == "=") {
            points_ = true;
            has_place_ = false;
            pointer_ = name;
        }
    }

    constexpr void phase(std::string_view word) {
        if (in_phase()) return fail(GroupFault::nested, word);
        tokens_.next();
        BodyTokens arguments(tokens_.inside());
        if (arguments.next() != "(") return fail(GroupFault::index_count, word);
        std::string_view index = arguments.inside();
        const bool strided = word == "CONCORD_STRIDED";
        u32 names = 0;
        for (; !index.empty(); ++names) {
            const std::string_view item = take_item(index);
            if (strided && names > 0) {
                uniform(item);
            } else {
                add(item, Kind::phase);
            }
        }
        if (names != (strided ? 3 : rank_)) return fail(GroupFault::index_count, word);
        values_ = arguments.rest();
        BodyTokens values(values_);
        for (BodyToken value = values.next(); !value.text.empty(); value = values.next()) {
            const Name* const name = find(value.text);
            if (value != "," && (name == nullptr || name->kind != Kind::item))
                return fail(GroupFault::values, value.text);
        }
        if (tokens_.peek() != "{") return fail(GroupFault::without_braces, word);
        phase_depth_ = depth_ + 1;
        loop_body_ = pending_ = false;
        blocks_[depth_] = false;
    }

    constexpr void collective(std::string_view word) {
        if (in_phase()) return fail(GroupFault::collective, word);
        tokens_.next();
        BodyTokens arguments(tokens_.inside());
        for (BodyToken token = arguments.next(); !token.text.empty(); token = arguments.next()) {
            const Name* const name = find(token.text);
            if (name != nullptr && name->kind != Kind::item) between_word(token.text);
        }
    }
    // Whether the current phase names the private value.
    constexpr bool is_listed(std::string_view value) const {
        BodyTokens values(values_);
        for (BodyToken token = values.next(); !token.text.empty(); token = values.next()) {
            if (token == value) return true;
        }
        return false;
    }

    // Checks an expression between phases.
    constexpr void uniform(std::string_view text) {
        BodyTokens tokens(text);
        for (BodyToken token = tokens.next(); !token.text.empty(); token = tokens.next()) {
            if (token.is_word) between_word(token.text);
        }
    }

    constexpr void between_word(std::string_view word) {
        const Name* const name = find(word);
        if (name == nullptr) return;
        if (name->kind == Kind::item) return fail(GroupFault::private_outside, word);
        if (name->kind == Kind::phase) return;
        if (points_ && !has_place_ && is_place(*name)) {
            // A pointer to it has its kind.
            has_place_ = true;
            const Kind kind = name->kind;
            if (find(pointer_) == nullptr) add(pointer_, kind, 1, true);
            return;
        }
        if (name->is_pointer && last_ != "*" && is_assignment(tokens_.peek().text)) return;
        fail(name->kind == Kind::local ? GroupFault::local_outside : GroupFault::output_outside, word);
    }

    // Whether the expression with this name is an address: `p + 1`, `&p[1]`, `tile[1]` of [2][16].
    constexpr bool is_place(const Name& name) const {
        if (last_ == "&") return true;
        if (last_ == "*") return false;
        u32 subscripts = 0;
        BodyTokens ahead = tokens_;
        for (BodyToken next = ahead.next(); next == "["; next = ahead.next(), ++subscripts)
            ahead.inside();
        return subscripts < name.extents;
    }

    constexpr void in_phase_word(std::string_view word) {
        if (word == "return" || word == "goto") return fail(GroupFault::returns, word);
        if (word == "break" && !pending_ && !blocks_[depth_]) return fail(GroupFault::breaks, word);
        const Name* const name = find(word);
        if (name != nullptr && name->kind == Kind::phase) return;
        if (name != nullptr && name->kind == Kind::item) {
            if (!is_listed(word)) fail(GroupFault::values, word);
            return;
        }
        if (word[0] >= '0' && word[0] <= '9') return;
        BodyTokens ahead = tokens_;
        BodyToken next = ahead.next();
        // `*p = x`, but not `*p++`.
        bool has_place = last_ == "*" && next != "++" && next != "--";
        while (next == "[" || next == "." || next == "->") {
            has_place = true;
            if (next == "[") {
                ahead.inside();
            } else {
                ahead.next();
            }
            next = ahead.next();
        }
        // atomic_add(&c, 1u)
        const bool is_addressed = last_ == "&" && before_ == "(" && third_.substr(0, 7) == "atomic_" &&
                                  name == nullptr && !has_place;
        const bool is_element = has_place && name != nullptr;
        if ((is_addressed || is_assignment(next.text) || last_ == "++" || last_ == "--") && !is_element &&
            !scalar_local(name))
            fail(GroupFault::assigned, word);
    }
    // A local value that is not an array.
    static constexpr bool scalar_local(const Name* name) {
        return name != nullptr && name->kind == Kind::local;
    }

    static constexpr bool is_assignment(std::string_view mark) {
        for (const std::string_view other :
             {"=", "+=", "-=", "*=", "/=", "%=", "&=", "|=", "^=", "<<=", ">>=", "++", "--"}) {
            if (mark == other) return true;
        }
        return false;
    }

    // Whether the word begins a statement that declares nothing.
    static constexpr bool is_keyword(std::string_view word) {
        switch (word[0]) {
            case 'r':
                return word == "return";
            case 'e':
                return word == "else";
            case 'c':
                return word == "case";
            case 'g':
                return word == "goto";
            case 'd':
                return word == "do" || word == "default";
            case 'i':
                return word == "if";
            case 'f':
                return word == "for";
            case 'w':
                return word == "while";
            case 's':
                return word == "switch";
            default:
                return false;
        }
    }

    // Adds the names that a statement in a phase declares: TYPE NAME = ..., NAME[N], ...;
    constexpr void declare(BodyTokens tokens) {
        BodyToken token = tokens.next();
        u32 words = 0;
        std::string_view name;
        while (token.is_word || token == "*" || token == "&" || token == "::") {
            if (token.is_word && is_keyword(token.text)) return;
            if (token.is_word) {
                ++words;
                name = token.text;
            }
            token = tokens.next();
        }
        if (words < 2 || name[0] < 'A') return;
        // The names after commas outside of brackets are declared as well.
        for (;;) {
            add(name, Kind::phase);
            while (token != "," && token != ";" && !token.text.empty()) {
                if (token == "(" || token == "[" || token == "{") tokens.inside();
                if (token == ")") return;
                token = tokens.next();
            }
            if (token != ",") return;
            token = tokens.next();
            while (token == "*")
                token = tokens.next();
            if (!token.is_word) return;
            name = token.text;
        }
    }

    BodyTokens tokens_;
    u32 rank_;
    GroupFinding finding_;
    std::array<Name, 256> names_{};
    std::size_t count_ = 0;
    std::array<bool, 64> blocks_{};  // by depth of braces: whether a break ends a loop or switch in the phase
    std::array<bool, 64> outer_pending_{};  // by depth: pending_ before the block
    std::size_t depth_ = 0, phase_depth_ = 0;
    std::size_t brackets_ = 0, header_ = 0;  // header_: brackets_ in the parentheses of a loop or switch
    bool loop_body_ = false;                 // a loop's block follows
    bool pending_ = false;                   // in a loop's statement without braces
    bool starts_ = true;                     // a statement starts
    bool points_ = false;                    // in the value of a pointer
    bool star_ = false;                      // a `*` since the declaration began
    bool has_place_ = false;                 // points_: the address was named
    bool is_at_end_ = false;
    std::string_view pointer_, values_;       // values_: the private values that the phase names
    std::string_view last_, before_, third_;  // the tokens before
};

// The scan of a kernel K with its first N + 1 parts done, and its finding.
template <class K, u32 N>
constexpr GroupScan part_of_scan();
template <class K, u32 N>
inline constexpr GroupScan scanned = part_of_scan<K, N>();
template <class K, u32 N>
constexpr GroupScan part_of_scan() {
    constexpr u32 part = 48;  // tokens
    if constexpr (N == 0) {
        GroupScan scan(K::body, K::parameters, K::concord_shape.rank);
        scan.advance(part);
        return scan;
    } else {
        GroupScan scan = scanned<K, N - 1>;
        scan.advance(part);
        return scan;
    }
}
template <class K, u32 N = 0>
constexpr GroupFinding finding_of() {
    if constexpr (scanned<K, N>.is_done()) {
        return scanned<K, N>.finding();
    } else {
        return finding_of<K, N + 1>();
    }
}

}  // namespace concord::detail
