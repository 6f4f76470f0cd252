#pragma once
/// @file
/// Porting kit: runs a user's kernel through the same checks and benchmarks as Concord's algorithms.
///
///     KernelTest test;
///     test.name = "blur";
///     test.inputs = {{Type::f32, [](u64 n) { return n; }}};
///     test.outputs = {{Type::f32, [](u64 n) { return n; }, Comparison::bits()}};
///     test.variants = {{"direct", [](Stream& stream, const KernelCall& call) {
///         const auto kernel = stream.device().kernel({.source = &source, .entry = "blur", .host = ...});
///         launch(stream, *kernel, shape, call.in[0], call.out[0], call.n);
///     }}};
///     test.reference = [](const ReferenceCall& call) { ... plain loops ... };
///     const CheckReport report = check({suite_of(test)}, {});
///     report.print(std::cout);
///
/// Each variant runs on every device that the kernel has a source for, with many sizes, input patterns and element
/// offsets. Outputs are poisoned and every range is guarded. Compile errors name the SourceFile and the line in it.
/// apps/examples/port.cpp ports a Gaussian blur this way.

#include <concord/lab/suite.hpp>

namespace concord::lab {

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
    /// Within a derived error bound: gamma_h times the sum of magnitudes, for a longest chain of h(n) roundings in the
    /// output's type (N. Higham, Accuracy and Stability of Numerical Algorithms, 2002, section 3.1). The reference
    /// computes the results in f64, and their sums of magnitudes in ReferenceCall::magnitude().
    static Comparison rounding(std::function<double(u64 n)> h);

  private:
    friend struct ComparisonAccess;
    enum class Kind { bits, ulps, within, rounding };
    Kind kind_ = Kind::bits;
    double most_ulps_ = 0;
    std::function<double(u64, double)> most_;
    std::function<double(u64)> h_;
};

/// One call of a kernel on a device.
struct KernelCall {
    u64 n = 0;                  ///< size
    std::span<const View> in;   ///< in the order of KernelTest::inputs
    std::span<const View> out;  ///< in the order of KernelTest::outputs
};

/// The same call for the reference, which runs serially on the host.
class ReferenceCall {
  public:
    u64 n = 0;  ///< size

    /// Elements of input k. Throws invalid_argument if there is no such input, or its type is not T.
    template <class T>
    std::span<const T> in(std::size_t k) const {
        check_input(k, type_of<T>());
        return {static_cast<const T*>(inputs_[k].data), inputs_[k].count};
    }
    /// Elements of output k, initially 0, for the reference to write. T is the output's type, or f64 for a comparison
    /// that needs more precision. Call it once per output.
    template <class T>
    std::span<T> out(std::size_t k) const {
        T* const data = static_cast<T*>(expect(k, type_of<T>()));
        return {data, counts_[k]};
    }

    /// Sums of magnitudes of output k, for the reference to write if its comparison is Comparison::rounding.
    std::span<double> magnitude(std::size_t k) const;

    /// Elements of an input.
    struct Values {
        const void* data;  ///< first element
        u64 count;         ///< number of elements
        Type type;         ///< element type
    };
    /// What the reference wrote for an output.
    struct Expected {
        Type type = Type::u8;            ///< the output's type or f64
        std::vector<std::byte> bytes;    ///< elements
        std::vector<double> magnitudes;  ///< sums of magnitudes, or empty
    };
    /// For the suite. `types` and `counts` describe the outputs.
    ReferenceCall(u64 size, std::vector<Values> inputs, std::vector<Type> types, std::vector<u64> counts,
                  std::vector<Expected>& expected)
        : n(size),
          inputs_(std::move(inputs)),
          types_(std::move(types)),
          counts_(std::move(counts)),
          expected_(expected) {}

  private:
    void check_input(std::size_t k, Type type) const;
    void check_output(const char* call, std::size_t k) const;
    void* expect(std::size_t k, Type type) const;

    std::vector<Values> inputs_;
    std::vector<Type> types_;
    std::vector<u64> counts_;
    std::vector<Expected>& expected_;
};

/// An input of a kernel under test.
struct TestInput {
    Type type = Type::f32;            ///< element type
    std::function<u64(u64 n)> count;  ///< number of elements for size n
    /// Distributions of the elements. Case i uses pattern i of every input, or the last one of a shorter list.
    std::vector<Pattern> patterns = {Pattern::random};
    /// Writes the count(n) elements itself if no pattern fits, such as indices that must be in range. The result must
    /// depend on n and the seed alone.
    std::function<void(u64 n, u64 seed, void* to)> generate = {};
};

/// An output of a kernel under test.
struct TestOutput {
    Type type = Type::f32;                       ///< element type
    std::function<u64(u64 n)> count;             ///< number of elements for size n
    Comparison comparison = Comparison::bits();  ///< how it is verified
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
