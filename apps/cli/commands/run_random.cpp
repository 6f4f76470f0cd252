// `concord run random`.

#include "generate.hpp"
#include "run.hpp"

#include <concord/random.hpp>

namespace concord::app {
namespace {

class RunRandom final : public RunTask {
  public:
    void add_options(CLI::App& command) override {
        command.add_option("--shape", shape_, "Shape of the output, e.g. 1000000 or 1000x1000")
            ->type_name("N|RxC...")
            ->required();
        command
            .add_option("--distribution", distribution_,
                        "Distribution: bits (u32, u64), uniform in [0, 1) or normal (f32, f64) (default: "
                        "uniform)")
            ->check(CLI::IsMember(names_of(all_distributions)));
        command.add_option("--type", type_, "Element type (default: f32, of bits u32)")->type_name("TYPE");
        command.add_option("--seed", seed_, "Seed of the sequence, 0 to 2^64 - 1 (default: 0)")
            ->type_name("S");
        command
            .add_option("--offset", offset_,
                        "Element of the sequence that comes first, 0 to 2^64 - 1 (default: 0)")
            ->type_name("N");
    }
    RunPlan plan(Inputs /*inputs*/) override {
        is_bits_ = distribution_ == name_of(Distribution::bits);
        Type type = is_bits_ ? Type::u32 : Type::f32;
        if (!type_.empty()) {
            const auto named = type_named(type_);
            const bool is_supported =
                named && (is_bits_ ? *named == Type::u32 || *named == Type::u64 : is_float(*named));
            if (!is_supported)
                throw Error(ErrorCode::invalid_argument, "--type",
                            "unsupported type '" + type_ + "' of " + distribution_ +
                                "; available: " + (is_bits_ ? "u32, u64" : "f32, f64"));
            type = *named;
        }
        const Shape shape = shape_of(shape_, "1000000 or 1000x1000");
        points_of(shape, type, shape_);
        seed_number_ = seed_of(seed_);
        if (!is_whole(offset_, offset_number_))
            throw Error(ErrorCode::invalid_argument, "--offset",
                        "invalid offset '" + offset_ + "'; expected an integer from 0 to 2^64 - 1");
        return {{type, shape}};
    }
    Enqueued call(Stream& stream, Views /*in*/, Views out, const Options& options) override {
        return random(stream, out[0], *distribution_named(distribution_), seed_number_, offset_number_,
                      options);
    }
    std::string title() const override { return distribution_; }

  private:
    std::string shape_, distribution_ = "uniform", type_, seed_ = "0", offset_ = "0";
    u64 seed_number_ = 0, offset_number_ = 0;
    bool is_bits_ = false;
};

}  // namespace

RunCommand run_random() {
    return {.name = "random",
            .summary = "Random numbers, bitwise identical on all devices",
            .example = "concord run random --shape 1000x1000 --distribution normal --seed 7 --out x.npy",
            .inputs = 0,
            .make = make_task<RunRandom>};
}

}  // namespace concord::app
