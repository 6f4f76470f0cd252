// Tuning tables: the file format, lookups, and that results are bitwise identical with any table.
#include "devices.hpp"
#include "temporary_folder.hpp"

#include <concord/lab/paired_timing.hpp>
#include <concord/lab/suite.hpp>
#include <concord/tuning.hpp>

#include <unistd.h>

#include <cmath>
#include <filesystem>
#include <fstream>

using namespace concord;
using test::random_values;

namespace {

namespace fs = std::filesystem;

const char* const text =
    "# a comment\n"
    "concord tuning 2\n"
    "version: 0.1.0\n"
    "backend: tbb\n"
    "hardware: Maker family 6 model 1, AVX2\n"
    "device: A CPU: the #1\n"
    "units: 2\n"
    "driver: some\n"
    "date: 2026-11-22\n"
    "# what type label sizes value gain\n"
    "\n"
    "reduce         f32  -         2^10..2^12  serial  1.25  # with a comment\n"
    "stencil.groups *    star=1..4 *           8\n"
    "histogram      u8   log2bins=8 2^20       serial  2\n";

TuningRow row(std::string what, std::string value) {
    TuningRow row;
    row.what = std::move(what);
    row.value = std::move(value);
    return row;
}

// Sets a table for the life of the object.
class Tuned {
  public:
    Tuned(Device& device, const std::vector<TuningRow>& rows, std::vector<Tuning::Asked>* asked = nullptr)
        : device_(device) {
        set_tuning(device, std::make_shared<const Tuning>(rows, "a test", asked));
    }
    ~Tuned() { set_tuning(device_, nullptr); }
    Tuned(const Tuned&) = delete;
    Tuned& operator=(const Tuned&) = delete;

  private:
    Device& device_;
};

class Variable {
  public:
    Variable(const char* name, const std::string& value) : name_(name) {
        if (const char* old = std::getenv(name)) old_ = old;
        setenv(name, value.c_str(), 1);
    }
    ~Variable() {
        if (old_)
            setenv(name_, old_->c_str(), 1);
        else
            unsetenv(name_);
    }
    Variable(const Variable&) = delete;
    Variable& operator=(const Variable&) = delete;

  private:
    const char* name_;
    std::optional<std::string> old_;
};

// --- Calls: small, but large enough that launches read tunables ----------------------------------------------------

using Call = std::function<std::vector<std::byte>(Stream&, const Options&)>;

// Makes the work's buffers, calls it, and returns the bytes of its results; none on a compile-only device.
std::vector<std::byte> results_of(const lab::Work& work, Stream& stream, const Options& options) {
    const bool runs = stream.device().traits().runs;
    std::vector<std::shared_ptr<Buffer>> buffers;
    std::vector<View> in, out;
    std::vector<std::byte> bytes;
    auto view = [&](Type type, u64 count) {
        bytes.assign(count * size_of(type), std::byte{0});
        buffers.push_back(stream.device().allocate(bytes.size(), &stream));
        return View{buffers.back().get(), 0, count, type};
    };
    auto write = [&](const View& to) {
        stream.write(*to.buffer, 0, bytes.data(), bytes.size());
        if (runs) stream.synchronize();
    };
    for (const lab::Input& input : work.inputs) {
        in.push_back(view(input.type, input.count));
        input.make(0, bytes);
        write(in.back());
    }
    for (const lab::Output& output : work.outputs) {
        out.push_back(view(output.type, output.count));
        write(out.back());
    }
    work.call(stream, in, out, options);
    std::vector<std::byte> results;
    if (!runs) return results;
    for (const View& from : out) {
        const std::size_t first = results.size();
        results.resize(first + from.bytes());
        stream.read(results.data() + first, *from.buffer, 0, from.bytes());
        stream.synchronize();
    }
    return results;
}

// The calls that `concord tune --quick` measures for each algorithm.
std::vector<std::pair<std::string, Call>> calls() {
    constexpr u64 n = 210003;
    std::vector<std::pair<std::string, Call>> list;
    for (const lab::Suite& suite : lab::suites()) {
        u64 left = suite.tuning.quick_workloads;
        for (const lab::Workload& workload : suite.workloads) {
            const auto& names = suite.tuning.workloads;
            if (std::find(names.begin(), names.end(), workload.name) == names.end() || left == 0) continue;
            --left;
            list.emplace_back(suite.name,
                              [work = workload.make(suite.tuning.types.front(), n, 1).value()](
                                  Stream& s, const Options& o) { return results_of(work, s, o); });
        }
    }
    return list;
}

std::vector<const Tunable*> all_tunables() {
    std::vector<const Tunable*> all;
    for (const Algorithm* algorithm : algorithms())
        all.insert(all.end(), algorithm->tunables.begin(), algorithm->tunables.end());
    return all;
}

// The algorithm's variants, auto first.
std::vector<std::string> ways(const std::string& algorithm) {
    std::vector<std::string> names{"auto"};
    for (const Variant* variant : find_algorithm(algorithm)->variants)
        names.emplace_back(variant->name);
    return names;
}

// The first variant whose launch reads the tunable; empty if there is none.
std::string way_that_asks(Device& device, Stream& stream, const std::string& algorithm, const Call& call,
                          const Tunable& tunable) {
    for (const std::string& way : ways(algorithm)) {
        std::vector<Tuning::Asked> asked;
        const Tuned tuned(device, {}, &asked);
        try {
            call(stream, {.variant = way});
        } catch (const Error& error) {
            if (error.code() != ErrorCode::unsupported) throw;
        }
        for (const Tuning::Asked& a : asked) {
            if (a.tunable == &tunable) return way;
        }
    }
    return {};
}

}  // namespace

TEST_SUITE_BEGIN("core");

TEST_CASE("a table is parsed from the text that it writes") {
    const auto table = TuningTable::parse(text, "a file");
    REQUIRE(table);
    CHECK(table->backend == "tbb");
    CHECK(table->hardware == "Maker family 6 model 1, AVX2");
    CHECK(table->device == "A CPU: the #1");
    CHECK(table->units == 2);
    REQUIRE(table->rows.size() == 3);
    CHECK(table->rows[0].type == Type::f32);
    CHECK(table->rows[0].class_first == 10);
    CHECK(table->rows[0].class_last == 12);
    CHECK(table->rows[0].gain == 1.25);
    CHECK(!table->rows[1].type);
    CHECK(table->rows[1].label_first == 1);
    CHECK(table->rows[1].label_last == 4);
    CHECK(table->rows[1].class_last == 63);
    const auto again = TuningTable::parse(table->text(), "again");
    REQUIRE(again);
    CHECK(again->rows == table->rows);
    CHECK(again->text() == table->text());
    CHECK(table->file_name() == "tbb_maker_family_6_model_1_avx2_2.txt");
}

TEST_CASE("invalid lines are skipped") {
    const std::string head = "concord tuning 2\nbackend: tbb\n", good = "reduce * - * serial\n";
    for (const char* bad :
         {"reduce f32 - 2^10", "reduce f31 - * serial", "reduce f32 - 2^64 serial",
          "reduce f32 - 2^9..2^8 serial", "reduce f32 bins=1 * serial", "reduce f32 - * frob",
          "frob f32 - * serial", "stencil.groups f32 - * 5", "stencil.groups f32 radius=3 * 8",
          "stencil.groups f32 star=x * 8", "reduce f32 - * serial fast", "reduce f32 - * serial -1",
          "stencil.groups f32 - * 0", "colour: red"}) {
        CAPTURE(bad);
        const auto table =
            TuningTable::parse(std::string(head).append(bad).append("\n").append(good), "a file");
        REQUIRE(table);
        CHECK(table->rows.size() == 1);
    }
    CHECK(!TuningTable::parse("", "empty"));
    CHECK(!TuningTable::parse("concord tuning 1\n" + good, "of another time"));
    CHECK(!TuningTable::parse(std::string("\x7f\x45LF\0\1\2", 7), "no text"));
}

TEST_CASE("rows are looked up by type, label and size class") {
    std::vector<TuningRow> rows = {row("reduce", "serial"), row("stencil.groups", "8"),
                                   row("stencil.groups", "16")};
    rows[0].type = Type::f32;
    rows[0].class_first = 10;
    rows[0].class_last = 12;
    rows[1].label_first = rows[1].label_last = 4;
    rows[2].class_first = 20;
    const Tuning tuning(rows, "a test");
    CHECK(tuning.size() == 3);
    const Variant* const reduce = reduce_algorithm.variants.front();
    auto finds = [&](Type type, u64 n) { return tuning.variant(reduce, {type, n}) != nullptr; };
    CHECK(finds(Type::f32, 1024));
    CHECK(finds(Type::f32, 8191));
    CHECK(tuning.variant(reduce, {Type::f32, 2000})->name == "serial");
    CHECK_FALSE(finds(Type::f32, 1023));
    CHECK_FALSE(finds(Type::f32, 8192));
    CHECK_FALSE(finds(Type::f32, 0));
    CHECK_FALSE(finds(Type::f64, 2000));
    CHECK(tuning.variant(scan_algorithm.variants.front(), {Type::f32, 2000}) == nullptr);
    for (const Tunable* tunable : all_tunables()) {
        const bool groups = tunable->name == "stencil.groups";
        CHECK(tuning.value(*tunable, {Type::f64, 5, 4}, 77) == (groups ? 8 : 77));
        CHECK(tuning.value(*tunable, {Type::f64, 1 << 20, 4}, 77) ==
              (groups ? 8 : 77));  // the first matching row
        CHECK(tuning.value(*tunable, {Type::f64, 1 << 20, 3}, 77) == (groups ? 16 : 77));
        CHECK(tuning.value(*tunable, {Type::f64, (1 << 20) - 1, 3}, 77) == 77);
    }
}

TEST_CASE("adjacent size classes are merged") {
    TuningTable table;
    std::vector<TuningRow> rows(3, row("reduce", "serial"));
    rows[0].class_first = 10, rows[0].class_last = 12, rows[0].gain = 1.5;
    rows[1].class_first = 13, rows[1].class_last = 15, rows[1].gain = 1.2;
    rows[2].class_first = 17, rows[2].class_last = 18;
    table.add(rows);
    REQUIRE(table.rows.size() == 2);
    CHECK(table.rows[0].class_first == 10);
    CHECK(table.rows[0].class_last == 15);
    CHECK(table.rows[0].gain == 1.2);
    CHECK(table.rows[1].class_first == 17);
}

TEST_CASE("a paired timing is won only if the gain exceeds the noise") {
    using lab::measure_paired;
    using lab::PairedEffort;
    const PairedEffort effort{.max_ms = 1e9, .max_rounds = 31, .min_gain = 1.03};
    u64 turn = 0;
    auto steady = [](double ms) { return [ms](u64 calls) { return ms * static_cast<double>(calls); }; };
    auto noisy = [&](double ms) {
        return [&turn, ms](u64 calls) {
            return ms * static_cast<double>(calls) * (turn++ % 5 == 0 ? 4 : turn % 2 == 0 ? 1.1 : 1);
        };
    };
    const auto twice = measure_paired(steady(2), steady(1), effort);
    CHECK(twice.is_won(1.03));
    CHECK(twice.ratio == doctest::Approx(2));
    CHECK(twice.holder.median == doctest::Approx(2));
    CHECK(twice.challenger.median == doctest::Approx(1));
    CHECK(twice.rounds < 31);  // certain before the last round
    CHECK_FALSE(measure_paired(steady(1), steady(1), effort).is_won(1.03));
    CHECK_FALSE(measure_paired(steady(1), steady(1.5), effort).is_won(1.03));
    CHECK_FALSE(measure_paired(noisy(1), noisy(1), effort).is_won(1.03));
    CHECK(measure_paired(noisy(3), noisy(1), effort).is_won(1.03));
    // A challenger that is much slower is not measured further.
    const auto slower = measure_paired(steady(1), steady(10), effort);
    CHECK(slower.rounds == 0);
    CHECK(slower.ratio == doctest::Approx(0.1));
}

TEST_CASE("descriptors of tunables are valid") {
    std::vector<std::string_view> names;
    for (const Tunable* tunable : all_tunables()) {
        CAPTURE(tunable->name);
        CHECK(std::find(names.begin(), names.end(), tunable->name) == names.end());
        names.push_back(tunable->name);
        CHECK(find_algorithm(tunable->algorithm()) != nullptr);
        CHECK_FALSE(tunable->summary.empty());
        CHECK(tunable->used_by != LaunchModels());
        u64 last = 0, count = 0;
        for (const u64 value : tunable->values) {
            if (value == 0) continue;
            CHECK(value > last);
            last = value;
            ++count;
        }
        CHECK(count >= 2);
        CHECK_FALSE(tunable->permits(0));
        CHECK_FALSE(tunable->permits(last + 1));
    }
    CHECK(names.size() >= 25);
}

TEST_SUITE_END();
TEST_SUITE_BEGIN("device");

DEVICE_TEST(tables_are_found_by_device) {
    const test::TemporaryFolder folder("tuning");
    TuningTable own = TuningTable::of(device), other = own;
    own.rows = {row("reduce", "first_add")};
    other.units += 1;
    other.rows = {row("reduce", "sequential")};
    folder.write("a.txt", other.text());
    // Another chip of the same name.
    TuningTable other_chip = own;
    other_chip.hardware += "1";
    folder.write("a2.txt", other_chip.text());
    folder.write("b.txt", "no table\n");
    folder.write("c.txt", own.text());
    folder.write("d.log", own.text());
    std::string source;
    {
        const Variable set("CONCORD_TUNING", folder.path().string());
        const auto found = find_tuning_table(device, &source);
        REQUIRE(found);
        CHECK(found->rows == own.rows);
        CHECK(source == (folder / "c.txt").string());
    }
    {
        const Variable set("CONCORD_TUNING", (folder / "a.txt").string());
        CHECK(!find_tuning_table(device));
    }
    {
        const Variable set("CONCORD_TUNING", (folder / "none.txt").string());
        CHECK(!find_tuning_table(device));
    }
    {
        const Variable set("CONCORD_TUNING", "off");
        CHECK(!find_tuning_table(device));
        set_tuning(device, nullptr);
        CHECK(tuning_of(device).is_silent());
    }
    // The user's folder.
    folder.write("concord/tuning/mine.txt", own.text());
    const Variable home("XDG_CONFIG_HOME", folder.path().string()), set("CONCORD_TUNING", "");
    CHECK(tuning_folder() == folder.path() / "concord" / "tuning");
    REQUIRE(find_tuning_table(device, &source));
    CHECK(source == (folder / "concord/tuning/mine.txt").string());
    set_tuning(device, nullptr);
    CHECK(tuning_of(device).size() == 1);
    const Variable off("CONCORD_TUNING", "off");
    set_tuning(device, nullptr);
}

STREAM_TEST(auto_uses_the_variant_of_a_table) {
    // Two variants that `auto` does not use for so many elements.
    const bool is_host = device.traits().launch == LaunchModel::host;
    const std::string slow = is_host ? "serial" : "first_add", other = is_host ? "fixed" : "sequential";
    const u64 n = is_host ? u64{1} << 20 : 5000;
    const Array<u32> integers(stream, random_values<u32>(n)), sum(stream, 1);
    const Array<f32> floats(stream, random_values<f32>(n)), float_sum(stream, 1);
    auto ran = [&](const auto& in, const auto& out, const Options& options = {}) {
        return std::string(reduce(stream, in.view(), out.view(), ReduceOp::sum, options).variant);
    };
    const std::string by_default = ran(integers, sum);
    REQUIRE(by_default != slow);
    const u32 expected = sum.to_host(stream)[0];
    const Tuned tuned(device, {row("reduce", slow)});
    CHECK(ran(integers, sum) == slow);
    CHECK(sum.to_host(stream)[0] == expected);
    CHECK(ran(integers, sum, {.variant = other}) == other);
    // For floats, its order of operations is weaker than that of the default variant.
    CHECK(ran(floats, float_sum) == "fixed");
    CHECK(ran(floats, float_sum, {.order = OperationOrder::canonical}) == "fixed");
    CHECK(ran(floats, float_sum, {.order = OperationOrder::unspecified}) == slow);
    // A variant that the device does not support is ignored.
    const auto variants = find_algorithm("reduce")->variants;
    const auto without = std::find_if(variants.begin(), variants.end(), [&](const Variant* variant) {
        return !detail::supports_dialect(device, *variant);
    });
    REQUIRE(without != variants.end());
    const Tuned unsupported(device, {row("reduce", std::string((*without)->name))});
    CHECK(ran(integers, sum) == by_default);
    stream.synchronize();
}

// Some variant's launch reads each tunable of the device. With each permitted value, results are bitwise identical.
STREAM_TEST(results_do_not_depend_on_tables) {
    u64 asked_for = 0, expected_ones = 0;
    for (const Tunable* tunable : all_tunables())
        expected_ones += tunable->is_for(device) ? 1 : 0;
    for (const Tunable* tunable : all_tunables()) {
        if (!tunable->is_for(device)) continue;
        CAPTURE(tunable->name);
        bool found = false;
        for (const auto& [algorithm, call] : calls()) {
            if (tunable->algorithm() != algorithm) continue;
            const std::string way = way_that_asks(device, stream, algorithm, call, *tunable);
            if (way.empty()) continue;
            found = true;
            CAPTURE(way);
            std::vector<std::byte> expected;
            {
                const Tuned defaults(device, {});
                expected = call(stream, {.variant = way});
            }
            for (const u64 value : tunable->values) {
                if (value == 0) continue;
                CAPTURE(value);
                const Tuned tuned(device, {row(std::string(tunable->name), std::to_string(value))});
                CHECK(call(stream, {.variant = way}) == expected);
            }
        }
        CHECK(found);
        asked_for += found ? 1 : 0;
    }
    CHECK(asked_for == expected_ones);
    CHECK(expected_ones >= 8);
}

// Launches read only tunables for which Tunable::is_for() is true.
STREAM_TEST(launches_read_only_tunables_for_their_device) {
    std::vector<Tuning::Asked> asked;
    const Tuned tuned(device, {}, &asked);
    for (const auto& [algorithm, call] : calls())
        call(stream, {});
    u64 seen = 0;
    for (const Tuning::Asked& a : asked) {
        if (a.tunable == nullptr) continue;
        CAPTURE(a.tunable->name);
        CHECK(a.tunable->is_for(device));
        ++seen;
    }
    CHECK(seen >= 8);
}

// A row takes effect: with smaller tiles, the launch has more groups.
STREAM_TEST(a_row_changes_the_launch) {
    const Array<f32> in(stream, random_values<f32>(1 << 20)), out(stream, 1 << 20);
    auto groups_with = [&](const std::vector<TuningRow>& rows) {
        const Tuned tuned(device, rows);
        u64 groups = 0;
        observe_launches(stream, [&](const Kernel&, const LaunchShape& shape) { groups = shape.groups_x; });
        map(stream, in, out, MapFunction::negate);
        observe_launches(stream, {});
        stream.synchronize();
        return groups;
    };
    const bool many = device.traits().launch == LaunchModel::groups;
    const u64 few = groups_with({row(many ? "map.unroll" : "map.tile_kib", many ? "4" : "256")}),
              more = groups_with({row(many ? "map.unroll" : "map.tile_kib", many ? "1" : "64")});
    CHECK(more == 4 * few);
    CHECK(groups_with({}) == more);  // the default
}

TEST_SUITE_END();
