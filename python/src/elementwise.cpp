// Functions of the elements of one to three arrays: arithmetic, comparisons, logic, where and clip, with broadcasting
// and NumPy's promotion of types.
#include "elementwise.hpp"
#include "signatures.hpp"
#include "small.hpp"

#include <cmath>
#include <cstring>
#include <list>

using namespace nanobind::literals;

namespace concord::python {

using detail::ExpressionPointer;

namespace {

int kind_of(ElementKind type) {
    return type.boolean ? 0 : is_float(type.type) ? 3 : is_unsigned(type.type) ? 1 : 2;
}

Type integer_of(u32 bytes, bool is_signed) {
    static constexpr Type types[2][4] = {{Type::u8, Type::u16, Type::u32, Type::u64},
                                         {Type::i8, Type::i16, Type::i32, Type::i64}};
    return types[is_signed ? 1 : 0][bytes == 1 ? 0 : bytes == 2 ? 1 : bytes == 4 ? 2 : 3];
}

}  // namespace

bool is_python_number(nb::handle object) {
    return PyFloat_CheckExact(object.ptr()) != 0 || PyLong_CheckExact(object.ptr()) != 0 ||
           PyBool_Check(object.ptr()) != 0;
}

std::string ElementKind::name() const {
    return boolean ? "bool" : numpy_name(type);
}

ElementKind promoted(ElementKind a, ElementKind b) {
    const int first = kind_of(a), second = kind_of(b);
    if (first > second) return promoted(b, a);
    const u32 size_a = size_of(a.type), size_b = size_of(b.type);
    if (first == 0 || first == second) return first == 0 || size_b >= size_a ? b : a;
    if (second == 3) return {size_b == 8 || size_a > 2 ? Type::f64 : Type::f32};
    // Unsigned and signed.
    if (size_b > size_a) return b;
    return {size_a == 8 ? Type::f64 : integer_of(2 * size_a, true)};
}

ElementKind promoted_number(ElementKind arrays, nb::handle number) {
    if (PyBool_Check(number.ptr()) != 0) return arrays;
    if (PyFloat_Check(number.ptr()) != 0)
        return is_float(arrays.type) && !arrays.boolean ? arrays : ElementKind{Type::f64};
    return arrays.boolean ? ElementKind{Type::i64} : arrays;
}

bool can_store(ElementKind from, ElementKind to) {
    return kind_of(from) <= kind_of(to);
}

// --- Operands ------------------------------------------------------------------------------------------------------

Operand::Operand(Call& call, const char* name, nb::handle object, bool as_array)
    : name_(name), object_(object) {
    if (as_array || !is_python_number(object)) argument_ = &call.input(object, name);
}

ElementKind Operand::kind() const {
    return {argument_->type(), argument_->boolean()};
}

detail::NdSource Operand::source(const char* call, ElementKind type) const {
    const Type target = type.boolean ? Type::boolean : type.type;
    if (argument_ == nullptr) {
        std::array<std::byte, 8> bytes{};
        if (type.boolean) {
            bytes[0] = std::byte{PyObject_IsTrue(object_.ptr()) == 1};
        } else {
            const auto value = number_bytes(call, name_, object_, type.type);
            std::copy(value.begin(), value.end(), bytes.begin());
        }
        return {detail::constant_node(target, bytes.data()), {}, {}};
    }
    const NdView array = argument_->array();
    if (array.type() == target) return {nullptr, array, array.extents()};
    const auto elements = detail::broadcast_node({nullptr, array, array.extents()}, array.extents());
    return {detail::convert_node(target, elements), {}, array.extents()};
}

std::vector<std::byte> number_bytes(const char* call, const char* name, nb::handle number, Type type) {
    if (!is_float(type) && PyFloat_Check(number.ptr()) == 0) {
        // NumPy raises OverflowError for integers that the type does not have.
        int overflow = 0;
        const long long value = PyLong_AsLongLongAndOverflow(number.ptr(), &overflow);
        if (overflow == 0 && value == -1 && PyErr_Occurred() != nullptr) throw nb::python_error();
        bool fits = overflow == 0 || (overflow > 0 && type == Type::u64);
        std::vector<std::byte> bytes(size_of(type));
        if (type == Type::u64) {
            unsigned long long wide = PyLong_AsUnsignedLongLong(number.ptr());
            if (PyErr_Occurred() != nullptr) {
                PyErr_Clear();
                fits = false;
            }
            std::memcpy(bytes.data(), &wide, sizeof wide);
        } else if (fits) {
            detail::visit_type(type, [&]<class T>(detail::TypeTag<T>) {
                if constexpr (std::is_integral_v<T> && !std::is_same_v<T, u64>) {
                    fits = value >= static_cast<long long>(std::numeric_limits<T>::min()) &&
                           value <= static_cast<long long>(std::numeric_limits<T>::max());
                    const T narrow = static_cast<T>(value);
                    std::memcpy(bytes.data(), &narrow, sizeof narrow);
                }
            });
        }
        if (!fits) {
            PyErr_SetString(PyExc_OverflowError,
                            (std::string(call) + ": " + name + ": " + short_text(number) +
                             " is not a value of " + numpy_name(type))
                                .c_str());
            throw nb::python_error();
        }
        return bytes;
    }
    f64 wide = PyFloat_AsDouble(number.ptr());
    if (wide == -1 && PyErr_Occurred() != nullptr) throw nb::python_error();
    std::vector<std::byte> bytes(size_of(type));
    detail::visit_type(type, [&]<class T>(detail::TypeTag<T>) {
        const T value = detail::in_default_float_environment([&] { return static_cast<T>(wide); });
        std::memcpy(bytes.data(), &value, sizeof value);
    });
    return bytes;
}

std::vector<i64> shape_of_extents(const NdExtents& extents) {
    return {extents.begin(), extents.end()};
}

ExpressionPointer converted(ElementKind to, const ExpressionPointer& node) {
    return detail::convert_node(to.boolean ? Type::boolean : to.type, node);
}

// --- Calls ---------------------------------------------------------------------------------------------------------

nb::object evaluated(Call& call, const char* name,
                     const std::function<std::vector<detail::NdSource>()>& sources_of, nb::handle out,
                     ElementKind result,
                     const std::function<ExpressionPointer(std::vector<ExpressionPointer>)>& make) {
    std::vector<detail::NdSource> sources = sources_of();
    const NdExtents extents = detail::common_extents(name, sources);
    ElementKind stored = result;
    if (is_given(out)) {
        const Argument given(name, "out", out);
        const ElementKind kind{given.type(), given.boolean()};
        if (can_store(result, kind)) stored = kind;  // otherwise the output is refused
    }
    const std::vector<i64> shape = shape_of_extents(extents);
    Argument& to = call.output(out, stored.type, shape, stored.boolean);
    // An output in the memory of an input changes the buffers of both.
    if (is_given(out)) sources = sources_of();
    std::vector<ExpressionPointer> nodes;
    nodes.reserve(sources.size());
    for (const auto& source : sources)
        nodes.push_back(detail::broadcast_node(source, extents));
    ExpressionPointer elements = make(std::move(nodes));
    if (!(stored == result)) elements = converted(stored, elements);
    return call.run(to, [&] { call.write(to, elements); });
}

namespace {

[[noreturn]] void refuse_bool(const char* name, const char* instead) {
    throw nb::type_error((std::string(name) + ": x and y have dtype bool; use " + instead).c_str());
}

// Whether an integer of Python lies outside of the type of integers: 0, or -1 below and 1 above.
int side_of(nb::handle number, ElementKind type) {
    if (PyLong_CheckExact(number.ptr()) == 0 || is_float(type.type)) return 0;
    int overflow = 0;
    const long long value = PyLong_AsLongLongAndOverflow(number.ptr(), &overflow);
    return detail::visit_type(type.type, [&]<class T>(detail::TypeTag<T>) {
        if constexpr (std::is_integral_v<T>) {
            if (overflow != 0) {
                if (overflow < 0 || !std::is_same_v<T, u64>) return overflow;
                static_cast<void>(PyLong_AsUnsignedLongLong(number.ptr()));
                if (PyErr_Occurred() == nullptr) return 0;
                PyErr_Clear();
                return 1;
            }
            if (std::cmp_less(value, std::numeric_limits<T>::min())) return -1;
            if (std::cmp_greater(value, std::numeric_limits<T>::max())) return 1;
        }
        return 0;
    });
}

bool any_negative(Call& call, const Operand& y, ElementKind type) {
    if (is_unsigned(type.type) || is_float(type.type)) return false;
    if (y.is_number()) return PyFloat_AsDouble(y.object().ptr()) < 0;
    const Argument& argument = y.argument();
    if (argument.size() == 0 || argument.boolean() || is_unsigned(argument.type())) return false;
    std::array<std::byte, 8> least{};
    call.run([&] {
        const auto room = call.stream().scratch(8);
        const View one{room.get(), 0, 1, argument.type()};
        detail::reduce(call.stream(), detail::Input(call.elements(argument)), one, ReduceOp::min, {});
        call.fetch(least.data(), one);
    });
    return detail::visit_type(argument.type(), [&]<class T>(detail::TypeTag<T>) {
        T value;
        std::memcpy(&value, least.data(), sizeof value);
        return value < T(0);
    });
}

nb::object computed(const char* name, BinaryFunction function, nb::handle a, nb::handle b, nb::handle out,
                    const Common& common) {
    if (nb::object few = few_computed(function, a, b, out, common); few.is_valid()) return few;
    Call call(name, common);
    const Pair pair(call, a, b);
    ElementKind type = pair.common();
    std::optional<BinaryPredicate> logic;
    if (type.boolean) {
        if (function == BinaryFunction::add || function == BinaryFunction::maximum)
            logic = BinaryPredicate::logical_or;
        if (function == BinaryFunction::multiply || function == BinaryFunction::minimum)
            logic = BinaryPredicate::logical_and;
        if (function == BinaryFunction::subtract) refuse_bool(name, "logical_xor");
        if (function == BinaryFunction::power) type = {Type::i8};
    }
    if (function == BinaryFunction::divide && !is_float(type.type)) type = {Type::f64};
    if (function == BinaryFunction::divide && type.boolean) type = {Type::f64};
    call.begin();
    if (function == BinaryFunction::power && any_negative(call, pair.y, type))
        refuse(name, "y has negative elements; integers have no negative powers: convert x or y to float64");
    const auto sources = [&] { return std::vector{pair.x.source(name, type), pair.y.source(name, type)}; };
    return evaluated(call, name, sources, out, type, [&](std::vector<ExpressionPointer> nodes) {
        return logic ? detail::transform_node(*logic, nodes[0], nodes[1])
                     : detail::transform_node(function, nodes[0], nodes[1]);
    });
}

ExpressionPointer same_for_all(const ExpressionPointer& like, bool value) {
    const u8 byte = value ? 1 : 0;
    const ExpressionPointer constant = detail::constant_node(Type::boolean, &byte);
    return detail::where_node(like, constant, constant);
}

// The comparison of elements with an integer that their type does not have: always the same.
bool outcome(BinaryPredicate function, int side, bool number_first) {
    const bool number_is_greater = side > 0;
    switch (function) {
        case BinaryPredicate::equal:
            return false;
        case BinaryPredicate::not_equal:
            return true;
        case BinaryPredicate::less:
        case BinaryPredicate::less_equal:
            return number_is_greater != number_first;
        default:
            return number_is_greater == number_first;
    }
}

nb::object compared(const char* name, BinaryPredicate function, nb::handle a, nb::handle b, nb::handle out,
                    const Common& common) {
    constexpr ElementKind truth{Type::u8, true};
    const bool is_logical = function >= BinaryPredicate::logical_and;
    Call call(name, common);
    const Pair pair(call, a, b);
    ElementKind type = pair.common();
    const bool mixes = !pair.x.is_number() && !pair.y.is_number() && !is_logical && type.type == Type::f64 &&
                       !is_float(pair.x.kind().type) && !is_float(pair.y.kind().type);
    call.begin();
    const int side = is_logical           ? 0
                     : pair.x.is_number() ? side_of(pair.x.object(), type)
                     : pair.y.is_number() ? side_of(pair.y.object(), type)
                                          : 0;
    if (side != 0) {
        const u8 result = outcome(function, side, pair.x.is_number()) ? 1 : 0;
        const Operand& array = pair.x.is_number() ? pair.y : pair.x;
        const auto elements = [&] { return std::vector{array.source(name, truth)}; };
        return evaluated(call, name, elements, out, truth, [&](std::vector<ExpressionPointer> nodes) {
            return same_for_all(nodes[0], result != 0);
        });
    }
    if (mixes) {
        // uint64 and signed integers, which have no common type: a negative integer is below all of uint64.
        const bool signed_first = is_unsigned(pair.y.kind().type);
        const auto wide = [&] {
            return std::vector{pair.x.source(name, {signed_first ? Type::i64 : Type::u64}),
                               pair.y.source(name, {signed_first ? Type::u64 : Type::i64})};
        };
        return evaluated(call, name, wide, out, truth, [&](std::vector<ExpressionPointer> nodes) {
            const std::array<std::byte, 8> zero{};
            const u8 below = outcome(function, -1, signed_first) ? 1 : 0;
            ExpressionPointer& integer = nodes[signed_first ? 0 : 1];
            const auto is_negative = detail::transform_node(BinaryPredicate::less, integer,
                                                            detail::constant_node(Type::i64, zero.data()));
            integer = detail::convert_node(Type::u64, integer);
            return detail::where_node(is_negative, detail::constant_node(Type::boolean, &below),
                                      detail::transform_node(function, nodes[0], nodes[1]));
        });
    }
    const ElementKind read = is_logical ? truth : type;
    const auto sources = [&] { return std::vector{pair.x.source(name, read), pair.y.source(name, read)}; };
    return evaluated(call, name, sources, out, truth, [&](std::vector<ExpressionPointer> nodes) {
        return detail::transform_node(function, nodes[0], nodes[1]);
    });
}

nb::object powered(const char* name, PairFunction function, nb::handle a, nb::handle b, nb::handle out,
                   const Common& common) {
    Call call(name, common);
    const Pair pair(call, a, b);
    const ElementKind type = float_for(pair.common());
    call.begin();
    const auto sources = [&] { return std::vector{pair.x.source(name, type), pair.y.source(name, type)}; };
    return evaluated(call, name, sources, out, type, [&](std::vector<ExpressionPointer> nodes) {
        return detail::transform_node(function, nodes[0], nodes[1]);
    });
}

nb::object selected(nb::handle condition, nb::handle x, nb::handle y, nb::handle out, CONCORD_HANDLES) {
    constexpr const char* name = "where";
    constexpr ElementKind truth{Type::u8, true};
    Call call(name, CONCORD_PASSED);
    const Operand c(call, "condition", condition, true);
    const bool both = is_python_number(x) && is_python_number(y);
    const Operand first(call, "x", x, both), second(call, "y", y, both);
    const ElementKind type = first.is_number()    ? promoted_number(second.kind(), x)
                             : second.is_number() ? promoted_number(first.kind(), y)
                                                  : promoted(first.kind(), second.kind());
    call.begin();
    const auto sources = [&] {
        return std::vector{c.source(name, truth), first.source(name, type), second.source(name, type)};
    };
    return evaluated(call, name, sources, out, type, [](std::vector<ExpressionPointer> nodes) {
        return detail::where_node(nodes[0], nodes[1], nodes[2]);
    });
}

nb::object clipped(nb::handle x, nb::handle low, nb::handle high, nb::handle out, CONCORD_HANDLES) {
    constexpr const char* name = "clip";
    Call call(name, CONCORD_PASSED);
    const Operand in(call, "x", x, true);
    struct Limit {
        Operand operand;
        ReduceOp op;
    };
    std::vector<Limit> limits;
    ElementKind type = in.kind();
    const auto add = [&](const char* which, nb::handle limit, ReduceOp op) {
        if (!is_given(limit)) return;
        const Operand& operand = limits.emplace_back(Limit{Operand(call, which, limit, false), op}).operand;
        type = operand.is_number() ? promoted_number(type, limit) : promoted(type, operand.kind());
    };
    add("min", low, ReduceOp::max);
    add("max", high, ReduceOp::min);
    if (type.boolean) refuse_bool(name, "minimum and maximum");
    // A limit that all values of the type keep is none.
    std::erase_if(limits, [&](const Limit& limit) {
        const int side = limit.operand.is_number() ? side_of(limit.operand.object(), type) : 0;
        return limit.op == ReduceOp::max ? side < 0 : side > 0;
    });
    call.begin();
    const auto sources = [&] {
        std::vector<detail::NdSource> all{in.source(name, type)};
        for (const Limit& limit : limits)
            all.push_back(limit.operand.source(name, type));
        return all;
    };
    return evaluated(call, name, sources, out, type, [&](std::vector<ExpressionPointer> nodes) {
        ExpressionPointer result = nodes[0];
        for (std::size_t k = 0; k < limits.size(); ++k)
            result = detail::transform_node(limits[k].op, result, nodes[k + 1]);
        return result;
    });
}

// A test of each element, which is true of the results of `make`.
nb::object tested(const char* name, nb::handle x, nb::handle out, const Common& common, bool needs_floats,
                  const std::function<ExpressionPointer(ExpressionPointer, Type)>& make) {
    constexpr ElementKind truth{Type::u8, true};
    Call call(name, common);
    const Operand in(call, "x", x, true);
    const bool all_false = needs_floats && (in.kind().boolean || !is_float(in.kind().type));
    const ElementKind type = all_false ? truth : in.kind();
    call.begin();
    const auto sources = [&] { return std::vector{in.source(name, type)}; };
    return evaluated(call, name, sources, out, truth, [&](std::vector<ExpressionPointer> nodes) {
        return make(nodes[0], all_false ? Type::boolean : type.type);
    });
}

ExpressionPointer infinity_node(Type type) {
    const f32 narrow = std::numeric_limits<f32>::infinity();
    const f64 wide = std::numeric_limits<f64>::infinity();
    return type == Type::f32 ? detail::constant_node(type, &narrow) : detail::constant_node(type, &wide);
}

}  // namespace

ElementKind float_for(ElementKind type) {
    if (type.boolean) return {Type::f32};
    if (is_float(type.type)) return type;
    return {size_of(type.type) <= 2 ? Type::f32 : Type::f64};
}

nb::object mapped_elements(const char* name, MapFunction function, nb::handle x, nb::handle out,
                           const Common& common) {
    if (nb::object few = few_mapped(function, x, out, common); few.is_valid()) return few;
    Call call(name, common);
    const Operand in(call, "x", x, true);
    const bool needs_floats = detail::traits_of(function).floats_only;
    if (in.kind().boolean && function == MapFunction::negate)
        throw nb::type_error((std::string(name) + ": x has dtype bool; use logical_not").c_str());
    const ElementKind type = needs_floats ? float_for(in.kind()) : in.kind();
    const Argument& argument = in.argument();
    call.begin();
    // Ranges of the type itself have variants.
    const bool is_plain = argument.contiguous() && type == in.kind() && !type.boolean;
    if (is_plain && !is_given(out)) {
        Argument& result = call.output(out, type.type, argument.shape());
        return call.run(result, [&] {
            if (argument.size() > 0)
                map(call.stream(), argument.view(), result.view(), function, call.options());
        });
    }
    const auto sources = [&] { return std::vector{in.source(name, type)}; };
    return evaluated(call, name, sources, out, type, [&](std::vector<ExpressionPointer> nodes) {
        if (type.boolean) return nodes[0];  // abs and square of bool
        return detail::transform_node(function, nodes[0]);
    });
}

nb::object mapped_pairs(const char* name, PairFunction function, nb::handle x, nb::handle y, nb::handle out,
                        const Common& common) {
    return powered(name, function, x, y, out, common);
}

nb::object added(nb::handle x, nb::handle y, nb::handle out, const Common& common) {
    return computed("add", BinaryFunction::add, x, y, out, common);
}

void define_elementwise(nb::module_& m) {
    static std::list<std::string> strings;  // for the life of the process
    const auto kept = [](std::string text) { return strings.emplace_back(std::move(text)).c_str(); };
    const auto two = [&](const char* name, auto call, const std::string& text) {
        m.def(
            name,
            [name, call](nb::handle x, nb::handle y, nb::handle out, CONCORD_HANDLES) {
                return call(name, x, y, out, Common CONCORD_PASSED);
            },
            "x"_a, "y"_a, nb::kw_only(), "out"_a = nb::none(), CONCORD_COMMON,
            signature(name + std::string("(x: $x, y: _Values, *, out: _Out = None, $common) -> $r"),
                      CONCORD_ANY_TYPE),
            kept(text + " Shapes broadcast, and types are promoted, as in NumPy."));
    };
    const auto arithmetic = [&](const char* name, BinaryFunction function, const std::string& text) {
        two(
            name,
            [function](const char* call, nb::handle x, nb::handle y, nb::handle out, const Common& common) {
                return computed(call, function, x, y, out, common);
            },
            text);
    };
    const auto predicate = [&](const char* name, BinaryPredicate function, const std::string& text) {
        two(
            name,
            [function](const char* call, nb::handle x, nb::handle y, nb::handle out, const Common& common) {
                return compared(call, function, x, y, out, common);
            },
            text);
    };
    arithmetic("add", BinaryFunction::add, "x + y. Integers wrap.");
    arithmetic("subtract", BinaryFunction::subtract, "x - y. Integers wrap.");
    arithmetic("multiply", BinaryFunction::multiply, "x * y. Integers wrap.");
    arithmetic("divide", BinaryFunction::divide, "x / y. Integers give float64.");
    arithmetic("minimum", BinaryFunction::minimum, "The smaller element; NaN if one is NaN.");
    arithmetic("maximum", BinaryFunction::maximum, "The larger element; NaN if one is NaN.");
    arithmetic("pow", BinaryFunction::power,
               "x to the power of y. Integers wrap, and have no negative powers.");
    arithmetic("power", BinaryFunction::power, "The same as pow().");
    predicate("equal", BinaryPredicate::equal, "x == y.");
    predicate("not_equal", BinaryPredicate::not_equal, "x != y.");
    predicate("less", BinaryPredicate::less, "x < y.");
    predicate("less_equal", BinaryPredicate::less_equal, "x <= y.");
    predicate("greater", BinaryPredicate::greater, "x > y.");
    predicate("greater_equal", BinaryPredicate::greater_equal, "x >= y.");
    predicate("logical_and", BinaryPredicate::logical_and, "Whether x and y are not 0.");
    predicate("logical_or", BinaryPredicate::logical_or, "Whether x or y is not 0.");
    predicate("logical_xor", BinaryPredicate::logical_xor,
              "Whether one of x and y is not 0, and the other is.");
    const auto test = [&](const char* name, bool needs_floats, auto make, const char* text) {
        m.def(
            name,
            [=](nb::handle x, nb::handle out, CONCORD_HANDLES) {
                return tested(name, x, out, CONCORD_PASSED, needs_floats, make);
            },
            "x"_a, nb::kw_only(), "out"_a = nb::none(), CONCORD_COMMON,
            signature(name + std::string("(x: $x, *, out: _Out = None, $common) -> $r"), CONCORD_ANY_TYPE),
            text);
    };
    test(
        "logical_not", false,
        [](const ExpressionPointer& x, Type) {
            return detail::transform_node(UnaryPredicate::logical_not, x);
        },
        "Whether each element is 0.");
    test(
        "isnan", true,
        [](const ExpressionPointer& x, Type type) {
            return is_boolean(type) ? same_for_all(x, false)
                                    : detail::transform_node(UnaryPredicate::is_nan, x);
        },
        "Whether each element is NaN.");
    test(
        "isfinite", true,
        [](const ExpressionPointer& x, Type type) {
            if (is_boolean(type)) return same_for_all(x, true);
            return detail::transform_node(BinaryPredicate::less, detail::transform_node(MapFunction::abs, x),
                                          infinity_node(type));
        },
        "Whether each element is neither infinite nor NaN.");
    test(
        "isinf", true,
        [](const ExpressionPointer& x, Type type) {
            if (is_boolean(type)) return same_for_all(x, false);
            return detail::transform_node(BinaryPredicate::equal, detail::transform_node(MapFunction::abs, x),
                                          infinity_node(type));
        },
        "Whether each element is infinite.");
    // For concord._arrays: names of types.
    m.def("_promoted", [](nb::handle a, nb::handle b) {
        ElementKind first, second;
        first.type = type_named_by("result_type", a, &first.boolean);
        second.type = type_named_by("result_type", b, &second.boolean);
        return promoted(first, second).name();
    });
    m.def("_promoted_number", [](nb::handle a, nb::handle number) {
        ElementKind kind;
        kind.type = type_named_by("result_type", a, &kind.boolean);
        return promoted_number(kind, number).name();
    });
    m.def("where", selected, "condition"_a, "x"_a, "y"_a, nb::kw_only(), "out"_a = nb::none(), CONCORD_COMMON,
          signature("where(condition: $x, x: _Values, y: _Values, *, out: _Out = None, $common) -> $r",
                    CONCORD_ANY_TYPE),
          "Elements of x where the condition is not 0, and of y elsewhere. Shapes broadcast, and types are "
          "promoted, as in\n"
          "NumPy.");
    m.def("clip", clipped, "x"_a, "min"_a = nb::none(), "max"_a = nb::none(), nb::kw_only(),
          "out"_a = nb::none(), CONCORD_COMMON,
          signature("clip(x: $x, min: _Values | None = None, max: _Values | None = None, *, out: _Out = "
                    "None, $common) -> $r",
                    CONCORD_ANY_TYPE),
          "Elements of x, at least min and at most max. NaN stays NaN.");
}

}  // namespace concord::python
