// Studies without a device: results file, figures, report, and comparison of two runs. Then the microbenchmarks on
// devices.

#include "devices.hpp"
#include "temporary_folder.hpp"

#include <unistd.h>

#include <concord/lab/bench.hpp>
#include <concord/lab/check.hpp>
#include <concord/lab/harness.hpp>
#include <concord/study/internal/fits.hpp>
#include <concord/study/internal/study.hpp>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <iostream>
#include <set>

using namespace concord;
using namespace concord::study;
namespace fs = std::filesystem;

namespace {

// The folder of a study's results, which does not exist yet.
class Folder {
  public:
    fs::path path() const { return parent_ / "results"; }
    fs::path file() const { return path() / "results.jsonl"; }

  private:
    test::TemporaryFolder parent_{"study"};
};

// A line as the runner writes it. ms = 0: the measurement failed with that problem.
ordered_json line(const std::string& variant, u64 n, double ms, const std::string& problem = "") {
    Result asked;
    asked.algorithm = "reduce";
    asked.workload = "sum";
    asked.asked = asked.variant = variant;
    asked.device = "tbb:0";
    asked.threads = 2;
    asked.type = "f32";
    asked.n = n;
    lab::BenchRow row;
    row.algorithm = asked.algorithm;
    row.function = asked.workload;
    row.variant = variant;
    row.device = asked.device;
    row.type = Type::f32;
    row.n = n;
    row.bytes = n * 4;
    row.problem = problem;
    if (ms > 0) row.timing = lab::Timing{ms, ms * 0.99, ms * 1.01, 5, 1};
    row.ceiling = "read";
    row.ceiling_ms = static_cast<double>(n) * 1e-7;
    return line_of(asked, ordered_json::parse(json_of(row)));
}

ordered_json device(const std::string& driver) {
    return {{"kind", "device"}, {"selector", "tbb:0"},  {"threads", 2},
            {"name", "a CPU"},  {"driver", driver},     {"many_items", false},
            {"units", 2},       {"sub_group_width", 1}, {"ceilings", {{"copy_gb_per_s", 40.0}}}};
}

// A run of the study reduce-steps in which one variant is wrong and one was left out.
void fill(Store& store, double slower = 1) {
    store.add({{"kind", "study"}, {"key", "reduce-steps"}});
    store.add_device(device("oneTBB"));
    for (const u64 n : {u64{1} << 16, u64{1} << 18, u64{1} << 20}) {
        const double ms = static_cast<double>(n) * 1e-6;
        store.add(line("fixed", n, ms * slower));
        store.add(line("serial", n, 4 * ms));
        store.add(line("sequential", n, 0, "WRONG: element 0: expected 1 <&>, got 2"));
        store.add(line("interleaved", n, 0, "left out: a call would take 99 ms"));
    }
}

const Study& study_named(const std::string& name) {
    return *std::find_if(studies().begin(), studies().end(), [&](const Study& s) { return s.name == name; });
}

u64 count(const std::string& text, const std::string& what) {
    u64 found = 0;
    for (std::size_t at = 0; (at = text.find(what, at)) != std::string::npos; at += what.size())
        ++found;
    return found;
}

}  // namespace

TEST_SUITE_BEGIN("core");

TEST_CASE("fits of the scaling laws recover the serial fraction") {
    for (const double serial : {0.0, 0.03, 0.25, 1.0}) {
        SpeedUps fixed, scaled;
        for (const double p : {1.0, 2.0, 4.0, 8.0, 12.0}) {
            fixed.emplace_back(p, study::amdahl(serial, p));
            scaled.emplace_back(p, study::gustafson(serial, p));
        }
        CHECK(amdahl_serial_fraction(fixed) == doctest::Approx(serial));
        CHECK(gustafson_serial_fraction(scaled) == doctest::Approx(serial));
    }
    CHECK(amdahl_serial_fraction({{1, 1}}) == 0);
    CHECK(amdahl_serial_fraction({{1, 1}, {2, 2.5}}) == 0);  // superlinear
    CHECK(performance_portability({0.5, 1.0}) == doctest::Approx(2.0 / 3));
    CHECK(performance_portability({0.5, 0.0}) == 0);
    CHECK(performance_portability({}) == 0);
}

TEST_CASE("the fitted model of ranks recovers its coefficients") {
    auto steps_of = [](double point, double message, double byte) {
        std::vector<study::RanksStep> steps;
        for (const double points : {1e6, 8e6, 1e8}) {
            for (const double messages : {0.0, 1.0, 2.0}) {
                study::RanksStep s{points, messages, messages * std::pow(points, 2.0 / 3) * 16, 0};
                s.ms = s.points * point + s.messages * message + s.bytes * byte;
                steps.push_back(s);
            }
        }
        return steps;
    };
    const study::RanksModel all = study::ranks_model(steps_of(2e-8, 0.012, 3e-8));
    CHECK(all.point == doctest::Approx(2e-8));
    CHECK(all.message == doctest::Approx(0.012));
    CHECK(all.byte == doctest::Approx(3e-8));
    CHECK(all.error < 1e-6);
    const study::RanksModel no_latency = study::ranks_model(steps_of(2e-8, 0, 3e-8));
    CHECK(no_latency.message < 1e-9);
    CHECK(no_latency.byte == doctest::Approx(3e-8));
    const study::RanksModel alone = study::ranks_model({{1e6, 0, 0, 0.02}, {2e6, 0, 0, 0.04}});
    CHECK(alone.point == doctest::Approx(2e-8));
    CHECK(alone.message == 0);
    CHECK(study::ranks_model({}).point == 0);
    // Times that contradict the model give nonnegative coefficients.
    const study::RanksModel odd = study::ranks_model({{1e6, 2, 100, 0.02}, {2e6, 0, 0, 0.05}});
    CHECK(odd.message >= 0);
    CHECK(odd.byte >= 0);
    CHECK(odd.error > 0);
}

TEST_CASE("every study has a question, figures and valid cases") {
    std::set<std::string> names;
    for (const Study& study : studies()) {
        CAPTURE(study.name);
        CHECK(names.insert(study.name).second);
        CHECK(study.question.back() == '?');
        CHECK_FALSE(study.text.empty());
        CHECK_FALSE(study.figures.empty());
        CHECK_FALSE(study.cases.empty());
        for (const Case& what : study.cases) {
            // These have their own workloads.
            using enum Study::Kind;
            if (study.kind == transfers || study.kind == ranks || study.kind == tuning ||
                study.kind == regret)
                continue;
            const auto suite = std::find_if(study_suites().begin(), study_suites().end(),
                                            [&](const Suite& s) { return s.name == what.suite; });
            REQUIRE(suite != study_suites().end());
            if (study.kind == Study::Kind::check) continue;
            CHECK_FALSE((what.sizes.quick.empty() && what.sizes.full.empty()));
            CHECK(std::is_sorted(what.sizes.quick.begin(), what.sizes.quick.end()));
            CHECK(std::is_sorted(what.sizes.full.begin(), what.sizes.full.end()));
            for (const std::string& name : what.variants)
                CHECK((name == "all" || name == "auto" ||
                       std::any_of(suite->variants.begin(), suite->variants.end(),
                                   [&](const Variant* variant) { return variant->name == name; })));
            for (const std::string& name : what.workloads)
                CHECK(std::any_of(suite->workloads.begin(), suite->workloads.end(),
                                  [&](const auto& workload) { return workload.name == name; }));
        }
    }
}

// Results of two calls of `auto` on one device.
class PairRecords {
  public:
    PairRecords(const char* study, const char* workload, const char* type)
        : study_(study), workload_(workload), type_(type) {
        records_.devices = {{{"selector", "tbb:0"}, {"name", "A CPU"}, {"threads", 2}}};
    }
    void add(const char* asked, u64 n, std::optional<double> ms) {
        Result r;
        r.algorithm = study_;
        r.workload = workload_;
        r.asked = asked;
        r.variant = std::string(asked) + ": fixed";
        r.device = "tbb:0";
        r.type = type_;
        r.n = n;
        r.ms = ms;
        records_.results.push_back(r);
    }
    Data data() const {
        Data all{records_, {}};
        for (const Result& r : records_.results)
            all.results.push_back(&r);
        return all;
    }

  private:
    const char *study_, *workload_, *type_;
    Records records_;
};

TEST_CASE("gains of a tuning table are ratios of times") {
    PairRecords records("tuning", "reduce sum", "f32");
    records.add("defaults", 1 << 16, 3);
    records.add("tuned", 1 << 16, 2);
    records.add("defaults", 1 << 20, 5);
    records.add("tuned", 1 << 20, std::nullopt);
    const std::vector<Chart> charts = gains(studies().front().figures.front(), records.data());
    REQUIRE(charts.size() == 1);
    CHECK(charts[0].title == "tbb:0, A CPU");
    REQUIRE(charts[0].series.size() == 1);
    REQUIRE(charts[0].series[0].marks.size() == 1);
    CHECK(charts[0].series[0].marks[0].y == doctest::Approx(1.5));
    CHECK(charts[0].series[0].marks[0].label == "reduce sum f32 2^16");
    CHECK(charts[0].missing.size() == 1);
}

TEST_CASE("regret is the time of auto over that of the fastest, the largest first") {
    PairRecords records("regret", "sort keys", "u32");
    for (u32 power = 8; power < 19; ++power) {
        records.add("chosen", u64{1} << power, 1 + 0.01 * power);
        records.add("fastest", u64{1} << power, 1);
    }
    records.add("chosen", 1 << 24, 9);
    records.add("fastest", 1 << 24, std::nullopt);
    const std::vector<Chart> charts = regrets(studies().front().figures.front(), records.data());
    REQUIRE(charts.size() == 1);
    REQUIRE(charts[0].series.size() == 1);
    REQUIRE(charts[0].series[0].marks.size() == 10);
    CHECK(charts[0].series[0].marks[0].y == doctest::Approx(1.18));
    CHECK(charts[0].series[0].marks[0].label == "sort keys u32 2^18");
    CHECK(charts[0].text.find("Median 1.13, worst 1.18, 11 measurements") != std::string::npos);
    CHECK(charts[0].missing.size() == 1);
    const std::vector<Chart> sizes = regret_over_sizes(studies().front().figures.front(), records.data());
    REQUIRE(sizes.size() == 1);
    CHECK(sizes[0].title == "tbb:0, A CPU, u32");
    CHECK(sizes[0].series[0].marks.size() == 11);
}

TEST_CASE("a results file is continued by the same kind of run only") {
    const Folder folder;
    const ordered_json run = run_line(true);
    {
        Store store(folder.path(), run);
        CHECK(store.set_aside().empty());
        fill(store);
    }
    std::ofstream(folder.file(), std::ios::app)
        << R"({"kind": "result", "key": "to)";  // killed while writing
    CHECK(read_records(folder.path()).results.size() == 12);
    {
        Store store(folder.path(), run);
        CHECK(store.set_aside().empty());
        CHECK_THROWS_AS(Store(folder.path(), run), Error);  // locked
        CHECK_NOTHROW(Store(folder.path(), run, Store::LockedBy::parent));
        store.reload();
        store.add(line("fixed", 1 << 17, 1));
    }
    CHECK(read_records(folder.path()).results.size() == 13);
    SUBCASE("another driver") {
        Store store(folder.path(), run);
        ordered_json other = line("fixed", 1 << 16, 1);
        other["row"]["device"] = "opencl:0";
        other["key"] = result_of(other).key();
        store.add(other);
        store.add_device(device("a newer oneTBB"));
        store.add(line("fixed", 1 << 16, 1));
        ordered_json one_thread = device("a newer oneTBB, 1 thread");
        one_thread["threads"] = 1;
        store.add_device(one_thread);
        CHECK(read_records(folder.path()).results.size() == 2);
        CHECK(read_records(folder.path()).devices.size() == 2);
        CHECK(store.set_aside().find("existing results of tbb:0 have another driver: copied to results-20") ==
              0);
        const std::string kept = store.set_aside().substr(store.set_aside().rfind(' ') + 1);
        CHECK(fs::file_size(folder.path() / kept) > 12 * 100);
        store.add_device(device("the newest oneTBB"));
        CHECK(store.set_aside().find(kept.substr(0, kept.size() - 6) + "-2.jsonl") != std::string::npos);
    }
    SUBCASE("another version") {
        ordered_json other = run;
        other["version"] = "99.0";
        const Store store(folder.path(), other);
        CHECK(store.set_aside().find("existing results differ in version: moved to results-20") == 0);
        CHECK(read_records(folder.path()).results.empty());
    }
    SUBCASE("the full study after the quick one") {
        const Store store(folder.path(), run_line(false));
        CHECK(store.set_aside().find("existing results differ in --quick") == 0);
    }
    SUBCASE("a line with another structure") {
        for (
            const char* bad :
            {R"({"kind": "result", "key": "x"})", R"({"kind": "device", "selector": 1})", R"({"kind": 1})",
             R"({"kind": "file", "key": "x", "name": "x", "content": {"matrix": [{}]}})",
             R"({"kind": "check", "key": "x", "report": []})",
             R"({"kind": "check", "key": "x", "report": {"failed": 1e300, "matrix": []}})",
             R"({"kind": "device", "selector": "x", "name": "x", "driver": "x", "threads": -1, "ceilings": {}})",
             R"({"kind": "result", "key": "x", "asked": "x", "workload": "x", "threads": 1, "row": {"device": "x", "n": 0.5}})",
             R"({"kind": "study", "key": "x", "types": 1})"}) {
            CAPTURE(bad);
            std::ofstream(folder.file()) << run.dump() << '\n' << bad << '\n';
            std::string message;
            try {
                read_records(folder.path());
            } catch (const Error& error) {
                message = error.what();
            }
            CHECK(message.find("results.jsonl: line 2: ") != std::string::npos);
            CHECK_THROWS_AS(Store(folder.path(), run), Error);
        }
    }
    SUBCASE("values in values, which recursion cannot follow") {
        for (const u64 levels : {u64{65}, u64{100000}}) {
            std::ofstream(folder.file())
                << run.dump() << "\n{\"kind\": \"file\", \"key\": \"x\", \"name\": \"x\", \"content\": "
                << std::string(levels, '[') << std::string(levels, ']') << "}\n";
            CHECK_THROWS_AS(read_records(folder.path()), Error);
            CHECK_THROWS_AS(Store(folder.path(), run), Error);
        }
    }
    SUBCASE("another kind of file") {
        std::ofstream(folder.file()) << "{}\n";
        CHECK_THROWS_AS(read_records(folder.path()), Error);
        CHECK_THROWS_AS(Store(folder.path(), run), Error);
    }
}

TEST_CASE("a figure has a mark for each time and none for failures") {
    const Folder folder;
    Store store(folder.path(), run_line(true));
    fill(store);
    const Records records = read_records(folder.path());
    const Study& study = study_named("reduce-steps");
    const Data data{records, results_of(study, records)};
    CHECK(data.results.size() == 12);
    const std::vector<Chart> bars = steps(study.figures[0], data), time = lines(study.figures[1], data);
    REQUIRE(bars.size() == 1);
    REQUIRE(time.size() == 1);
    CHECK(bars[0].marks() == 2);
    CHECK(bars[0].series[0].marks[0].label == "serial");  // from the textbook kernel to the best variant
    CHECK(bars[0].series[0].marks[1].note == "4.00x");
    CHECK(bars[0].missing.size() == 2);
    CHECK(time[0].marks() == 6);
    CHECK(time[0].missing.size() == 6);
    CHECK(time[0].series.size() == 2);
    REQUIRE(time[0].guides.size() == 1);
    CHECK(time[0].guides[0].points.size() == 3);
    for (const Chart& chart : {bars[0], time[0]}) {
        const std::string svg = svg_of(chart, "x");
        CHECK(count(svg, "class=\"mark\"") == chart.marks());
        CHECK(svg.find("nan") == std::string::npos);
        CHECK(svg.find("inf") == std::string::npos);
        CHECK(count(csv_of(chart), "\n") == 1 + chart.marks() + chart.missing.size());
    }
    CHECK(table_of(time[0]).size() == 4);

    std::vector<std::string> files;
    const std::string page =
        report(records, [&](const std::string& name, const std::string& /*text*/) { files.push_back(name); });
    CHECK(files == std::vector<std::string>{"reduce-steps-1-1.csv", "reduce-steps-2-1.csv"});
    CHECK(count(page, "<section") == 1);
    CHECK(count(page, "expected 1 &lt;&amp;&gt;, got 2") == 4);
    CHECK(page.find("expected 1 <") == std::string::npos);
    CHECK(page.find("left out") != std::string::npos);
    CHECK(count(page, "http") == 0);  // no external resources
    CHECK(results_json(records).find("\"WRONG: element 0") != std::string::npos);

    // Lists of failures, and three tables: devices, bars and lines.
    const std::string text = markdown(records);
    CHECK(count(text, "\n## ") == 1);
    CHECK(count(text, "\n### ") == 2);
    CHECK(count(text, "WRONG: element 0: expected 1 \\<\\&>, got 2\n") == 4);
    CHECK(text.find("\n- left out, because they need too much memory") != std::string::npos);
    CHECK(count(text, "\n|---|") == 3);
    CHECK(text.find("\n| 2^18 | 262 µs | 1.05 ms |") != std::string::npos);
    CHECK(text.ends_with("\n"));
    CHECK_FALSE(text.ends_with("\n\n"));
}

TEST_CASE("Markdown of a problem is one line with escaped markup") {
    const Folder folder;
    Store store(folder.path(), run_line(true));
    store.add({{"kind", "study"}, {"key", "reduce-steps"}});
    store.add_device(device("oneTBB"));
    store.add(line("fixed", 1 << 16, 0, "of a|b\n\n# a *log*, expected `;' near <x>"));
    CHECK(markdown(read_records(folder.path()))
              .find(": of a\\|b  # a \\*log\\*, expected \\`;' near \\<x>\n") != std::string::npos);
}

TEST_CASE("the report marks an unfinished study") {
    const Folder folder;
    Store store(folder.path(), run_line(true));
    store.add(
        {{"kind", "study"}, {"key", "reduce-steps"}, {"types", ordered_json::array()}, {"unfinished", true}});
    store.add_device(device("oneTBB"));
    store.add(line("fixed", 1 << 16, 1));
    const auto says_so = [&] {
        return markdown(read_records(folder.path())).find("Not finished") != std::string::npos;
    };
    CHECK(says_so());
    store.add({{"kind", "study"}, {"key", "reduce-steps"}, {"types", ordered_json::array()}});
    CHECK_FALSE(says_so());
}

TEST_CASE("files of bench and check become sections, other files are refused") {
    const Folder folder;
    Store store(folder.path(), run_line(true));
    const fs::path bench = folder.path() / "bench.json", check = folder.path() / "check.json";
    lab::BenchReport measured({});
    lab::BenchRow row;
    row.algorithm = "reduce", row.function = "sum", row.variant = "fixed", row.device = "tbb:0", row.n = 1024;
    for (const Type type : {Type::f32, Type::f64}) {
        row.type = type;
        row.timing = lab::Timing{1, 0.9, 1.1, 5, 1};
        measured.add(row);
    }
    std::ofstream(bench) << measured.json();
    std::ofstream(check)
        << R"({"version": "1", "matrix": [{"algorithm": "reduce", "variant": "fixed", "order": "canonical",
               "device": "tbb:0", "verdict": "bits"}]})";
    for (const fs::path& file : {bench, check, bench})
        store.add(line_of_file(file));
    const std::string page =
        report(read_records(folder.path()), [](const std::string&, const std::string&) {});
    CHECK(count(page, "<section") == 2);
    CHECK(count(page, "class=\"mark\"") == 2);
    CHECK(count(page, "<svg class=\"plot\"") == 2);  // one chart per type
    CHECK(page.find(">bits<") != std::string::npos);
    CHECK_THROWS_AS(line_of_file(folder.path() / "none.json"), Error);
    CHECK_THROWS_AS(line_of_file(folder.file()), Error);
    for (const char* bad :
         {R"({"matrix": [{}]})", R"({"matrix": 1})", R"({"schema": "1", "results": [], "machine": {}})",
          R"({"schema": 1, "results": [], "machine": {}, "devices": [{}]})",
          R"({"schema": 1, "results": [{}], "machine": {}, "devices": []})",
          R"({"schema": 1, "results": [], "machine": [], "devices": []})"}) {
        CAPTURE(bad);
        std::ofstream(check) << bad;
        CHECK_THROWS_AS(line_of_file(check), Error);
    }
}

TEST_CASE("imported files stay when results are set aside") {
    const Folder folder;
    const ordered_json taken = {
        {"kind", "file"}, {"key", "file|x"}, {"name", "x"}, {"content", {{"matrix", ordered_json::array()}}}};
    Store(folder.path(), run_line(false)).add(taken);
    {
        Store quick(folder.path(), run_line(true));
        CHECK(quick.set_aside().empty());
        fill(quick);
    }
    CHECK_FALSE(Store(folder.path(), run_line(false)).set_aside().empty());
    const Records records = read_records(folder.path());
    CHECK(records.files.size() == 1);
    CHECK(records.results.empty());
}

TEST_CASE("the agreement matrix has one row per variant") {
    auto check = [](const std::string& device, const std::string& verdict, std::vector<std::string> types) {
        return ordered_json{{"types", std::move(types)},
                            {"report",
                             {{"matrix",
                               {{{"algorithm", "reduce"},
                                 {"variant", "fixed"},
                                 {"order", "own"},
                                 {"device", device},
                                 {"verdict", verdict},
                                 {"worst_error_over_bound", 0.5}}}}}}};
    };
    Records records;
    records.studies["agreement"] = {};
    records.checks = {check("tbb:0", "bits", {}), check("tbb:0", "bound", {}),
                      check("tbb:0", "other", {"f64"}), check("opencl:0", "bits", {})};
    const std::vector<Chart> charts = agreement({}, {records, {}});
    REQUIRE(charts.size() == 3);
    CHECK(charts[0].matrix == Rows{{"algorithm", "variant", "order", "tbb:0", "opencl:0"},
                                   {"reduce", "fixed", "own", "bound", "bits"}});
    CHECK(charts[1].marks() == 1);
}

TEST_CASE("figures with one mark, with none, and with more series than shapes") {
    Chart chart;
    chart.x = {.name = "elements", .unit = Scale::Unit::power_of_two, .log = true};
    chart.y = {.name = "time", .unit = Scale::Unit::milliseconds, .log = true};
    for (int k = 0; k < 20; ++k) {
        Series series{"series " + std::to_string(k), {}};
        Mark mark;
        mark.x = 1;
        mark.y = 0.5;
        series.marks.push_back(mark);
        chart.series.push_back(series);
    }
    std::set<std::string> keys;
    for (std::size_t k = 0; k < 16; ++k)
        keys.insert(legend_mark(k));
    CHECK(keys.size() == 16);
    for (const bool log : {true, false}) {
        for (const std::size_t series : {std::size_t{20}, std::size_t{1}}) {
            chart.x.log = chart.y.log = log;
            chart.series.resize(series, {"", {}});
            const std::string svg = svg_of(chart, "x");
            CHECK(count(svg, "class=\"mark\"") == series);
            CHECK(svg.find("nan") == std::string::npos);
        }
        chart.series.resize(20, chart.series.front());
    }
}

TEST_CASE("comparing two runs reports the changes") {
    const Folder folder;
    {
        Store a(folder.path() / "a", run_line(true)), b(folder.path() / "b", run_line(true));
        fill(a);
        fill(b, 1.5);
        b.add(line("first_add", 1, 1));
    }
    const Records a = read_records(folder.path() / "a"), b = read_records(folder.path() / "b");
    const Comparison changed = compare(a, b, "a", "b"), equal = compare(a, a, "a", "a");
    CHECK(changed.common == 12);
    CHECK(changed.changed == 3);
    CHECK(changed.text.find("slower") != std::string::npos);
    CHECK(changed.text.find("1.50") != std::string::npos);
    CHECK(changed.text.find("0 only in A, 1 only in B") != std::string::npos);
    CHECK(count(changed.html, ">changed<") == 3);
    CHECK(equal.changed == 0);
    CHECK(compare(b, a, "b", "a").text.find("faster") != std::string::npos);
}

TEST_CASE("the page of stored results over ranks") {
    const test::TemporaryFolder folder("pages");
    const auto row = [](const char* algorithm, const char* variant, u64 n, const ordered_json& ms) {
        ordered_json r = {{"algorithm", algorithm},
                          {"function", "one device per rank"},
                          {"variant", variant},
                          {"device", "cuda:0"},
                          {"kind", "variant"},
                          {"type", "f32"},
                          {"n", n}};
        r[ms.is_string() ? "problem" : "median_ms"] = ms;
        return r;
    };
    const ordered_json device = {{"name", "A GPU"}, {"driver", "driver 1"}, {"hardware", "A GPU, rev 2"}};
    ordered_json run = {{"command", "concord study X"},
                        {"date", "2026-01-02"},
                        {"version", "1.2.3"},
                        {"machine", {{"cpu", "A CPU"}, {"cores", 8}, {"os", "Linux"}, {"compiler", "g++"}}},
                        {"devices", {device, device}}};
    run["devices"][0]["selector"] = "cuda:0";
    run["devices"][1]["selector"] = "cuda:1";
    run["results"] = {
        row("weak_ranks", "sequential1", 512, 2.0),
        row("weak_ranks", "sequential2", 512, 4.0),
        row("weak_ranks", "fused1", 512, 1.0),  // the fastest time of one rank is the baseline of all
        row("weak_ranks", "fused2", 512, 1.25),
        row("strong_ranks", "fused1", 737280, 8.0),
        row("strong_ranks", "fused2", 737280, 5.0),
        row("distributed_sort", "ranks1", 1024, 1.0),
        row("distributed_sort", "ranks2", 1024, 2.0),
        row("distributed_sort", "ranks1", 2048, 3.0),
        row("distributed_sort", "ranks2", 2048, "WRONG: key 1"),
        row("distributed_reduce", "ranks1", 4096, "no room: needs 1 GiB"),
        row("distributed_reduce", "ranks4", 4096, 7.0)};
    const auto page = [&](const std::string& name) {
        folder.write("box.ranks.json", ordered_json{{"title", "a box"}, {"runs", {run}}}.dump());
        return stored_page(folder.path(), {"ranks", name});
    };
    const std::string text = page("box");
    for (const std::string& words : std::vector<std::string>{
             "Machine: a box. Host: A CPU, 8 cores, Linux; Concord compiled by g++.",
             "- `concord study X`, version 1.2.3, commit not recorded, 2026-01-02\n",
             "Devices `cuda:0`, `cuda:1`: A GPU, rev 2; driver 1.", "**A GPU, CUDA, one device per rank**",
             "| stencil, weak scaling | 8 x 8 x 8 per rank | `fused` | 2 | 1.00 | 1.25 | 80.0\u00a0% | – |\n"
             "| stencil, weak scaling | 8 x 8 x 8 per rank | `sequential` | 2 | 1.00 | 4.00 | 25.0\u00a0% | "
             "– |\n"
             "| stencil, strong scaling | 80 x 96 x 96 | `fused` | 2 | 8.00 | 5.00 | 80.0\u00a0% | 1.60x |\n"
             "| sort of f32 | 2^10 per rank | – | 2 | 1.00 | 2.00 | 50.0\u00a0% | 1.50x |\n"
             "| reduce of f32 | 2^12 per rank | – | 4 | – | 7.00 | – | – |\n",
             "distributed_sort one device per rank, ranks2, cuda:0, f32, 2^11: WRONG: key 1",
             "left out, because they need too much memory"}) {
        CAPTURE(words);
        CHECK_MESSAGE(text.find(words) != std::string::npos, text);
    }
    CHECK(test::throws(ErrorCode::invalid_argument, "unknown machine, got 'other'", [&] { page("other"); }));
    run["results"].push_back(run["results"][0]);
    CHECK(test::throws(ErrorCode::io, "a second row of the same measurement", [&] { page("box"); }));
}

TEST_SUITE_END();

// Checks the microbenchmarks on a device.
void check_effects(const std::string& selector) {
    const lab::CheckReport report = lab::check(effect_suites(), {.devices = {selector}}, &std::cout);
    CAPTURE(selector);
    CHECK(report.failed() == 0);
    CHECK(report.passed() + report.compiled() > 100);
}

TEST_CASE("the microbenchmarks give correct results" * doctest::test_suite("device")) {
    for (const auto& device : test::devices())
        check_effects(device->info().selector);
}

// Variants that `auto` chooses for the suite's work in `headline` at these sizes.
std::set<std::string_view> chosen_by_auto(
    lab::Harness& harness, const lab::Suite& suite,
    const std::function<std::vector<u64>(const lab::Headline&)>& sizes) {
    std::set<std::string_view> chosen;
    for (const lab::Headline& headline : suite.headlines) {
        for (const lab::Workload& workload : suite.workloads) {
            if (headline.workloads.empty()
                    ? &workload != suite.workloads.data()
                    : std::ranges::find(headline.workloads, workload.name) == headline.workloads.end())
                continue;
            for (const Type type : headline.types) {
                for (const u64 n : sizes(headline)) {
                    const auto work = workload.make(type, n, 1);
                    if (!work) continue;
                    harness.load(*work, {});
                    chosen.insert(harness.call("auto").variant);
                    harness.stream().synchronize();
                }
            }
        }
    }
    return chosen;
}

TEST_CASE("headline measures every variant that auto chooses up to 2^20 elements" *
          doctest::test_suite("device")) {
    for (const lab::Suite& suite : lab::suites())
        CHECK(!suite.headlines.empty());
    for (const auto& device : test::devices()) {
        const std::string& backend = device->info().backend;
        if (backend == "opencl" || backend == "minimal") continue;  // compiles for minutes
        const bool on_cpu = device->traits().launch != LaunchModel::groups;
        const auto measured = [&](const lab::Headline& headline) {
            return (on_cpu ? headline.cpu_sizes : headline.sizes).full;
        };
        const auto small = [&](const lab::Headline& headline) {
            std::vector<u64> sizes = measured(headline);
            std::erase_if(sizes, [](u64 n) { return n > u64{1} << 20; });
            return sizes;
        };
        const auto all = [](const lab::Headline&) { return lab::powers_of_two(10, 20, 1); };
        lab::Harness harness(device->info().selector);
        for (const lab::Suite& suite : lab::suites()) {
            const auto shown = chosen_by_auto(harness, suite, small);
            for (const std::string_view variant : chosen_by_auto(harness, suite, all)) {
                CAPTURE(suite.name);
                CAPTURE(variant);
                CHECK(shown.contains(variant));
            }
        }
    }
}

TEST_CASE("the microbenchmarks compile for a GPU" * doctest::test_suite("cuda")) {
    check_effects("cuda@sm_90");
}
