#include <concord/internal/input_file.hpp>
#include <concord/lab/compare.hpp>
#include <concord/lab/kernel_test.hpp>

#include <mutex>
#include <set>

namespace concord::lab {

Comparison Comparison::bits() {
    return {};
}

Comparison Comparison::ulps(double most) {
    Comparison comparison;
    comparison.kind_ = Kind::ulps;
    comparison.most_ulps_ = most;
    return comparison;
}

Comparison Comparison::within(std::function<double(u64, double)> most) {
    Comparison comparison;
    comparison.kind_ = Kind::within;
    comparison.most_ = std::move(most);
    return comparison;
}

Comparison Comparison::rounding(std::function<double(u64)> h) {
    Comparison comparison;
    comparison.kind_ = Kind::rounding;
    comparison.h_ = std::move(h);
    return comparison;
}

// Verifies single elements. T is the output's type, E the type that the reference wrote.
struct ComparisonAccess {
    static bool wants_magnitudes(const Comparison& how) { return how.kind_ == Comparison::Kind::rounding; }

    // Uses `magnitude` only if wants_magnitudes().
    template <class T, class E>
    static void verify(const Comparison& how, u64 n, u64 index, E expected, double magnitude, T got,
                       Verdict& verdict) {
        const T nearest = static_cast<T>(expected);
        if (how.kind_ == Comparison::Kind::bits) {
            if (!same(nearest, got, NanComparison::any)) verdict.differ(difference_of(index, nearest, got));
            return;
        }
        const auto exact = static_cast<double>(detail::widened(expected)),
                   value = static_cast<double>(detail::widened(got));
        if (!std::isfinite(exact) || !std::isfinite(value)) {
            if (!same(nearest, got, NanComparison::any)) verdict.differ(difference_of(index, nearest, got));
            return;
        }
        ErrorBounds bounds;
        bounds.error = std::abs(value - exact);
        if constexpr (std::is_integral_v<T> && std::is_same_v<T, E>) {
            const bool above = got > expected;  // in integers, because doubles round 64-bit differences
            bounds.error = static_cast<double>(above ? static_cast<u64>(got) - static_cast<u64>(expected)
                                                     : static_cast<u64>(expected) - static_cast<u64>(got));
        }
        switch (how.kind_) {
            case Comparison::Kind::ulps:
                if constexpr (detail::has_float_values<T>) bounds.error = ulps_between(nearest, got);
                bounds.hard = how.most_ulps_;
                break;
            case Comparison::Kind::within:
                bounds.hard = how.most_(index, exact);
                break;
            default:
                if constexpr (std::is_floating_point_v<T>)
                    bounds.hard = gamma_bound<T>(how.h_(n)) * magnitude;
                else
                    bounds.hard = 0;
                break;
        }
        verify_within(bounds, index, nearest, got, verdict);
    }
};

void ReferenceCall::check_input(std::size_t k, Type type) const {
    if (k >= inputs_.size())
        throw Error(
            ErrorCode::invalid_argument, "ReferenceCall::in",
            "no such input, got " + std::to_string(k) + "; the test has " + std::to_string(inputs_.size()));
    if (inputs_[k].type != type)
        throw Error(ErrorCode::invalid_argument, "ReferenceCall::in",
                    "wrong type for input " + std::to_string(k) + ", got " + std::string(name_of(type)) +
                        "; use " + std::string(name_of(inputs_[k].type)));
}

void ReferenceCall::check_output(const char* call, std::size_t k) const {
    if (k >= counts_.size())
        throw Error(
            ErrorCode::invalid_argument, call,
            "no such output, got " + std::to_string(k) + "; the test has " + std::to_string(counts_.size()));
}

void* ReferenceCall::expect(std::size_t k, Type type) const {
    check_output("ReferenceCall::out", k);
    if (type != types_[k] && type != Type::f64)
        throw Error(ErrorCode::invalid_argument, "ReferenceCall::out",
                    "wrong type for output " + std::to_string(k) + ", got " + std::string(name_of(type)) +
                        "; use " + std::string(name_of(types_[k])) + " or f64");
    expected_[k].type = type;
    expected_[k].bytes.assign(counts_[k] * size_of(type), std::byte{0});
    return expected_[k].bytes.data();
}

std::span<double> ReferenceCall::magnitude(std::size_t k) const {
    check_output("ReferenceCall::magnitude", k);
    expected_[k].magnitudes.assign(counts_[k], 0);
    return expected_[k].magnitudes;
}

namespace {

using Expected = ReferenceCall::Expected;

[[noreturn]] void missing(const KernelTest& test, const std::string& what) {
    throw Error(ErrorCode::invalid_argument, "KernelTest", "'" + test.name + "' " + what);
}

void check_complete(const KernelTest& test) {
    if (test.name.empty())
        throw Error(ErrorCode::invalid_argument, "KernelTest", "no name; set KernelTest::name");
    if (test.outputs.empty()) missing(test, "has no output; set KernelTest::outputs");
    if (test.variants.empty()) missing(test, "has no variant; set KernelTest::variants");
    if (!test.reference && test.reference_device.empty())
        missing(test, "has no reference; set KernelTest::reference or KernelTest::reference_device");
    for (const TestOutput& output : test.outputs) {
        if (ComparisonAccess::wants_magnitudes(output.comparison) && !is_float(output.type))
            missing(test, "has an integer output with Comparison::rounding; use Comparison::bits or ulps");
        if (!test.reference && ComparisonAccess::wants_magnitudes(output.comparison))
            missing(test,
                    "has an output with Comparison::rounding, which needs a reference function; "
                    "set KernelTest::reference");
    }
    if (test.reference && !test.reference_device.empty())
        missing(test, "has both a reference function and a reference device; set one of them");
    if (test.sizes.empty()) missing(test, "has no sizes; set KernelTest::sizes");
    for (const TestInput& input : test.inputs) {
        if (!input.count) missing(test, "has an input without a count; set TestInput::count");
        if (input.patterns.empty()) missing(test, "has an input without a pattern; set TestInput::patterns");
        for (const Pattern pattern : input.patterns) {
            if (!applies(pattern, input.type))
                missing(test, "has the pattern " + std::string(name_of(pattern)) + " for an input of type " +
                                  std::string(name_of(input.type)) + ", which does not support it");
        }
    }
    for (const TestOutput& output : test.outputs) {
        if (!output.count) missing(test, "has an output without a count; set TestOutput::count");
    }
    std::set<std::string_view> names;
    for (const TestVariant& variant : test.variants) {
        if (variant.name.empty() || !variant.enqueue)
            missing(test, "has a variant without a name or a function; set TestVariant::name and enqueue");
        if (variant.name == "auto" || variant.name == "all" || !names.insert(variant.name).second)
            missing(test, "has a variant '" + variant.name + "' whose name is reserved or not unique");
    }
    if (test.in_place &&
        (test.inputs.empty() || size_of(test.inputs[0].type) != size_of(test.outputs[0].type)))
        missing(test, "cannot work in place: the elements of its first input and output differ in size");
}

// The test, and descriptors of its variants.
struct Held {
    KernelTest test;
    std::vector<Variant> variants;
};

const TestVariant& variant_of(const KernelTest& test, std::string_view name) {
    for (const TestVariant& variant : test.variants) {
        if (variant.name == name || name == "auto") return variant;
    }
    throw Error(ErrorCode::invalid_argument, test.name, "unknown variant '" + std::string(name) + "'");
}

// The expected results of a case, computed at the first use.
class Answer {
  public:
    Answer(std::shared_ptr<const Held> held, u64 n, std::vector<Input> inputs)
        : held_(std::move(held)), n_(n), inputs_(std::move(inputs)) {}

    const Expected& of(std::size_t output) {
        std::call_once(once_, [&] { held_->test.reference ? call_reference() : call_reference_device(); });
        return expected_[output];
    }

  private:
    std::vector<std::byte> all_of(const Input& input) const {
        std::vector<std::byte> bytes(input.bytes()), scratch;
        const auto all = input.piece(0, input.count, scratch);
        std::copy(all.begin(), all.end(), bytes.begin());
        return bytes;
    }

    void call_reference() {
        const KernelTest& test = held_->test;
        std::vector<std::vector<std::byte>> data;
        std::vector<ReferenceCall::Values> values;
        for (const Input& input : inputs_) {
            data.push_back(all_of(input));
            values.push_back({data.back().data(), input.count, input.type});
        }
        std::vector<Type> types;
        std::vector<u64> counts;
        for (const TestOutput& output : test.outputs) {
            types.push_back(output.type);
            counts.push_back(output.count(n_));
        }
        expected_.resize(counts.size());
        test.reference(ReferenceCall(n_, std::move(values), types, counts, expected_));
        for (std::size_t k = 0; k < counts.size(); ++k) {
            const bool wants = ComparisonAccess::wants_magnitudes(test.outputs[k].comparison);
            if (expected_[k].bytes.size() != counts[k] * size_of(expected_[k].type))
                throw Error(ErrorCode::invalid_argument, test.name,
                            "the reference did not write output " + std::to_string(k) +
                                "; call ReferenceCall::out()");
            if (wants && expected_[k].magnitudes.size() != counts[k])
                throw Error(ErrorCode::invalid_argument, test.name,
                            "the reference did not write the magnitudes of output " + std::to_string(k) +
                                "; call ReferenceCall::magnitude()");
        }
    }

    void call_reference_device() {
        try {
            expected_ = reference_results();
        } catch (const Error& error) {
            // A device_failed would blame the device under test.
            throw Error(ErrorCode::invalid_argument, held_->test.name,
                        "the reference on " + held_->test.reference_device + " failed: " + error.what());
        }
    }

    std::vector<Expected> reference_results() const {
        const KernelTest& test = held_->test;
        const auto device = open_device(test.reference_device);
        if (!device->traits().runs)
            throw Error(ErrorCode::unsupported, test.name, "the reference device only compiles");
        const auto stream = device->create_stream();
        std::vector<std::shared_ptr<Buffer>> buffers;
        std::vector<View> in, out;
        auto make = [&](Type type, u64 count) {
            buffers.push_back(device->allocate(count * size_of(type), stream.get()));
            return View{buffers.back().get(), 0, count, type};
        };
        for (const Input& input : inputs_) {
            in.push_back(make(input.type, input.count));
            const auto bytes = all_of(input);
            if (!bytes.empty()) stream->write(*in.back().buffer, 0, bytes.data(), bytes.size());
            stream->synchronize();
        }
        for (const TestOutput& output : test.outputs)
            out.push_back(make(output.type, output.count(n_)));
        test.variants.front().enqueue(*stream, {n_, in, out});
        std::vector<Expected> results;
        for (const View& view : out) {
            results.push_back({view.type, std::vector<std::byte>(view.bytes()), {}});
            if (view.count > 0) stream->read(results.back().bytes.data(), *view.buffer, 0, view.bytes());
        }
        stream->synchronize();
        return results;
    }

    std::shared_ptr<const Held> held_;
    u64 n_;
    std::vector<Input> inputs_;
    std::once_flag once_;
    std::vector<Expected> expected_;
};

Pattern pattern_at(const TestInput& input, std::size_t i) {
    return input.patterns[std::min(i, input.patterns.size() - 1)];
}

Work work_of(const std::shared_ptr<const Held>& held, u64 n, std::size_t pattern, u64 seed) {
    const KernelTest& test = held->test;
    Work work;
    work.algorithm = test.name;
    work.title = test.name;
    work.n = n;
    for (const TestInput& input : test.inputs) {
        Input made{input.type, input.count(n), pattern_at(input, pattern), seed + work.inputs.size()};
        if (input.generate && made.count > 0) {
            made.memory->resize(made.bytes());
            input.generate(n, made.seed, made.memory->data());
        }
        work.inputs.push_back(std::move(made));
    }
    for (const TestOutput& output : test.outputs)
        work.outputs.push_back({output.type, output.count(n)});
    work.traffic = test.traffic ? test.traffic(n) : work.bytes();
    work.operations = test.operations ? test.operations(n) : 0;
    work.in_place = test.in_place;
    work.nans = NanComparison::any;
    if (test.in_place && work.inputs.front().count != work.outputs.front().count)
        missing(test, "cannot work in place: its first input has " +
                          std::to_string(work.inputs.front().count) + " elements, its first output " +
                          std::to_string(work.outputs.front().count));
    work.call = [held, n](Stream& stream, std::span<const View> in, std::span<const View> out,
                          const Options& options) {
        const TestVariant& variant = variant_of(held->test, options.variant);
        variant.enqueue(stream, {n, in, out});
        return Enqueued{variant.name, &stream.device(), variant.order};
    };
    auto answer = std::make_shared<Answer>(held, n, work.inputs);
    work.verify = [held, n, answer](const Variant&, std::size_t output, u64 first,
                                    std::span<const std::byte> got, Verdict& verdict) {
        const TestOutput& declared = held->test.outputs[output];
        const Expected& expected = answer->of(output);
        detail::visit_element(declared.type, [&]<class T>(detail::TypeTag<T>) {
            const u64 count = got.size() / sizeof(T);
            for (u64 i = 0; i < count && !verdict.difference; ++i) {
                const T value = element<T>(got, i);
                const u64 at = first + i;
                const double magnitude = expected.magnitudes.empty() ? 0 : expected.magnitudes[at];
                auto verify = [&](auto wanted) {
                    ComparisonAccess::verify(declared.comparison, n, at, wanted, magnitude, value, verdict);
                };
                if (expected.type == declared.type)
                    verify(element<T>(expected.bytes, at));
                else
                    verify(element<f64>(expected.bytes, at));
            }
        });
    };
    return work;
}

}  // namespace

Suite suite_of(KernelTest test) {
    check_complete(test);
    auto held = std::make_shared<Held>();
    held->test = std::move(test);
    for (const TestVariant& variant : held->test.variants)
        held->variants.push_back({.name = variant.name,
                                  .summary = held->test.summary,
                                  .dialects = {Dialect::cuda, Dialect::opencl, Dialect::host},
                                  .order = variant.order});

    Suite suite;
    suite.name = held->test.name;
    suite.summary = held->test.summary;
    suite.skips_slow_variants = false;
    for (const Variant& variant : held->variants)
        suite.variants.push_back(&variant);
    const Type type =
        held->test.inputs.empty() ? held->test.outputs.front().type : held->test.inputs.front().type;
    suite.cases = [held, type](const Plan& plan, Type asked, const CaseSink& emit) {
        if (asked != type) return;
        // One case for each position of the longest list of patterns. A shorter list repeats its last pattern.
        std::size_t longest = 1;
        for (const TestInput& input : held->test.inputs)
            longest = std::max(longest, input.patterns.size());
        std::vector<Pattern> patterns;
        for (std::size_t i = 0; i < longest; ++i)
            patterns.push_back(held->test.inputs.empty() ? Pattern::random
                                                         : pattern_at(held->test.inputs.front(), i));
        std::size_t index = 0;
        for (const u64 n : plan.sizes_or(held->test.sizes)) {
            for (Plan::Shape& shape : plan.shapes(index++, n, patterns, Plan::Coverage::every)) {
                if (!held->test.any_offset) shape.placements = {Placement{}, Placement{.in_place = true}};
                if (!held->test.in_place)
                    std::erase_if(shape.placements, [](const Placement& at) { return at.in_place; });
                emit(work_of(held, n, shape.index, plan.seed()), shape.placements);
            }
        }
    };
    suite.workloads = {{suite.name, [held](Type, u64 n, u64 seed) { return work_of(held, n, 0, seed); }}};
    return suite;
}

KernelFile kernel_file(const std::string& path) {
    return {path, detail::text_of_file(path, "kernel_file")};
}

}  // namespace concord::lab
