#include "expression_nodes.hpp"
#include "map_math.hpp"

#include <concord/detail/checked_size.hpp>
#include <concord/error.hpp>
#include <concord/internal/builtin_operator.hpp>
#include <concord/internal/number_text.hpp>
#include <concord/internal/operands.hpp>
#include <concord/map.hpp>
#include <concord/stream_memory.hpp>

#include <algorithm>
#include <cstring>

namespace concord::detail {
namespace {

template <class T>
CONCORD_BUILTIN_OF((T), u64, flag, (T x), return x != 0 ? 1 : 0;)
template <class T>
CONCORD_BUILTIN_OF((T), u8, below, (u8 flag, T i, T count), return u8(flag != 0 && i < count);)

[[noreturn]] void refuse(std::string_view call, const std::string& why) {
    throw Error(ErrorCode::invalid_argument, call, why);
}

[[noreturn]] void refuse_size() {
    refuse("expression",
           "no size: counting() and constant() have any; take a range, or strided() with extents");
}

void append_bytes(std::vector<std::byte>& to, const void* from, std::size_t size) {
    const std::size_t at = to.size();
    to.resize(at + size);
    std::memcpy(to.data() + at, from, size);
}

ExpressionNode transform_of(const Operator& op, std::span<const std::byte> bound, const BlockKernel& kernel,
                            std::vector<ExpressionPointer> inputs) {
    ExpressionNode node{.kind = ExpressionKind::transform, .type = op.result};
    node.count = count_of_all("transform", inputs);
    node.inputs = std::move(inputs);
    node.op = &op;
    node.kernel = kernel;
    if (kernel.is_flags) node.type = Type::u8;
    node.values.assign(bound.begin(), bound.end());
    return node;
}

void check_floats(std::string_view function, Type type) {
    if (is_float(type)) return;
    throw Error(ErrorCode::unsupported, "transform",
                std::string(function) + " supports f32 and f64, got " + std::string(name_of(type)));
}

void check_one_type(const ExpressionNode& a, const ExpressionNode& b) {
    check_same_type("transform", {{"x", a.type}, {"y", b.type}});
}

constexpr std::array<std::byte, 4> no_values{};  // a built-in function has no bound values

BlockKernel map_kernel(const MapHost* host) {
    return {.kernel = host->vectorized, .is_map = true};
}

// Calls f with the node and those that it is made of. `in_place`: whether element i of the expression needs element i
// of the node only.
template <class F>
void visit_nodes(const ExpressionNode& node, bool in_place, const F& f) {
    f(node, in_place);
    const bool moves = node.kind == ExpressionKind::gather || node.kind == ExpressionKind::strided;
    for (std::size_t i = 0; i < node.inputs.size(); ++i)
        visit_nodes(*node.inputs[i], in_place && (!moves || (node.kind == ExpressionKind::gather && i == 1)),
                    f);
}
template <class F>
void visit_nodes(const Input& in, const F& f) {
    if (in.node) visit_nodes(*in.node, true, f);
}

// Whether the node has arithmetic on floats, which some devices do without denormals.
bool computes_floats(const ExpressionNode& node) {
    if (node.kind != ExpressionKind::transform && node.kind != ExpressionKind::convert &&
        node.kind != ExpressionKind::counting)
        return false;
    return is_float(node.type) || std::any_of(node.inputs.begin(), node.inputs.end(),
                                              [](const ExpressionPointer& in) { return is_float(in->type); });
}

}  // namespace

ExpressionPointer made(std::string_view call, ExpressionNode node) {
    for (const ExpressionPointer& in : node.inputs)
        node.parts += in->parts;
    if (node.parts > max_parts)
        refuse(call,
               error_message("too many parts of an expression", std::to_string(node.parts),
                             "evaluate() a part to an array; the limit is " + std::to_string(max_parts)));
    return std::make_shared<const ExpressionNode>(std::move(node));
}

u64 count_of_all(std::string_view call, const std::vector<ExpressionPointer>& inputs) {
    u64 count = any_count;
    for (const ExpressionPointer& in : inputs) {
        if (in->count == any_count) continue;
        if (count != any_count && in->count != count)
            refuse(call, "all sources must have one size, got " + std::to_string(count) + " and " +
                             std::to_string(in->count));
        count = in->count;
    }
    return count;
}

u64 common_count(const ExpressionPointer& a, const ExpressionPointer& b) {
    const u64 count = count_of_all("map", {a, b});
    if (count == any_count) refuse_size();
    return count;
}

ExpressionPointer node_of(const Input& in) {
    return in.node ? in.node : range_node(in.view);
}

ExpressionPointer range_node(const View& view) {
    check_no_struct("expression", "a range", view);
    check_view("expression", "a range", view);
    ExpressionNode node{.kind = ExpressionKind::range, .type = view.type};
    node.count = view.count;
    node.view = view;
    return made("expression", std::move(node));
}

ExpressionPointer counting_node(Type type, const void* first, const void* step) {
    ExpressionNode node{.kind = ExpressionKind::counting, .type = type};
    append_bytes(node.values, first, size_of(type));
    append_bytes(node.values, step, size_of(type));
    return made("counting", std::move(node));
}

ExpressionPointer constant_node(Type type, const void* value) {
    ExpressionNode node{.kind = ExpressionKind::constant, .type = type};
    append_bytes(node.values, value, size_of(type));
    return made("constant", std::move(node));
}

ExpressionPointer transform_node(const Operator& op, std::span<const std::byte> bound,
                                 const BlockKernel& kernel, std::vector<ExpressionPointer> inputs) {
    return made("transform", transform_of(op, bound, kernel, std::move(inputs)));
}

ExpressionPointer transform_node(MapFunction function, ExpressionPointer in) {
    const MapFunctionTraits& traits = traits_of(function);
    const Type type = in->type;
    if (traits.floats_only) check_floats(traits.name, type);
    const bool on_bits = traits.works_on_bits && is_float(type);
    ExpressionNode node = transform_of(builtin(function, type), no_values,
                                       map_kernel(map_builtin_host(function, type)), {std::move(in)});
    node.type = type;
    node.works_on_bits = on_bits;
    node.needs_exact_sqrt = traits.needs_exact_sqrt && type == Type::f32;
    return made("transform", std::move(node));
}

ExpressionPointer transform_node(PairFunction function, ExpressionPointer a, ExpressionPointer b) {
    check_one_type(*a, *b);
    check_floats(name_of(function), a->type);
    const Type type = a->type;
    return made("transform",
                transform_of(builtin(function, type), no_values, map_kernel(map_math_host(function, type)),
                             {std::move(a), std::move(b)}));
}

ExpressionPointer transform_node(ReduceOp op, ExpressionPointer a, ExpressionPointer b) {
    check_one_type(*a, *b);
    const Type type = a->type;
    return made("transform",
                transform_of(builtin(op, type), builtin_values(op, type).bytes,
                             map_kernel(map_builtin_host(op, type)), {std::move(a), std::move(b)}));
}

ExpressionPointer gather_node(ExpressionPointer in, ExpressionPointer index, bool reports) {
    if (in->count == any_count) refuse("gather", "x has no size; gather from a range");
    if (is_boolean(index->type) || is_float(index->type))
        throw Error(ErrorCode::unsupported, "gather",
                    "the indices must be integers, got " + std::string(name_of(index->type)));
    if (in->count == 0 && index->count != 0)
        refuse("gather", "x is empty, got indices; pass a range with elements");
    ExpressionNode node{.kind = ExpressionKind::gather, .type = in->type};
    node.count = index->count;
    append_bytes(node.values, &in->count, sizeof in->count);
    node.reports = reports;
    node.inputs = {std::move(in), std::move(index)};
    return made("gather", std::move(node));
}

ExpressionPointer strided_node(ExpressionPointer in, std::span<const u64> extents,
                               std::span<const i64> strides, u64 origin) {
    constexpr std::string_view call = "strided";
    const auto rank_text = [](u64 extent_count, u64 stride_count) {
        return std::to_string(extent_count) + " extents and " + std::to_string(stride_count) + " strides";
    };
    if (extents.empty() || extents.size() > max_rank || extents.size() != strides.size())
        refuse(call, error_message("the rank must be 1 to 8", rank_text(extents.size(), strides.size())));
    CheckedSize count(1), above(origin), below(0);
    for (std::size_t k = 0; k < extents.size(); ++k) {
        count = count * extents[k];
        const u64 step = strides[k] < 0 ? 0 - static_cast<u64>(strides[k]) : static_cast<u64>(strides[k]);
        const CheckedSize reach = CheckedSize(extents[k] == 0 ? 0 : extents[k] - 1) * step;
        (strides[k] < 0 ? below : above) = (strides[k] < 0 ? below : above) + reach;
    }
    if (!count.fits(any_count >> 1)) refuse(call, "too many elements; the limit is 2^63 - 1");
    const u64 size = in->count;
    if (count.value() > 0) {
        if (!below.fits(origin))
            refuse(call, error_message("an element before the first one of x",
                                       below.fits() ? "index " + std::to_string(origin) + " - " +
                                                          std::to_string(below.value())
                                                    : "an index below -2^63",
                                       "the origin must be at least the sum of (extent - 1) * -stride"));
        if (size != any_count && (!above.fits() || above.value() >= size))
            refuse(call, error_message(
                             "an element beyond x",
                             above.fits() ? "index " + std::to_string(above.value()) : "an index beyond 2^64",
                             "x has " + std::to_string(size) + " elements"));
    }
    // Neighbouring axes that are one axis in x become one, because kernels divide by the extents of all but the first.
    std::array<u64, max_rank> extent{1}, stride{0};
    u32 rank = 0;
    for (std::size_t k = 0; k < extents.size() && count.value() > 0; ++k) {
        const u64 step = static_cast<u64>(strides[k]);
        if (extents[k] == 1) continue;
        if (rank > 0 && stride[rank - 1] == step * extents[k]) {
            extent[rank - 1] *= extents[k];
            stride[rank - 1] = step;
        } else {
            extent[rank] = extents[k];
            stride[rank++] = step;
        }
    }
    if (count.value() == 0) extent[0] = 0;
    rank = std::max<u32>(rank, 1);
    if (rank == 1 && stride[0] == 1 && origin == 0 && size == count.value()) return in;
    ExpressionNode node{.kind = ExpressionKind::strided, .type = in->type};
    node.count = count.value();
    node.rank = rank;
    append_bytes(node.values, &origin, sizeof origin);
    append_bytes(node.values, extent.data(), rank * sizeof extent[0]);
    append_bytes(node.values, stride.data(), rank * sizeof stride[0]);
    node.inputs = {std::move(in)};
    return made(call, std::move(node));
}

namespace {
ExpressionPointer with_role(const ExpressionPointer& strided, LineRole role) {
    if (strided->kind != ExpressionKind::strided) return strided;
    ExpressionNode node = *strided;
    node.role = role;
    return std::make_shared<const ExpressionNode>(std::move(node));
}
}  // namespace

ExpressionPointer line_index_node(std::span<const u64> extents, std::span<const i64> strides) {
    const u64 first = 0, step = 1;
    return with_role(strided_node(counting_node(Type::u64, &first, &step), extents, strides, 0),
                     LineRole::index);
}

ExpressionPointer line_value_node(const View& values, std::span<const u64> extents,
                                  std::span<const i64> strides) {
    return with_role(strided_node(range_node(values), extents, strides, 0), LineRole::value);
}

ExpressionPointer reversed_node(ExpressionPointer in) {
    if (in->count == any_count) refuse("reversed", "x has no size; reverse a range");
    const u64 count = in->count;
    const i64 stride = -1;
    return strided_node(std::move(in), {&count, 1}, {&stride, 1}, count == 0 ? 0 : count - 1);
}

ExpressionPointer convert_node(Type to, ExpressionPointer in) {
    if (in->type == to) return in;
    ExpressionNode node{.kind = ExpressionKind::convert, .type = to};
    node.count = in->count;
    node.inputs = {std::move(in)};
    return made("convert", std::move(node));
}

ExpressionPointer flag_node(ExpressionPointer in) {
    if (is_boolean(in->type)) return convert_node(Type::u64, std::move(in));
    return visit_type(in->type, [&](auto tag) {
        return function_node(Function<flag_function<typename decltype(tag)::type>>{}, {std::move(in)});
    });
}

ExpressionPointer below_node(ExpressionPointer flags, u64 first, const View& count) {
    const u64 step = 1, n = flags->count;
    const i64 same = 0;
    return function_node(Function<below_function<u64>>{},
                         {std::move(flags), counting_node(Type::u64, &first, &step),
                          strided_node(range_node(count), {&n, 1}, {&same, 1}, 0)});
}

bool may_compute_all(const Input& in, u32 most_parts) {
    bool reports = false;
    visit_nodes(in,
                [&](const ExpressionNode& node, bool /*in_place*/) { reports = reports || node.reports; });
    return !in.node || (!reports && in.node->parts <= most_parts);
}

Input without_bool(const Input& in) {
    if (!is_boolean(in.view.type)) return in;
    return Input(convert_node(Type::u8, node_of(in)));
}
View without_bool(View out) {
    if (is_boolean(out.type)) out.type = Type::u8;
    return out;
}

ExpressionPointer select_node(std::string_view call, const Input& in, const Input& flags) {
    if (flags.view.type != Type::boolean && flags.view.type != Type::u8)
        throw Error(ErrorCode::invalid_argument, call,
                    error_message("flags must be bool or u8", name_of(flags.view.type)));
    ExpressionNode node{.kind = ExpressionKind::select, .type = in.view.type};
    node.inputs = {node_of(in), node_of(flags)};
    node.count = count_of_all(call, node.inputs);
    return made(call, std::move(node));
}

NdExtents common_extents(std::string_view call, std::span<const NdSource> sources) {
    NdExtents common;
    const NdSource* from[max_rank] = {};  // what gave the extent, from the last axis on
    for (const NdSource& source : sources) {
        const NdExtents& own = source.extents;
        NdExtents wider;
        const u32 rank = std::max(common.size(), own.size());
        const NdSource* origins[max_rank] = {};
        for (u32 k = 0; k < rank; ++k) {
            // Axes align at the last one.
            const u32 back = rank - 1 - k;
            const u64 a = back < common.size() ? common[common.size() - 1 - back] : 1,
                      b = back < own.size() ? own[own.size() - 1 - back] : 1;
            if (a != b && a != 1 && b != 1)
                refuse(call, "shapes do not broadcast, got " + shape_name(from[back]->extents) + " and " +
                                 shape_name(own) +
                                 "; extents must be equal or 1, counted from the last axis");
            wider.add(a == 1 ? b : a);
            origins[back] = a == 1 ? &source : from[back];
        }
        common = wider;
        std::copy(std::begin(origins), std::end(origins), from);
    }
    CheckedSize count(1);
    for (const u64 extent : common)
        count = count * extent;
    if (!count.fits(any_count >> 1) && std::find(common.begin(), common.end(), u64{0}) == common.end())
        refuse(call, "too many elements, got " + shape_name(common) + "; the limit is 2^63 - 1");
    return common;
}

namespace {

// The elements of `in` at the indices of a strided array of any rank.
ExpressionPointer strided_elements(ExpressionPointer in, const NdExtents& extents, const NdStrides& strides,
                                   u64 origin) {
    const u64 one = 1;
    const i64 none = 0;
    if (extents.size() == 0) return strided_node(std::move(in), {&one, 1}, {&none, 1}, origin);
    return strided_node(std::move(in), {extents.begin(), extents.size()}, {strides.begin(), strides.size()},
                        origin);
}

}  // namespace

ExpressionPointer broadcast_node(const NdSource& source, const NdExtents& extents) {
    if (!source.node) {
        const NdView view = source.view.broadcast(extents);
        ExpressionPointer range = range_node(view.range());
        // An empty view may have strides beyond its range.
        if (view.size() == 0 || view.is_contiguous())
            return view.size() == view.range().count ? range : range_node(view.range().part(0, view.size()));
        return strided_elements(std::move(range), view.extents(), view.strides(), view.origin());
    }
    if (source.node->count == any_count || source.extents == extents) return source.node;
    NdStrides strides;
    for (u32 k = 0; k < extents.size(); ++k)
        strides.add(0);
    u64 stride = 1;
    for (u32 back = 0; back < source.extents.size(); ++back) {
        const u64 extent = source.extents[source.extents.size() - 1 - back];
        if (extent != 1) strides[extents.size() - 1 - back] = static_cast<i64>(stride);
        stride *= extent;
    }
    return strided_elements(source.node, extents, strides, 0);
}

Input::Input(ExpressionPointer expression) : node(std::move(expression)) {
    if (node->count == any_count) refuse_size();
    // A range is read as one.
    if (node->kind == ExpressionKind::range) {
        view = node->view;
        node = nullptr;
        return;
    }
    view = {.count = node->count, .type = node->type};
}

void check_input(std::string_view call, std::string_view name, const Stream& stream, const Input& in) {
    check_elements(call, name, in.view);
    check_stored_input(call, name, stream, in);
}

void check_stored_input(std::string_view call, std::string_view name, const Stream& stream, const Input& in) {
    if (!in.node) return check_stored(call, name, stream, in.view);
    visit_nodes(in, [&](const ExpressionNode& node, bool /*in_place*/) {
        if (node.kind == ExpressionKind::range)
            check_stored(call, "a range of " + std::string(name), stream, node.view);
    });
}

void check_input_overlap(std::string_view call, const NamedView& out, const char* name, const Input& in,
                         InPlace in_place) {
    if (!in.node) return check_overlap(call, out, {name, in.view}, in_place);
    visit_nodes(in, [&](const ExpressionNode& node, bool at_same_index) {
        if (node.kind != ExpressionKind::range) return;
        const bool allowed =
            in_place == InPlace::yes && at_same_index && size_of(node.type) == size_of(out.view.type);
        check_overlap(call, out, {"a range of the expression", node.view},
                      allowed ? InPlace::yes : InPlace::no);
    });
}

Support supports_input(const Device& device, const Input& in) {
    Support all;
    constexpr u64 buffer_bytes = 16, own_bytes = 384;  // a buffer with its offset; what kernels take besides
    u64 bytes = own_bytes;
    visit_nodes(in, [&](const ExpressionNode& node, bool /*in_place*/) {
        bytes += node.kind == ExpressionKind::range ? buffer_bytes : (node.values.size() + 7) / 8 * 8;
        bytes += node.reports ? buffer_bytes : 0;
        if (!all) return;
        all = supports_type(device, node.type);
        if (!all || node.op == nullptr) return;
        all = supports_operator(device, *node.op, node.kernel.kernel ? &node.kernel : nullptr);
        if (all && node.needs_exact_sqrt && !device.traits().exact_divide_sqrt)
            all = Support::no("{} has no correctly rounded square root for f32", device.info().selector);
    });
    const DeviceTraits& traits = device.traits();
    if (all && traits.launch != LaunchModel::host && bytes > traits.parameter_bytes)
        return Support::no(
            "the expression passes {} bytes to a kernel; {} supports {}; evaluate() a part first", bytes,
            device.info().selector, u64{traits.parameter_bytes});
    return all;
}

u32 widest_range(const Input& in) {
    u32 widest = 1;
    visit_nodes(in, [&](const ExpressionNode& node, bool /*in_place*/) {
        if (node.kind == ExpressionKind::range) widest = max_of(widest, size_of(node.type));
    });
    return widest;
}

bool is_portable(const Input& in, const Device& device) {
    bool all = true;
    visit_nodes(in, [&](const ExpressionNode& node, bool /*in_place*/) {
        all = all && (node.op == nullptr || is_portable(*node.op, device)) &&
              (device.traits().keeps_denormals || !computes_floats(node));
    });
    return all;
}

void check_portable(std::string_view call, const Input& in, const Device& device) {
    visit_nodes(in, [&](const ExpressionNode& node, bool /*in_place*/) {
        if (!device.traits().keeps_denormals && computes_floats(node))
            throw Error(ErrorCode::unsupported, call,
                        "the expression computes floats, and " + device.info().selector +
                            " replaces denormal numbers by zero; set Options::order to unspecified");
        if (node.op != nullptr) check_portable(call, *node.op, device);
    });
}

// --- Kernels and launches -------------------------------------------------------------------------------

namespace {

template <class T>
void add_key(std::string& key, const T& value) {
    key.append(reinterpret_cast<const char*>(&value), sizeof value);
}

// What distinguishes compiled expressions: kinds, types and functions, not ranges and values.
void add_structure(std::string& key, const ExpressionNode& node) {
    add_key(key, node.kind);
    add_key(key, node.type);
    add_key(key, node.rank);
    add_key(key, node.role);
    add_key(key, node.reports);
    add_key(key, static_cast<u32>(node.inputs.size()));
    if (node.op != nullptr) {
        add_key(key, node.op->hash);
        add_key(key, node.works_on_bits);
        add_key(key, node.kernel.kernel.versions);
    }
    for (const ExpressionPointer& in : node.inputs)
        add_structure(key, *in);
}

u32 add_steps(std::vector<BlockStep>& steps, u32& argument, const ExpressionNode& node) {
    const u32 step = static_cast<u32>(steps.size());
    steps.push_back({.kind = node.kind,
                     .type = node.type,
                     .argument = argument,
                     .kernel = node.kernel.kernel,
                     .is_map = node.kernel.is_map,
                     .is_flags = node.kernel.is_flags,
                     .rank = node.rank,
                     .reports = node.reports});
    argument += argument_count(node);
    for (const ExpressionPointer& in : node.inputs) {
        const u32 input = add_steps(steps, argument, *in);
        steps[step].inputs.push_back(input);
        steps[step].input_types.push_back(in->type);
    }
    return step;
}

}  // namespace

const CompiledExpression& compiled(const ExpressionNode& node) {
    static std::mutex mutex;
    static std::map<std::string, std::unique_ptr<CompiledExpression>, std::less<>> all;
    std::string key;
    add_structure(key, node);
    const std::lock_guard lock(mutex);
    if (const auto found = all.find(key); found != all.end()) return *found->second;
    auto made = std::make_unique<CompiledExpression>();
    u32 argument = 0;
    add_steps(made->steps, argument, node);
    for (std::size_t i = 0; i < std::size(languages); ++i) {
        if (languages[i].is_compiled()) made->text[i] = expression_source(node, languages[i]);
    }
    return *all.emplace(std::move(key), std::move(made)).first->second;
}

const KernelSource& CompiledExpression::with(const KernelSource& source) const {
    const std::lock_guard lock(mutex_);
    std::unique_ptr<KernelSource>& whole = sources_[source.content()];
    if (whole) return *whole;
    std::vector<LanguageSource> in_all;
    for (std::size_t i = 0; i < std::size(languages); ++i) {
        const Language& language = languages[i];
        // Languages that take another one's files have its suffix.
        const bool is_first = std::none_of(in_all.begin(), in_all.end(), [&](const LanguageSource& other) {
            return other.suffix == language.suffix;
        });
        if (!language.is_compiled() || !is_first) continue;
        LanguageSource one{.suffix = language.suffix, .options = source.options(language.dialect)};
        one.files.push_back({"functions of the expression", text[i].functions});
        for (const SourceFile& file : source.files(language.dialect)) {
            if (std::string_view(file.name).starts_with("input."))
                one.files.push_back({"expression", text[i].element});
            one.files.push_back(file);
        }
        in_all.push_back(std::move(one));
    }
    whole =
        std::make_unique<KernelSource>(std::string(source.name()) + " of an expression", std::move(in_all));
    return *whole;
}

const KernelSource& with_input(const KernelSource& source, const Input& in) {
    return in.node ? compiled(*in.node).with(source) : source;
}

InputArguments::InputArguments(const Input& in) {
    if (in.node) {
        expression_ = &compiled(*in.node);
        add(*in.node);
    } else {
        range_ = unchecked_argument(in.view);
    }
}

void InputArguments::add(const ExpressionNode& node) {
    const auto add_value = [&](std::size_t at, std::size_t size) {
        list_.push_back({.value = node.values.data() + at, .size = static_cast<u32>(size)});
    };
    switch (node.kind) {
        case ExpressionKind::range:
            list_.push_back(unchecked_argument(node.view));
            break;
        case ExpressionKind::counting:
            add_value(0, size_of(node.type));
            add_value(size_of(node.type), size_of(node.type));
            break;
        case ExpressionKind::constant:
        case ExpressionKind::transform:
        case ExpressionKind::gather:
        case ExpressionKind::strided:
            add_value(0, node.values.size());
            if (!node.reports) break;
            words_.push_back({list_.size(), {"gather", "index", node.inputs[0]->count}});
            list_.emplace_back();
            break;
        case ExpressionKind::convert:
        case ExpressionKind::select:
            break;
    }
    for (const ExpressionPointer& in : node.inputs)
        add(*in);
}

void InputArguments::launch_expression(Stream& stream, const Kernel& kernel, const LaunchShape& shape,
                                       std::span<const KernelArgument> others, bool on_host) const {
    std::vector<KernelArgument> all;
    all.reserve(list_.size() + others.size());
    if (on_host) all.assign(others.begin(), others.end());
    all.insert(all.end(), list_.begin(), list_.end());
    if (!on_host) all.insert(all.end(), others.begin(), others.end());
    if (words_.empty()) return stream.launch(kernel, shape, all);
    std::vector<IndexWord> words = words_;
    for (IndexWord& word : words)
        word.argument += on_host ? others.size() : 0;
    launch_reporting(stream, kernel, shape, all, words);
}

void InputArguments::launch_words(Stream& stream, const Kernel& kernel, const LaunchShape& shape,
                                  std::span<const KernelArgument> others, std::span<const IndexWord> words,
                                  bool on_host) const {
    const KernelArgument expression{
        .value = &expression_, .size = sizeof expression_, .type = ElementType(Type::u64)};
    std::vector<KernelArgument> all, input = list_;
    if (expression_ == nullptr) input = {range_};
    std::vector<IndexWord> all_words;
    const auto add = [&](std::span<const KernelArgument> arguments, std::span<const IndexWord> of) {
        for (IndexWord word : of) {
            word.argument += all.size();
            all_words.push_back(word);
        }
        all.insert(all.end(), arguments.begin(), arguments.end());
    };
    if (!on_host) add(input, words_);
    add(others, words);
    if (on_host) {
        all.push_back(expression);
        add(input, words_);
    }
    launch_reporting(stream, kernel, shape, all, all_words);
}

namespace {
View room_for(Stream& stream, const Input& in, std::shared_ptr<Buffer>& room) {
    View view = in.view;
    room = stream.scratch(checked_bytes("expression", view.count, size_of(view.type)));
    view.buffer = room.get();
    view.offset = 0;
    return view;
}
}  // namespace

View materialized(Stream& stream, const Input& in, std::shared_ptr<Buffer>& room, const View& count) {
    if (!in.node) return in.view;
    const View view = room_for(stream, in, room);
    if (count.buffer != nullptr) {
        evaluate_counted(stream, in, view, count, {});
    } else {
        evaluate(stream, in, view, {});
    }
    return view;
}

NdInputInMemory::NdInputInMemory(Stream& stream, std::string_view call, const NdInput& in, const NdView& out,
                                 const Options& options) {
    if (!in.elements) {
        view_ = in.view;
        return;
    }
    in_memory_.emplace(stream, call, Input(in.elements), out.range(), options);
    view_ = NdView(in_memory_->view(), in.view.extents());
}

InputInMemory::InputInMemory(Stream& stream, std::string_view call, const Input& in, const View& out,
                             const Options& options, InPlace in_place, Store store, const View& count) {
    if (in.node) {
        check_stored_input(call, "in", stream, in);
        check_input_overlap(call, {"out", out}, "in", in, in_place);
        if (options.order && *options.order != OperationOrder::unspecified)
            check_portable(call, in, stream.device());
        if (!is_portable(in, stream.device())) order_ = OperationOrder::unspecified;
    }
    if (in.node && store == Store::later) {
        if (const Support support = supports_input(stream.device(), in); !support)
            throw Error(ErrorCode::unsupported, call, support.text());
        unstored_ = in.node;
        view_ = room_for(stream, in, room_);
    } else {
        view_ = materialized(stream, in, room_, count);
    }
}

}  // namespace concord::detail
