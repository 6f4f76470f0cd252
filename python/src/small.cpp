// Calls for few elements of NumPy's arrays, which the calling thread computes without a stream. Results have the
// bits of the library's kernels.
#include "small.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>

namespace concord::python {
namespace {

constexpr u64 few = 512;
constexpr u64 few_sorted = 64;

bool is_plain(nb::handle out, const Common& common) {
    return !is_given(out) && !is_given(common.device) && !is_given(common.stream) &&
           !is_given(common.order) && !is_given(common.variant) && host_device_is_open();
}

bool is_numpy_array(nb::handle object) {
    static PyObject* known = nullptr;
    PyObject* const type = object.type().ptr();
    if (type == known) return true;
    if (library_of(object).name != "numpy" ||
        nb::cast<std::string>(object.type().attr("__name__")) != "ndarray")
        return false;
    known = type;  // NumPy's type is never deleted
    return true;
}

std::optional<Type> type_of_format(std::string_view format, Py_ssize_t size) {
    if (format.size() != 1) return {};
    const bool is_wide = size == 8;
    switch (format[0]) {
        case 'f':
            return Type::f32;
        case 'd':
            return Type::f64;
        case 'b':
            return Type::i8;
        case 'B':
            return Type::u8;
        case 'h':
            return Type::i16;
        case 'H':
            return Type::u16;
        case 'i':
        case 'l':
        case 'q':
            return is_wide ? Type::i64 : Type::i32;
        case 'I':
        case 'L':
        case 'Q':
            return is_wide ? Type::u64 : Type::u32;
        default:
            return {};
    }
}

// A contiguous array with few elements and at least one dimension.
class FewElements {
  public:
    FewElements(nb::handle object, bool writes = false) {
        const int flags = PyBUF_C_CONTIGUOUS | PyBUF_FORMAT | (writes ? PyBUF_WRITABLE : 0);
        if (PyObject_GetBuffer(object.ptr(), &buffer_, flags) != 0) {
            PyErr_Clear();
            return;
        }
        held_ = true;
        if (buffer_.ndim < 1 || buffer_.len == 0 || buffer_.itemsize == 0 || size() > few ||
            std::bit_cast<std::uintptr_t>(buffer_.buf) % static_cast<u64>(buffer_.itemsize) != 0)
            return;
        type_ = type_of_format(buffer_.format != nullptr ? buffer_.format : "B", buffer_.itemsize);
    }
    ~FewElements() {
        if (held_) PyBuffer_Release(&buffer_);
    }
    FewElements(const FewElements&) = delete;
    FewElements& operator=(const FewElements&) = delete;

    explicit operator bool() const { return type_.has_value(); }
    Type type() const { return *type_; }
    void* data() const { return buffer_.buf; }
    u64 size() const { return static_cast<u64>(buffer_.len / buffer_.itemsize); }
    int rank() const { return buffer_.ndim; }
    Py_ssize_t extent(int axis) const { return buffer_.shape[axis]; }
    bool has_shape_of(const FewElements& other) const {
        return rank() == other.rank() &&
               std::equal(buffer_.shape, buffer_.shape + rank(), other.buffer_.shape);
    }

  private:
    Py_buffer buffer_{};
    bool held_ = false;
    std::optional<Type> type_;
};

nb::object array_like(nb::handle x) {
    static const nb::handle empty_like = numpy_function("empty_like");
    return empty_like(x);
}

#define CONCORD_SMALL(NAME) CONCORD_FUNCTION_OF(T, (f32, f64), T, small_##NAME, (T x), return NAME(x);)
CONCORD_SMALL(exp)
CONCORD_SMALL(log)
CONCORD_SMALL(sin)
CONCORD_SMALL(cos)
CONCORD_SMALL(tanh)
CONCORD_SMALL(sqrt)

template <class F, class T>
HostKernel kernel_of(const F& /*function*/) {
    return host_kernel<&detail::BlockOf<typename F::Host, T, T>::run>();
}

// The kernel of a function of floats; empty for the others.
HostKernel kernel_of(MapFunction function, Type type) {
#define CONCORD_SMALL_CASE(NAME)                                                                        \
    case MapFunction::NAME:                                                                             \
        return type == Type::f32 ? kernel_of<std::remove_cvref_t<decltype(small_##NAME.of<f32>)>, f32>( \
                                       small_##NAME.of<f32>)                                            \
                                 : kernel_of<std::remove_cvref_t<decltype(small_##NAME.of<f64>)>, f64>( \
                                       small_##NAME.of<f64>);
    switch (function) {
        CONCORD_SMALL_CASE(exp)
        CONCORD_SMALL_CASE(log)
        CONCORD_SMALL_CASE(sin)
        CONCORD_SMALL_CASE(cos)
        CONCORD_SMALL_CASE(tanh)
        CONCORD_SMALL_CASE(sqrt)
        default:
            return {};
    }
}

template <class T>
void compute(BinaryFunction function, const FewElements& a, const FewElements& b, void* to) {
    const T *x = static_cast<const T*>(a.data()), *y = static_cast<const T*>(b.data());
    T* out = static_cast<T*>(to);
    for (u64 i = 0; i < a.size(); ++i) {
        switch (function) {
            case BinaryFunction::add:
                out[i] = detail::canonical(x[i] + y[i]);
                break;
            case BinaryFunction::subtract:
                out[i] = detail::canonical(x[i] - y[i]);
                break;
            case BinaryFunction::multiply:
                out[i] = detail::canonical(x[i] * y[i]);
                break;
            default:
                out[i] = detail::canonical(x[i] / y[i]);
        }
    }
}

// Each element is a chain of fused multiply-adds, as in matmul() for few columns of a.
template <class T>
void multiply(const FewElements& a, const FewElements& b, void* to) {
    const T *x = static_cast<const T*>(a.data()), *y = static_cast<const T*>(b.data());
    T* out = static_cast<T*>(to);
    const Py_ssize_t inner = a.extent(1), columns = b.extent(1);
    for (Py_ssize_t i = 0; i < a.extent(0); ++i)
        for (Py_ssize_t j = 0; j < columns; ++j) {
            T sum = 0;
            for (Py_ssize_t k = 0; k < inner; ++k)
                sum = std::fma(x[i * inner + k], y[k * columns + j], sum);
            out[i * columns + j] = detail::canonical(sum);
        }
}

// Sorts by integers with the order of the elements.
template <class T>
void sort_few(const FewElements& in, void* to, bool descending) {
    using Key =
        std::conditional_t<std::is_same_v<T, f32>, i32, std::conditional_t<std::is_same_v<T, f64>, i64, T>>;
    std::array<Key, few_sorted> keys;
    const u64 n = in.size();
    std::memcpy(keys.data(), in.data(), n * sizeof(T));
    const auto flip = [&] {
        if constexpr (!std::is_same_v<T, Key>)
            for (u64 i = 0; i < n; ++i)
                keys[i] ^= (keys[i] >> (8 * sizeof(Key) - 1)) & std::numeric_limits<Key>::max();
    };
    flip();
    std::sort(keys.begin(), keys.begin() + static_cast<std::ptrdiff_t>(n));
    if (descending) std::reverse(keys.begin(), keys.begin() + static_cast<std::ptrdiff_t>(n));
    flip();
    std::memcpy(to, keys.data(), n * sizeof(T));
}

}  // namespace

nb::object few_mapped(MapFunction function, nb::handle x, nb::handle out, const Common& common) {
    if (!is_plain(out, common) || !is_numpy_array(x)) return {};
    const FewElements in(x);
    if (!in || !is_float(in.type())) return {};
    const HostKernel kernel = kernel_of(function, in.type());
    if (!kernel) return {};
    nb::object result = array_like(x);
    const FewElements to(result, true);
    if (!to) return {};
    const u64 n = in.size();
    const void *from = in.data(), *into = to.data();
    const std::array<std::byte, 16> no_values{};
    const std::array<const void*, 4> arguments{&from, &into, &n, no_values.data()};
    detail::in_default_float_environment([&] {
        const HostIsa isa = host_isa();
        const Group group{.isa = isa};
        kernel.entry(isa)(group, arguments.data());
    });
    return result;
}

nb::object few_computed(BinaryFunction function, nb::handle x, nb::handle y, nb::handle out,
                        const Common& common) {
    if (function > BinaryFunction::divide || !is_plain(out, common) || !is_numpy_array(x) ||
        !is_numpy_array(y))
        return {};
    const FewElements a(x);
    if (!a || !is_float(a.type())) return {};
    const FewElements b(y);
    if (!b || b.type() != a.type() || !a.has_shape_of(b)) return {};
    nb::object result = array_like(x);
    const FewElements to(result, true);
    if (!to) return {};
    detail::in_default_float_environment([&] {
        if (a.type() == Type::f32) {
            compute<f32>(function, a, b, to.data());
        } else {
            compute<f64>(function, a, b, to.data());
        }
    });
    return result;
}

nb::object few_multiplied(nb::handle x, nb::handle y, nb::handle out, const Common& common) {
    constexpr Py_ssize_t few_columns = 8;
    if (!is_plain(out, common) || !is_numpy_array(x) || !is_numpy_array(y)) return {};
    const FewElements a(x);
    if (!a || !is_float(a.type()) || a.rank() != 2) return {};
    const FewElements b(y);
    if (!b || b.type() != a.type() || b.rank() != 2 || a.extent(1) != b.extent(0)) return {};
    if (a.extent(0) > few_columns || a.extent(1) > few_columns || b.extent(1) > few_columns) return {};
    nb::object result = a.has_shape_of(b) ? array_like(x)
                                          : numpy_function("empty")(nb::make_tuple(a.extent(0), b.extent(1)),
                                                                    x.attr("dtype"));
    const FewElements to(result, true);
    if (!to) return {};
    detail::in_default_float_environment([&] {
        if (a.type() == Type::f32) {
            multiply<f32>(a, b, to.data());
        } else {
            multiply<f64>(a, b, to.data());
        }
    });
    return result;
}

nb::object few_sorted_elements(nb::handle x, nb::handle axis, bool descending, nb::handle nan, nb::handle out,
                               const Common& common) {
    if (is_given(nan) || !is_plain(out, common) || !PyLong_CheckExact(axis.ptr()) || !is_numpy_array(x))
        return {};
    const long along = PyLong_AsLong(axis.ptr());
    if (PyErr_Occurred() != nullptr) {
        PyErr_Clear();  // no such axis
        return {};
    }
    if (along != -1 && along != 0) return {};
    const FewElements in(x);
    if (!in || in.rank() != 1 || in.size() > few_sorted) return {};
    nb::object result = array_like(x);
    const FewElements to(result, true);
    if (!to) return {};
    detail::visit_type(in.type(), [&]<class T>(detail::TypeTag<T>) {
        if constexpr (!std::is_same_v<T, bool>) sort_few<T>(in, to.data(), descending);
    });
    return result;
}

}  // namespace concord::python
