// `concord bench`. A first version: the same buffers are used in every repetition, so that sizes below the
// cache's are measured in cache, the copies they are compared with as well.

#include "bench.hpp"

#include "files.hpp"
#include "program.hpp"
#include "table.hpp"

#include <nlohmann/json.hpp>

#include <chrono>
#include <iostream>
#include <set>
#include <thread>

namespace concord::app {
namespace {

struct Asked {
    std::vector<std::string> algorithms, devices, variants = {"auto"}, types = {"f32"},
                                                  sizes = {"2^10", "2^16", "2^20", "2^24", "2^26"};
    std::string json, csv;
};

// A line of the result.
struct Line {
    std::string algorithm, variant, device, title;
    Type type;
    u64 n, traffic;
    Timing timing;
    double copy_rate;
    std::string problem;  // instead of times

    double rate() const { return static_cast<double>(traffic) / (timing.median * 1e-3); }
    double of_copy() const { return rate() / copy_rate; }
};

class Bench {
  public:
    explicit Bench(const Asked& asked)
        : asked_(asked), types_(types_of(asked.types, {Type::f32})), sizes_(sizes_of(asked.sizes)) {}

    void run(Rig& rig) {
        if (!rig.runs())
            throw Error(ErrorCode::unsupported, "--devices", "'" + rig.selector() + "' only compiles");
        CopyRate copies(rig);
        std::cout << rig.selector() << ": " << rig.device().info().name << " (" << rig.device().info().driver
                  << ")\n";
        Table table({"algorithm", "variant", "type", ">n", ">median", ">quartiles", ">GB/s", ">of copy", ""});
        for (const Algorithm& algorithm : algorithms()) {
            const Suite* suite = suite_of(algorithm.name);
            if (suite == nullptr || !asked_for(asked_.algorithms, algorithm.name)) continue;
            for (const Type type : types_) {
                for (const u64 n : sizes_)
                    one_size(rig, copies, algorithm, suite->typical(type, n, 1), table);
            }
        }
        table.print(std::cout);
        std::cout << '\n' << std::flush;
    }

    bool wrong() const { return wrong_; }
    std::string json() const;
    std::string csv() const;

  private:
    void one_size(Rig& rig, CopyRate& copies, const Algorithm& algorithm, const Work& work, Table& table) {
        const std::string no_room = rig.no_room_for(work);
        bool loaded = false;
        std::set<std::string_view> done;  // `auto` may be one that is asked for by its name too
        for (const Variant* variant : algorithm.variants) {
            const bool by_name = asked_for(asked_.variants, variant->name);
            const bool by_auto = asked_for(asked_.variants, "auto") && done.empty();
            if (!by_name && !by_auto) continue;
            Line line{std::string(algorithm.name),
                      std::string(variant->name),
                      rig.selector(),
                      work.title,
                      work.inputs.front().type,
                      work.size(),
                      work.traffic,
                      {},
                      0,
                      {}};
            try {
                if (!no_room.empty()) {
                    line.problem = "no room: " + no_room;
                } else {
                    if (!loaded) rig.load(work, {});
                    loaded = true;
                    Verdict verdict = rig.run(*variant);
                    verdict.merge(rig.judge_inputs());
                    if (verdict.difference) {
                        wrong_ = true;
                        line.problem = "WRONG: element " + std::to_string(verdict.difference->index) +
                                       ": expected " + verdict.difference->expected + ", got " +
                                       verdict.difference->got;
                    } else {
                        line.timing = measure(rig.stream(), [&] { rig.call(variant->name); });
                        line.copy_rate = copies.of(work.traffic);
                    }
                }
            } catch (const Error& error) {
                if (error.code() != ErrorCode::unsupported) throw;
                if (!by_name || asked_for(asked_.variants, "all")) continue;
                line.problem = error.what();
            }
            done.insert(variant->name);
            show(line, table);
            lines_.push_back(std::move(line));
        }
    }

    static std::string time_name(double ms) {
        return ms < 1      ? rounded(ms * 1e3) + " us"
               : ms < 1000 ? rounded(ms) + " ms"
                           : rounded(ms / 1e3) + " s";
    }

    static void show(const Line& line, Table& table) {
        std::vector<Cell> row = {line.algorithm + " " + line.title, line.variant,
                                 std::string(name_of(line.type)), size_name(line.n)};
        if (!line.problem.empty()) {
            row.insert(row.end(), {"-", "-", "-", "-", {line.problem, Tone::bad}});
        } else {
            const Timing& t = line.timing;
            row.insert(row.end(), {time_name(t.median),
                                   time_name(t.first_quartile) + " .. " + time_name(t.third_quartile),
                                   rounded(line.rate() * 1e-9), rounded(line.of_copy() * 100) + " %", ""});
        }
        table.add(std::move(row));
    }

    const Asked& asked_;
    std::vector<Type> types_;
    std::vector<u64> sizes_;
    std::vector<Line> lines_;
    bool wrong_ = false;
};

std::string Bench::json() const {
    using nlohmann::ordered_json;
    ordered_json root = {{"version", CONCORD_VERSION}, {"results", ordered_json::array()}};
    for (const Line& line : lines_) {
        ordered_json object = {{"algorithm", line.algorithm}, {"function", line.title},
                               {"variant", line.variant},     {"device", line.device},
                               {"type", name_of(line.type)},  {"n", line.n},
                               {"bytes", line.traffic}};
        if (line.problem.empty()) {
            object["median_ms"] = line.timing.median;
            object["quartiles_ms"] = {line.timing.first_quartile, line.timing.third_quartile};
            object["repetitions"] = line.timing.repetitions;
            object["calls_each"] = line.timing.batch;
            object["gb_per_s"] = line.rate() * 1e-9;
            object["copy_gb_per_s"] = line.copy_rate * 1e-9;
            object["of_copy"] = line.of_copy();
        } else {
            object["problem"] = line.problem;
        }
        root["results"].push_back(std::move(object));
    }
    return root.dump(2, ' ', false, ordered_json::error_handler_t::replace) + "\n";
}

std::string Bench::csv() const {
    std::string text =
        "algorithm,function,variant,device,type,n,bytes,median_ms,q1_ms,q3_ms,repetitions,calls_each,gb_per_"
        "s,of_copy,"
        "problem\n";
    for (const Line& line : lines_) {
        text += line.algorithm + "," + line.title + "," + line.variant + "," + line.device + "," +
                std::string(name_of(line.type)) + "," + std::to_string(line.n) + "," +
                std::to_string(line.traffic) + ",";
        if (line.problem.empty()) {
            const Timing& t = line.timing;
            text += rounded(t.median, 6) + "," + rounded(t.first_quartile, 6) + "," +
                    rounded(t.third_quartile, 6) + "," + std::to_string(t.repetitions) + "," +
                    std::to_string(t.batch) + "," + rounded(line.rate() * 1e-9, 6) + "," +
                    rounded(line.of_copy(), 6) + ",\n";
        } else {
            std::string quoted = line.problem;
            for (std::size_t at = 0; (at = quoted.find('"', at)) != std::string::npos; at += 2)
                quoted.insert(at, "\"");
            text += ",,,,,,,\"" + quoted + "\"\n";
        }
    }
    return text;
}

int bench(const Asked& asked) {
    check_algorithm_names(asked.algorithms);
    check_variant_names(asked.algorithms, asked.variants, {"all", "auto"});
    for (const std::string& path : {asked.json, asked.csv}) {
        if (!path.empty()) check_writable(path);
    }
    Bench bench(asked);
    std::vector<Rig> rigs;
    for (const std::string& selector : selectors_of(asked.devices))
        rigs.emplace_back(selector);
    for (Rig& rig : rigs) {
        // Thread pools spin for a while after their last work, and would be measured with the next device.
        if (&rig != &rigs.front()) std::this_thread::sleep_for(std::chrono::milliseconds(80));
        bench.run(rig);
    }
    if (!asked.json.empty()) write_whole(asked.json, bench.json());
    if (!asked.csv.empty()) write_whole(asked.csv, bench.csv());
    if (bench.wrong()) std::cerr << "concord: bench: a result is wrong, it has no time\n";
    return bench.wrong() ? status_wrong : status_ok;
}

}  // namespace

void add_bench(CLI::App& program, Action& action) {
    CLI::App* command =
        add_command(program, "bench", "Time verified work on every device, beside the device's copies",
                    "concord bench reduce --devices all --variants all --sizes 2^20..2^26");
    auto asked = std::make_shared<Asked>();
    command->add_option("ALGORITHM", asked->algorithms, "Which algorithms (default: all)");
    add_list(*command, "--devices", asked->devices, "Selectors, or all (default)");
    add_list(*command, "--variants", asked->variants, "Names, all, or auto (default)");
    add_list(*command, "--types", asked->types, "Element types, or all (default: f32)");
    add_list(*command, "--sizes", asked->sizes, "Element counts (default: 2^10,2^16,2^20,2^24,2^26)");
    command->add_option("--json", asked->json, "Write the results to this file");
    command->add_option("--csv", asked->csv, "Write the results to this file");
    command->callback([asked, &action] { action = [asked] { return bench(*asked); }; });
}

}  // namespace concord::app
