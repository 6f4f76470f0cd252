// `concord algorithms`: the table of algorithms and their variants.

#include "program.hpp"

#include <concord/tuning.hpp>
#include <concord/variant.hpp>

#include <nlohmann/json.hpp>

#include <iostream>

namespace concord::app {
namespace {

std::string mark(bool has) {
    return has ? "yes" : "-";
}

// The README's table: a check mark a dialect.
void print_markdown(const std::vector<Algorithm>& list) {
    std::cout << "| algorithm | variant | CUDA | OpenCL | CPU | order | what it does | source |\n"
                 "|---|---|:-:|:-:|:-:|---|---|---|\n";
    auto tick = [](bool has) { return has ? "✓" : ""; };
    auto escaped = [](std::string_view text) {
        std::string result;
        for (const char c : text)
            result += c == '|' ? std::string("\\|") : std::string(1, c);
        return result;
    };
    for (const Algorithm& algorithm : list) {
        for (const Variant* v : algorithm.variants) {
            std::cout << "| " << algorithm.name << " | `" << v->name << "` | " << tick(v->cuda) << " | "
                      << tick(v->opencl) << " | " << tick(v->host) << " | " << name_of(v->order) << " | "
                      << escaped(v->summary) << " | " << escaped(v->source) << " |\n";
        }
    }
}

std::vector<const Tunable*> tunables_of(const Algorithm& algorithm) {
    std::vector<const Tunable*> list = tunables();
    std::erase_if(list, [&](const Tunable* t) { return t->algorithm() != algorithm.name; });
    return list;
}

std::vector<u64> values_of(const Tunable& tunable) {
    std::vector<u64> values(tunable.values.begin(), tunable.values.end());
    std::erase(values, u64{0});
    return values;
}

void print_json(const std::vector<Algorithm>& list) {
    using nlohmann::ordered_json;
    ordered_json root = ordered_json::array();
    for (const Algorithm& algorithm : list) {
        ordered_json object = {{"name", algorithm.name}, {"summary", algorithm.summary}};
        object["variants"] = ordered_json::array();
        for (const Variant* v : algorithm.variants) {
            object["variants"].push_back({{"name", v->name},
                                          {"summary", v->summary},
                                          {"cuda", v->cuda},
                                          {"opencl", v->opencl},
                                          {"cpu", v->host},
                                          {"order", name_of(v->order)},
                                          {"source", v->source}});
        }
        object["tunables"] = ordered_json::array();
        for (const Tunable* t : tunables_of(algorithm)) {
            object["tunables"].push_back({{"name", t->name},
                                          {"summary", t->summary},
                                          {"values", values_of(*t)},
                                          {"cuda", t->cuda},
                                          {"opencl", t->opencl},
                                          {"opencl_on_cpu", t->opencl_wide},
                                          {"cpu", t->host}});
        }
        root.push_back(std::move(object));
    }
    std::cout << ordered_json{{"algorithms", std::move(root)}}.dump(2) << '\n';
}

void print_tables(const std::vector<Algorithm>& list) {
    bool first = true;
    for (const Algorithm& algorithm : list) {
        if (!first) std::cout << '\n';
        first = false;
        std::cout << algorithm.name << ": " << algorithm.summary << '\n';
        Table table({"  variant", "CUDA", "OpenCL", "CPU", "order", "what it does"});
        for (const Variant* v : algorithm.variants) {
            table.add({"  " + std::string(v->name), mark(v->cuda), mark(v->opencl), mark(v->host),
                       std::string(name_of(v->order)), std::string(v->summary)});
        }
        table.print(std::cout);
    }
}

void print_one(const Algorithm& algorithm) {
    std::cout << algorithm.name << ": " << algorithm.summary << '\n';
    for (const Variant* v : algorithm.variants) {
        std::string dialects;
        for (const auto& [has, name] :
             {std::pair{v->cuda, "CUDA"}, {v->opencl, "OpenCL"}, {v->host, "CPU"}}) {
            if (has) dialects += (dialects.empty() ? "" : ", ") + std::string(name);
        }
        std::cout << "\n  " << v->name << "\n    " << v->summary << "\n    written in: " << dialects
                  << "\n    order:      " << name_of(v->order) << "\n    source:     " << v->source << '\n';
    }
    for (const Tunable* t : tunables_of(algorithm)) {
        std::string where, values;
        for (const auto& [has, name] : {std::pair{t->cuda, "CUDA"},
                                        {t->opencl, "OpenCL on GPUs"},
                                        {t->opencl_wide, "OpenCL on CPUs"},
                                        {t->host, "CPU"}}) {
            if (has) where += (where.empty() ? "" : ", ") + std::string(name);
        }
        for (const u64 value : values_of(*t))
            values += (values.empty() ? "" : ", ") + std::to_string(value);
        std::cout << "\n  " << t->name << " (for `concord tune`)\n    " << t->summary
                  << "\n    values:     " << values << "\n    used on:    " << where << '\n';
    }
    std::cout << "\nOrder of float operations: canonical, the contract's, with equal bits on every device; "
                 "own, the\n"
                 "variant's, with equal bits on every device; any, held to an error bound. The variant that "
                 "the\n"
                 "device's table of tuning prefers is its auto, else the first that it supports.\n";
}

struct Asked {
    std::string name;
    bool json = false, markdown = false;
};

int show(const Asked& asked) {
    std::vector<Algorithm> list = algorithms();
    if (!asked.name.empty()) {
        check_algorithm_names({asked.name});
        std::erase_if(list, [&](const Algorithm& algorithm) { return algorithm.name != asked.name; });
    }
    if (asked.json) {
        print_json(list);
    } else if (asked.markdown) {
        print_markdown(list);
    } else if (!asked.name.empty()) {
        print_one(list.front());
    } else {
        print_tables(list);
    }
    return status_ok;
}

}  // namespace

void add_algorithms(CLI::App& program, Action& action) {
    CLI::App* command = add_command(program, "algorithms", "List the algorithms and their variants",
                                    "concord algorithms reduce");
    auto asked = std::make_shared<Asked>();
    command->add_option("NAME", asked->name, "Only this one, with sources");
    auto* json = command->add_flag("--json", asked->json, "One JSON object on stdout");
    command->add_flag("--markdown", asked->markdown, "The table of the README")->excludes(json);
    command->callback([asked, &action] { action = [asked] { return show(*asked); }; });
}

}  // namespace concord::app
