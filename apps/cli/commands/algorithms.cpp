// `concord algorithms`: the table of algorithms and their variants.

#include "program.hpp"

#include <concord/algorithm.hpp>
#include <concord/internal/language.hpp>
#include <concord/tuning.hpp>

#include <nlohmann/json.hpp>

#include <algorithm>
#include <iostream>

namespace concord::app {
namespace {

using Algorithms = std::vector<const Algorithm*>;

// Backends that share a language have the same variants.
using detail::Language, detail::languages;

// A kind of kernels whose launches read a tunable: a language, on GPUs or on CPUs where both take it.
struct User {
    std::string name, json_name;
    Dialect language;
    LaunchModel launch;
};

std::vector<User> users() {
    std::vector<User> list;
    for (const Language& language : languages) {
        const bool both =
            language.launch.has(LaunchModel::groups) && language.launch.has(LaunchModel::single_items);
        for (const LaunchModel launch : {LaunchModel::groups, LaunchModel::single_items, LaunchModel::host}) {
            if (!language.launch.has(launch)) continue;
            const bool on_cpu = both && launch == LaunchModel::single_items;
            list.push_back({.name = std::string(language.platform) + (on_cpu ? " on CPUs"
                                                                      : both ? " on GPUs"
                                                                             : ""),
                            .json_name = std::string(language.id) + (on_cpu ? "_on_cpu" : ""),
                            .language = language.dialect,
                            .launch = launch});
        }
    }
    return list;
}

void append(std::string& list, std::string_view item) {
    list.append(list.empty() ? "" : ", ").append(item);
}

std::string mark(bool has) {
    return has ? "yes" : "-";
}

// Only sorts have stable variants.
bool has_stable(const Algorithm& algorithm) {
    return std::any_of(algorithm.variants.begin(), algorithm.variants.end(),
                       [](const Variant* v) { return v->stable; });
}

std::string escaped(std::string_view text) {
    std::string result;
    for (const char c : text)
        result += c == '|' ? std::string("\\|") : std::string(1, c);
    return result;
}

void print_markdown(const Algorithms& list) {
    std::cout << "| algorithm | what it computes | variants | runs on |\n|---|---|--:|---|\n";
    for (const Algorithm* algorithm : list) {
        std::string names;
        for (const Language& language : languages) {
            if (std::any_of(algorithm->variants.begin(), algorithm->variants.end(),
                            [&](const Variant* v) { return v->dialects.has(language.dialect); }))
                append(names, language.platform);
        }
        std::cout << "| " << algorithm->name << " | " << escaped(algorithm->summary) << " | "
                  << algorithm->variants.size() << " | " << names << " |\n";
    }
}

void print_markdown(const Algorithm& algorithm) {
    const bool stable = has_stable(algorithm);
    auto tick = [](bool has) { return has ? "✓" : ""; };
    std::cout << "| variant | CUDA | OpenCL | CPU | order |" << (stable ? " stable |" : "")
              << " what it does | source |\n|---|:-:|:-:|:-:|---|" << (stable ? ":-:|" : "") << "---|---|\n";
    for (const Variant* v : algorithm.variants) {
        std::cout << "| `" << v->name << "` |";
        for (const Language& language : languages)
            std::cout << ' ' << tick(v->dialects.has(language.dialect)) << " |";
        std::cout << ' ' << name_of(v->order) << " | ";
        if (stable) std::cout << tick(v->stable) << " | ";
        std::cout << escaped(v->summary) << " | " << escaped(v->source) << " |\n";
    }
}

std::vector<u64> values_of(const Tunable& tunable) {
    std::vector<u64> values(tunable.values.begin(), tunable.values.end());
    std::erase(values, u64{0});
    return values;
}

void print_json(const Algorithms& list) {
    using nlohmann::ordered_json;
    ordered_json root = ordered_json::array();
    for (const Algorithm* algorithm : list) {
        ordered_json object = {{"name", algorithm->name}, {"summary", algorithm->summary}};
        object["variants"] = ordered_json::array();
        for (const Variant* v : algorithm->variants) {
            ordered_json variant = {{"name", v->name}, {"summary", v->summary}};
            for (const Language& language : languages)
                variant[language.id] = v->dialects.has(language.dialect);
            variant["order"] = name_of(v->order);
            variant["stable"] = v->stable;
            variant["source"] = v->source;
            object["variants"].push_back(std::move(variant));
        }
        object["tunables"] = ordered_json::array();
        for (const Tunable* t : algorithm->tunables) {
            ordered_json tunable = {{"name", t->name}, {"summary", t->summary}, {"values", values_of(*t)}};
            for (const User& user : users())
                tunable[user.json_name] = t->is_for(user.language, user.launch);
            object["tunables"].push_back(std::move(tunable));
        }
        object["tuning_label"] = algorithm->tuning_label;
        root.push_back(std::move(object));
    }
    std::cout << ordered_json{{"algorithms", std::move(root)}}.dump(2) << '\n';
}

// Columns of text output.
constexpr std::size_t page_width = 100;

void print_tables(const Algorithms& list) {
    bool first = true;
    for (const Algorithm* algorithm : list) {
        if (!first) std::cout << '\n';
        first = false;
        std::cout << algorithm->name << ": " << algorithm->summary << '\n';
        const bool stable = has_stable(*algorithm);
        std::vector<std::string> header{"  variant"};
        for (const Language& language : languages)
            header.emplace_back(language.name);
        header.emplace_back("order");
        if (stable) header.emplace_back("stable");
        header.emplace_back("what it does");
        // The last column takes what is left of the page.
        constexpr std::size_t gap = 2;
        std::size_t before = 0;
        std::vector<std::size_t> widths;
        widths.reserve(header.size());
        for (const std::string& name : header)
            widths.push_back(name.size());
        for (const Variant* v : algorithm->variants) {
            widths[0] = std::max(widths[0], 2 + v->name.size());
            const std::size_t order = std::size(languages) + 1;
            widths[order] = std::max(widths[order], name_of(v->order).size());
        }
        for (std::size_t i = 0; i + 1 < header.size(); ++i)
            before += widths[i] + gap;
        Table table(header);
        for (const Variant* v : algorithm->variants) {
            std::vector<Cell> row{"  " + std::string(v->name)};
            for (const Language& language : languages)
                row.emplace_back(mark(v->dialects.has(language.dialect)));
            row.emplace_back(std::string(name_of(v->order)));
            if (stable) row.emplace_back(mark(v->stable));
            std::vector<std::string> summary =
                lines_of(wrapped(std::string(v->summary), page_width - before));
            row.emplace_back(summary.front());
            table.add(std::move(row));
            for (std::size_t i = 1; i < summary.size(); ++i) {
                std::vector<Cell> more(header.size(), Cell(""));
                more.back() = summary[i];
                table.add(std::move(more));
            }
        }
        table.print(std::cout);
    }
}

// Prints the text, wrapped, below a label: "    source:     text".
void print_field(std::string label, const std::string& text) {
    constexpr std::size_t indent = 4, width = 12;
    label.resize(std::max(width, label.size()), ' ');
    const std::size_t column = indent + label.size();
    const std::string blanks(column, ' ');
    bool is_first = true;
    for (const std::string& line : lines_of(wrapped(text, page_width - column))) {
        std::cout << (is_first ? std::string(indent, ' ') + label : blanks) << line << '\n';
        is_first = false;
    }
}

void print_summary(std::string_view text) {
    for (const std::string& line : lines_of(wrapped(std::string(text), page_width - 4)))
        std::cout << "    " << line << '\n';
}

void print_workloads(const Algorithm& algorithm) {
    for (const Suite& suite : suites()) {
        if (suite.name != algorithm.name) continue;
        std::string names;  // some contain commas
        for (const Workload& workload : suite.workloads)
            names.append(names.empty() ? "" : "; ").append(workload.name);
        std::cout << "\n  workloads (for `concord bench --workloads`)\n";
        print_summary(names);
    }
}

void print_one(const Algorithm& algorithm) {
    std::cout << algorithm.name << ": " << algorithm.summary << '\n';
    const bool stable = has_stable(algorithm);
    for (const Variant* v : algorithm.variants) {
        std::string names;
        for (const Language& language : languages) {
            if (v->dialects.has(language.dialect)) append(names, language.platform);
        }
        std::cout << "\n  " << v->name << '\n';
        print_summary(v->summary);
        print_field("backends:", names);
        print_field("order:", std::string(name_of(v->order)));
        if (stable) print_field("stable:", v->stable ? "yes" : "no");
        print_field("source:", std::string(v->source));
    }
    for (const Tunable* t : algorithm.tunables) {
        std::string where, values;
        for (const User& user : users()) {
            if (t->is_for(user.language, user.launch)) append(where, user.name);
        }
        for (const u64 value : values_of(*t))
            append(values, std::to_string(value));
        std::cout << "\n  " << t->name << " (for `concord tune`)\n";
        print_summary(t->summary);
        print_field("values:", values);
        print_field("used on:", where);
    }
    print_workloads(algorithm);
    std::cout << '\n'
              << wrapped(
                     "Order of floating-point operations: canonical, defined by the algorithm and bitwise "
                     "identical on every device and in every variant; variant-specific, defined by the "
                     "variant and bitwise identical on every device; unspecified, within an error bound. "
                     "By default Concord uses the variant in the device's tuning table. Without an entry it "
                     "uses the first variant above that supports and suits the call.",
                     page_width)
              << '\n';
}

struct AlgorithmsArguments {
    std::string name;
    bool json = false, markdown = false;
};

int show(const AlgorithmsArguments& asked) {
    const Algorithm* one = nullptr;
    if (!asked.name.empty()) {
        check_algorithm_names({asked.name});
        one = find_algorithm(asked.name);
    }
    const auto all = algorithms();
    const Algorithms list = one != nullptr ? Algorithms{one} : Algorithms(all.begin(), all.end());
    if (asked.json) {
        print_json(list);
    } else if (asked.markdown) {
        one != nullptr ? print_markdown(*one) : print_markdown(list);
    } else {
        one != nullptr ? print_one(*one) : print_tables(list);
    }
    return status_ok;
}

}  // namespace

void add_algorithms(CLI::App& program, Action& action) {
    CLI::App* command = add_command(program, "algorithms",
                                    {.summary = "List the algorithms and their variants",
                                     .examples = {"concord algorithms", "concord algorithms reduce"}});
    auto asked = std::make_shared<AlgorithmsArguments>();
    command->add_option("ALGORITHM", asked->name, "Describe this algorithm only, with sources and tunables");
    auto* json = command->add_flag("--json", asked->json, "Print one JSON object");
    command
        ->add_flag("--markdown", asked->markdown,
                   "Print a Markdown table of the algorithms, or of the variants of ALGORITHM")
        ->excludes(json);
    command->callback([asked, &action] { action = [asked] { return show(*asked); }; });
}

}  // namespace concord::app
