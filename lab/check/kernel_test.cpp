#include <concord/internal/input_file.hpp>
#include <concord/internal/language.hpp>
#include <concord/internal/number_text.hpp>
#include <concord/internal/once.hpp>
#include <concord/lab/compare.hpp>
#include <concord/lab/kernel_test.hpp>

#include <algorithm>
#include <numbers>
#include <set>

namespace concord::lab {

Count elements() {
    return [](u64 n) { return n; };
}

f32 half_to_float(u16 half) {
    const u32 sign = (half & 0x8000U) << 16, exponent = half >> 10 & 0x1f, fraction = half & 0x3ffU;
    if (exponent == 0x1f) return std::bit_cast<f32>(sign | 0x7f800000U | fraction << 13);
    if (exponent == 0) return std::copysign(static_cast<f32>(fraction) * 0x1p-24F, std::bit_cast<f32>(sign));
    return std::bit_cast<f32>(sign | (exponent + 112) << 23 | fraction << 13);
}

u16 float_to_half(f32 value) {
    const u32 bits = std::bit_cast<u32>(value), sign = bits >> 16 & 0x8000U, magnitude = bits & 0x7fffffffU;
    if (magnitude > 0x7f800000U)  // the payload's upper bits, quiet
        return static_cast<u16>(sign | 0x7e00U | (magnitude >> 13 & 0x3ffU));
    if (magnitude >= 0x477ff000U) return static_cast<u16>(sign | 0x7c00U);  // rounds to at least 2^16
    if (magnitude < 0x38800000U)  // a denormal number: an integer multiple of 2^-24
        return static_cast<u16>(sign |
                                static_cast<u32>(std::nearbyint(std::bit_cast<f32>(magnitude) * 0x1p24F)));
    const u32 odd = magnitude >> 13 & 1;
    return static_cast<u16>(sign | ((magnitude + 0xfffU + odd - (u32{112} << 23)) >> 13));
}

namespace {

// The half nearest to the value. f32 between them is rounded to odd, so that the second rounding sees the first one's
// remainder (S. Boldo, G. Melquiond, Emulation of FMA and Correctly Rounded Sums: Proved Algorithms Using Rounding to
// Odd, 2008).
u16 nearest_half(double value) {
    f32 single = static_cast<f32>(value);
    if (std::isfinite(single) && static_cast<double>(single) != value) {
        u32 bits = std::bit_cast<u32>(single);
        if (std::abs(static_cast<double>(single)) > std::abs(value)) --bits;
        single = std::bit_cast<f32>(bits | 1);
    }
    return float_to_half(single);
}

}  // namespace

TestType TestType::half() {
    TestType type(Type::u16);
    type.half_ = true;
    return type;
}

TestType::TestType(Type unit, std::size_t size, std::size_t alignment, bool raw)
    : unit_(unit), units_(static_cast<u32>(size / size_of(unit))), alignment_(alignment), raw_(raw) {
    if (size % size_of(unit) != 0)
        throw Error(ErrorCode::invalid_argument, "TestType::of",
                    "the struct is not made of such members, got " + std::string(name_of(unit)) +
                        " for a struct of " + std::to_string(size) + " bytes; use TestType::of<T>()");
}

namespace {

// Uniform in [0, 1).
double unit_interval(u64 bits) {
    return static_cast<double>(bits >> 11) * 0x1p-53;
}

// The bits of the nearest value of the type.
u64 encoded(const TestType& type, double value) {
    if (type.is_half()) return nearest_half(value);
    return detail::visit_element(type.unit(), [&]<class T>(detail::TypeTag<T>) {
        T nearest{};
        if constexpr (std::is_integral_v<T>) {
            constexpr auto low = static_cast<double>(std::numeric_limits<T>::lowest()),
                           high = static_cast<double>(std::numeric_limits<T>::max());
            const double rounded = std::nearbyint(value);
            nearest = rounded >= high  ? std::numeric_limits<T>::max()
                      : rounded <= low ? std::numeric_limits<T>::lowest()
                                       : static_cast<T>(rounded);
        } else {
            nearest = static_cast<T>(static_cast<detail::AccumulatorOf<T>>(value));
        }
        u64 bits = 0;
        std::memcpy(&bits, &nearest, sizeof nearest);
        return bits;
    });
}

}  // namespace

struct ValuesAccess {
    static Values of(std::function<double(u64, bool)> draw) {
        Values values(Pattern::random);
        values.draw_ = std::move(draw);
        return values;
    }
    static bool draws(const Values& values) { return static_cast<bool>(values.draw_); }
};

Values Values::uniform(double low, double high) {
    if (!(low <= high))
        throw Error(ErrorCode::invalid_argument, "Values::uniform",
                    "empty range, got [" + std::to_string(low) + ", " + std::to_string(high) + "]");
    return ValuesAccess::of([low, high](u64 bits, bool is_float) {
        const double u = unit_interval(bits);
        // Each integer of the range has the same share.
        if (!is_float) return std::ceil(low) + std::floor(u * (std::floor(high) - std::ceil(low) + 1));
        return std::min(high, low + (high - low) * u);
    });
}

Values Values::positive() {
    return ValuesAccess::of([](u64 bits, bool is_float) {
        return is_float ? 1 - unit_interval(bits) : 1 + std::floor(100 * unit_interval(bits));
    });
}

Values Values::normal(double mean, double deviation) {
    // G. Box and M. Muller, A Note on the Generation of Random Normal Deviates, 1958.
    return ValuesAccess::of([mean, deviation](u64 bits, bool) {
        const double u = (static_cast<double>(bits >> 32) + 1) * 0x1p-32,
                     angle = 2 * std::numbers::pi * static_cast<double>(bits & 0xffffffffU) * 0x1p-32;
        return mean + deviation * std::sqrt(-2 * std::log(u)) * std::cos(angle);
    });
}

Input Values::input(const TestType& type, u64 count, u64 seed) const {
    Input input{type.unit(), count * type.units(), pattern_, seed};
    std::function<double(u64, bool)> draw = draw_;
    if (type.is_half() && !draw) {
        const bool is_constant = pattern_ == Pattern::constant, near_one = pattern_ == Pattern::near_one;
        draw = [is_constant, near_one](u64 bits, bool) {
            return is_constant ? 0.1 : near_one ? 0.5 + unit_interval(bits) : 2 * unit_interval(bits) - 1;
        };
    }
    if (draw)
        input.custom = [draw, type](u64, u64 bits) { return encoded(type, draw(bits, type.has_floats())); };
    return input;
}

Comparison Comparison::bits() {
    return {};
}

Comparison Comparison::ulps(double most) {
    Comparison comparison;
    comparison.kind_ = Kind::ulps;
    comparison.max_number_ = most;
    return comparison;
}

Comparison Comparison::within(std::function<double(u64, double)> most) {
    Comparison comparison;
    comparison.kind_ = Kind::within;
    comparison.max_ = std::move(most);
    return comparison;
}

Comparison Comparison::relative(double most, double or_absolute) {
    return within([most, or_absolute](u64, double x) { return std::max(most * std::abs(x), or_absolute); });
}

Comparison Comparison::absolute(double most) {
    return within([most](u64, double) { return most; });
}

Comparison Comparison::roundings(double k) {
    Comparison comparison;
    comparison.kind_ = Kind::roundings;
    comparison.max_number_ = k;
    return comparison;
}

Comparison Comparison::of_structs(std::size_t size, std::function<bool(const void*, const void*)> equal) {
    Comparison comparison;
    comparison.kind_ = Kind::structs;
    comparison.struct_size_ = size;
    comparison.equal_ = std::move(equal);
    return comparison;
}

Comparison Comparison::rounding(std::function<double(u64)> h) {
    Comparison comparison;
    comparison.kind_ = Kind::rounding;
    comparison.h_ = std::move(h);
    return comparison;
}

namespace {

std::string name_of_type(const TestType& type) {
    if (type.is_half()) return "u16 with the bits of 16-bit floats";
    if (type.units() == 1 && !type.is_raw()) return std::string(name_of(type.unit()));
    return (type.is_raw() ? "" : std::string(name_of(type.unit())) + " or ") + "the struct of " +
           std::to_string(type.size()) + " bytes";
}

std::string name_of_asked(std::optional<Type> type, std::size_t size) {
    return type ? std::string(name_of(*type)) : "a struct of " + std::to_string(size) + " bytes";
}

// A 16-bit float of a result.
struct Half {
    u16 bits;
};

// Numbers of a type as the comparison sees them.
template <class T>
struct Numbers {
    using Shown = T;  // of messages and bounds
    static T nearest(double exact) { return static_cast<T>(exact); }
    static double value(T x) { return static_cast<double>(detail::widened(x)); }
    static Shown shown(T x) { return x; }
    static double ulps(T a, T b) { return ulps_between(a, b); }
    static bool equal(T a, T b) { return same(a, b, NanComparison::any); }
    static std::string name(T x) { return value_name(type_of<T>(), &x); }
    static constexpr bool is_float = detail::has_float_values<T>;
    static inline const double roundoff = value(std::numeric_limits<T>::epsilon()) / 2;
    static inline const double denormal = value(std::numeric_limits<T>::denorm_min());
};
template <>
struct Numbers<Half> {
    using Shown = f32;
    static Half nearest(double exact) { return {nearest_half(exact)}; }
    static double value(Half x) { return static_cast<double>(half_to_float(x.bits)); }
    static Shown shown(Half x) { return half_to_float(x.bits); }
    static double ulps(Half a, Half b) {
        if (std::isnan(value(a)) || std::isnan(value(b))) return -1;
        auto place = [](u16 x) { return (x & 0x8000U) != 0 ? -static_cast<int>(x & 0x7fffU) : int{x}; };
        return std::abs(place(a.bits) - place(b.bits));
    }
    static bool equal(Half a, Half b) {
        return a.bits == b.bits || (std::isnan(value(a)) && std::isnan(value(b)));
    }
    static std::string name(Half x) {
        char bits[16];
        std::snprintf(bits, sizeof bits, " (0x%04x)", static_cast<unsigned>(x.bits));
        return detail::general_text(value(x), 5) + bits;
    }
    static constexpr bool is_float = true;
    static constexpr double roundoff = 0x1p-11;
    static constexpr double denormal = 0x1p-24;
};

}  // namespace

// Verifies single elements. T is the output's type, E the type that the reference wrote: T or f64.
struct ComparisonAccess {
    static bool wants_magnitudes(const Comparison& how) { return how.kind_ == Comparison::Kind::rounding; }
    static bool is_of_numbers(const Comparison& how) {
        return how.kind_ != Comparison::Kind::bits && how.kind_ != Comparison::Kind::structs;
    }
    static std::size_t struct_size(const Comparison& how) { return how.struct_size_; }
    // Null unless a function compares structs.
    static const std::function<bool(const void*, const void*)>& equal(const Comparison& how) {
        return how.equal_;
    }

    // Uses `magnitude` only if wants_magnitudes().
    template <class T, class E>
    static void verify(const Comparison& how, u64 n, u64 index, E expected, double magnitude, T got,
                       Verdict& verdict) {
        using N = Numbers<T>;
        T nearest{};
        double exact = 0;
        if constexpr (std::is_same_v<T, E>) {
            nearest = expected;
            exact = N::value(expected);
        } else {
            nearest = N::nearest(expected);
            exact = expected;
        }
        auto differ = [&] { verdict.differ({index, N::name(nearest), N::name(got), N::ulps(nearest, got)}); };
        if (how.kind_ == Comparison::Kind::bits) {
            if (!N::equal(nearest, got)) differ();
            return;
        }
        const double value = N::value(got);
        if (!std::isfinite(exact) || !std::isfinite(value)) {
            if (!N::equal(nearest, got)) differ();
            return;
        }
        ErrorBounds bounds;
        bounds.error = std::abs(value - exact);
        if constexpr (std::is_integral_v<T> && std::is_same_v<T, E>) {
            const bool above = got > expected;  // in integers, because doubles round 64-bit differences
            bounds.error = static_cast<double>(above ? static_cast<u64>(got) - static_cast<u64>(expected)
                                                     : static_cast<u64>(expected) - static_cast<u64>(got));
        }
        auto gamma = [](double k) {
            const double ku = k * N::roundoff;
            return ku < 1 ? ku / (1 - ku) : std::numeric_limits<double>::infinity();
        };
        switch (how.kind_) {
            case Comparison::Kind::ulps:
                if constexpr (N::is_float) bounds.error = N::ulps(nearest, got);
                bounds.hard = how.max_number_;
                break;
            case Comparison::Kind::within:
                bounds.hard = how.max_(index, exact);
                break;
            case Comparison::Kind::roundings:
                bounds.hard =
                    std::max(gamma(how.max_number_) * std::abs(exact), how.max_number_ * N::denormal);
                break;
            default:
                bounds.hard = N::is_float ? gamma(how.h_(n)) * magnitude : 0;
                break;
        }
        const bool differed = verdict.difference.has_value();
        verify_within(bounds, index, N::shown(nearest), N::shown(got), verdict);
        if (verdict.difference && !differed) {
            verdict.difference->expected = N::name(nearest);
            verdict.difference->got = N::name(got);
            verdict.difference->ulps = N::ulps(nearest, got);
        }
    }
};

const ReferenceCall::Elements& ReferenceCall::input(std::size_t k, std::optional<Type> type,
                                                    std::size_t size) const {
    if (k >= inputs_.size())
        throw Error(
            ErrorCode::invalid_argument, "ReferenceCall::in",
            "no such input, got " + std::to_string(k) + "; the test has " + std::to_string(inputs_.size()));
    const Elements& elements = inputs_[k];
    if (type ? *type != elements.type.unit() : size != elements.type.size())
        throw Error(ErrorCode::invalid_argument, "ReferenceCall::in",
                    "wrong type for input " + std::to_string(k) + ", got " + name_of_asked(type, size) +
                        "; use " + name_of_type(elements.type));
    return elements;
}

const ReferenceCall::Elements& ReferenceCall::output(const char* call, std::size_t k) const {
    if (k >= outputs_.size())
        throw Error(
            ErrorCode::invalid_argument, call,
            "no such output, got " + std::to_string(k) + "; the test has " + std::to_string(outputs_.size()));
    return outputs_[k];
}

ReferenceCall::Expected& ReferenceCall::expect(std::size_t k, std::optional<Type> type,
                                               std::size_t size) const {
    const Elements& elements = output("ReferenceCall::out", k);
    const bool is_own = type ? *type == elements.type.unit() : size == elements.type.size();
    if (!is_own && (type != Type::f64 || elements.type.is_raw()))
        throw Error(ErrorCode::invalid_argument, "ReferenceCall::out",
                    "wrong type for output " + std::to_string(k) + ", got " + name_of_asked(type, size) +
                        "; use " + name_of_type(elements.type) + (elements.type.is_raw() ? "" : " or f64"));
    Expected& expected = expected_[k];
    expected.exact = !is_own;
    expected.bytes.assign(elements.units * (is_own ? size_of(elements.type.unit()) : sizeof(f64)),
                          std::byte{0});
    if (elements.data == nullptr || elements.units == 0) return expected;
    if (is_own) {
        std::memcpy(expected.bytes.data(), elements.data, expected.bytes.size());
        return expected;
    }
    detail::visit_element(elements.type.unit(), [&]<class T>(detail::TypeTag<T>) {
        const auto* const from = static_cast<const T*>(elements.data);
        for (u64 i = 0; i < elements.units; ++i) {
            double value = Numbers<T>::value(from[i]);
            if constexpr (std::is_same_v<T, u16>)
                if (elements.type.is_half()) value = static_cast<double>(half_to_float(from[i]));
            std::memcpy(expected.bytes.data() + i * sizeof value, &value, sizeof value);
        }
    });
    return expected;
}

std::span<double> ReferenceCall::magnitude(std::size_t k) const {
    expected_[k].magnitudes.assign(output("ReferenceCall::magnitude", k).units, 0);
    return expected_[k].magnitudes;
}

namespace {

using Expected = ReferenceCall::Expected;

[[noreturn]] void missing(const KernelTest& test, const std::string& what) {
    throw Error(ErrorCode::invalid_argument, "KernelTest", "'" + test.name + "' " + what);
}

void check_values(const KernelTest& test, const TestType& type, const Values& values, const char* operand) {
    const Pattern pattern = values.pattern();
    if (ValuesAccess::draws(values)) {
        if (type.is_raw())
            missing(test, std::string("has a distribution for ") + operand +
                              " of structs; set TestInput::generate");
        return;
    }
    const bool applies_to_half =
        pattern == Pattern::random || pattern == Pattern::constant || pattern == Pattern::near_one;
    if (type.is_half() ? !applies_to_half : !applies(pattern, type.unit()))
        missing(test, "has the pattern " + std::string(name_of(pattern)) + " for " + operand + " of type " +
                          (type.is_half() ? "half" : std::string(name_of(type.unit()))) +
                          ", which does not support it");
}

void check_complete(const KernelTest& test) {
    if (test.name.empty())
        throw Error(ErrorCode::invalid_argument, "KernelTest", "no name; set KernelTest::name");
    if (test.outputs.empty()) missing(test, "has no output; set KernelTest::outputs");
    if (test.variants.empty()) missing(test, "has no variant; set KernelTest::variants");
    if (!test.reference && test.reference_device.empty())
        missing(test, "has no reference; set KernelTest::reference or KernelTest::reference_device");
    for (const TestOutput& output : test.outputs) {
        if (ComparisonAccess::wants_magnitudes(output.comparison) && !output.type.has_floats())
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
        for (const Values& values : input.patterns)
            check_values(test, input.type, values, "an input");
    }
    for (const TestOutput& output : test.outputs) {
        if (!output.count) missing(test, "has an output without a count; set TestOutput::count");
        if (output.initial) check_values(test, output.type, *output.initial, "an output");
        const Comparison& how = output.comparison;
        if (output.type.is_raw() && ComparisonAccess::is_of_numbers(how))
            missing(test,
                    "has an output of structs with a comparison of numbers; use Comparison::bits or of");
        if (ComparisonAccess::equal(how) && ComparisonAccess::struct_size(how) != output.type.size())
            missing(test, "compares structs of " + std::to_string(ComparisonAccess::struct_size(how)) +
                              " bytes in an output with elements of " + std::to_string(output.type.size()));
    }
    for (const Shape& shape : test.shapes) {
        if (shape.empty() || shape.size() != test.shapes.front().size())
            missing(test, "has shapes of different ranks or of rank 0; set KernelTest::shapes");
    }
    if (test.in_place && test.outputs[0].initial)
        missing(test, "cannot work in place: its first output has initial values");
    std::set<std::string_view> names;
    for (const TestVariant& variant : test.variants) {
        if (variant.name.empty() || !variant.enqueue)
            missing(test, "has a variant without a name or a function; set TestVariant::name and enqueue");
        if (variant.name == "auto" || variant.name == "all" || !names.insert(variant.name).second)
            missing(test, "has a variant '" + variant.name + "' whose name is reserved or not unique");
    }
    if (test.in_place && (test.inputs.empty() || test.inputs[0].type.size() != test.outputs[0].type.size()))
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

std::vector<std::byte> all_of(const Input& input) {
    std::vector<std::byte> bytes(input.bytes()), scratch;
    const auto all = input.piece(0, input.count, scratch);
    std::copy(all.begin(), all.end(), bytes.begin());
    return bytes;
}

// The expected results of a case, computed at the first use.
class Answer {
  public:
    Answer(std::shared_ptr<const Held> held, Shape shape, const Work& work)
        : held_(std::move(held)),
          n_(work.n),
          shape_(std::move(shape)),
          inputs_(work.inputs),
          outputs_(work.outputs) {}

    const Expected& of(std::size_t output) {
        once_.call([&] { held_->test.reference ? call_reference() : call_reference_device(); });
        return expected_[output];
    }

  private:
    void call_reference() {
        const KernelTest& test = held_->test;
        std::vector<std::vector<std::byte>> data;
        std::vector<ReferenceCall::Elements> inputs, outputs;
        for (std::size_t k = 0; k < inputs_.size(); ++k) {
            data.push_back(all_of(inputs_[k]));
            inputs.push_back({data.back().data(), inputs_[k].count, test.inputs[k].type});
        }
        for (std::size_t k = 0; k < outputs_.size(); ++k) {
            const void* initial = nullptr;
            if (outputs_[k].initial) initial = data.emplace_back(all_of(*outputs_[k].initial)).data();
            outputs.push_back({initial, outputs_[k].count, test.outputs[k].type});
        }
        expected_.resize(outputs.size());
        test.reference(ReferenceCall(n_, shape_, std::move(inputs), std::move(outputs), expected_));
        for (std::size_t k = 0; k < expected_.size(); ++k) {
            const bool wants = ComparisonAccess::wants_magnitudes(test.outputs[k].comparison);
            const u64 size = expected_[k].exact ? sizeof(f64) : size_of(outputs_[k].type);
            if (expected_[k].bytes.size() != outputs_[k].count * size)
                throw Error(ErrorCode::invalid_argument, test.name,
                            "the reference did not write output " + std::to_string(k) +
                                "; call ReferenceCall::out()");
            if (wants && expected_[k].magnitudes.size() != outputs_[k].count)
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
        auto upload = [&](const View& to, const Input& input) {
            const auto bytes = all_of(input);
            if (!bytes.empty()) stream->write(*to.buffer, 0, bytes.data(), bytes.size());
            stream->synchronize();
        };
        for (const Input& input : inputs_) {
            in.push_back(make(input.type, input.count));
            upload(in.back(), input);
        }
        for (const Output& output : outputs_) {
            out.push_back(make(output.type, output.count));
            if (output.initial) upload(out.back(), *output.initial);
        }
        test.variants.front().enqueue(*stream, {n_, in, out, shape_});
        std::vector<Expected> results;
        for (const View& view : out) {
            results.push_back({false, std::vector<std::byte>(view.bytes()), {}});
            if (view.count > 0) stream->read(results.back().bytes.data(), *view.buffer, 0, view.bytes());
        }
        stream->synchronize();
        return results;
    }

    std::shared_ptr<const Held> held_;
    u64 n_;
    Shape shape_;
    std::vector<Input> inputs_;
    std::vector<Output> outputs_;
    detail::Once once_;
    std::vector<Expected> expected_;
};

const Values& values_at(const TestInput& input, std::size_t i) {
    return input.patterns[std::min(i, input.patterns.size() - 1)];
}

// A size to test.
struct Sized {
    u64 n = 0;
    Shape shape;
};

u64 product_of(const Shape& shape) {
    u64 n = 1;
    for (const u64 length : shape)
        n *= length;
    return n;
}

// Nearly equal lengths with a product of at most n.
Shape shape_of(u64 n, std::size_t rank) {
    Shape shape;
    for (u64 left = n; rank > 0; --rank) {
        auto length =
            static_cast<u64>(std::pow(static_cast<double>(left), 1.0 / static_cast<double>(rank)) + 1e-9);
        length = std::max<u64>(length, left == 0 ? 0 : 1);
        shape.push_back(rank == 1 ? left : length);
        left = length == 0 ? 0 : left / length;
    }
    return shape;
}

// The sizes of a plan. A size that the user gave stands for the shapes with that product.
std::vector<Sized> sizes_of(const KernelTest& test, const std::vector<u64>& asked) {
    std::vector<Sized> sizes;
    if (test.shapes.empty()) {
        for (const u64 n : asked.empty() ? test.sizes : asked)
            sizes.push_back({n, {n}});
        return sizes;
    }
    for (const Shape& shape : test.shapes) {
        const u64 n = product_of(shape);
        if (asked.empty() || std::find(asked.begin(), asked.end(), n) != asked.end())
            sizes.push_back({n, shape});
    }
    for (const u64 n : asked) {
        if (std::none_of(sizes.begin(), sizes.end(), [n](const Sized& size) { return size.n == n; }))
            sizes.push_back({n, shape_of(n, test.shapes.front().size())});
    }
    return sizes;
}

// Compares the units [first, ...) of an output with what is expected.
void verify_output(const TestOutput& declared, const Expected& expected, u64 n, u64 first,
                   std::span<const std::byte> got, Verdict& verdict) {
    const TestType& type = declared.type;
    const u64 units = type.units(), unit = size_of(type.unit());
    auto name_member = [&] {
        if (!verdict.difference || units == 1) return;
        Difference& found = *verdict.difference;
        found.expected = "member " + std::to_string(found.index % units) + " to be " + found.expected;
        found.index /= units;
    };
    if (const auto& equal = ComparisonAccess::equal(declared.comparison)) {
        verdict.bits = false;
        for (u64 i = 0; i < got.size() / type.size(); ++i) {
            const u64 index = first / units + i;
            const std::byte* const a = expected.bytes.data() + index * type.size();
            const std::byte* const b = got.data() + i * type.size();
            if (equal(a, b)) continue;
            auto name = [&](const std::byte* bytes) {
                std::string text = "{";
                for (u64 k = 0; k < units; ++k)
                    text += (k == 0 ? "" : ", ") + value_name(type.unit(), bytes + k * unit);
                return text + "}";
            };
            return verdict.differ({index, name(a), name(b)});
        }
        return;
    }
    auto verify = [&]<class T>(detail::TypeTag<T>) {
        for (u64 i = 0; i < got.size() / sizeof(T) && !verdict.difference; ++i) {
            const u64 at = first + i;
            const double magnitude = expected.magnitudes.empty() ? 0 : expected.magnitudes[at];
            auto compare = [&](auto wanted) {
                ComparisonAccess::verify(declared.comparison, n, at, wanted, magnitude, element<T>(got, i),
                                         verdict);
            };
            if (expected.exact)
                compare(element<f64>(expected.bytes, at));
            else
                compare(element<T>(expected.bytes, at));
        }
    };
    if (type.is_half())
        verify(detail::TypeTag<Half>{});
    else
        detail::visit_element(type.unit(), verify);
    name_member();
}

Work work_of(const std::shared_ptr<const Held>& held, const Sized& size, std::size_t pattern, u64 seed) {
    const KernelTest& test = held->test;
    const auto& [n, shape] = size;
    Work work;
    work.algorithm = test.name;
    work.title = test.name;
    work.n = n;
    if (!test.shapes.empty()) work.shape = shape;
    for (const TestInput& input : test.inputs) {
        const u64 count = input.count(n, shape);
        Input made = values_at(input, pattern).input(input.type, count, seed + work.inputs.size());
        if (input.generate && count > 0) {
            made.memory->resize(made.bytes());
            input.generate(n, made.seed, made.memory->data());
        }
        work.inputs.push_back(std::move(made));
    }
    u64 initial_bytes = 0;
    for (const TestOutput& output : test.outputs) {
        const u64 count = output.count(n, shape);
        Output made{
            .type = output.type.unit(), .count = count * output.type.units(), .item = output.type.units()};
        if (output.initial) {
            made.initial =
                output.initial->input(output.type, count, seed + test.inputs.size() + work.outputs.size());
            initial_bytes += made.bytes();
        }
        work.outputs.push_back(std::move(made));
    }
    work.traffic = test.traffic ? test.traffic(n) : work.bytes() + initial_bytes;
    work.operations = test.operations ? test.operations(n) : 0;
    work.in_place = test.in_place;
    work.nans = NanComparison::any;
    if (test.in_place && work.inputs.front().count != work.outputs.front().count)
        missing(test, "cannot work in place: its first input has " +
                          std::to_string(work.inputs.front().count) + " elements, its first output " +
                          std::to_string(work.outputs.front().count));
    work.call = [held, n = n, shape = shape](Stream& stream, std::span<const View> in,
                                             std::span<const View> out, const Options& options) {
        const TestVariant& variant = variant_of(held->test, options.variant);
        variant.enqueue(stream, {n, in, out, shape});
        return Enqueued{variant.name, &stream.device(), variant.order};
    };
    auto answer = std::make_shared<Answer>(held, shape, work);
    work.verify = [held, n = n, answer](const Variant&, std::size_t output, u64 first,
                                        std::span<const std::byte> got, Verdict& verdict) {
        verify_output(held->test.outputs[output], answer->of(output), n, first, got, verdict);
    };
    return work;
}

// Whether an operand's elements need more alignment than its units.
bool needs_alignment(const KernelTest& test) {
    auto needs = [](const auto& operand) { return operand.type.alignment() > size_of(operand.type.unit()); };
    return std::any_of(test.inputs.begin(), test.inputs.end(), needs) ||
           std::any_of(test.outputs.begin(), test.outputs.end(), needs);
}

}  // namespace

Suite suite_of(KernelTest test) {
    check_complete(test);
    auto held = std::make_shared<Held>();
    held->test = std::move(test);
    for (const TestVariant& variant : held->test.variants)
        held->variants.push_back({.name = variant.name,
                                  .summary = held->test.summary,
                                  .dialects = detail::all_languages(),
                                  .order = variant.order});

    Suite suite;
    suite.name = held->test.name;
    suite.summary = held->test.summary;
    suite.skips_slow_variants = false;
    for (const Variant& variant : held->variants)
        suite.variants.push_back(&variant);
    const TestType& first =
        held->test.inputs.empty() ? held->test.outputs.front().type : held->test.inputs.front().type;
    suite.cases = [held, type = first.unit()](const Plan& plan, Type asked, const CaseSink& emit) {
        if (asked != type) return;
        // One case for each position of the longest list of patterns. A shorter list repeats its last pattern.
        std::size_t longest = 1;
        for (const TestInput& input : held->test.inputs)
            longest = std::max(longest, input.patterns.size());
        std::vector<Pattern> patterns;
        for (std::size_t i = 0; i < longest; ++i)
            patterns.push_back(held->test.inputs.empty() ? Pattern::random
                                                         : values_at(held->test.inputs.front(), i).pattern());
        const bool any_offset = held->test.any_offset && !needs_alignment(held->test);
        std::size_t index = 0;
        for (const Sized& size : sizes_of(held->test, plan.sizes_or({}))) {
            for (Plan::Shape& shape : plan.shapes(index++, size.n, patterns, Plan::Coverage::every)) {
                if (!any_offset) shape.placements = {Placement{}, Placement{.in_place = true}};
                if (!held->test.in_place)
                    std::erase_if(shape.placements, [](const Placement& at) { return at.in_place; });
                emit(work_of(held, size, shape.index, plan.seed()), shape.placements);
            }
        }
    };
    suite.workloads = {{suite.name, [held](Type, u64 n, u64 seed) {
                            return work_of(held, sizes_of(held->test, {n}).front(), 0, seed);
                        }}};
    return suite;
}

KernelFile kernel_file(const std::string& path) {
    return {path, detail::text_of_file(path, "kernel_file")};
}

}  // namespace concord::lab
