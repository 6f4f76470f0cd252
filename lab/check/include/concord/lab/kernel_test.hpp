#pragma once
/// @file
/// Porting kit: runs a user's kernel through the same checks and benchmarks as Concord's algorithms.
///
///     KernelTest test;
///     test.name = "blur";
///     test.inputs = {{Type::f32, [](u64 n) { return n; }}};
///     test.outputs = {{Type::f32, [](u64 n) { return n; }, Comparison::bits()}};
///     test.variants = {{"direct", [](Stream& stream, const KernelCall& call) {
///         const KernelSpec spec{.source = &source, .entry = "blur", .host = ...};
///         const auto kernel = stream.device().kernel(spec);
///         launch(stream, *kernel, shape, call.in[0], call.out[0], call.n);
///     }}};
///     test.reference = [](const ReferenceCall& call) { ... plain loops ... };
///     const CheckReport report = check({suite_of(test)}, {});
///     report.print(std::cout);
///
/// A kernel over several axes lists `shapes` in place of sizes, and counts take the shape. An output with `initial`
/// values is read and written. on_operands() passes views in place of a KernelCall, for example to a CONCORD_KERNEL:
///
///     test.shapes = {{1, 1}, {3, 70000}, {1000, 77}};
///     test.inputs = {{Type::f32, elements(), {Values::uniform(0, 10), Values::normal()}}};
///     test.outputs = {{Type::f32, elements(), Comparison::ulps(2), Values::uniform(0, 10)}};
///     test.variants = {{"direct", on_operands([](Stream& stream, const Shape& shape,
///                                                const View& a, const View& b) {
///         wave(stream, {shape[0], shape[1]}, b, a, 0.25f, shape[0]);
///     })}};
///
/// Each variant runs on every device that the kernel has a source for, with many sizes, input patterns and element
/// offsets. Outputs are poisoned and every range is guarded. Compile errors name the SourceFile and the line in it.
/// apps/examples/port.cpp ports a Gaussian blur this way.

#include <concord/lab/suite.hpp>

#include <cstring>

namespace concord::lab {

/// The lengths of a kernel's index space along its axes, x first.
using Shape = std::vector<u64>;

/// The number of elements of an operand, as a function of the size n or of the shape. With KernelTest::shapes the size
/// is the product of the lengths.
class Count {
  public:
    /// No function. suite_of() refuses it.
    Count(std::nullptr_t = nullptr) {}
    /// A function of the size, or of the shape, which without KernelTest::shapes is {n}.
    template <class F>
    requires(std::is_invocable_v<const F&, u64> || std::is_invocable_v<const F&, const Shape&>) Count(F f)
        : f_([f](u64 n, const Shape& shape) {
              if constexpr (std::is_invocable_v<const F&, u64>) {
                  return static_cast<u64>(f(n));
              } else {
                  return static_cast<u64>(f(shape));
              }
          }) {}

    /// Whether there is a function.
    explicit operator bool() const { return static_cast<bool>(f_); }
    /// The number of elements.
    u64 operator()(u64 n, const Shape& shape) const { return f_(n, shape); }

  private:
    std::function<u64(u64, const Shape&)> f_;
};
/// One element for each index: n.
Count elements();

/// The value of an IEEE 754 binary16 number.
f32 half_to_float(u16 half);
/// The nearest IEEE 754 binary16 number, with ties to even.
u16 float_to_half(f32 value);

/// What the elements of an operand are: an element type, 16-bit floats, or a struct.
///
/// The views of an operand are of its units: u16 for 16-bit floats, the members of a struct of equal members, and
/// otherwise unsigned integers with the alignment of the struct. The kernel's parameter has the kernel's own type. In
/// OpenCL C, the offset that follows a buffer counts units.
class TestType {
  public:
    /// An element type.
    TestType(Type type) : unit_(type) {}
    /// IEEE 754 binary16, `half` in CUDA and OpenCL. References see u16; see half_to_float().
    static TestType half();
    /// A struct whose members all have the type `member`. Values and comparisons apply to each member.
    template <class T>
    static TestType of(Type member) {
        static_assert(std::is_trivially_copyable_v<T>, "an operand's elements are copied as bytes");
        return TestType(member, sizeof(T), alignof(T), false);
    }
    /// Any other struct without padding. It needs TestInput::generate or random bits, and Comparison bits() or of().
    template <class T>
    static TestType of() {
        static_assert(std::is_trivially_copyable_v<T>, "an operand's elements are copied as bytes");
        constexpr std::size_t unit = std::min<std::size_t>(alignof(T), 8);
        return TestType(unit == 1   ? Type::u8
                        : unit == 2 ? Type::u16
                        : unit == 4 ? Type::u32
                                    : Type::u64,
                        sizeof(T), alignof(T), true);
    }

    /// Type of the views.
    Type unit() const { return unit_; }
    /// Units of an element.
    u32 units() const { return units_; }
    /// Size of an element in bytes.
    u32 size() const { return units_ * size_of(unit_); }
    /// Whether the elements are 16-bit floats.
    bool is_half() const { return half_; }
    /// Whether the elements are structs without a common type of their members.
    bool is_raw() const { return raw_; }
    /// Whether the values are floats.
    bool has_floats() const { return half_ || is_float(unit_); }
    /// Alignment of an element in bytes.
    std::size_t alignment() const { return alignment_; }

  private:
    TestType(Type unit, std::size_t size, std::size_t alignment, bool raw);

    Type unit_;
    u32 units_ = 1;
    std::size_t alignment_ = 1;
    bool half_ = false, raw_ = false;
};

/// How the elements of an operand are generated. All depend on a seed, the index and the number of elements alone.
class Values {
  public:
    /// A pattern. 16-bit floats have random, constant and near_one.
    Values(Pattern pattern) : pattern_(pattern) {}
    /// Uniform in [low, high].
    static Values uniform(double low, double high);
    /// Uniform in (0, 1] for floats, from 1 to 100 for integers.
    static Values positive();
    /// Normally distributed. Integers are rounded.
    static Values normal(double mean = 0, double deviation = 1);

    /// The pattern; random for a distribution.
    Pattern pattern() const { return pattern_; }
    /// The input of `count` elements.
    Input input(const TestType& type, u64 count, u64 seed) const;

  private:
    friend struct ValuesAccess;
    Pattern pattern_;
    std::function<double(u64 bits, bool is_float)> draw_ = {};
};

/// How an output is compared with the reference.
class Comparison {
  public:
    /// Bitwise identical. All NaNs are equal, because devices give different NaNs for the same operation.
    static Comparison bits();
    /// At most `most` units in the last place apart; for integers an absolute difference of at most `most`. NaNs and
    /// infinities must match.
    static Comparison ulps(double most);
    /// At most most(i, expected) away from the expected value of element i, in the output's own units.
    static Comparison within(std::function<double(u64 index, double expected)> most);
    /// At most most * |expected| away, or `or_absolute` if that is more.
    static Comparison relative(double most, double or_absolute = 0);
    /// At most `most` away.
    static Comparison absolute(double most);
    /// Within the relative error of k roundings in the output's type, k u / (1 - k u), and k denormal numbers. For
    /// chains of products, quotients and functions. A difference of nearly equal numbers needs rounding().
    static Comparison roundings(double k);
    /// Structs of type T that are equal by a function of the expected and the actual one.
    template <class T>
    static Comparison of(std::function<bool(const T& expected, const T& got)> equal) {
        return of_structs(sizeof(T), [equal](const void* expected, const void* got) {
            T a, b;
            std::memcpy(&a, expected, sizeof a);
            std::memcpy(&b, got, sizeof b);
            return equal(a, b);
        });
    }
    /// Within a derived error bound: gamma_h times the sum of magnitudes, for a longest chain of h(n) roundings in the
    /// output's type (N. Higham, Accuracy and Stability of Numerical Algorithms, 2002, section 3.1). The reference
    /// computes the results in f64, and their sums of magnitudes in ReferenceCall::magnitude().
    static Comparison rounding(std::function<double(u64 n)> h);

  private:
    friend struct ComparisonAccess;
    enum class Kind { bits, ulps, within, roundings, rounding, structs };
    static Comparison of_structs(std::size_t size, std::function<bool(const void*, const void*)> equal);

    Kind kind_ = Kind::bits;
    double max_number_ = 0;  // of ulps or roundings
    std::size_t struct_size_ = 0;
    std::function<bool(const void*, const void*)> equal_;
    std::function<double(u64, double)> max_;
    std::function<double(u64)> h_;
};

/// One call of a kernel on a device.
struct KernelCall {
    u64 n = 0;                  ///< size
    std::span<const View> in;   ///< in the order of KernelTest::inputs
    std::span<const View> out;  ///< in the order of KernelTest::outputs
    const Shape& shape;         ///< lengths along the axes
};

/// The same call for the reference, which runs serially on the host.
class ReferenceCall {
  public:
    u64 n = 0;    ///< size
    Shape shape;  ///< lengths along the axes

    /// Elements of input k. T is the input's element type, its struct, or u16 for 16-bit floats. Throws
    /// invalid_argument for another type, or if there is no such input.
    template <class T>
    std::span<const T> in(std::size_t k) const {
        const Elements& elements = input(k, detail::find_type<T>(), sizeof(T));
        return {static_cast<const T*>(elements.data),
                elements.units * size_of(elements.type.unit()) / sizeof(T)};
    }
    /// Elements of output k, for the reference to write: initially TestOutput::initial, otherwise 0. T is the output's
    /// type as for in(), or f64 for a comparison that needs more precision. Call it once per output.
    template <class T>
    std::span<T> out(std::size_t k) const {
        Expected& expected = expect(k, detail::find_type<T>(), sizeof(T));
        return {reinterpret_cast<T*>(expected.bytes.data()), expected.bytes.size() / sizeof(T)};
    }

    /// Sums of magnitudes of output k, for the reference to write if its comparison is Comparison::rounding.
    std::span<double> magnitude(std::size_t k) const;

    /// Elements of an operand.
    struct Elements {
        const void* data;  ///< first unit; null for an output without initial values
        u64 units;         ///< number of units
        TestType type;     ///< element type
    };
    /// What the reference wrote for an output.
    struct Expected {
        bool exact = false;              ///< whether the elements are f64 in place of the output's type
        std::vector<std::byte> bytes;    ///< elements
        std::vector<double> magnitudes;  ///< sums of magnitudes, or empty
    };
    /// For the suite. `outputs` describes the outputs.
    ReferenceCall(u64 size, Shape lengths, std::vector<Elements> inputs, std::vector<Elements> outputs,
                  std::vector<Expected>& expected)
        : n(size),
          shape(std::move(lengths)),
          inputs_(std::move(inputs)),
          outputs_(std::move(outputs)),
          expected_(expected) {}

  private:
    const Elements& input(std::size_t k, std::optional<Type> type, std::size_t size) const;
    const Elements& output(const char* call, std::size_t k) const;
    Expected& expect(std::size_t k, std::optional<Type> type, std::size_t size) const;

    std::vector<Elements> inputs_, outputs_;
    std::vector<Expected>& expected_;
};

/// An input of a kernel under test.
struct TestInput {
    TestType type = Type::f32;  ///< element type
    Count count;                ///< number of elements
    /// Distributions of the elements. Case i uses distribution i of every input, or the last one of a shorter list.
    std::vector<Values> patterns = {Pattern::random};
    /// Writes the elements itself if no pattern fits, such as indices that must be in range. The result must
    /// depend on n and the seed alone.
    std::function<void(u64 n, u64 seed, void* to)> generate = {};
};

/// An output of a kernel under test.
struct TestOutput {
    TestType type = Type::f32;                   ///< element type
    Count count;                                 ///< number of elements
    Comparison comparison = Comparison::bits();  ///< how it is verified
    /// The elements before the call, for an operand that the kernel reads and writes. Otherwise they are poisoned.
    /// Benchmarks do not restore them between timed calls.
    std::optional<Values> initial = {};
};

/// One implementation of a kernel under test.
struct TestVariant {
    std::string name;  ///< any name except "auto" and "all"
    /// Enqueues all work on the stream and returns. It is called on every device. If the kernel has no source for a
    /// device, Device::kernel() throws unsupported, and the report lists the case as not applicable. Device::compile()
    /// would compile the kernel in every call, so that measured times include compilation.
    std::function<void(Stream&, const KernelCall&)> enqueue;
    OperationOrder order = OperationOrder::canonical;  ///< guaranteed order of operations
};

/// TestVariant::enqueue from a function of the operands, inputs first, then outputs: `f(Stream&, const View&...)` or
/// `f(Stream&, const Shape&, const View&...)`. It may call a CONCORD_KERNEL.
template <class R, class... A>
std::function<void(Stream&, const KernelCall&)> on_operands(std::function<R(Stream&, A...)> f) {
    return [f](Stream& stream, const KernelCall& call) {
        std::vector<View> operands(call.in.begin(), call.in.end());
        operands.insert(operands.end(), call.out.begin(), call.out.end());
        constexpr bool takes_shape = (std::is_same_v<std::remove_cvref_t<A>, Shape> || ...);
        constexpr std::size_t views = sizeof...(A) - (takes_shape ? 1 : 0);
        if (operands.size() != views)
            throw Error(ErrorCode::invalid_argument, "on_operands",
                        "the function takes another number of operands, got " + std::to_string(views) +
                            "; the test has " + std::to_string(operands.size()));
        [&]<std::size_t... I>(std::index_sequence<I...>) {
            if constexpr (takes_shape) {
                f(stream, call.shape, operands[I]...);
            } else {
                f(stream, operands[I]...);
            }
        }
        (std::make_index_sequence<views>{});
    };
}
/// The same for a lambda or a function.
template <class F>
std::function<void(Stream&, const KernelCall&)> on_operands(F f) {
    return on_operands(std::function(std::move(f)));
}

/// A kernel under test, with one or more variants.
struct KernelTest {
    std::string name;                   ///< of the kernel
    std::string summary;                ///< what it computes
    std::vector<TestInput> inputs;      ///< may be empty
    std::vector<TestOutput> outputs;    ///< at least one
    std::vector<TestVariant> variants;  ///< at least one; benchmarks measure the first by default
    /// Computes the expected results. Set either this or `reference_device`.
    std::function<void(const ReferenceCall&)> reference;
    /// Selector of a device whose first variant computes the expected results. Compares ports with the original.
    std::string reference_device;
    /// Sizes to test.
    std::vector<u64> sizes = {0, 1, 2, 31, 32, 33, 255, 256, 257, 1009, 4095, 4096, 4097, 65537};
    /// Shapes to test in place of `sizes`, all of one rank. For another size, as of a benchmark, the lengths are nearly
    /// equal.
    std::vector<Shape> shapes = {};
    bool in_place = false;                 ///< whether the first output may be the first input
    bool any_offset = true;                ///< whether operands may start at any element of their buffers
    std::function<u64(u64 n)> traffic;     ///< bytes that must move; default: all inputs and outputs once
    std::function<u64(u64 n)> operations;  ///< arithmetic operations, for rates; default: none
};

/// The suite that tests the kernel. Throws invalid_argument if a required member is missing, and names it.
Suite suite_of(KernelTest test);

/// A kernel source that was read from a file. Compilers report errors under its path.
struct KernelFile {
    std::string path;  ///< of the file
    std::string text;  ///< its contents
    /// A view of this object, which must outlive it.
    SourceFile view() const& { return {path, text}; }
    SourceFile view() && = delete;
};
/// Reads a kernel source. Throws io, naming the path.
KernelFile kernel_file(const std::string& path);

}  // namespace concord::lab
