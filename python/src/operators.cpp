// Functions of the user from text: concord.function, and the calls that take one.
#include "operators.hpp"
#include "elementwise.hpp"
#include "signatures.hpp"

#include <concord/backend/program_cache.hpp>
#include <concord/detail/trusted_code.hpp>

#include <dlfcn.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstring>
#include <list>

using namespace nanobind::literals;

namespace concord::python {

namespace {

// Parameters that are bound: all but the free ones.
Operator bound_operator(const Operator& whole, std::size_t free) {
    const std::span<const Type> types(whole.arguments);
    return detail::make_operator(whole.name, whole.text, whole.file, whole.line, whole.unit, whole.result,
                                 types.first(free), types.subspan(free));
}

}  // namespace

// Not through nb::try_cast<f32>, which makes infinities of large numbers.
std::vector<std::byte> value_bytes(const char* call, const char* name, nb::handle value, Type type) {
    if (!is_given(value)) refuse(call, std::string(name) + " is missing");
    std::vector<std::byte> bytes(size_of(type));
    detail::visit_type(type, [&]<class T>(detail::TypeTag<T>) {
        std::conditional_t<std::is_floating_point_v<T>, f64, T> wide{};
        bool has_value = nb::try_cast(value, wide);
        const T v = detail::in_default_float_environment([&] { return static_cast<T>(wide); });
        if constexpr (std::is_floating_point_v<T>)
            has_value = has_value && std::isfinite(v) == std::isfinite(wide);
        if (!has_value)
            refuse(call,
                   std::string(name) + ": " + short_text(value) + " is not a value of " + numpy_name(type));
        std::memcpy(bytes.data(), &v, sizeof v);
    });
    return bytes;
}

FunctionObject::FunctionObject(const std::string& text) : whole_(operator_from_text(text)), text_(text) {}

FunctionObject FunctionObject::bind(const nb::args& values) const {
    if (values.size() + values_.size() >= whole_.arguments.size())
        refuse(whole_.name + ".bind", "got " + std::to_string(values.size()) + " values; it is " +
                                          whole_.signature() + ", and at least one parameter stays free");
    FunctionObject bound = *this;
    std::vector<nb::object> all;
    for (const nb::handle value : values)
        all.push_back(nb::borrow(value));
    all.insert(all.end(), values_.begin(), values_.end());
    bound.values_ = std::move(all);
    const std::size_t free = whole_.arguments.size() - bound.values_.size();
    for (std::size_t i = 0; i < bound.values_.size(); ++i)
        value_bytes((whole_.name + ".bind").c_str(), "value", bound.values_[i], whole_.arguments[free + i]);
    return bound;
}

const Operator& FunctionObject::with(const char* call, std::size_t free) {
    if (free + values_.size() != whole_.arguments.size())
        refuse(call, whole_.name + " is " + whole_.signature() + "; the call has " + std::to_string(free) +
                         (free == 1 ? " array and " : " arrays and ") + std::to_string(values_.size()) +
                         " bound values");
    const auto found = shared_->by_free.find(free);
    if (found != shared_->by_free.end()) return found->second;
    return shared_->by_free.emplace(free, bound_operator(whole_, free)).first->second;
}

std::vector<std::byte> FunctionObject::packed(const char* call, const Operator& op) const {
    std::vector<std::byte> bytes;
    std::size_t align = 4;
    for (std::size_t i = 0; i < op.bound.size(); ++i) {
        const std::size_t size = size_of(op.bound[i]), at = (bytes.size() + size - 1) / size * size;
        align = std::max(align, size);
        bytes.resize(at + size);
        const auto value = value_bytes(call, op.name.c_str(), values_[i], op.bound[i]);
        std::memcpy(bytes.data() + at, value.data(), size);
    }
    bytes.resize(bytes.empty() ? 4 : (bytes.size() + align - 1) / align * align);
    return bytes;
}

void FunctionObject::check_identity(const char* call, const Operator& op, std::span<const std::byte> values,
                                    std::span<const std::byte> identity, Device& device) {
    std::string key = device.info().selector;
    for (const auto part : {values, identity})
        key.append(reinterpret_cast<const char*>(part.data()), part.size());
    if (shared_->identities.contains(key)) return;
    const Type type = op.result;
    const u64 size = size_of(type);
    const auto* host = static_cast<const detail::ReduceHost*>(this->host(device, "reduce", 2));
    std::vector<std::byte> result(size);
    {
        const nb::gil_scoped_release unlocked;
        const auto stream = device.create_stream();
        const auto buffer = stream->scratch(3 * size);
        stream->fill(*buffer, 0, 2 * size, identity.data(), static_cast<u32>(size));
        const View in{buffer.get(), 0, 2, type}, out{buffer.get(), 2 * size, 1, type};
        detail::reduce(*stream, {in, out, op, {values}, {identity}, host}, {});
        stream->read(result.data(), *buffer, 2 * size, size);
        stream->synchronize();
    }
    if (!detail::same_element(type, identity.data(), result.data()))
        detail::refuse_identity(call, op.name, type, identity.data(), nullptr);
    shared_->identities.insert(std::move(key));
}

// The host kernels that concord._host compiled: the address of a detail::MapHost and so on.
const void* FunctionObject::host(Device& device, const char* use, std::size_t free) {
    if (device.traits().launch != LaunchModel::host) return nullptr;
    const void*& kernels = shared_->host[std::string(use) + std::to_string(free)];
    if (kernels != nullptr) return kernels;
    const nb::object compile = nb::module_::import_("concord._host").attr("compile");
    std::string types;
    for (const Type type : whole_.arguments)
        types += (types.empty() ? "" : ",") + std::string(name_of(type));
    kernels = kernels_at(in_python([&] {
        return compile(text_, whole_.name, std::string(name_of(whole_.result)), types, use,
                       static_cast<int>(free));
    }));
    return kernels;
}

namespace {
void check_type(const char* call, const Operator& op, const char* what, const Argument& argument,
                Type expected) {
    if (argument.type() == expected) return;
    refuse(call, op.name + " is " + op.signature() + ", " + what + " has dtype " + argument.dtype());
}
}  // namespace

Combination::Combination(const char* call, nb::handle op, nb::handle identity, const Argument& elements,
                         const char* what)
    : call_(call) {
    if (!nb::isinstance<FunctionObject>(op)) {
        if (is_given(identity)) refuse(call, "identity: built-in operators have their own; leave it out");
        known_ = reduce_op(
            call, keyword<std::string>(call, "op", op, "a name, or an object of concord.function()"));
        return;
    }
    function_ = &nb::cast<FunctionObject&>(op);
    op_ = &function_->with(call, 2);
    if (op_->arguments[0] != op_->arguments[1] || op_->result != op_->arguments[0])
        refuse(call, op_->name + " is " + op_->signature() + "; expected one type T(T, T)");
    check_type(call, *op_, what, elements, op_->result);
    values_ = function_->packed(call, *op_);
    identity_ = value_bytes(call, "identity", identity, elements.type());
}

void Combination::begin(Call& call, std::initializer_list<const char*> uses) {
    if (!is_own()) return;
    if (!detail::is_refused(*op_, call.options().order))
        function_->check_identity(call_, *op_, values_, identity_, call.device());
    for (const char* use : uses)
        hosts_.push_back(function_->host(call.device(), use, 2));
}

detail::SegmentedReduceProblem Combination::segments(const detail::Input& in, const View& offsets,
                                                     const View& out) const {
    if (!is_own()) return detail::segmented_reduce_problem(in, offsets, out, known_);
    return {.in = in.view,
            .offsets = offsets,
            .out = out,
            .op = op(),
            .values = values(),
            .identity = identity(),
            .host = host<HostKernel>(),
            .expression = in.node};
}

namespace {

void check_float(const char* call, const char* name, const Argument& argument, bool floats_only) {
    if (floats_only && !is_float(argument.type()))
        refuse(call, std::string(name) + " has dtype " + argument.dtype() + "; expected float32 or float64");
}

nb::object mapped(const char* name, FunctionObject& function, nb::handle x, nb::handle y, nb::handle out,
                  const Common& common) {
    const bool two = is_given(y);
    const Operator& op = function.with(name, two ? 2 : 1);
    const auto bytes = function.packed(name, op);
    Call call(name, common);
    const Argument& a = call.input(x, "x");
    check_type(name, op, "x", a, op.arguments[0]);
    const Argument& b = two ? call.input(y, "y") : a;
    if (two) {
        check_type(name, op, "y", b, op.arguments[1]);
        if (!std::equal(a.shape().begin(), a.shape().end(), b.shape().begin(), b.shape().end()))
            refuse(name, "x has the shape " + text_of(a.shape()) + ", y has " + text_of(b.shape()));
    }
    call.begin();
    const void* host = function.host(call.device(), "map", two ? 2 : 1);
    Argument& result = call.output(out, op.result, a.shape());
    return call.run(result, [&] {
        const View to = result.view();
        if (to.count == 0) return;
        detail::map(call.stream(),
                    {.algorithm = "map",
                     .a = call.values(a),
                     .b = call.values(b),
                     .out = to,
                     .op = op,
                     .values = {bytes},
                     .host = static_cast<const detail::MapHost*>(host)},
                    call.options());
    });
}

// The name of a built-in operator, which has its own identity.
std::string builtin_name(const char* call, nb::handle op, nb::handle identity) {
    if (is_given(identity)) refuse(call, "identity: built-in operators have their own; leave it out");
    return keyword<std::string>(call, "op", op, "a name, or an object of concord.function()");
}

nb::object reduced(nb::handle x, nb::handle function, nb::handle identity, nb::handle out,
                   const Common& common) {
    constexpr const char* name = "reduce";
    Call call(name, common);
    const Argument& in = call.input(x, "x");
    Combination own(name, function, identity, in, "x");
    call.begin();
    own.begin(call, {"reduce"});
    Argument& result = call.output(out, in.type(), {});
    return call.run(result, [&] {
        detail::reduce(call.stream(),
                       {call.values(in), result.view(), own.op(), own.values(), own.identity(),
                        own.host<detail::ReduceHost>()},
                       call.options());
    });
}

nb::object scanned(nb::handle x, nb::handle function, nb::handle identity, bool exclusive, nb::handle out,
                   const Common& common) {
    constexpr const char* name = "scan";
    Call call(name, common);
    const Argument& in = call.input(x, "x");
    Combination own(name, function, identity, in, "x");
    const i64 count = static_cast<i64>(in.size());
    call.begin();
    own.begin(call, {"scan"});
    Argument& result = call.output(out, in.type(), std::span(&count, 1));
    return call.run(result, [&] {
        const View from = call.values(in);
        if (from.count == 0) return;
        detail::scan(call.stream(),
                     {.in = from,
                      .out = result.view(),
                      .op = own.op(),
                      .values = own.values(),
                      .identity = own.identity(),
                      .kind = exclusive ? ScanKind::exclusive : ScanKind::inclusive,
                      .host = own.host<detail::ScanHost>()},
                     call.options());
    });
}

// Functions of the user combine all elements.
void check_all_elements(const char* call, nb::handle axis) {
    if (is_given(axis))
        refuse(call, "axis: got " + short_text(axis) +
                         " with a function of the user, which combines all elements; leave it out");
}

[[noreturn]] void refuse_function(const std::string& name, const char* what) {
    refuse("map", detail::error_message(
                      "unknown function of " + std::string(what), detail::quoted(name),
                      "expected a name such as sqrt, exp or pow, or an object of concord.function()"));
}

// map() of a built-in function.
nb::object mapped_by_name(const std::string& name, nb::handle x, nb::handle y, nb::handle out,
                          const Common& common) {
    if (is_given(y)) {
        const auto function = pair_function_named(name);
        if (!function) refuse_function(name, "two arrays");
        return mapped_pairs("map", *function, x, y, out, common);
    }
    const auto function = map_function_named(name);
    if (!function) refuse_function(name, "one array");
    return mapped_elements("map", *function, x, out, common);
}

// NumPy's name of a built-in function.
std::string python_name(std::string_view name) {
    return name == "negate" ? "negative" : std::string(name);
}

// The docstring of a built-in function.
std::string text_of_function(std::string_view name, bool floats_only) {
    static const std::map<std::string_view, const char*> formulas = {
        {"negate", "-x"},
        {"abs", "|x|"},
        {"square", "x * x"},
        {"sqrt", "The square root"},
        {"expm1", "exp(x) - 1"},
        {"log1p", "log(1 + x)"},
        {"sinpi", "sin(pi * x)"},
        {"cospi", "cos(pi * x)"},
        {"rsqrt", "1 / sqrt(x)"},
        {"cbrt", "The cube root"},
        {"erf", "The error function"},
        {"erfc", "1 - erf(x)"},
        {"lgamma", "log(|gamma(x)|)"},
        {"tgamma", "The gamma function"},
        {"pow", "x to the power of y"},
        {"atan2", "The angle of the point with the ordinate x and the abscissa y"},
        {"hypot", "sqrt(x * x + y * y)"}};
    const auto found = formulas.find(name);
    std::string text = found != formulas.end() ? found->second : std::string(name) + "(x)";
    const bool two = pair_function_named(name).has_value();
    text += two ? " for each pair of elements of x and y. One of them may be a number."
                : " for each element of x.";
    if (!floats_only) return text + " Integers wrap.";
    text += "\n\nfloat32 and float64. The result has the same bits on every device";
    if (name == "sqrt") return text + ", correctly rounded.";
    if (two) return text + ". Errors of float64 are below 1 ulp.";
    return text + ": correctly rounded for float32, with an\nerror below 1 ulp for float64.";
}

void define_builtins(nb::module_& m) {
    // Names and texts stay for the life of the process.
    static std::list<std::string> strings;
    const auto kept = [](std::string text) { return strings.emplace_back(std::move(text)).c_str(); };
    for (const MapFunction function : all_map_functions) {
        if (function == MapFunction::copy) continue;
        const char* const name = kept(python_name(name_of(function)));
        m.def(
            name,
            [name, function](nb::handle x, nb::handle out, CONCORD_HANDLES) {
                return mapped_elements(name, function, x, out, CONCORD_PASSED);
            },
            "x"_a, nb::kw_only(), "out"_a = nb::none(), CONCORD_COMMON,
            signature(name + std::string("(x: $x, *, out: _Out = None, $common) -> $r"), CONCORD_SAME_TYPE),
            kept(text_of_function(name_of(function), detail::traits_of(function).floats_only)));
    }
    for (const PairFunction function : all_pair_functions) {
        if (function == PairFunction::pow) continue;  // also of integers: elementwise.cpp
        const char* const name = kept(python_name(name_of(function)));
        m.def(
            name,
            [name, function](nb::handle x, nb::handle y, nb::handle out, CONCORD_HANDLES) {
                return mapped_pairs(name, function, x, y, out, CONCORD_PASSED);
            },
            "x"_a, "y"_a, nb::kw_only(), "out"_a = nb::none(), CONCORD_COMMON,
            signature(name + std::string("($x, *, out: _Out = None, $common) -> $r"),
                      {{"x: _A, y: _Values", "_A"},
                       {"x: float, y: _A", "_A"},
                       {"x: _Host, y: _Host", "NDArray[Any]"},
                       {"x: _Memory, y: _Values", "Array"}}),
            kept(text_of_function(name_of(function), true)));
    }
}

// For concord._host: the cache of compiled kernels, and libraries from memory.
void define_host(nb::module_& m) {
    m.def("_load_program", [](const std::string& key) -> nb::object {
        const std::optional<std::string> program = backend::load_program(key);
        return program ? nb::object(nb::bytes(program->data(), program->size())) : nb::object(nb::none());
    });
    m.def("_store_program", [](const std::string& key, const nb::bytes& program) {
        backend::store_program(key, {program.c_str(), program.size()});
    });
    m.def("_cache_problem", backend::program_cache_problem);
    m.def("_why_untrusted", [](const std::string& path) { return detail::why_untrusted(path); });
    // The address of the kernels of a library in memory, which stays for the life of the process.
    m.def("_load_library", [](const std::string& name, const nb::bytes& library) {
        void* const opened = detail::load_library({library.c_str(), library.size()}, name.c_str());
        auto* entry = reinterpret_cast<const void* (*)()>(dlsym(opened, "concord_python_kernels"));
        if (entry == nullptr)
            throw Error(ErrorCode::compile_failed, name, "the compiled library lacks its entry");
        return reinterpret_cast<std::uintptr_t>(entry());
    });
}

}  // namespace

void define_operators(nb::module_& m) {
    define_builtins(m);
    define_host(m);
    // For python/benchmarks/compare.py: seconds per call of the same call in C++.
    m.def("_repeated_copy", [](nb::handle x, nb::handle out, u64 count) {
        Call call("map", Common{});
        const Argument& in = call.input(x, "x");
        call.begin();
        Argument& result = call.output(out, in.type(), in.shape());
        const View from = in.tensor().view(), to = result.tensor().view();
        const bool blocking = !is_cuda(call.device()) && !nb::isinstance<ArrayObject>(x);
        f64 seconds = 0;
        call.run([&] {
            const auto start = std::chrono::steady_clock::now();
            for (u64 i = 0; i < count; ++i) {
                map(call.stream(), from, to, MapFunction::copy, call.options());
                if (blocking) call.stream().synchronize();
            }
            seconds = std::chrono::duration<f64>(std::chrono::steady_clock::now() - start).count();
        });
        return seconds / static_cast<f64>(count);
    });
    nb::class_<FunctionObject>(m, "Function",
                               "A function from text, made by function(). Calling it maps it over arrays.")
        .def_prop_ro(
            "name", [](const FunctionObject& f) { return f.whole().name; }, "Name in the text.")
        .def_prop_ro(
            "text", [](const FunctionObject& f) { return f.text(); }, "The text.")
        .def_prop_ro(
            "signature", [](const FunctionObject& f) { return f.whole().signature(); },
            "Types of result and parameters, such as f32(f32, f32).")
        .def("__repr__",
             [](const FunctionObject& f) {
                 return "<concord.Function " + f.whole().name + ": " + f.whole().signature() + ">";
             })
        .def(
            "bind", [](const FunctionObject& f, nb::args values) { return f.bind(values); }, "values"_a,
            nb::sig("def bind(self, *values: float) -> Function"),
            "The function with values for its last parameters. New values need no compilation.")
        .def(
            "__call__",
            [](FunctionObject& f, nb::handle x, nb::handle y, nb::handle out, CONCORD_HANDLES) {
                return mapped(f.whole().name.c_str(), f, x, y, out, {device, stream, order, variant});
            },
            "x"_a, "y"_a = nb::none(), nb::kw_only(), "out"_a = nb::none(), CONCORD_COMMON,
            signature("__call__(self, x: $x, y: _Values | None = None, *, out: _Out = None, $common) -> $r",
                      CONCORD_ANY_TYPE),
            "The function of each element of x, or of each pair of elements of x and y.");
    m.def(
        "function", [](const std::string& text) { return FunctionObject(text); }, "text"_a,
        "A function from its definition in the subset that C++, CUDA C++ and OpenCL C share, for example\n"
        "'float f(float x, float a) { return a * x; }'. It runs on every device: GPUs and OpenCL compile it "
        "at run time,\n"
        "the CPU device with the C++ compiler of the system (CXX, else c++).");
    m.def(
        "map",
        [](nb::handle function, nb::handle x, nb::handle y, nb::handle out, CONCORD_HANDLES) {
            const Common common{device, stream, order, variant};
            if (nb::isinstance<FunctionObject>(function))
                return mapped("map", nb::cast<FunctionObject&>(function), x, y, out, common);
            return mapped_by_name(keyword<std::string>("map", "function", function,
                                                       "a name, or an object of concord.function()"),
                                  x, y, out, common);
        },
        "function"_a, "x"_a, "y"_a = nb::none(), nb::kw_only(), "out"_a = nb::none(), CONCORD_COMMON,
        signature("map(function: str | Function, x: $x, y: _Values | None = None, *, out: _Out = None, "
                  "$common) -> $r",
                  CONCORD_ANY_TYPE),
        "The function of each element of x, or of each pair of elements of x and y: an object of function(), "
        "or "
        "the name of a\n"
        "built-in one: copy, negate, abs, square, sqrt, exp, log, pow and the other math functions.");
    m.def(
        "reduce",
        [](nb::handle x, nb::handle op, nb::handle identity, nb::handle axis, bool keepdims, nb::handle out,
           CONCORD_HANDLES) {
            const Common common{device, stream, order, variant};
            if (!nb::isinstance<FunctionObject>(op))
                return reduced_builtin(x, builtin_name("reduce", op, identity), axis, keepdims, out, common);
            check_all_elements("reduce", axis);
            return reduced(x, op, identity, out, common);
        },
        "x"_a, "op"_a, "identity"_a = nb::none(), nb::kw_only(), "axis"_a = nb::none(), "keepdims"_a = false,
        "out"_a = nb::none(), CONCORD_COMMON,
        signature("reduce(x: $x, op: _Operator, identity: float | None = None, *, axis: _Axes = None, "
                  "keepdims: bool = False, out: _Out = None, $common) -> $r",
                  CONCORD_ONE_ELEMENT),
        "Combines all elements in the type of x. op: sum, product, min, max, or a function T(T, T) of "
        "function(), which is\n"
        "associative and commutative up to rounding and has an identity e: op(e, x) == x.");
    m.def(
        "scan",
        [](nb::handle x, nb::handle op, nb::handle identity, nb::handle axis, bool exclusive, nb::handle out,
           CONCORD_HANDLES) {
            const Common common{device, stream, order, variant};
            if (!nb::isinstance<FunctionObject>(op))
                return scanned_builtin(x, builtin_name("scan", op, identity), axis, exclusive, out, common);
            check_all_elements("scan", axis);
            return scanned(x, op, identity, exclusive, out, common);
        },
        "x"_a, "op"_a = "sum", "identity"_a = nb::none(), nb::kw_only(), "axis"_a = nb::none(),
        "exclusive"_a = false, "out"_a = nb::none(), CONCORD_COMMON,
        signature("scan(x: $x, op: _Operator = 'sum', identity: float | None = None, *, "
                  "axis: int | None = None, exclusive: bool = False, out: _Out = None, $common) -> $r",
                  CONCORD_SAME_TYPE),
        "Combinations of the elements up to each one (before each one, if exclusive) in the type of x. op: "
        "as in reduce(),\n"
        "but a function need not be commutative. Integers wrap.");
}

}  // namespace concord::python
