#pragma once
/// The porting kit: puts a kernel of your own through the suite that Concord's algorithms go through.
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
/// On every device that the kernel has a text for, each variant runs over sizes, patterns of input and
/// element offsets, with outputs poisoned and every range guarded. Compile errors carry the name of the
/// SourceFile and the line in it. apps/examples/port.cpp ports a Gaussian blur this way.

#include <concord/lab/suite.hpp>

namespace concord::lab {

/// How an output is compared with what the reference says.
class Comparison {
  public:
    /// Equal bits; any NaN is any other.
    static Comparison bits();
    /// At most that many representable floats apart; integers: that far apart. NaN for NaN, infinities
    /// exactly.
    static Comparison ulps(double most);
    /// At most most(i, expected) away from what is expected of element i, in the output's own units.
    static Comparison within(std::function<double(u64 index, double expected)> most);
    /// Within a derived error bound: gamma_h times the sum of the magnitudes that the result is made of
    /// (Higham 2002, section 3.1), for a longest chain of h(n) roundings in the output's type. The reference
    /// writes the sums in f64 and their magnitudes with ReferenceCall::magnitude().
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
    u64 n = 0;                  ///< the size under test
    std::span<const View> in;   ///< in the order of KernelTest::inputs
    std::span<const View> out;  ///< in the order of KernelTest::outputs
};

/// The same call as the reference sees it: on the host, serial and plain.
class ReferenceCall {
  public:
    u64 n = 0;

    /// Input k. Throws invalid_argument if it is not of T.
    template <class T>
    std::span<const T> in(std::size_t k) const {
        check_input(k, type_of<T>());
        return {static_cast<const T*>(inputs_[k].data), inputs_[k].count};
    }
    /// What is expected of output k, to be written, zero before. T is the output's type, or f64 for a
    /// comparison that needs more than the output can hold. Ask once an output.
    template <class T>
    std::span<T> out(std::size_t k) const {
        T* const data = static_cast<T*>(expect(k, type_of<T>()));
        return {data, counts_[k]};
    }

    /// The sums of magnitudes that go with output k, to be written where its comparison is
    /// Comparison::rounding.
    std::span<double> magnitude(std::size_t k) const;

    struct Values {
        const void* data;
        u64 count;
        Type type;
    };
    /// What the reference wrote of an output.
    struct Expected {
        Type type = Type::u8;
        std::vector<std::byte> bytes;
        std::vector<double> magnitudes;
    };
    /// For the suite's use. `types` and `counts` are the outputs'.
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

/// An input of a kernel under test: generated, or made by the test itself.
struct TestInput {
    Type type = Type::f32;
    std::function<u64(u64 n)> count;  ///< elements for size n
    /// What it looks like. All inputs of a case take their pattern at the same place of this list, the last
    /// one where theirs is shorter.
    std::vector<Pattern> patterns = {Pattern::random};
    /// Writes the count(n) elements itself where no pattern would do, such as indices that must be in range.
    /// Depends on nothing but n and the seed.
    std::function<void(u64 n, u64 seed, void* to)> generate = {};
};

struct TestOutput {
    Type type = Type::f32;
    std::function<u64(u64 n)> count;
    Comparison comparison = Comparison::bits();
};

/// One way to compute it: enqueues everything on the stream and returns. Called on every device; where a
/// kernel is not written in the device's language, Device::kernel says so with ErrorCode::unsupported, which
/// is reported, not failed. Device::compile would compile in every call, and its time would be the kernel's.
struct TestVariant {
    std::string name;
    std::function<void(Stream&, const KernelCall&)> enqueue;
    OperationOrder order = OperationOrder::canonical;
};

/// A kernel under test, or several ways to compute the same.
struct KernelTest {
    std::string name;
    std::string summary;
    std::vector<TestInput> inputs;
    std::vector<TestOutput> outputs;
    std::vector<TestVariant> variants;  ///< the first is the one that is measured by default
    /// What is right. Give this, or `reference`.
    std::function<void(const ReferenceCall&)> reference;
    /// The selector of a device whose first variant is taken for right: ports are then compared with the
    /// original.
    std::string reference_device;
    std::vector<u64> sizes = {0, 1, 2, 31, 32, 33, 255, 256, 257, 1009, 4095, 4096, 4097, 65537};
    bool in_place = false;                 ///< whether the first output may be the first input
    bool any_offset = true;                ///< whether operands may begin at any element of their buffers
    std::function<u64(u64 n)> traffic;     ///< bytes that must move; default: all inputs and outputs once
    std::function<u64(u64 n)> operations;  ///< arithmetic operations, for rates; default: not said
};

/// The suite that puts it to the test. Throws invalid_argument if something is missing, and says what.
Suite suite_of(KernelTest test);

/// A kernel source from a file, reported under that path by the compilers. Throws io, naming the path.
struct KernelFile {
    std::string path, text;
    SourceFile view() const& { return {path, text}; }  ///< of this object: keep it
    SourceFile view() && = delete;
};
KernelFile kernel_file(const std::string& path);

}  // namespace concord::lab
