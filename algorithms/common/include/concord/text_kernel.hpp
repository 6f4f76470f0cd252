#pragma once
/// @file
/// Kernels over an index space from source at run time.
///
///     const TextKernel wave = index_kernel_from_text(
///         "void wave(u64 x, u64 y, f32* next, const f32* now, f32 c, u64 width) {"
///         "    const u64 i = y * width + x;"
///         "    next[i] = 2 * now[i] - next[i] + c * (now[i - 1] - 2 * now[i] + now[i + 1]);"
///         "}");
///
///     wave(stream, {nx, ny}, next, now, 0.25f, nx);
///
/// The text is what CONCORD_KERNEL takes, see index_kernel.hpp, except that values have element types. Devices without
/// a run-time compiler (LaunchModel::host), such as the CPU, need a host kernel of the same body.
///
/// group_kernel_from_text() does the same for the kernels of groups that CONCORD_GROUP_KERNEL defines:
///
///     const TextKernel rotate = group_kernel_from_text(
///         "void rotate(f32* x) {"
///         "    CONCORD_LOCAL(f32, tile, [64]);"
///         "    CONCORD_ITEMS((t)) { tile[t] = x[group.x * 64 + t]; }"
///         "    CONCORD_ITEMS((t)) { x[group.x * 64 + t] = tile[(t + 1) % 64]; }"
///         "}", 64);
///
///     rotate(stream, groups, x);

#include <concord/group_kernel.hpp>
#include <concord/index_kernel.hpp>

#include <initializer_list>
#include <memory>
#include <string>
#include <variant>
#include <vector>

namespace concord {

namespace detail {
struct TextKernelState;
}

/// A kernel made by index_kernel_from_text() or group_kernel_from_text(). Copies share the text and the compiled code,
/// which the last copy frees.
class TextKernel {
  public:
    /// A parameter after the index.
    struct Parameter {
        std::string name;        ///< its name in the text
        ElementType type;        ///< type of the value, or of the buffer's elements
        bool is_buffer = false;  ///< whether it is a pointer
        bool is_const = false;   ///< whether the kernel only reads the buffer
    };

    /// An argument after the index: a range or a view for a buffer, or a number.
    class Argument {
      public:
        /// 0.
        Argument() = default;
        /// A buffer.
        Argument(const View& view) : value_(view) {}
        /// A buffer.
        template <Range R>
        Argument(const R& range) : value_(View(range.view())), is_const_(!is_writable_range<R>) {}
        /// A number.
        template <class T>
        requires(std::is_arithmetic_v<T>) Argument(T value) : value_(wide(value)) {}

      private:
        friend class TextKernel;
        template <class T>
        static auto wide(T value) {
            if constexpr (std::is_floating_point_v<T>) {
                return static_cast<f64>(value);
            } else if constexpr (std::is_signed_v<T>) {
                return static_cast<i64>(value);
            } else {
                return static_cast<u64>(value);
            }
        }
        std::variant<u64, i64, f64, View> value_;
        bool is_const_ = false;
    };

    /// The name in the text.
    const std::string& name() const;
    /// The number of dimensions of the index space: 1, 2 or 3. 0: a kernel of groups.
    u32 rank() const;
    /// The parameters after the index.
    const std::vector<Parameter>& parameters() const;
    /// The parameters' types, "wave(u64, u64, f32*, const f32*, f32, u64)", for messages.
    std::string signature() const;

    /// Enqueues the body for each index in [0, extents), or for each group of one to three counts. `arguments` are
    /// those after the index: ranges for buffers, and numbers, which are converted to the parameter's type if it has
    /// them. Asynchronous: the kernel may be destroyed before the work is done. Throws invalid_argument (number of
    /// arguments, element types, values, extents), wrong_device, unsupported (a device without a run-time compiler, and
    /// no host kernel; f64 on a device without it; a group size that it does not have), compile_failed.
    ///
    /// Enqueued::order is canonical if the body calls only functions that all devices compute alike.
    template <class... A>
    Enqueued operator()(Stream& stream, const AnyExtents& extents, const A&... arguments) const {
        const std::array<Argument, sizeof...(A)> list{Argument(arguments)...};
        return run(stream, extents, list);
    }
    /// The same with a list of arguments.
    Enqueued run(Stream& stream, const AnyExtents& extents, std::span<const Argument> arguments) const;

    /// @cond
    // The kernel with its types erased, valid while a copy exists.
    const detail::KernelDefinition& definition() const;
    explicit TextKernel(std::shared_ptr<const detail::TextKernelState> state) : state_(std::move(state)) {}
    /// @endcond

  private:
    std::shared_ptr<const detail::TextKernelState> state_;
};

/// Creates a kernel from source: "void NAME(INDEX, PARAMETERS) { BODY }". INDEX is one, two or three parameters of
/// type u64, x first. The others are values and pointers to elements, `const` for inputs. Types are element types
/// under their C or Concord names, of elements also vectors. All leading parameters of type u64 belong to the index.
///
/// `host`: for devices without a run-time compiler, see index_host_kernel(). Throws invalid_argument if the part before
/// the body is malformed. Compilers report errors in the body at the first call.
TextKernel index_kernel_from_text(std::string_view text, const HostKernel& host = {});

/// Creates a kernel of groups from source: "void NAME(PARAMETERS) { BODY }", with the body that CONCORD_GROUP_KERNEL
/// takes. `group_size`: one to three constants, or any_size.
///
/// `host`: for devices without a run-time compiler, see group_host_kernel(). Throws invalid_argument if the part before
/// the body is malformed, if the body cannot run in groups, with the reason, and for a group size of more than 1024.
/// Compilers report errors in the body at the first call.
TextKernel group_kernel_from_text(std::string_view text, const AnyExtents& group_size,
                                  const HostKernel& host = {});

namespace detail {
// The body of an index kernel as CONCORD_KERNEL has it.
template <auto Body>
struct IndexBody {
    template <class... P>
    [[gnu::always_inline]] static inline void call(P... parameters) {
        Body(parameters...);
    }
};
}  // namespace detail

/// The host kernel whose body is a C++ function with the parameters of the text: void(u64 x, ..., f32* next, ...).
template <auto Body>
constexpr HostKernel index_host_kernel() {
    using Types = detail::IndexTypes<detail::IndexBody<Body>, decltype(Body)>;
    return host_kernel<&detail::IndexHost<detail::IndexBody<Body>, Types::rank, typename Types::Rest>::run>();
}

/// The host kernel of a struct with the members that CONCORD_GROUP_KERNEL defines.
template <class K>
constexpr HostKernel group_host_kernel() {
    return host_kernel<&detail::GroupHostOf<K>::run>();
}

}  // namespace concord
