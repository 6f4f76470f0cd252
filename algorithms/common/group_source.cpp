#include <concord/detail/group_body.hpp>
#include <concord/internal/body_kernel.hpp>
#include <concord/internal/embedded_source.hpp>
#include <concord/internal/vocabulary.hpp>

#include <algorithm>
#include <optional>
#include <set>
#include <utility>

namespace concord::detail {
namespace kernel_sources {
extern const EmbeddedFile group_collectives_kernel;
}

namespace {

// A group kernel's body as the source of a device. `many`: a group has a work-item for each item. Otherwise its only
// work-item runs the phases as loops.
class GroupWriter {
  public:
    // body: with address spaces.
    GroupWriter(const KernelDefinition& d, std::string_view body, bool many)
        : d_(d), body_(body), many_(many), tokens_(body), done_(body.data()) {
        while (step()) {
        }
        text_.append(done_, body.data() + body.size());
    }
    const std::string& text() const { return text_; }
    // A line for each function that the collectives call.
    std::string collectives() const {
        std::string text;
        for (const std::string& line : lines_)
            text.append(line).append("\n");
        return text;
    }
    // The declarations of the local memory of collectives, an array for each type.
    std::string scratch() const {
        std::string text;
        for (const std::string& type : scratch_)
            text.append("    CONCORD_SHARED ")
                .append(type)
                .append(" concord_scratch_")
                .append(type)
                .append("[group_size];\n");
        return many_ ? text : "";
    }
    // Whether a sum or another combination of floats depends on the group size.
    bool combines_floats() const { return combines_floats_; }

  private:
    struct Value {
        std::string_view name;
        std::string type;  // in all languages: u32 for uint32_t
    };

    void copy_to(std::string_view place) { text_.append(done_, place.data()); }
    void resume() { done_ = body_.data() + (body_.size() - tokens_.rest().size()); }

    const Value* private_value(std::string_view name) const {
        const auto found =
            std::find_if(values_.begin(), values_.end(), [&](const Value& v) { return v.name == name; });
        return found == values_.end() ? nullptr : &*found;
    }

    // Whether the phase names the private value.
    bool is_listed(std::string_view name) const {
        return std::find(listed_.begin(), listed_.end(), name) != listed_.end();
    }

    bool step() {
        const BodyToken token = tokens_.next();
        if (token.text.empty()) return false;
        const std::string_view before = std::exchange(last_, token.text);
        if (token == "{") ++depth_;
        if (token == "}" && depth_-- == phase_depth_) phase_depth_ = 0;
        follow(token.text);
        if (!token.is_word || before == "." || before == "->" || before == "::") return true;
        if (token == "CONCORD_LOCAL" || token == "CONCORD_PRIVATE") {
            declaration(token);
        } else if (token == "CONCORD_ITEMS" || token == "CONCORD_STRIDED") {
            phase(token, before);
        } else if (const CollectiveWord* const word = collective_of(token.text);
                   word != nullptr && tokens_.peek() == "(") {
            collective(*word, token);
        } else if (!many_ && phase_depth_ > 0 && is_listed(token.text)) {
            copy_to(token.text);
            text_.append(place_of(token.text)).append("[concord_item]");
            resume();
        }
        return true;
    }

    // Follows statements: whether all work-items execute the present one, and whether they met after the last phase.
    void follow(std::string_view token) {
        if (token == "(") ++brackets_;
        if (token == ")") --brackets_;
        if (token == "{" || token == "}" || token == "case" || token == "default" || token == ":")
            has_met_ = false;
        if (token == "{" || token == "}" || (token == ";" && brackets_ == 0)) is_plain_ = true;
        for (const std::string_view other : {"if", "else", "for", "while", "do", "switch", "?", "&&", "||"})
            is_plain_ = is_plain_ && token != other;
    }

    // The variable that holds a private value, or the values of all items.
    std::string place_of(std::string_view name) const {
        return (many_ ? "" : "concord_private_") + std::string(name);
    }

    void declaration(const BodyToken& word) {
        copy_to(word.text);
        tokens_.next();
        std::string_view list = tokens_.inside();
        const std::string type = in_language(take_item(list), Dialect::opencl);
        const std::string_view name = take_item(list), extents = list;
        const bool is_local = word == "CONCORD_LOCAL";
        text_.append(is_local ? "CONCORD_SHARED " : "").append(type).append(" ");
        text_.append(is_local ? std::string(name) : place_of(name));
        if (!is_local) values_.push_back({name, type});
        if (!is_local && !many_) text_.append("[group_size]");
        text_.append(extents);
        if (!is_local && !many_ && tokens_.peek() == "=") {
            const std::string_view rest = tokens_.rest(), value = rest.substr(0, rest.find(';'));
            text_.append("; for (u32 concord_i = 0; concord_i < group_size; ++concord_i) ")
                .append(place_of(name));
            text_.append("[concord_i]").append(value);
            while (tokens_.peek() != ";" && !tokens_.peek().text.empty())
                tokens_.next();
        }
        resume();
    }

    void phase(const BodyToken& word, std::string_view before) {
        copy_to(word.text);
        tokens_.next();
        BodyTokens arguments(tokens_.inside());
        arguments.next();
        std::string_view index = arguments.inside();
        std::vector<std::string> names;
        while (!index.empty())
            names.emplace_back(take_item(index));
        std::string_view values = arguments.rest();
        take_item(values);  // what is before the first comma
        listed_.clear();
        while (!values.empty())
            listed_.push_back(take_item(values));
        // Before the first phase no work-item has written anything. After a collective all have ended the phase before.
        const bool is_first = !std::exchange(has_phase_, true) && depth_ == 0 &&
                              (before.empty() || before == ";" || before == "}");
        const bool is_met = std::exchange(has_met_, false) && (before == ";" || before == "}");
        phase_depth_ = depth_ + 1;
        const bool is_strided = word == "CONCORD_STRIDED";
        if (many_) {
            text_ += is_strided ? strided_items(names, is_first || is_met) : items(names, is_first || is_met);
        } else {
            text_ += is_strided ? strided_loops(names) : loops(names);
        }
        resume();
    }
    static std::string items(const std::vector<std::string>& names, bool has_met) {
        static constexpr std::string_view places[] = {"CONCORD_ITEM_X", "CONCORD_ITEM_Y", "CONCORD_ITEM_Z"};
        std::string text("for (u32 concord_once = ");
        text += has_met ? "0u" : "(CONCORD_MEET, 0u)";
        for (std::size_t i = 0; i < names.size(); ++i)
            text.append(", ").append(names[i]).append(" = ").append(places[i]);
        return text + "; concord_once < 1; ++concord_once)";
    }
    static std::string strided_items(const std::vector<std::string>& names, bool has_met) {
        const auto& i = names[0];
        return "for (u64 " + i + " = (" + (has_met ? "" : "CONCORD_MEET, ") + "(u64)(" + names[1] +
               ")) + CONCORD_ITEM; " + i + " < (u64)(" + names[2] + "); " + i + " += group_size)";
    }
    // The block begins with the item's index.
    std::string loops(const std::vector<std::string>& names) {
        static constexpr std::string_view sizes[] = {"group_size_x", "group_size_y", "group_size_z"};
        std::string text, item;
        for (std::size_t i = names.size(); i-- > 0;) {
            text.append("for (u32 ")
                .append(names[i])
                .append(" = 0; ")
                .append(names[i])
                .append(" < ")
                .append(sizes[i]);
            text.append("; ++").append(names[i]).append(") ");
            if (!item.empty()) item.insert(0, "(").append(") * ").append(sizes[i]).append(" + ");
            item += names[i];
        }
        return text + open_block("const u32 concord_item = " + item + ";");
    }
    std::string strided_loops(const std::vector<std::string>& names) {
        return "for (u64 concord_base = (u64)(" + names[1] + "), concord_end = (u64)(" + names[2] +
               "); concord_base < concord_end; concord_base += group_size) for (u32 concord_item = 0, "
               "concord_n = "
               "concord_end - concord_base < group_size ? (u32)(concord_end - concord_base) : group_size; "
               "concord_item < "
               "concord_n; ++concord_item) " +
               open_block("const u64 " + names[0] + " = concord_base + concord_item;");
    }
    std::string open_block(const std::string& first) {
        if (tokens_.peek() != "{") return first;  // refused before
        last_ = tokens_.next().text;
        ++depth_;
        return "{ " + first;
    }

    void define(const std::string& line) {
        if (std::find(lines_.begin(), lines_.end(), line) == lines_.end()) lines_.push_back(line);
    }

    void collective(const CollectiveWord& word, const BodyToken& token) {
        copy_to(token.text);
        tokens_.next();
        std::string_view list = tokens_.inside();
        std::vector<std::string> given;
        while (!list.empty())
            given.emplace_back(take_item(list));
        const auto fail = [&](const std::string& why) {
            throw Error(ErrorCode::invalid_argument, std::string(d_.name),
                        std::string(token.text) + ": " + why);
        };
        const bool is_sub = is_sub_group(token.text);
        const bool is_vote = word.kind == CollectiveKind::vote;
        const bool is_scan = word.kind == CollectiveKind::inclusive || word.kind == CollectiveKind::exclusive;
        const bool writes = is_sub || is_scan || word.kind == CollectiveKind::shuffle;
        const bool has_function = (word.kind == CollectiveKind::reduce || is_scan) && word.operation.empty();
        const bool has_first = has_function && word.kind == CollectiveKind::exclusive;
        const bool has_from = word.kind == CollectiveKind::broadcast || word.kind == CollectiveKind::shuffle;
        const std::size_t expected = std::size_t{1} + writes + has_first + has_from + has_function + is_sub;
        if (given.size() != expected)
            fail("wrong number of arguments, got " + std::to_string(given.size()) + "; expected " +
                 std::to_string(expected));
        const auto value = [&](const std::string& name) -> const Value& {
            const Value* const found = private_value(name);
            if (found == nullptr) fail("expected the name of a private value, got '" + name + "'");
            return *found;
        };
        // Up to 32 work-items may exchange values without a barrier.
        has_met_ = has_met_ || (is_plain_ && !is_sub && u64{d_.group.x} * d_.group.y * d_.group.z > 32);
        std::size_t at = 0;
        std::string out;
        if (writes) out = place_of(value(given[at++]).name);
        const Value& v = value(given[at++]);
        const std::optional<Type> element = type_spelled(v.type);
        const std::string type(element ? name_of(*element) : v.type), in = place_of(v.name);
        const std::string first = has_first ? given[at++] : "0";
        std::string from = has_from ? given[at++] : "";
        if (word.kind == CollectiveKind::shuffle) from = place_of(value(from).name);
        const std::string operation = has_function ? given[at++] : std::string(word.operation);
        const std::string n = is_sub ? given[at] : "group_size";

        std::string id;
        if (is_vote) {
            define("CONCORD_DEFINE_COUNT(" + type + ")");
            if (many_) id = operation_on("sum", "u32", false);
        } else if (word.kind == CollectiveKind::reduce || is_scan) {
            id = operation_on(operation, type, has_function);
        } else {
            define("CONCORD_DEFINE_READ(" + type + ")");
        }
        scratch_.insert(is_vote ? "u32" : type);
        const std::string define_by = element || is_vote ? "CONCORD_DEFINE_" : "CONCORD_DEFINE_LOCAL_";
        const std::string reduce_line =
            define_by + "REDUCE(" + id + ", " + (is_vote ? "u32" : type) + ", " + apply_ + ")";
        const std::string rest = ", " + out + ", " + in + ", ";
        switch (word.kind) {
            case CollectiveKind::reduce:
                define(reduce_line);
                text_ += is_sub ? "CONCORD_REDUCE(" + id + ", " + type + rest + n + ")"
                                : "CONCORD_GROUP_REDUCE(" + id + ", " + type + ", " + in + ")";
                break;
            case CollectiveKind::vote:
                if (many_) define(reduce_line);
                text_ += is_sub ? "CONCORD_COUNT(" + type + rest + n + ", CONCORD_TEST_" + operation + ")"
                                : "CONCORD_TEST_" + operation + "(CONCORD_GROUP_COUNT(" + type + ", " + in +
                                      "), group_size)";
                break;
            case CollectiveKind::inclusive:
            case CollectiveKind::exclusive:
                // The sum of nothing is 0, and is not added.
                if (word.kind == CollectiveKind::exclusive && !has_first) id += "_from_0";
                define(define_by + "SCAN(" + id + ", " + type + ", " + apply_ + ")");
                if (word.kind == CollectiveKind::inclusive) {
                    text_ += "CONCORD_INCLUSIVE(" + id + ", " + type + rest + n + ")";
                    break;
                }
                define("CONCORD_DEFINE_READ(" + type + ")");
                define("CONCORD_DEFINE_EXCLUSIVE(" + id + ", " + type + ", " +
                       (has_first ? apply_ : "CONCORD_SECOND") + ")");
                text_ += "CONCORD_EXCLUSIVE(" + id + ", " + type + rest + first + ", " + n + ")";
                break;
            case CollectiveKind::broadcast:
                text_ += is_sub ? "CONCORD_BROADCAST(" + type + rest + from + ", " + n + ")"
                                : "CONCORD_GROUP_READ(" + type + ", " + in + ", " + from + ")";
                break;
            case CollectiveKind::shuffle:
                text_ += "CONCORD_SHUFFLE(" + type + rest + from + ", " + n + ")";
                break;
        }
        resume();
    }

    // The name of an operation on a type. Sets apply_ to the function or macro that applies it.
    std::string operation_on(const std::string& operation, const std::string& type, bool is_function) {
        const std::optional<Type> element = type_spelled(type);
        combines_floats_ = combines_floats_ || !element || is_float(*element);
        if (is_function) {
            apply_ = private_name(operation);
        } else if (operation == "sum") {
            apply_ = "concord_sum_" + type;
            define(!element || is_float(*element)
                       ? "CONCORD_FLOAT_SUM(" + type + ")"
                       : "CONCORD_SIGNED_SUM(" + type + ", " + std::string(name_of(bits_of(*element))) + ")");
        } else {
            apply_ = "concord_" + operation;
        }
        return type + (is_function ? "_by_" : "_") + operation;
    }

    const KernelDefinition& d_;
    std::string_view body_;
    bool many_;
    BodyTokens tokens_;
    const char* done_;  // the body up to here is in text_
    std::string text_;
    std::vector<Value> values_;
    std::vector<std::string_view> listed_;  // those that the phase names
    std::vector<std::string> lines_;
    std::set<std::string> scratch_;  // the types that collectives exchange
    std::string apply_;
    std::string_view last_;
    std::size_t depth_ = 0, phase_depth_ = 0, brackets_ = 0;
    bool has_phase_ = false, has_met_ = false, is_plain_ = true, combines_floats_ = false;
};

}  // namespace

namespace {

// Whether one of the collective's arguments is a function.
bool takes_function(const CollectiveWord& word) {
    return word.operation.empty() &&
           (word.kind == CollectiveKind::reduce || word.kind == CollectiveKind::inclusive ||
            word.kind == CollectiveKind::exclusive);
}

}  // namespace

std::string plain_body(const KernelDefinition& d) {
    if (d.group.rank == 0) return std::string(d.body);
    std::string text, functions;
    BodyTokens tokens(d.body);
    const char* done = d.body.data();
    for (BodyToken token = tokens.next(); !token.text.empty(); token = tokens.next()) {
        const CollectiveWord* const word = token.is_word ? collective_of(token.text) : nullptr;
        if (word == nullptr && !(token.is_word && is_group_word(token.text))) continue;
        text.append(done, token.text.data());
        done = token.text.data() + token.text.size();
        if (word == nullptr || !takes_function(*word)) continue;
        BodyTokens ahead = tokens;
        ahead.next();
        std::string_view list = ahead.inside();
        std::vector<std::string_view> arguments;
        while (!list.empty())
            arguments.push_back(take_item(list));
        const std::size_t behind = is_sub_group(token.text) ? 2 : 1;
        if (arguments.size() >= behind)
            functions.append(" ").append(arguments[arguments.size() - behind]).append("(0, 0);");
    }
    return text.append(done, d.body.data() + d.body.size()).append(functions);
}

bool combines_floats(const KernelDefinition& d) {
    return GroupWriter(d, d.body, true).combines_floats();
}

std::vector<SourceFile> group_source(const KernelDefinition& d, const Language& language,
                                     const std::vector<const NamedFunction*>& helpers, std::string& text) {
    const GroupShape& shape = d.group;
    const bool is_chosen = shape.x == 0;
    text.append(language.group);
    text.append("#define CONCORD_SECOND(x, y) y\n");
    text.append("#define group_size_x ")
        .append(is_chosen ? "(CONCORD_GROUP_SIZE + 0u)" : std::to_string(shape.x) + "u");
    text.append("\n#define group_size_y ").append(std::to_string(shape.y));
    text.append("u\n#define group_size_z ").append(std::to_string(shape.z));
    text.append("u\n#define group_size (group_size_x * group_size_y * group_size_z)\n");
    text.append("typedef struct { u64 x, y, z, count_x, count_y, count_z; } concord_group_index;\n");
    const WrittenBody written(d, language, helpers);
    text.append(definitions_of(d, language, helpers, written));
    const auto kernel = [&](const GroupWriter& body) {
        text.append(body.collectives())
            .append("CONCORD_REQUIRED_SIZE ")
            .append(language.kernel)
            .append(d.name);
        text.append("(u64 concord_count_x, u64 concord_count_y, u64 concord_count_z");
        if (!d.types.empty()) text.append(", ").append(entry_parameters(d, language));
        text.append(R"() {
#if CONCORD_BEYOND
    const u64 concord_g = CONCORD_GROUP_X;
    const concord_group_index group = {concord_g % concord_count_x, concord_g / concord_count_x % concord_count_y,
                                       concord_g / concord_count_x / concord_count_y, concord_count_x, concord_count_y,
                                       concord_count_z};
#else
    const concord_group_index group = {CONCORD_GROUP_X, CONCORD_GROUP_Y, CONCORD_GROUP_Z, concord_count_x,
                                       concord_count_y, concord_count_z};
#endif
    (void)group;
)");
        if (!language.offset.empty()) {
            const std::vector<std::string_view> parameters = parameters_of(d);
            for (std::size_t i = 0; i < parameters.size(); ++i) {
                if (!d.types[i].is_buffer) continue;
                const std::string name(name_in(d, parameters[i]));
                text.append("    ").append(name).append(" += concord_at_").append(name).append(";\n");
            }
        }
        text.append(body.scratch());
        text.append(written.body(body.text(), language)).append("}\n");
    };
    text.append("#if CONCORD_MANY\n");
    kernel(GroupWriter(d, written.text, true));
    text.append("#else\n");
    if (language.launch.has(LaunchModel::single_items)) kernel(GroupWriter(d, written.text, false));
    text.append("#endif\n");
    return {kernel_sources::group_collectives_kernel, {d.name, text}};
}

}  // namespace concord::detail
