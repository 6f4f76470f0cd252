#include <concord/internal/number_text.hpp>
#include <concord/text_kernel.hpp>

#include <concord/internal/operator_text.hpp>
#include <concord/internal/shape.hpp>

#include <algorithm>
#include <cctype>
#include <cstring>

namespace concord {

namespace detail {

// Owns what the definition refers to.
struct TextKernelState {
    std::string name, parameters, body;
    std::vector<TextKernel::Parameter> list;
    std::vector<BodyParameter> types;
    std::atomic<KernelCode*> code = nullptr;
    KernelDefinition definition;

    TextKernelState() = default;
    TextKernelState(const TextKernelState&) = delete;
    TextKernelState& operator=(const TextKernelState&) = delete;
    ~TextKernelState() { free_code(code); }
};

}  // namespace detail

namespace {

constexpr std::string_view example = "void twice(u64 i, f32* x) { x[i] *= 2; }";
constexpr std::string_view group_example = "void twice(f32* x) { CONCORD_ITEMS((t)) { x[t] *= 2; } }";

// Removes a first word "const" and the spaces after it. Whether it was there.
bool take_const(std::string_view& text) {
    constexpr std::string_view word = "const";
    if (!text.starts_with(word) || text.size() == word.size() ||
        std::isspace(static_cast<unsigned char>(text[word.size()])) == 0)
        return false;
    text.remove_prefix(word.size());
    while (!text.empty() && std::isspace(static_cast<unsigned char>(text.front())) != 0)
        text.remove_prefix(1);
    return true;
}

// The type of a buffer's elements.
ElementType pointed_type(const detail::DefinitionText& definition, std::string_view text) {
#define CONCORD_IF_NAMED(NAME) \
    if (text == #NAME) return element_type_of<NAME>();
    CONCORD_VECTORS(CONCORD_IF_NAMED)
#undef CONCORD_IF_NAMED
    return detail::element_type(definition, text);
}

// "const f32* now" -> {"now", f32, true, true}.
TextKernel::Parameter parameter_of(const detail::DefinitionText& definition, std::string_view text) {
    const detail::Declarator parts = detail::declarator(definition, text);
    TextKernel::Parameter parameter{.name = std::string(parts.name), .type = Type::u8};
    std::string_view type = parts.type;
    parameter.is_const = take_const(type);
    if (type.ends_with('*')) {
        parameter.is_buffer = true;
        type.remove_suffix(1);
        while (!type.empty() && std::isspace(static_cast<unsigned char>(type.back())) != 0)
            type.remove_suffix(1);
    } else {
        parameter.is_const = false;
    }
    parameter.type = parameter.is_buffer ? pointed_type(definition, type)
                                         : ElementType(detail::element_type(definition, type));
    if (parameter.type.structure() == nullptr && is_storage(parameter.type))
        detail::refuse_type(parameter.type);
    return parameter;
}

// "const f32*"
std::string spelled(const TextKernel::Parameter& parameter) {
    return (parameter.is_const ? "const " : "") + std::string(name_of(parameter.type)) +
           (parameter.is_buffer ? "*" : "");
}

bool is_index(const TextKernel::Parameter& parameter) {
    return !parameter.is_buffer && parameter.type == Type::u64;
}

std::string count_name(std::size_t count, std::string_view what) {
    return std::to_string(count) + " " + std::string(what) + (count == 1 ? "" : "s");
}

// Reads the parameters and the place of the body. Index parameters stay in the list.
std::shared_ptr<detail::TextKernelState> read(const detail::DefinitionText& definition,
                                              const HostKernel& host) {
    const detail::DefinitionParts parts = detail::parts_of(definition);
    if (parts.head.type != "void")
        definition.refuse("expected the result type void instead of " + detail::quoted(parts.head.type));
    auto state = std::make_shared<detail::TextKernelState>();
    state->name = parts.head.name;
    state->body = definition.text.substr(parts.brace);
    for (const std::string_view parameter : parts.parameters) {
        if (!parameter.empty()) state->list.push_back(parameter_of(definition, parameter));
    }
    state->parameters = "(";
    for (const TextKernel::Parameter& parameter : state->list)
        state->parameters.append(state->parameters.size() == 1 ? "" : ", ")
            .append(spelled(parameter))
            .append(" ")
            .append(parameter.name);
    state->parameters += ")";
    // Messages of compilers count lines from the start of the text.
    const auto lines = std::count(definition.text.begin(),
                                  definition.text.begin() + static_cast<std::ptrdiff_t>(parts.brace), '\n');
    state->definition = {.name = state->name,
                         .parameters = state->parameters,
                         .body = state->body,
                         .file = state->name,
                         .line = 1 + static_cast<u32>(lines),
                         .rank = 0,
                         .types = {},
                         .host = host,
                         .code = &state->code};
    return state;
}

TextKernel finished(std::shared_ptr<detail::TextKernelState> state) {
    for (const TextKernel::Parameter& parameter : state->list)
        state->types.push_back(
            {.is_buffer = parameter.is_buffer, .is_const = parameter.is_const, .type = parameter.type});
    state->definition.types = state->types;
    return TextKernel(std::move(state));
}

std::string_view explanation(detail::GroupFault fault) {
    switch (fault) {
#define CONCORD_FAULT_TEXT(NAME, TEXT) \
    case detail::GroupFault::NAME:     \
        return TEXT;
        CONCORD_GROUP_FAULTS(CONCORD_FAULT_TEXT)
#undef CONCORD_FAULT_TEXT
        case detail::GroupFault::none:
            break;
    }
    return {};
}

}  // namespace

TextKernel index_kernel_from_text(std::string_view text, const HostKernel& host) {
    const detail::DefinitionText definition{"index_kernel_from_text", text, example};
    auto state = read(definition, host);
    const auto first = std::find_if_not(state->list.begin(), state->list.end(), is_index);
    const auto rank = static_cast<u32>(first - state->list.begin());
    if (rank < 1 || rank > 3)
        definition.refuse(
            "expected one, two or three parameters of type u64 first, the index, before a buffer or a value "
            "of another type");
    state->list.erase(state->list.begin(), first);
    state->definition.rank = rank;
    return finished(std::move(state));
}

TextKernel group_kernel_from_text(std::string_view text, const AnyExtents& group_size,
                                  const HostKernel& host) {
    constexpr std::string_view call = "group_kernel_from_text";
    const detail::DefinitionText definition{call, text, group_example};
    auto state = read(definition, host);
    const auto& [x, y, z] = group_size.values();
    if (!detail::is_group_size(group_size.rank(), x, y, z))
        throw Error(
            ErrorCode::invalid_argument, std::string(call),
            "invalid group size, got " + detail::size_name({x, y, z}) + "; expected 1 to 1024 work-items");
    state->definition.group = {group_size.rank(), static_cast<u32>(x), static_cast<u32>(y),
                               static_cast<u32>(z)};
    // The body without its braces, as CONCORD_GROUP_KERNEL has it.
    detail::BodyTokens tokens(state->body);
    tokens.next();
    const std::string_view body = tokens.inside();
    if (body.size() + 1 == state->body.size()) definition.refuse("missing } at the end of the body");
    if (const detail::BodyToken next = tokens.peek(); !next.text.empty())
        definition.refuse("expected the end of the text after the body instead of " +
                          detail::quoted(next.text));
    state->definition.body = body;
    const auto [fault, word] =
        detail::GroupScan::of(state->definition.body, state->definition.parameters, group_size.rank());
    if (fault != detail::GroupFault::none) {
        const auto line =
            state->definition.line + std::count(body.data(), word.empty() ? body.data() : word.data(), '\n');
        throw Error(ErrorCode::invalid_argument, state->name,
                    "line " + std::to_string(line) + ", " + detail::quoted(word) + ": " +
                        std::string(explanation(fault)));
    }
    return finished(std::move(state));
}

const std::string& TextKernel::name() const {
    return state_->name;
}
u32 TextKernel::rank() const {
    return state_->definition.rank;
}
const std::vector<TextKernel::Parameter>& TextKernel::parameters() const {
    return state_->list;
}
const detail::KernelDefinition& TextKernel::definition() const {
    return state_->definition;
}

std::string TextKernel::signature() const {
    std::string text = name() + "(";
    const char* comma = "";
    for (u32 i = 0; i < rank(); ++i, comma = ", ")
        text.append(comma).append("u64");
    for (const Parameter& parameter : parameters()) {
        text.append(comma).append(spelled(parameter));
        comma = ", ";
    }
    return text + ")";
}

Enqueued TextKernel::run(Stream& stream, const AnyExtents& extents,
                         std::span<const Argument> arguments) const {
    const auto refuse = [this](const std::string& why) {
        throw Error(ErrorCode::invalid_argument, name(), why);
    };
    const bool is_index = rank() > 0;
    if (is_index && extents.rank() != rank())
        refuse("wrong number of extents, got " + std::to_string(extents.rank()) + "; " + signature() +
               " has " + count_name(rank(), "dimension"));
    if (arguments.size() != parameters().size())
        refuse("wrong number of arguments, got " + std::to_string(arguments.size()) + "; " + signature() +
               " takes " + std::to_string(parameters().size()) + (is_index ? " after the index" : ""));
    const Device& device = stream.device();
    if (device.traits().launch == LaunchModel::host && !state_->definition.host)
        throw Error(ErrorCode::unsupported, name(),
                    device.info().selector + " has no run-time compiler; pass a host kernel with the text");
    std::vector<KernelArgument> list;
    std::vector<u64> values(arguments.size());  // of numbers
    for (std::size_t i = 0; i < arguments.size(); ++i) {
        const Parameter& parameter = parameters()[i];
        const Argument& argument = arguments[i];
        const View* const view = std::get_if<View>(&argument.value_);
        if (parameter.is_buffer != (view != nullptr))
            refuse("'" + parameter.name + "' is a " + (parameter.is_buffer ? "buffer" : "value") +
                   ", got a " + (view != nullptr ? "buffer" : "number"));
        if (view != nullptr) {
            if (view->type != parameter.type) detail::refuse_view(state_->definition, i, view->type);
            if (argument.is_const_ && !parameter.is_const)
                refuse("the kernel may write to '" + parameter.name + "', and the range is constant");
            list.push_back(detail::unchecked_argument(*view));
            continue;
        }
        detail::visit_type(parameter.type, [&]<class T>(detail::TypeTag<T>) {
            const auto convert = [&]<class N>(const N& number) {
                if constexpr (std::is_floating_point_v<N> && !std::is_floating_point_v<T>) {
                    refuse("no value of the parameter '" + parameter.name + "', got " +
                           detail::general_text(number, 17) + "; its type is " +
                           std::string(name_of(parameter.type)));
                } else if constexpr (std::is_arithmetic_v<N>) {
                    const T value = detail::bound_value<T>(name(), number);
                    std::memcpy(&values[i], &value, sizeof value);
                }
            };
            std::visit(convert, argument.value_);
        });
        list.push_back({.value = &values[i], .size = size_of(parameter.type), .type = parameter.type});
    }
    return detail::run_kernel(stream, state_->definition, extents.values(), list);
}

}  // namespace concord
