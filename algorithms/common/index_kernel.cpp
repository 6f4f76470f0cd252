#include <concord/index_kernel.hpp>

#include <concord/internal/once.hpp>
#include <concord/internal/operator_text.hpp>
#include <concord/internal/row.hpp>
#include <concord/internal/shape.hpp>
#include <concord/internal/vocabulary.hpp>

#include <algorithm>
#include <bit>
#include <optional>

namespace concord::detail {
namespace {

constexpr u32 group_items = 256;

// "(u64 x, f32* out)" -> {"u64 x", "f32* out"}.
std::vector<std::string_view> parameters_of(const IndexKernelDefinition& d) {
    return parameters_in(d.parameters.substr(1, d.parameters.size() - 2));
}

// "const f32* in" -> "in".
std::string_view name_in(const IndexKernelDefinition& d, std::string_view declaration) {
    return declarator({d.name, d.parameters, "u64 i"}, declaration).name;
}

// "(u64 concord_nx, ..., f32* next, f32 c)"
std::string entry_head(const IndexKernelDefinition& d, std::string_view global, std::string_view offset) {
    const std::vector<std::string_view> parameters = parameters_of(d);
    std::string text =
        "(u64 concord_nx, u64 concord_ny, u64 concord_nz, u64 concord_tile_x, u64 concord_tile_y";
    for (std::size_t i = d.rank; i < parameters.size(); ++i) {
        const std::string_view name = name_in(d, parameters[i]);
        const IndexParameter& type = d.types[i - d.rank];
        text.append(", ");
        if (!type.is_buffer) {
            text.append(parameters[i]);
            continue;
        }
        const auto at = static_cast<std::size_t>(name.data() - parameters[i].data());
        text.append(global).append(parameters[i].substr(0, at)).append(" CONCORD_RESTRICT ").append(name);
        if (!offset.empty()) text.append(", ").append(offset).append(" concord_at_").append(name);
    }
    return text + ")";
}

// "NAME_body(x, y, next + concord_at_next, c);"
std::string body_call(const IndexKernelDefinition& d, bool has_offsets) {
    static constexpr std::string_view index[] = {"concord_x", "concord_y", "concord_z"};
    const std::vector<std::string_view> parameters = parameters_of(d);
    std::string text(d.name);
    text += "_body(";
    for (std::size_t i = 0; i < parameters.size(); ++i) {
        if (i > 0) text += ", ";
        const std::string_view name = name_in(d, parameters[i]);
        text.append(i < d.rank ? index[i] : name);
        if (i >= d.rank && has_offsets && d.types[i - d.rank].is_buffer)
            text.append(" + concord_at_").append(name);
    }
    return text + ");";
}

// The body as a function, after the structs and functions that it uses.
std::string body_function(const IndexKernelDefinition& d, const Language& language,
                          const std::vector<const NamedFunction*>& helpers) {
    std::string text;
    std::vector<std::string_view> defined;
    for (const IndexParameter& parameter : d.types) {
        const StructType* const type = parameter.type.structure();
        if (type == nullptr || std::find(defined.begin(), defined.end(), type->definition) != defined.end())
            continue;
        defined.push_back(type->definition);
        text.append(in_language(type->definition, language.dialect)).append("\n");
    }
    auto at_line = [&text](u32 line, std::string_view file) {
        text.append("#line ").append(std::to_string(line)).append(" \"").append(file).append("\"\n");
    };
    std::vector<std::string_view> functions(helpers.size());
    std::transform(helpers.begin(), helpers.end(), functions.begin(),
                   [](const NamedFunction* helper) { return helper->name; });
    for (const NamedFunction* helper : helpers) {
        at_line(helper->line, helper->file);
        text.append(language.function)
            .append(in_language(named(helper->text, helper->name), language.dialect, functions))
            .append("\n");
    }
    at_line(d.line, d.file);
    text.append(language.function).append("void ").append(d.name).append("_body(");
    const char* comma = "";
    const std::vector<std::string_view> parameters = parameters_of(d);
    for (std::size_t i = 0; i < parameters.size(); ++i, comma = ", ")
        text.append(comma)
            .append(i >= d.rank && d.types[i - d.rank].is_buffer ? language.global : "")
            .append(parameters[i]);
    text.append(") { ").append(in_language(d.body, language.dialect, functions)).append("\n}\n");
    at_line(1, d.name);
    return text;
}

// Whether the body may add floats by atomic_add, whose sum depends on the order: its first argument is not the name of
// a buffer of integers, perhaps after `&` and parentheses.
bool adds_floats(const IndexKernelDefinition& d) {
    constexpr std::string_view call = "atomic_add";
    const std::vector<std::string_view> parameters = parameters_of(d);
    for (std::size_t at = d.body.find(call); at != std::string_view::npos; at = d.body.find(call, at)) {
        at += call.size();
        const std::string_view rest =
            d.body.substr(std::min(d.body.find_first_not_of(" \n(&", at), d.body.size()));
        bool is_integer = false;
        for (std::size_t i = d.rank; i < parameters.size(); ++i) {
            const IndexParameter& type = d.types[i - d.rank];
            const std::string_view name = name_in(d, parameters[i]);
            const std::string_view after = rest.substr(std::min(name.size(), rest.size()), 1);
            if (rest.starts_with(name) && (after == "," || after == "[" || after == " " || after == "+"))
                is_integer = type.is_buffer && type.type.structure() == nullptr && !is_float(type.type);
        }
        if (!is_integer) return true;
    }
    return false;
}

// Whether a loop may occur in the text.
bool has_loop(std::string_view text) {
    return text.find("for (") != std::string_view::npos || text.find("for(") != std::string_view::npos ||
           text.find("while") != std::string_view::npos;
}

constexpr std::string_view index_loops = R"( {
#if CONCORD_MANY
    const u64 concord_x = CONCORD_X;
    if (concord_x >= concord_nx) return;
#if CONCORD_LOOPS
    for (u64 concord_z = CONCORD_Z; concord_z < concord_nz; concord_z += CONCORD_STEP_Z)
        for (u64 concord_y = CONCORD_Y; concord_y < concord_ny; concord_y += CONCORD_STEP_Y)
#else
    const u64 concord_z = CONCORD_Z, concord_y = CONCORD_Y;
    if (concord_y < concord_ny)
#endif
#else
    const u64 concord_tiles = (concord_nx + concord_tile_x - 1) / concord_tile_x;
    const u64 concord_begin = CONCORD_GROUP % concord_tiles * concord_tile_x;
    const u64 concord_end = min(concord_nx, concord_begin + concord_tile_x);
    const u64 concord_first = CONCORD_GROUP / concord_tiles * concord_tile_y;
    const u64 concord_last = min(concord_ny * concord_nz, concord_first + concord_tile_y);
    for (u64 concord_row = concord_first; concord_row < concord_last; ++concord_row) {
        const u64 concord_y = concord_row % concord_ny, concord_z = concord_row / concord_ny;
        for (u64 concord_x = concord_begin; concord_x < concord_end; ++concord_x)
#endif
            )";
constexpr std::string_view index_end = "\n#if !CONCORD_MANY\n    }\n#endif\n}\n";

std::string index_source(const IndexKernelDefinition& d, const Language& language,
                         const std::vector<const NamedFunction*>& helpers) {
    std::string text(language.index);
    text.append("#if CONCORD_DISTINCT\n#define CONCORD_RESTRICT ")
        .append(language.restricted)
        .append("\n#else\n#define CONCORD_RESTRICT\n#endif\n");
    text.append(body_function(d, language, helpers));
    text.append(language.kernel).append(d.name).append(entry_head(d, language.global, language.offset));
    text.append(index_loops).append(body_call(d, !language.offset.empty())).append(index_end);
    return text;
}

}  // namespace

// What calls need to know of a kernel's body, found at the first call, and its sources.
class IndexKernelCode {
  public:
    explicit IndexKernelCode(const IndexKernelDefinition& d)
        : definition_(d), helpers_(functions_called(d.body, {d.file, d.unit})) {
        for (const std::string_view parameter : parameters_of(d))
            names_.push_back(name_in(d, parameter));  // refuses a parameter without a name
        std::string all(d.body);
        unportable_ = unportable_call(d.body, helpers_);
        if (unportable_.empty() && adds_floats(d)) unportable_ = "atomic_add";
        uses_f64_ = computes_in_f64(d.body);
        bool loops = has_loop(d.body);
        for (const NamedFunction* helper : helpers_) {
            if (unportable_.empty()) unportable_ = unportable_helper(*helper, helpers_);
            all.append(helper->text);
            uses_f64_ = uses_f64_ || computes_in_f64(helper->text);
            loops = loops || has_loop(helper->text);
        }
        min_tile_ = loops ? 1 << 4 : uses_f64_ ? 1 << 9 : 1 << 13;
        Operator whole;
        whole.text = all;
        for (const IndexParameter& parameter : d.types) {
            if (const StructType* const type = parameter.type.structure()) {
                whole.text.append(type->definition);
                uses_f64_ = uses_f64_ || computes_in_f64(type->definition);
            } else {
                whole.arguments.push_back(parameter.type);
                uses_f64_ = uses_f64_ || parameter.type == Type::f64;
            }
        }
        divides_ = may_divide_f32(whole);
    }
    // The source in a language, made at the first question for it. Null where kernels are functions.
    const KernelSource* source(Dialect dialect) {
        const Language& language = language_of(dialect);
        if (!language.is_compiled()) return nullptr;
        Written& written = written_[&language - languages];
        written.once.call([&] {
            written.text = index_source(definition_, language, helpers_);
            written.source.emplace(
                definition_.name, std::vector<LanguageSource>{{.suffix = language.suffix,
                                                               .files = {{definition_.name, written.text}}}});
        });
        return &*written.source;
    }
    // The name of parameter i after the index.
    std::string_view name(std::size_t i) const { return names_[definition_.rank + i]; }
    bool uses_f64() const { return uses_f64_; }
    /// The least number of indices per task on CPUs: as many as take longer than the start of a task.
    u64 min_tile() const { return min_tile_; }
    bool is_portable(const Device& device) const {
        const DeviceTraits& traits = device.traits();
        return unportable_.empty() && traits.keeps_denormals && (traits.exact_divide_sqrt || !divides_);
    }
    Once compiled_everywhere;

  private:
    struct Written {
        Once once;
        std::string text;
        std::optional<KernelSource> source;
    };

    const IndexKernelDefinition& definition_;
    std::vector<std::string_view> names_;  // of the parameters
    std::vector<const NamedFunction*> helpers_;
    Written written_[std::size(languages)];
    std::string unportable_;
    bool divides_ = false, uses_f64_ = false;
    u64 min_tile_ = 1;
};

namespace {

IndexKernelCode& code_of(const IndexKernelDefinition& d) {
    if (IndexKernelCode* const code = d.code->load(std::memory_order_acquire)) return *code;
    auto made = std::make_unique<IndexKernelCode>(d);
    IndexKernelCode* expected = nullptr;
    // It lives as long as the definition, to which it refers.
    if (d.code->compare_exchange_strong(expected, made.get(), std::memory_order_acq_rel))
        return *made.release();
    return *expected;
}

std::shared_ptr<Kernel> compiled(Device& device, const IndexKernelDefinition& d, IndexKernelCode& code,
                                 bool is_distinct, bool loops) {
    return device.kernel(
        {.source = code.source(device.traits().dialect),
         .entry = d.name,
         .constants = {{"CONCORD_DISTINCT", is_distinct ? 1 : 0},
                       {"CONCORD_LOOPS", loops ? 1 : 0},
                       {"CONCORD_MANY", device.traits().launch == LaunchModel::groups ? 1 : 0}},
         .host = d.host,
         .max_group_size = group_items});
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

void check_operands(const Stream& stream, const IndexKernelDefinition& d, const IndexKernelCode& code,
                    std::span<const KernelArgument> arguments) {
    for (std::size_t i = 0; i < arguments.size(); ++i) {
        if (!d.types[i].is_buffer) continue;
        const auto check = d.types[i].is_const ? check_operand : check_output;
        check(d.name, code.name(i), stream, view_of(arguments[i]));
    }
}

// Whether no two buffers overlap, except inputs. Throws invalid_argument for memory that was adopted twice.
bool are_distinct(const IndexKernelDefinition& d, std::span<const KernelArgument> arguments) {
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
std::shared_ptr<Buffer> place_empty(Stream& stream, const IndexKernelDefinition& d,
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

void refuse_index_view(const IndexKernelDefinition& d, std::size_t index, const ElementType& type) {
    throw Error(ErrorCode::invalid_argument, std::string(d.name),
                "wrong element type of '" + std::string(name_in(d, parameters_of(d)[d.rank + index])) +
                    "', got a view of " + std::string(name_of(type)) + "; expected " +
                    std::string(name_of(d.types[index].type)));
}

std::vector<std::string> check_index_kernel(const IndexKernelDefinition& d) {
    IndexKernelCode& code = code_of(d);
    std::vector<std::string> selectors;
    for (const std::shared_ptr<Device>& device : devices_to_compile_for()) {
        if (code.uses_f64() && !device->traits().fp64) continue;
        compiled(*device, d, code, true, false);
        selectors.push_back(device->info().selector);
    }
    return selectors;
}

Enqueued run_index_kernel(Stream& stream, const IndexKernelDefinition& d, const std::array<u64, 3>& extents,
                          std::span<const KernelArgument> arguments, bool compile_everywhere) {
    Device& device = stream.device();
    IndexKernelCode& code = code_of(d);
    check_operands(stream, d, code, arguments);
    if (code.uses_f64() && !device.traits().fp64)
        throw Error(
            ErrorCode::unsupported, std::string(d.name),
            device.info().selector + " has no f64 arithmetic, in which exp and other math functions compute");
    const auto [nx, ny, nz] = extents;
    const CheckedSize rows = CheckedSize(ny) * nz, all_indices = rows * nx;
    if (!all_indices.fits(~u64{0} >> 1))
        throw Error(ErrorCode::invalid_argument, d.name,
                    "too many indices, got " + size_name({nx, ny, nz}) + "; the limit is 2^63 - 1");
    constexpr u64 max_groups = 65535;  // along y and z
    // A work-item beyond the limit of groups would need a loop, which costs a tenth of a memory-bound kernel's speed.
    const bool loops = device.traits().launch == LaunchModel::groups && (ny > max_groups || nz > max_groups);
    const auto kernel = compiled(device, d, code, are_distinct(d, arguments), loops);
    if (compile_everywhere) code.compiled_everywhere.call([&] { check_index_kernel(d); });

    const Enqueued enqueued{
        "", &device, code.is_portable(device) ? OperationOrder::canonical : OperationOrder::unspecified};
    if (nx == 0 || ny == 0 || nz == 0) return enqueued;
    LaunchShape shape;
    u64 tile_x = 0, tile_y = 0;
    if (device.traits().launch == LaunchModel::groups) {
        const i64 most = kernel->attributes().max_group_size;  // -1: unknown
        const u32 items =
            std::bit_floor(most > 0 ? static_cast<u32>(std::min<i64>(group_items, most)) : group_items);
        const u32 widest = d.rank == 1 ? items : std::min<u32>(items, 64);
        shape.group_size_x =
            static_cast<u32>(std::min<u64>(widest, std::bit_ceil(std::min<u64>(nx, widest))));
        shape.group_size_y = static_cast<u32>(
            std::min<u64>(items / shape.group_size_x, std::bit_ceil(std::min<u64>(ny, items))));
        tile_x = shape.group_size_x;
        tile_y = shape.group_size_y;
        shape.groups_x = divide_up(nx, tile_x);
        shape.groups_y = std::min(max_groups, divide_up(ny, tile_y));
        shape.groups_z = std::min(max_groups, nz);
    } else {
        // At most 64 tiles per unit.
        const u64 tile =
            std::max(code.min_tile(), divide_up(all_indices.value(), u64{64} * device.traits().units));
        tile_x = std::min(nx, tile);
        tile_y = std::max<u64>(1, tile / tile_x);
        shape.groups_x = divide_up(nx, tile_x) * divide_up(ny * nz, tile_y);
        shape.group_size_x = 1;
    }
    const u64 sizes[] = {nx, ny, nz, tile_x, tile_y};
    const std::size_t count = std::size(sizes) + arguments.size();
    std::array<KernelArgument, 32> few;  // a launch does not allocate
    std::vector<KernelArgument> many(count > few.size() ? count : 0);
    const std::span<KernelArgument> all(many.empty() ? few.data() : many.data(), count);
    const auto rest = std::transform(std::begin(sizes), std::end(sizes), all.begin(),
                                     [](const u64& size) { return argument(size); });
    std::copy(arguments.begin(), arguments.end(), rest);
    const std::shared_ptr<Buffer> place = place_empty(stream, d, all.last(arguments.size()));
    stream.launch(*kernel, shape, all);
    return enqueued;
}

void free_code(std::atomic<IndexKernelCode*>& code) {
    delete code.exchange(nullptr);
}

}  // namespace concord::detail
