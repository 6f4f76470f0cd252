#include "generate.hpp"

#include "run.hpp"

#include <concord/detail/checked_size.hpp>
#include <concord/error.hpp>
#include <concord/lab/input.hpp>

#include <algorithm>
#include <limits>

namespace concord::app {
namespace {

struct Volume {
    Shape shape;
    u64 seed = 0;
};

// --- The kinds: element i of a volume in C order --------------------------------------------------

// Uniform in [0, 1). Takes as many upper bits as T has digits, so that no value rounds to 1.
template <class T>
class Random {
  public:
    explicit Random(const Volume& volume) : key_(random_bits(volume.seed, 0)) {}
    T operator()(u64 i) const {
        constexpr int digits = std::numeric_limits<T>::digits;
        constexpr T unit = T{1} / static_cast<T>(u64{1} << digits);
        return static_cast<T>(random_bits(key_, i) >> (64 - digits)) * unit;
    }

  private:
    u64 key_;  // mixed, so that the sequences of two seeds do not overlap
};

// 1 in the middle, 0 elsewhere: shows the response of a stencil.
template <class T>
class Point {
  public:
    explicit Point(const Volume& volume) {
        for (const u64 n : volume.shape)
            middle_ = middle_ * n + n / 2;
    }
    T operator()(u64 i) const { return i == middle_ ? T{1} : T{0}; }

  private:
    u64 middle_ = 0;
};

template <template <class> class Value>
void fill(const Volume& volume, Type type, u64 first, u64 count, void* to) {
    detail::visit_float(type, [&]<class T>(detail::TypeTag<T>) {
        const Value<T> value(volume);
        for (u64 i = 0; i < count; ++i)
            static_cast<T*>(to)[i] = value(first + i);
    });
}

struct Kind {
    const char* name;
    const char* description;
    void (*fill)(const Volume& volume, Type type, u64 first, u64 count, void* to);
};

constexpr Kind kinds[] = {
    {"random", "uniform in [0, 1)", fill<Random>},
    {"point", "1 in the middle, 0 elsewhere", fill<Point>},
};

// --- The array -------------------------------------------------------------------------------------------------------

class Generated final : public InputArray, private PipelineSource {
  public:
    Generated(const Kind& kind, Type type, u64 count, Volume volume)
        : PipelineSource(type, count), kind_(kind), volume_(std::move(volume)) {}

    std::string name() const override { return std::string("--generate ") + kind_.name; }
    std::string reading() const override { return std::string("generating ") + kind_.name; }
    std::optional<Generation> generation() const override { return Generation{kind_.name, volume_.seed}; }
    const Shape& shape() const override { return volume_.shape; }
    const PipelineSource& source() const override { return *this; }

  private:
    // Generates whole elements.
    void read(void* to, u64 first, u64 bytes) const override {
        const u32 size = size_of(PipelineSource::type());
        parallel_pieces(bytes / size, u64{1} << 18, [&](u64 at, u64 count) {
            kind_.fill(volume_, PipelineSource::type(), first / size + at, count,
                       static_cast<std::byte*>(to) + at * size);
        });
    }

    const Kind& kind_;
    Volume volume_;
};

[[noreturn]] void refuse(const char* option, const std::string& why) {
    throw Error(ErrorCode::invalid_argument, option, why);
}

const Kind& kind_named(const std::string& name) {
    std::vector<std::string> names;
    for (const Kind& kind : kinds) {
        if (kind.name == name) return kind;
        names.emplace_back(kind.name);
    }
    refuse("--generate", "unknown kind '" + name + "'; available: " + joined(names));
}

constexpr std::size_t max_dimensions = 64;  // of NumPy's arrays

Type float_named(const std::string& name) {
    const auto type = type_named(name);
    if (!type || !is_float(*type)) refuse("--type", "unsupported type '" + name + "'; available: f32, f64");
    return *type;
}

}  // namespace

Shape shape_of(const std::string& text, const char* example) {
    const auto refuse_text = [&] {
        refuse("--shape", "invalid shape '" + text + "'; expected e.g. " + example);
    };
    if (text.find_first_not_of("0123456789x") != std::string::npos) refuse_text();
    Shape shape;
    for (std::size_t at = 0; at <= text.size();) {
        const std::size_t end = std::min(text.find('x', at), text.size());
        if (end == at) refuse_text();
        if (shape.size() == max_dimensions)
            refuse("--shape",
                   "more than " + std::to_string(max_dimensions) + " dimensions, got '" + text + "'");
        if (!is_whole(text.substr(at, end - at), shape.emplace_back()))
            refuse("--shape", "a length does not fit 64 bits, got '" + text + "'");
        at = end + 1;
    }
    return shape;
}

Shape volume_shape_of(const std::string& text) {
    constexpr const char* example = "400x480x480";
    const auto times = std::count(text.begin(), text.end(), 'x');
    if (times != 2) refuse("--shape", "invalid shape '" + text + "'; expected e.g. " + example);
    return shape_of(text, example);
}

u64 points_of(const Shape& shape, Type type, const std::string& text) {
    detail::CheckedSize bytes = size_of(type);
    for (const u64 n : shape)
        bytes = bytes * n;
    if (!bytes.fits(detail::max_bytes))
        refuse("--shape", "more than 2^60 bytes of " + std::string(name_of(type)) + ", got '" + text + "'");
    return bytes.value() / size_of(type);
}

void Generate::add_options(CLI::App& command) {
    std::string known, names;
    for (const Kind& kind : kinds) {
        known += std::string(known.empty() ? "" : ", ") + kind.name + " (" + kind.description + ")";
        names += std::string(names.empty() ? "" : "|") + kind.name;
    }
    auto* generate = command
                         .add_option("--generate", kind_,
                                     "Generate the volume instead of reading it: " + known +
                                         "; then --in names the coefficients only")
                         ->type_name(names);
    option_ = generate;
    auto* shape = command.add_option("--shape", shape_, "Shape of the generated volume")->type_name("ZxYxX");
    generate->needs(shape);
    shape->needs(generate);
    command.add_option("--type", type_, "Type of the generated volume (default: f32)")
        ->type_name("f32|f64")
        ->needs(generate);
    command.add_option("--seed", seed_, "Seed of the generated volume (default: 0)")
        ->type_name("N")
        ->needs(generate);
}

std::unique_ptr<InputArray> Generate::volume() const {
    if (option_->count() == 0) return nullptr;
    const Kind& kind = kind_named(kind_);
    const Type type = float_named(type_);
    Volume volume{volume_shape_of(shape_), seed_of(seed_)};
    const u64 points = points_of(volume.shape, type, shape_);
    return std::make_unique<Generated>(kind, type, points, std::move(volume));
}

}  // namespace concord::app
