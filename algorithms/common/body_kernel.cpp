#include <concord/detail/group_body.hpp>
#include <concord/group_kernel.hpp>
#include <concord/index_kernel.hpp>
#include <concord/internal/body_kernel.hpp>

#include <concord/internal/address_spaces.hpp>
#include <concord/internal/operands.hpp>
#include <concord/internal/operator_text.hpp>
#include <concord/internal/row.hpp>
#include <concord/internal/shape.hpp>
#include <concord/internal/vocabulary.hpp>

#include <algorithm>
#include <bit>

namespace concord::detail {
namespace {

// The number of work-items of a group, and of a group kernel's items where one work-item runs them.
u32 group_size_on(const Device& device, const KernelDefinition& d) {
    if (d.group.rank == 0) return index_group_size;
    if (d.group.x > 0) return d.group.x * d.group.y * d.group.z;
    const DeviceTraits& traits = device.traits();
    return traits.launch == LaunchModel::groups
               ? std::bit_floor(std::min(host_group_size, traits.max_group_size))
               : host_group_size;
}

void append_line(std::string& text, u32 line, std::string_view file) {
    text.append("#line ").append(std::to_string(line)).append(" \"").append(file).append("\"\n");
}

// The names of the buffers and of the local memory that hold integers.
std::vector<std::string_view> integers_of(const KernelDefinition& d) {
    std::vector<std::string_view> names;
    const std::vector<std::string_view> parameters = parameters_of(d);
    for (std::size_t i = d.rank; i < parameters.size(); ++i) {
        const BodyParameter& type = d.types[i - d.rank];
        if (type.is_buffer && type.type.structure() == nullptr && !is_float(type.type))
            names.push_back(name_in(d, parameters[i]));
    }
    if (d.group.rank == 0) return names;
    BodyTokens tokens(d.body);
    for (BodyToken token = tokens.next(); !token.text.empty(); token = tokens.next()) {
        if (token != "CONCORD_LOCAL") continue;
        tokens.next();
        std::string_view list = tokens.inside();
        const std::optional<Type> type = type_spelled(in_language(take_item(list), Dialect::opencl));
        if (type && !is_float(*type)) names.push_back(take_item(list));
    }
    return names;
}

// Whether the body may add floats by atomic_add, whose sum depends on the order: its first argument is not the name of
// a buffer of integers, perhaps after `&` and parentheses.
bool adds_floats(const KernelDefinition& d) {
    const std::vector<std::string_view> integers = integers_of(d);
    BodyTokens tokens(d.body);
    for (BodyToken token = tokens.next(); !token.text.empty(); token = tokens.next()) {
        if (token != "atomic_add") continue;
        BodyToken first = tokens.next();
        while (first == "(" || first == "&")
            first = tokens.next();
        if (std::find(integers.begin(), integers.end(), first.text) == integers.end()) return true;
    }
    return false;
}

// Whether a loop may occur in the text.
bool has_loop(std::string_view text) {
    return text.find("for (") != std::string_view::npos || text.find("for(") != std::string_view::npos ||
           text.find("while") != std::string_view::npos;
}

}  // namespace

WrittenBody::WrittenBody(const KernelDefinition& d, const Language& language,
                         const std::vector<const NamedFunction*>& helpers)
    : definition(d), text(with_constants(d.body, {d.file, d.unit}, d.parameters)) {
    if (language.global.empty()) {
        for (const NamedFunction* helper : helpers) {
            if (helper->kind != NamedKind::function) continue;
            for (const std::string& form : texts_of(*helper))
                functions.push_back({helper, std::string(helper->name), form});
        }
        return;
    }
    PointerSpaces pointers;
    const std::vector<std::string_view> parameters = parameters_of(d);
    for (std::size_t i = d.rank; i < parameters.size(); ++i) {
        if (d.types[i - d.rank].is_buffer) pointers.emplace(name_in(d, parameters[i]), AddressSpace::global);
    }
    SpacedText spaced = with_address_spaces(text, std::move(pointers), helpers);
    functions = forms_called(spaced, helpers);
    text = std::move(spaced.text);
}

std::string WrittenBody::in_language(std::string_view source, const Language& language) const {
    std::vector<std::string_view> names(functions.size());
    std::transform(functions.begin(), functions.end(), names.begin(),
                   [](const FunctionForm& function) { return std::string_view(function.name); });
    return detail::in_language(source, language.dialect, names);
}

std::string WrittenBody::body(std::string_view body, const Language& language) const {
    std::string source;
    append_line(source, definition.line, definition.file);
    source.append(in_language(body, language)).append("\n");
    append_line(source, 1, definition.name);
    return source;
}

std::vector<std::string_view> parameters_of(const KernelDefinition& d) {
    const std::string_view list = d.parameters.substr(1, d.parameters.size() - 2);
    return list.empty() ? std::vector<std::string_view>() : parameters_in(list);
}

std::string_view name_in(const KernelDefinition& d, std::string_view declaration) {
    return declarator({d.name, d.parameters, "u64 i"}, declaration).name;
}

std::string parameter_type(const KernelDefinition& d, std::string_view declaration,
                           const Language& language) {
    return in_language(declarator({d.name, d.parameters, "u64 i"}, declaration).type, language.dialect);
}

std::string entry_parameters(const KernelDefinition& d, const Language& language) {
    const std::vector<std::string_view> parameters = parameters_of(d);
    std::string text;
    for (std::size_t i = d.rank; i < parameters.size(); ++i) {
        if (i > d.rank) text += ", ";
        const std::string_view name = name_in(d, parameters[i]);
        const std::string type = parameter_type(d, parameters[i], language);
        if (!d.types[i - d.rank].is_buffer) {
            // OpenCL C has no parameters of type bool.
            text.append(type == "bool" ? name_of(Type::u8) : type).append(" ").append(name);
            continue;
        }
        text.append(language.global).append(type).append(" CONCORD_RESTRICT ").append(name);
        if (!language.offset.empty())
            text.append(", ").append(language.offset).append(" concord_at_").append(name);
    }
    return text;
}

std::string definitions_of(const KernelDefinition& d, const Language& language,
                           const std::vector<const NamedFunction*>& helpers, const WrittenBody& body) {
    std::string text("#if CONCORD_DISTINCT\n#define CONCORD_RESTRICT ");
    text.append(language.restricted).append("\n#else\n#define CONCORD_RESTRICT\n#endif\n");
    if (!language.global.empty()) text += "#define CONCORD_LOCAL_SPACE __local\n";
    std::vector<std::string_view> defined{""};  // vectors have no definition of their own
    const auto define = [&](const std::string& definition) {
        text.append(in_language(definition, language.dialect)).append("\n");
    };
    for (const NamedFunction* helper : helpers) {
        if (helper->kind != NamedKind::structure) continue;
        defined.push_back(helper->text);
        define(texts_of(*helper).front());
    }
    for (const BodyParameter& parameter : d.types) {
        const StructType* const type = parameter.type.structure();
        if (type == nullptr || std::find(defined.begin(), defined.end(), type->definition) != defined.end())
            continue;
        defined.push_back(type->definition);
        define(std::string(type->definition));
    }
    for (const FunctionForm& form : body.functions) {
        const std::string macro = language.is_c ? reference_macro(form) : std::string();
        append_line(text, form.function->line, form.function->file);
        text.append(language.function)
            .append(body.in_language(named(form.text, form.name + (macro.empty() ? "" : "_of")), language))
            .append("\n")
            .append(macro);
    }
    return text;
}

KernelCode::KernelCode(const KernelDefinition& d)
    : definition_(d),
      helpers_(functions_called(std::string(d.parameters) + " " + plain_body(d), {d.file, d.unit})) {
    for (const std::string_view parameter : parameters_of(d))
        names_.push_back(name_in(d, parameter));  // refuses a parameter without a name
    const bool is_index = d.group.rank == 0;
    const std::string body = plain_body(d);
    std::string all = with_constants(body, {d.file, d.unit}, d.parameters);
    uses_f64_ = computes_in_f64(all);
    unportable_ = unportable_call(body, helpers_);
    if (unportable_.empty() && adds_floats(d)) unportable_ = "atomic_add";
    if (unportable_.empty() && !is_index && d.group.x == 0 && combines_floats(d)) unportable_ = "collective";
    bool loops = has_loop(body);
    for (const NamedFunction* helper : helpers_) {
        if (unportable_.empty()) unportable_ = unportable_helper(*helper, helpers_);
        for (const std::string& text : texts_of(*helper)) {
            all.append(text);
            uses_f64_ = uses_f64_ || computes_in_f64(text);
            loops = loops || has_loop(text);
        }
    }
    min_tile_ = loops ? 1 << 4 : uses_f64_ ? 1 << 9 : 1 << 13;
    Operator whole;
    whole.text = all;
    for (const BodyParameter& parameter : d.types) {
        if (const StructType* const type = parameter.type.structure()) {
            whole.text.append(" ").append(type->name).append(" ").append(type->definition);
            uses_f64_ = uses_f64_ || computes_in_f64(type->name) || computes_in_f64(type->definition);
        } else {
            whole.arguments.push_back(parameter.type);
            uses_f64_ = uses_f64_ || parameter.type == Type::f64;
        }
    }
    divides_ = may_divide_f32(whole);
}
const KernelSource* KernelCode::source(Dialect dialect) {
    const Language& language = language_of(dialect);
    if (!language.is_compiled()) return nullptr;
    Written& written = written_[&language - languages];
    written.once.call([&] {
        std::vector<SourceFile> files;
        if (definition_.group.rank == 0) {
            written.text = index_source(definition_, language, helpers_);
            files = {{definition_.name, written.text}};
        } else {
            files = group_source(definition_, language, helpers_, written.text);
        }
        written.source.emplace(definition_.name, std::vector<LanguageSource>{
                                                     {.suffix = language.suffix, .files = std::move(files)}});
    });
    return &*written.source;
}
bool KernelCode::is_portable(const Device& device) const {
    const DeviceTraits& traits = device.traits();
    return unportable_.empty() && traits.keeps_denormals && (traits.exact_divide_sqrt || !divides_);
}

KernelCode& code_of(const KernelDefinition& d) {
    if (KernelCode* const code = d.code->load(std::memory_order_acquire)) return *code;
    auto made = std::make_unique<KernelCode>(d);
    KernelCode* expected = nullptr;
    // It lives as long as the definition, to which it refers.
    if (d.code->compare_exchange_strong(expected, made.get(), std::memory_order_acq_rel))
        return *made.release();
    return *expected;
}

namespace {

// A name in capitals that the compiler does not know, which may be a macro of the program. Often empty.
std::string unknown_macro(std::string_view log) {
    for (const std::string_view message : {"undeclared identifier '", "identifier \""}) {
        const std::size_t at = log.find(message);
        if (at == std::string_view::npos) continue;
        const std::string_view name = log.substr(
            at + message.size(), log.find_first_of("'\"", at + message.size()) - at - message.size());
        const bool is_capital = std::all_of(name.begin(), name.end(), [](char c) {
            return c == '_' || (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z');
        });
        if (is_capital) return std::string(name);
    }
    return {};
}

std::shared_ptr<Kernel> compiled(Device& device, const KernelDefinition& d, KernelCode& code,
                                 bool is_distinct, bool is_beyond) {
    const bool is_many = device.traits().launch == LaunchModel::groups;
    const u32 group_size = group_size_on(device, d);
    try {
        return device.kernel({.source = code.source(device.traits().dialect),
                              .entry = d.name,
                              .constants = {{"CONCORD_DISTINCT", is_distinct ? 1 : 0},
                                            {"CONCORD_BEYOND", is_beyond ? 1 : 0},
                                            {"CONCORD_MANY", is_many ? 1 : 0},
                                            {"CONCORD_GROUP_SIZE", group_size}},
                              .host = d.host,
                              .max_group_size = is_many ? group_size : 1});
    } catch (const Error& error) {
        const std::string name =
            error.code() == ErrorCode::compile_failed ? unknown_macro(error.what()) : std::string();
        if (name.empty()) throw;
        throw Error(error.code(), d.name,
                    std::string(error.what()) +
                        "\nMacros and constants of the program are unknown on devices; define '" + name +
                        "' by CONCORD_CONSTANT(type, " + name + ", value)");
    }
}

// A device of each backend that is available, and CUDA's compiler if there is no GPU.
std::vector<std::shared_ptr<Device>> devices_to_compile_for() {
    std::vector<std::string> selectors = device_selectors();
    selectors.emplace_back("cuda@sm_90");
    std::vector<std::shared_ptr<Device>> devices;
    for (const std::string& selector : selectors) {
        const std::string_view backend = std::string_view(selector).substr(0, selector.find_first_of(":@"));
        if (std::any_of(devices.begin(), devices.end(),
                        [&](const auto& device) { return device->info().backend == backend; }))
            continue;
        try {
            devices.push_back(open_device(selector));
        } catch (const Error&) {
            continue;  // not available
        }
    }
    return devices;
}

View view_of(const KernelArgument& argument) {
    return {argument.buffer, argument.offset, argument.count, argument.type.value_or(Type::u8)};
}

void check_operands(const Stream& stream, const KernelDefinition& d, const KernelCode& code,
                    std::span<const KernelArgument> arguments) {
    for (std::size_t i = 0; i < arguments.size(); ++i) {
        if (!d.types[i].is_buffer) continue;
        check_movable(d.name, code.name(i), stream, view_of(arguments[i]));
        if (!d.types[i].is_const) check_writable(d.name, code.name(i), view_of(arguments[i]));
    }
}

// Whether no two buffers overlap, except inputs. Throws invalid_argument for memory that was adopted twice.
bool are_distinct(const KernelDefinition& d, std::span<const KernelArgument> arguments) {
    for (std::size_t i = 0; i < arguments.size(); ++i) {
        for (std::size_t j = 0; j < i; ++j) {
            if (arguments[i].buffer == nullptr || arguments[j].buffer == nullptr) continue;
            if (d.types[i].is_const && d.types[j].is_const) continue;
            if (arguments[j].buffer == arguments[i].buffer) return false;
            overlap(view_of(arguments[i]), view_of(arguments[j]));
        }
    }
    return true;
}

// A work-item may do nothing with a range that has no elements, but a launch needs a buffer for it.
std::shared_ptr<Buffer> place_empty(Stream& stream, const KernelDefinition& d,
                                    std::span<KernelArgument> arguments) {
    std::shared_ptr<Buffer> place;
    for (std::size_t i = 0; i < arguments.size(); ++i) {
        if (!d.types[i].is_buffer || arguments[i].buffer != nullptr) continue;
        if (!place) place = stream.scratch(1);
        arguments[i].buffer = place.get();
        arguments[i].offset = place->begin();
    }
    return place;
}

}  // namespace

void refuse_view(const KernelDefinition& d, std::size_t index, const ElementType& type) {
    throw Error(ErrorCode::invalid_argument, std::string(d.name),
                "wrong element type of '" + std::string(name_in(d, parameters_of(d)[d.rank + index])) +
                    "', got a view of " + std::string(name_of(type)) + "; expected " +
                    std::string(name_of(d.types[index].type)));
}

void refuse_views(std::string_view kernel, std::span<const Type> types) {
    std::string names;
    for (const Type type : types)
        names.append(names.empty() ? "" : ", ").append(name_of(type));
    throw Error(ErrorCode::invalid_argument, std::string(kernel),
                "the views of the arguments have no common type of the kernel's list: " + names);
}

std::vector<std::string> check_kernel(const KernelDefinition& d) {
    KernelCode& code = code_of(d);
    std::vector<std::string> selectors;
    for (const std::shared_ptr<Device>& device : devices_to_compile_for()) {
        if (code.uses_f64() && !device->traits().fp64) continue;
        compiled(*device, d, code, true, false);
        selectors.push_back(device->info().selector);
    }
    return selectors;
}

KernelCall::KernelCall(Stream& stream, const KernelDefinition& definition,
                       std::span<const KernelArgument> arguments, bool is_beyond, bool compile_everywhere)
    : stream_(stream), definition_(definition), code_(code_of(definition)), arguments_(arguments) {
    Device& device = stream.device();
    check_operands(stream, definition, code_, arguments);
    if (code_.uses_f64() && !device.traits().fp64)
        throw Error(
            ErrorCode::unsupported, std::string(definition.name),
            device.info().selector + " has no f64 arithmetic, in which exp and other math functions compute");
    kernel_ = compiled(device, definition, code_, are_distinct(definition, arguments), is_beyond);
    if (compile_everywhere) code_.compiled_everywhere.call([&] { check_kernel(definition); });
}

u32 KernelCall::group_size() const {
    return group_size_on(stream_.device(), definition_);
}

Enqueued KernelCall::result() const {
    Device& device = stream_.device();
    return {"", &device, code_.is_portable(device) ? OperationOrder::canonical : OperationOrder::unspecified};
}

void KernelCall::launch(const LaunchShape& shape, std::span<const u64> sizes) {
    const std::size_t count = sizes.size() + arguments_.size();
    std::array<KernelArgument, 32> few;  // a launch does not allocate
    std::vector<KernelArgument> many(count > few.size() ? count : 0);
    const std::span<KernelArgument> all(many.empty() ? few.data() : many.data(), count);
    const auto rest = std::transform(sizes.begin(), sizes.end(), all.begin(),
                                     [](const u64& size) { return argument(size); });
    std::copy(arguments_.begin(), arguments_.end(), rest);
    const std::shared_ptr<Buffer> place = place_empty(stream_, definition_, all.last(arguments_.size()));
    stream_.launch(*kernel_, shape, all);
}

Enqueued run_kernel(Stream& stream, const KernelDefinition& d, const std::array<u64, 3>& counts,
                    std::span<const KernelArgument> arguments) {
    const auto run = d.group.rank == 0 ? run_index_kernel : run_group_kernel;
    return run(stream, d, counts, arguments, false);
}

void free_code(std::atomic<KernelCode*>& code) {
    delete code.exchange(nullptr);
}

}  // namespace concord::detail
