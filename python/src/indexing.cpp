// Indices, views and operators of concord.Array.
#include "indexing.hpp"
#include "elementwise.hpp"

#include <concord/detail/checked_size.hpp>

#include <algorithm>
#include <list>
#include <numeric>

using namespace nanobind::literals;

namespace concord::python {
namespace {

using detail::ExpressionPointer;

[[noreturn]] void refuse_index(const std::string& wrong) {
    throw nb::index_error(("Array: " + wrong).c_str());
}

// What an index selects: a part of the elements with a shape and strides of its own.
struct Selection {
    std::vector<i64> shape, strides;  // in elements
    i64 offset = 0;                   // of its first element, in elements

    bool descends() const {
        for (std::size_t k = 0; k < shape.size(); ++k) {
            if (strides[k] < 0 && shape[k] > 1) return true;
        }
        return false;
    }
    bool is_empty() const {
        return std::ranges::any_of(shape, [](i64 extent) { return extent == 0; });
    }
};

bool is_plain_index(nb::handle part) {
    return part.is_none() || part.ptr() == Py_Ellipsis || PySlice_Check(part.ptr()) != 0 ||
           (PyIndex_Check(part.ptr()) != 0 && PyBool_Check(part.ptr()) == 0 &&
            !nb::isinstance<ArrayObject>(part));
}

// The parts of a key, with slices for what it leaves out; nothing if it has arrays or masks.
std::optional<std::vector<nb::object>> parts_of(nb::handle key, std::size_t rank) {
    std::vector<nb::object> parts;
    if (nb::isinstance<nb::tuple>(key)) {
        for (const nb::handle part : nb::cast<nb::tuple>(key))
            parts.push_back(nb::borrow(part));
    } else {
        parts.push_back(nb::borrow(key));
    }
    if (!std::ranges::all_of(parts, [](const nb::object& part) { return is_plain_index(part); })) return {};
    const auto is_ellipsis = [](const nb::object& part) { return part.ptr() == Py_Ellipsis; };
    const auto used = static_cast<std::size_t>(std::ranges::count_if(
        parts, [&](const nb::object& part) { return !part.is_none() && !is_ellipsis(part); }));
    if (used > rank)
        refuse_index(std::to_string(used) + " indices for " + std::to_string(rank) + " dimensions");
    if (std::ranges::count_if(parts, is_ellipsis) > 1) refuse_index("more than one '...' in the index");
    const nb::object all = nb::steal(PySlice_New(nullptr, nullptr, nullptr));
    auto at = std::ranges::find_if(parts, is_ellipsis);
    if (at != parts.end()) at = parts.erase(at);
    parts.insert(at, rank - used, all);
    return parts;
}

Selection selected(std::span<const i64> shape, std::span<const i64> strides,
                   const std::vector<nb::object>& parts) {
    Selection result;
    std::size_t axis = 0;
    for (const nb::object& part : parts) {
        if (part.is_none()) {
            result.shape.push_back(1);
            result.strides.push_back(1);
            continue;
        }
        const i64 extent = shape[axis], stride = strides[axis];
        ++axis;
        if (PySlice_Check(part.ptr()) != 0) {
            Py_ssize_t begin = 0, end = 0, step = 0;
            if (PySlice_Unpack(part.ptr(), &begin, &end, &step) != 0) throw nb::python_error();
            const Py_ssize_t count = PySlice_AdjustIndices(extent, &begin, &end, step);
            result.offset += count > 0 ? begin * stride : 0;
            result.shape.push_back(count);
            result.strides.push_back(count > 1 ? stride * step : 1);
            continue;
        }
        i64 index = PyNumber_AsSsize_t(part.ptr(), PyExc_IndexError);
        if (index == -1 && PyErr_Occurred() != nullptr) throw nb::python_error();
        if (index < -extent || index >= extent)
            refuse_index("index " + std::to_string(index) + " is out of range for axis " +
                         std::to_string(axis - 1) + " of " + std::to_string(extent) + " elements");
        index += index < 0 ? extent : 0;
        result.offset += index * stride;
    }
    if (result.shape.size() > Tensor::max_dimensions)
        refuse_index("an index to " + std::to_string(result.shape.size()) + " dimensions; 8 are supported");
    return result;
}

// The selected elements of an argument, which a call has bound.
NdView view_of(const Argument& argument, const Selection& selection) {
    const NdView whole = argument.array();
    NdExtents extents;
    NdStrides strides;
    for (std::size_t k = 0; k < selection.shape.size(); ++k) {
        extents.add(static_cast<u64>(selection.shape[k]));
        strides.add(selection.strides[k]);
    }
    if (selection.is_empty()) return {detail::no_elements(whole.type()), extents};
    return {whole.range(), extents, strides, whole.origin() + static_cast<u64>(selection.offset)};
}

ExpressionPointer elements_of(const NdView& view) {
    return detail::broadcast_node({nullptr, view, view.extents()}, view.extents());
}

// A new array with the elements of a selection.
nb::object copy_of(nb::handle self, const Selection& selection) {
    Call call("Array.__getitem__", {});
    const Argument& in = call.input(self, "self");
    call.begin();
    Argument& out = call.output({}, in.type(), selection.shape, in.boolean());
    return call.run(out, [&] { call.write(out, elements_of(view_of(in, selection))); });
}

nb::object view_of_array(const ArrayObject& array, const Selection& selection) {
    const Tensor& tensor = array.tensor();
    const u64 offset =
        tensor.offset() +
        (selection.is_empty() ? 0 : static_cast<u64>(selection.offset) * size_of(tensor.type()));
    // A tensor without elements has no strides of interest.
    if (selection.is_empty())
        return nb::cast(ArrayObject(Tensor(nullptr, 0, tensor.type(), selection.shape), array.boolean(),
                                    array.device().shared_from_this()));
    return nb::cast(
        array.with(Tensor(tensor.buffer(), offset, tensor.type(), selection.shape, selection.strides)));
}

nb::object function(const char* name) {
    return nb::module_::import_("concord").attr(name);
}

nb::object item(nb::handle self, nb::handle key) {
    const ArrayObject& array = nb::cast<ArrayObject&>(self);
    const Tensor& tensor = array.tensor();
    if (const auto parts = parts_of(key, tensor.shape().size())) {
        const Selection selection = selected(tensor.shape(), tensor.strides(), *parts);
        return selection.descends() ? copy_of(self, selection) : view_of_array(array, selection);
    }
    const nb::object index = nb::isinstance<ArrayObject>(key)
                                 ? nb::borrow(key)
                                 : function("asarray")(key, "device"_a = array.device().info().selector);
    const ArrayObject& by = nb::cast<ArrayObject&>(index);
    if (by.boolean()) {
        if (!std::ranges::equal(by.tensor().shape(), tensor.shape()))
            refuse_index("a mask of shape " + text_of(by.tensor().shape()) + " for the shape " +
                         text_of(tensor.shape()));
        const nb::object flat = self.attr("reshape")(-1), mask = index.attr("reshape")(-1);
        return function("compress")(mask, flat);
    }
    return function("take")(self, index, "axis"_a = 0);
}

// The value as an operand, broadcast to the extents, in the type of the array. NumPy drops leading axes of one element.
ExpressionPointer broadcast_value(const char* name, const Operand& value, ElementKind type,
                                  const NdExtents& extents) {
    detail::NdSource source = value.source(name, type);
    if (value.is_number()) {
        const std::array<u64, 1> count{detail::element_count(extents)};
        const std::array<i64, 1> stride{0};
        return detail::strided_node(source.node, count, stride, 0);
    }
    u32 dropped = 0;
    while (source.extents.size() - dropped > extents.size() && source.extents[dropped] == 1)
        ++dropped;
    if (dropped > 0) {
        NdExtents kept;
        for (u32 k = dropped; k < source.extents.size(); ++k)
            kept.add(source.extents[k]);
        if (!source.node) source.node = detail::broadcast_node(source, source.extents);
        source.extents = kept;
    }
    const bool fits = [&] {
        if (source.extents.size() > extents.size()) return false;
        for (u32 k = 0; k < source.extents.size(); ++k) {
            const u64 extent = source.extents[k];
            if (extent != 1 && extent != extents[extents.size() - source.extents.size() + k]) return false;
        }
        return true;
    }();
    if (!fits)
        refuse(name, "value has the extents " + detail::shape_name(source.extents) + ", the elements have " +
                         detail::shape_name(extents));
    return detail::broadcast_node(source, extents);
}

void assign(nb::handle self, nb::handle key, nb::handle value) {
    constexpr const char* name = "Array.__setitem__";
    const ArrayObject& array = nb::cast<ArrayObject&>(self);
    const ElementKind type{array.tensor().type(), array.boolean()};
    const auto parts = parts_of(key, array.tensor().shape().size());
    const nb::object device = nb::cast(array.device().shared_from_this());
    const Common common{device, {}, {}, {}};
    nb::object mask;
    if (!parts) {
        mask = nb::isinstance<ArrayObject>(key)
                   ? nb::borrow(key)
                   : function("asarray")(key, "device"_a = array.device().info().selector);
        if (!nb::cast<ArrayObject&>(mask).boolean())
            refuse_index(
                "assignment with an array of integers as the index is not supported; use numpy.put on the "
                "host");
    }
    Call call(name, common);
    const Operand operand(call, "value", value, false);
    if (!operand.is_number() && !can_store(operand.kind(), type))
        refuse(name, "value has dtype " + operand.kind().name() + ", the array has " + type.name() +
                         "; use astype");
    if (operand.is_number()) {
        const ElementKind needed = promoted_number(type, value);
        if (!can_store(needed, type))
            refuse(name, "value: got " + short_text(value) + " for dtype " + type.name());
    }
    if (mask.is_valid() && !operand.is_number() && operand.argument().size() != 1) {
        function("_put")(self, mask, value);
        return;
    }
    const Argument* by = mask.is_valid() ? &call.input(mask, "index") : nullptr;
    // The array itself is read where the mask is false.
    const Argument* old = by != nullptr ? &call.input(self, "self") : nullptr;
    call.begin();
    Argument& to = call.output(self, type.type, array.tensor().shape(), type.boolean, true);
    if (by != nullptr) {
        const NdView whole = old->array();
        if (!(by->array().extents() == whole.extents()))
            refuse_index("a mask of shape " + text_of(by->shape()) + " for the shape " +
                         text_of(old->shape()));
        const ExpressionPointer values = broadcast_value(name, operand, type, whole.extents());
        call.run([&] {
            call.write(to, detail::where_node(elements_of(by->array()), values, elements_of(whole)));
        });
        return;
    }
    const NdView target = view_of(to, selected(to.shape(), array.tensor().strides(), *parts));
    const ExpressionPointer values = broadcast_value(name, operand, type, target.extents());
    call.run([&] { call.write(target, values); });
}

nb::object reshaped(nb::handle self, nb::args arguments) {
    constexpr const char* name = "Array.reshape";
    const ArrayObject& array = nb::cast<ArrayObject&>(self);
    nb::object list = nb::borrow(arguments);
    if (arguments.size() == 1 && PyIndex_Check(nb::handle(arguments[0]).ptr()) == 0)
        list = nb::borrow(arguments[0]);
    std::vector<i64> shape = keyword<std::vector<i64>>(name, "shape", list, "integers");
    const i64 size = static_cast<i64>(array.tensor().size());
    i64 known = 1;
    std::size_t open = shape.size();
    for (std::size_t k = 0; k < shape.size(); ++k) {
        if (shape[k] == -1 && open == shape.size()) {
            open = k;
        } else if (shape[k] < 0 || __builtin_mul_overflow(known, shape[k], &known)) {
            refuse(name, "shape: got " + text_of(shape) + " for " + std::to_string(size) + " elements");
        }
    }
    if (open < shape.size()) shape[open] = known > 0 && size % known == 0 ? size / known : -1;
    if (open < shape.size() ? shape[open] < 0 : known != size)
        refuse(name, "shape: got " + nb::cast<std::string>(nb::str(list)) + " for " + std::to_string(size) +
                         " elements");
    const Tensor& tensor = array.tensor();
    if (tensor.contiguous())
        return nb::cast(array.with(Tensor(tensor.buffer(), tensor.offset(), tensor.type(), shape)));
    return self.attr("copy")().attr("reshape")(tuple_of(shape));
}

nb::object permuted(nb::handle self, std::vector<i64> axes) {
    constexpr const char* name = "Array.transpose";
    const ArrayObject& array = nb::cast<ArrayObject&>(self);
    const Tensor& tensor = array.tensor();
    const auto rank = static_cast<i64>(tensor.shape().size());
    Selection result;
    u32 seen = 0;
    for (const i64 given : axes) {
        const i64 axis = given + (given < 0 ? rank : 0);
        if (axis < 0 || axis >= rank || (seen >> axis & 1) != 0)
            refuse(name, "axes: got " + text_of(axes) + " for " + std::to_string(rank) + " dimensions");
        seen |= 1U << axis;
        result.shape.push_back(tensor.shape()[static_cast<std::size_t>(axis)]);
        result.strides.push_back(tensor.strides()[static_cast<std::size_t>(axis)]);
    }
    if (static_cast<i64>(axes.size()) != rank)
        refuse(name, "axes: got " + text_of(axes) + " for " + std::to_string(rank) + " dimensions");
    return view_of_array(array, result);
}

std::vector<i64> backwards(std::size_t rank, std::size_t count) {
    std::vector<i64> axes(rank);
    std::iota(axes.begin(), axes.end(), 0);
    std::reverse(axes.end() - static_cast<std::ptrdiff_t>(count), axes.end());
    return axes;
}

nb::object as_type(nb::handle self, nb::handle dtype, bool copy) {
    ElementKind kind;
    kind.type = type_named_by("Array.astype", dtype, &kind.boolean);
    const ArrayObject& array = nb::cast<ArrayObject&>(self);
    if (!copy && kind == ElementKind{array.tensor().type(), array.boolean()}) return nb::borrow(self);
    Call call("Array.astype", {});
    const Argument& in = call.input(self, "self");
    call.begin();
    Argument& out = call.output({}, kind.type, in.shape(), kind.boolean);
    return call.run(out, [&] { call.write(out, converted(kind, call.elements(in))); });
}

// The other operand of an operator; nothing if the operator does not know it.
nb::object operand_for(nb::handle self, nb::handle other) {
    if (nb::isinstance<ArrayObject>(other) || PyFloat_CheckExact(other.ptr()) != 0 ||
        PyLong_CheckExact(other.ptr()) != 0 || PyBool_Check(other.ptr()) != 0)
        return nb::borrow(other);
    const Library& library = library_of(other);
    const bool is_array = nb::isinstance<nb::list>(other) || nb::isinstance<nb::tuple>(other) ||
                          library.api != nullptr || library.has_buffer || library.has_dlpack ||
                          library.has_cuda_interface;
    if (!is_array || nb::isinstance<nb::str>(other) || nb::isinstance<nb::bytes>(other)) return {};
    return function("array")(other, "device"_a = nb::cast<ArrayObject&>(self).device().info().selector);
}

nb::object not_implemented() {
    return nb::borrow(nb::handle(Py_NotImplemented));
}

}  // namespace

void define_indexing(nb::class_<ArrayObject>& array) {
    array.def("__getitem__", item, nb::sig("def __getitem__(self, at: Any) -> Array"),
              "Elements as an array: a view for integers and slices, a copy for negative steps, masks and "
              "arrays of "
              "indices.");
    array.def("__setitem__", assign, nb::sig("def __setitem__(self, at: Any, value: Any) -> None"));
    array.def("reshape", reshaped, nb::sig("def reshape(self, *shape: Any) -> Array"),
              "The elements in row-major order with another shape: a view if the array is contiguous. One "
              "extent may be "
              "-1.");
    array.def_prop_ro(
        "T",
        [](nb::handle self) {
            const std::size_t rank = nb::cast<ArrayObject&>(self).tensor().shape().size();
            return permuted(self, backwards(rank, rank));
        },
        nb::sig("def T(self) -> Array"), "The array with its axes in reverse order, on the same memory.");
    array.def_prop_ro(
        "mT",
        [](nb::handle self) {
            const std::size_t rank = nb::cast<ArrayObject&>(self).tensor().shape().size();
            if (rank < 2)
                refuse("Array.mT",
                       "the array has " + std::to_string(rank) + " dimensions; expected 2 or more");
            return permuted(self, backwards(rank, 2));
        },
        nb::sig("def mT(self) -> Array"), "The array with its last two axes exchanged, on the same memory.");
    array.def(
        "transpose",
        [](nb::handle self, nb::args axes) {
            const std::size_t rank = nb::cast<ArrayObject&>(self).tensor().shape().size();
            if (axes.size() == 0) return permuted(self, backwards(rank, rank));
            const nb::object list = axes.size() == 1 && PyIndex_Check(nb::handle(axes[0]).ptr()) == 0
                                        ? nb::borrow(axes[0])
                                        : nb::object(axes);
            return permuted(self, keyword<std::vector<i64>>("Array.transpose", "axes", list, "integers"));
        },
        nb::sig("def transpose(self, *axes: Any) -> Array"),
        "The array with its axes in another order, or in reverse, on the same memory.");
    // Functions as methods.
    for (const char* name : {"sum", "prod", "min", "max", "any", "all", "mean", "var", "std", "argmin",
                             "argmax", "cumsum", "cumprod", "clip", "dot"}) {
        static std::list<std::string> signatures;
        signatures.push_back("def " + std::string(name) + "(self, *args: Any, **keywords: Any) -> Any");
        array.def(
            name,
            [name](nb::handle self, nb::args arguments, nb::kwargs keywords) {
                return nb::object(function(name)(self, *arguments, **keywords));
            },
            nb::sig(signatures.back().c_str()), "The function of this name, of the array.");
    }
    array.def("astype", as_type, "dtype"_a, nb::kw_only(), "copy"_a = true,
              nb::sig("def astype(self, dtype: Any, *, copy: bool = True) -> Array"),
              "The elements as another type; see convert() in C++.");

    // Operators, with the array on either side.
    const auto define = [&](const char* name, const char* reflected, const char* in_place,
                            const char* called) {
        static std::list<std::string> texts;
        const auto text = [](const char* method) {
            texts.push_back(std::string("def ") + method + "(self, other: Any) -> Any");
            return texts.back().c_str();
        };
        array.def(
            name,
            [called](nb::handle self, nb::handle other) {
                const nb::object operand = operand_for(self, other);
                return operand.is_valid() ? function(called)(self, operand) : not_implemented();
            },
            "other"_a.none(), nb::sig(text(name)));
        if (reflected != nullptr)
            array.def(
                reflected,
                [called](nb::handle self, nb::handle other) {
                    const nb::object operand = operand_for(self, other);
                    return operand.is_valid() ? function(called)(operand, self) : not_implemented();
                },
                "other"_a.none(), nb::sig(text(reflected)));
        if (in_place != nullptr)
            array.def(
                in_place,
                [called](nb::handle self, nb::handle other) {
                    const nb::object operand = operand_for(self, other);
                    return operand.is_valid() ? function(called)(self, operand, "out"_a = self)
                                              : not_implemented();
                },
                "other"_a.none(), nb::sig(text(in_place)));
    };
    define("__add__", "__radd__", "__iadd__", "add");
    define("__sub__", "__rsub__", "__isub__", "subtract");
    define("__mul__", "__rmul__", "__imul__", "multiply");
    define("__truediv__", "__rtruediv__", "__itruediv__", "divide");
    define("__pow__", "__rpow__", "__ipow__", "pow");
    define("__matmul__", "__rmatmul__", nullptr, "matmul");
    define("__floordiv__", "__rfloordiv__", "__ifloordiv__", "floor_divide");
    define("__mod__", "__rmod__", "__imod__", "remainder");
    define("__and__", "__rand__", "__iand__", "bitwise_and");
    define("__or__", "__ror__", "__ior__", "bitwise_or");
    define("__xor__", "__rxor__", "__ixor__", "bitwise_xor");
    define("__lshift__", "__rlshift__", "__ilshift__", "bitwise_left_shift");
    define("__rshift__", "__rrshift__", "__irshift__", "bitwise_right_shift");
    define("__eq__", nullptr, nullptr, "equal");
    define("__ne__", nullptr, nullptr, "not_equal");
    define("__lt__", nullptr, nullptr, "less");
    define("__le__", nullptr, nullptr, "less_equal");
    define("__gt__", nullptr, nullptr, "greater");
    define("__ge__", nullptr, nullptr, "greater_equal");
    const auto unary = [&](const char* name, const char* called, const char* text) {
        array.def(
            name, [called](nb::handle self) { return function(called)(self); }, nb::sig(text));
    };
    unary("__neg__", "negative", "def __neg__(self) -> Array");
    unary("__abs__", "abs", "def __abs__(self) -> Array");
    unary("__invert__", "bitwise_invert", "def __invert__(self) -> Array");
    array.def(
        "__pos__", [](nb::handle self) { return self.attr("copy")(); },
        nb::sig("def __pos__(self) -> Array"));
    array.def(
        "__index__",
        [](nb::handle self) {
            const ArrayObject& a = nb::cast<ArrayObject&>(self);
            if (a.boolean() || is_float(a.tensor().type()))
                throw nb::type_error("only an array of one integer is an index");
            return nb::object(self.attr("item")());
        },
        nb::sig("def __index__(self) -> int"));
    array.def(
        "__array_namespace__",
        [](nb::handle, nb::handle version) {
            if (is_given(version) && nb::cast<std::string>(nb::str(version)) > "2024.12")
                refuse("Array.__array_namespace__",
                       "api_version: got " + short_text(version) + "; known are those up to 2024.12");
            return nb::object(nb::module_::import_("concord"));
        },
        nb::kw_only(), "api_version"_a = nb::none(),
        nb::sig("def __array_namespace__(self, *, api_version: str | None = None) -> Any"));
    array.def(
        "to_device", [](nb::handle self, nb::handle device, nb::handle) { return self.attr("to")(device); },
        "device"_a, nb::kw_only(), "stream"_a = nb::none(),
        nb::sig("def to_device(self, device: _Device, *, stream: Any = None) -> Array"), "The same as to().");
    // NumPy's arrays leave operators with a concord.Array to it.
    array.attr("__array_ufunc__") = nb::none();
}

}  // namespace concord::python
