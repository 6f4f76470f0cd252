// `concord algorithms`: the table of algorithms and their variants.

#include "program.hpp"

#include <concord/algorithm.hpp>
#include <concord/tuning.hpp>

#include <nlohmann/json.hpp>

#include <algorithm>
#include <iostream>

namespace concord::app {
namespace {

using Algorithms = std::vector<const Algorithm*>;

struct Backend {
    std::string_view name, json_name;
    Dialect dialect;
};
constexpr Backend all_backends[] = {
    {.name = "CUDA", .json_name = "cuda", .dialect = Dialect::cuda},
    {.name = "OpenCL", .json_name = "opencl", .dialect = Dialect::opencl},
    {.name = "CPU", .json_name = "cpu", .dialect = Dialect::host},
};

struct User {
    std::string_view name, json_name;
    TunableUser user;
};
constexpr User users[] = {
    {.name = "CUDA", .json_name = "cuda", .user = TunableUser::cuda},
    {.name = "OpenCL on GPUs", .json_name = "opencl", .user = TunableUser::opencl},
    {.name = "OpenCL on CPUs", .json_name = "opencl_on_cpu", .user = TunableUser::opencl_single_item},
    {.name = "CPU", .json_name = "cpu", .user = TunableUser::host},
};

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
    std::cout << "| algorithm | what it computes | variants | backends |\n|---|---|--:|---|\n";
    for (const Algorithm* algorithm : list) {
        std::string names;
        for (const Backend& backend : all_backends) {
            if (std::any_of(algorithm->variants.begin(), algorithm->variants.end(),
                            [&](const Variant* v) { return v->dialects.has(backend.dialect); }))
                append(names, backend.name);
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
        for (const Backend& backend : all_backends)
            std::cout << ' ' << tick(v->dialects.has(backend.dialect)) << " |";
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
            for (const Backend& backend : all_backends)
                variant[backend.json_name] = v->dialects.has(backend.dialect);
            variant["order"] = name_of(v->order);
            variant["stable"] = v->stable;
            variant["source"] = v->source;
            object["variants"].push_back(std::move(variant));
        }
        object["tunables"] = ordered_json::array();
        for (const Tunable* t : algorithm->tunables) {
            ordered_json tunable = {{"name", t->name}, {"summary", t->summary}, {"values", values_of(*t)}};
            for (const User& user : users)
                tunable[user.json_name] = t->used_by.has(user.user);
            object["tunables"].push_back(std::move(tunable));
        }
        object["tuning_label"] = algorithm->tuning_label;
        root.push_back(std::move(object));
    }
    std::cout << ordered_json{{"algorithms", std::move(root)}}.dump(2) << '\n';
}

void print_tables(const Algorithms& list) {
    bool first = true;
    for (const Algorithm* algorithm : list) {
        if (!first) std::cout << '\n';
        first = false;
        std::cout << algorithm->name << ": " << algorithm->summary << '\n';
        const bool stable = has_stable(*algorithm);
        std::vector<std::string> header{"  variant"};
        for (const Backend& backend : all_backends)
            header.emplace_back(backend.name);
        header.emplace_back("order");
        if (stable) header.emplace_back("stable");
        header.emplace_back("what it does");
        Table table(header);
        for (const Variant* v : algorithm->variants) {
            std::vector<Cell> row{"  " + std::string(v->name)};
            for (const Backend& backend : all_backends)
                row.emplace_back(mark(v->dialects.has(backend.dialect)));
            row.emplace_back(std::string(name_of(v->order)));
            if (stable) row.emplace_back(mark(v->stable));
            row.emplace_back(std::string(v->summary));
            table.add(std::move(row));
        }
        table.print(std::cout);
    }
}

void print_one(const Algorithm& algorithm) {
    std::cout << algorithm.name << ": " << algorithm.summary << '\n';
    const bool stable = has_stable(algorithm);
    for (const Variant* v : algorithm.variants) {
        std::string names;
        for (const Backend& backend : all_backends) {
            if (v->dialects.has(backend.dialect)) append(names, backend.name);
        }
        std::cout << "\n  " << v->name << "\n    " << v->summary << "\n    backends:   " << names
                  << "\n    order:      " << name_of(v->order) << '\n';
        if (stable) std::cout << "    stable:     " << (v->stable ? "yes" : "no") << '\n';
        std::cout << "    source:     " << v->source << '\n';
    }
    for (const Tunable* t : algorithm.tunables) {
        std::string where, values;
        for (const User& user : users) {
            if (t->used_by.has(user.user)) append(where, user.name);
        }
        for (const u64 value : values_of(*t))
            append(values, std::to_string(value));
        std::cout << "\n  " << t->name << " (for `concord tune`)\n    " << t->summary
                  << "\n    values:     " << values << "\n    used on:    " << where << '\n';
    }
    std::cout << "\nOrder of floating-point operations: canonical, defined by the algorithm and bitwise "
                 "identical on\n"
                 "every device and in every variant; variant-specific, defined by the variant and bitwise "
                 "identical on\n"
                 "every device; unspecified, within an error bound. By default Concord uses the variant in "
                 "the device's\n"
                 "tuning table. Without an entry it uses the first variant above that supports and suits the "
                 "call.\n";
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
