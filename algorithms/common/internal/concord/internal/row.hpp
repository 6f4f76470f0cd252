#pragma once
// The rows of an algorithm's table of variants, and the choice among them.

#include <concord/internal/input.hpp>
#include <concord/internal/language.hpp>
#include <concord/tuning.hpp>

#include <algorithm>

namespace concord::detail {

// The launch models of GPUs and of CPUs.
inline constexpr LaunchModels on_gpus{LaunchModel::groups},
    on_cpus{LaunchModel::single_items, LaunchModel::host};

// The functions of a variant, as headers declare them: RunOf<SortProblem> run_sort_std, run_sort_qsort;
template <class Problem>
using RunOf = void(Stream&, const Problem&);
template <class Problem>
using SupportsOf = Support(const Device&, const Problem&);
template <class Problem>
using SuitsOf = bool(const Device&, const Problem&);

// A variant in one launch model; it exists there if it has `run`. The functions ask traits for limits and
// capabilities only.
template <class Problem>
struct Implementation {
    RunOf<Problem>* run = nullptr;
    SupportsOf<Problem>* supports = nullptr;  // null: every problem
    // Whether `auto` prefers the variant to those further down the table; null: always.
    SuitsOf<Problem>* suits = nullptr;
};

// A row: a variant, and one function per launch model.
template <class Problem>
struct Row {
    Variant variant;
    Implementation<Problem> groups = {};
    Implementation<Problem> single_items = {};
    Implementation<Problem> host = {};
    // What the variant supports on every device; null: every problem.
    Support (*accepts)(const Variant&, const Problem&) = nullptr;
    // Whether its kernels compute an input that is an expression.
    bool computes_input = false;

    constexpr const Implementation<Problem>& on(LaunchModel launch) const {
        switch (launch) {
            case LaunchModel::groups:
                return groups;
            case LaunchModel::single_items:
                return single_items;
            case LaunchModel::host:
                break;
        }
        return host;
    }

    Support supports(const Device& device, const Problem& problem) const {
        const Implementation<Problem>& implementation = on(device.traits().launch);
        if (implementation.run == nullptr) {
            const std::string& selector = device.info().selector;
            if (device.traits().launch == LaunchModel::groups)
                return Support::no("requires a device that prefers one work-item per group; {} prefers many",
                                   selector);
            return Support::no("requires a device that prefers many work-items per group; {} prefers one",
                               selector);
        }
        if (accepts != nullptr) {
            if (Support accepted = accepts(variant, problem); !accepted) return accepted;
        }
        return implementation.supports == nullptr ? Support{} : implementation.supports(device, problem);
    }

    bool suits(const Device& device, const Problem& problem) const {
        const auto asks = on(device.traits().launch).suits;
        return asks == nullptr || asks(device, problem);
    }

    void run(Stream& stream, const Problem& problem) const {
        on(stream.device().traits().launch).run(stream, problem);
    }

    // The languages among these whose devices have a function.
    constexpr Dialects languages(Dialects among) const {
        Dialects list;
        for (const Language& language : detail::languages) {
            if (among.has(language.dialect) && is_in(language)) list.add(language.dialect);
        }
        return list;
    }
    constexpr bool is_in(const Language& language) const {
        return (groups.run != nullptr && language.launch.has(LaunchModel::groups)) ||
               (single_items.run != nullptr && language.launch.has(LaunchModel::single_items)) ||
               (host.run != nullptr && language.launch.has(LaunchModel::host));
    }
    // Whether there are functions for the languages that the descriptor names, and no other functions.
    constexpr bool is_complete() const {
        const auto is_named = [&](const Language& language) {
            return variant.dialects.has(language.dialect);
        };
        const std::array launch_models{LaunchModel::groups, LaunchModel::single_items, LaunchModel::host};
        return std::ranges::all_of(detail::languages,
                                   [&](const Language& l) { return !is_named(l) || is_in(l); }) &&
               std::ranges::all_of(launch_models, [&](LaunchModel launch) {
                   return on(launch).run == nullptr ||
                          std::ranges::any_of(detail::languages, [&](const Language& l) {
                              return is_named(l) && l.launch.has(launch);
                          });
               });
    }
};

// An algorithm's rows. A row that names no languages is implemented in all those whose devices have a function. A row
// that names some is also implemented in the languages that take their files. A row that names a language without
// functions does not compile, nor does one with functions for none of its languages.
template <class Problem, std::size_t N>
constexpr std::array<Row<Problem>, N> table_of(const Row<Problem> (&rows)[N]) {
    std::array<Row<Problem>, N> table = std::to_array(rows);
    for (Row<Problem>& row : table) {
        if (row.variant.dialects == Dialects{}) row.variant.dialects = row.languages(all_languages());
        if (!row.is_complete())
            throw "a row names a language without functions, or has functions for none of them";
        row.variant.dialects = row.languages(with_same_files(row.variant.dialects));
    }
    return table;
}

// The user's operator in a problem, null if it has none.
template <class Problem>
const Operator* operator_of(const Problem& problem) {
    if constexpr (requires { problem.less->unportable; }) {
        return problem.less;
    } else if constexpr (requires { problem.op->unportable; }) {
        return problem.op;
    } else if constexpr (requires { problem.op.unportable; }) {
        return &problem.op;
    } else {
        return nullptr;
    }
}

// The expression in a problem, null if it has none.
template <class Problem>
const Input* expression_of(const Problem& problem, std::optional<Input>& room) {
    if constexpr (requires { problem.expression; }) {
        if (problem.expression) return &room.emplace(problem.input());
    }
    return nullptr;
}

// Whether the problem's arithmetic rounds. A sort without a comparator moves bits.
template <class Problem>
bool rounds(const Problem& problem) {
    if constexpr (requires { problem.less->unportable; }) {
        if (problem.less == nullptr) return false;
    }
    if constexpr (requires { Problem::moves_bits; }) return false;
    return is_float(problem.type());
}

// Whether the device can run the problem's operator, if it has one with host kernels, and has arithmetic for its type.
template <class Problem>
Support supports_problem(const Device& device, const Problem& problem) {
    if constexpr (requires { supports_operator(device, problem.op, problem.host); }) {
        if (Support op = supports_operator(device, problem.op, problem.host); !op) return op;
    }
    std::optional<Input> room;
    if (const Input* const in = expression_of(problem, room)) {
        if (Support input = supports_input(device, *in); !input) return input;
    }
    return supports_type(device, problem.type());
}

// The same, in groups of that many work-items.
template <u32 group_size, class Problem>
Support supports_problem_in(const Device& device, const Problem& problem) {
    if (Support group = supports_group(device, group_size); !group) return group;
    return supports_problem(device, problem);
}

// Whether all devices compute the problem's operator and expression alike. The second one throws unsupported unless
// they do.
template <class Problem>
bool is_portable_problem(const Problem& problem, const Device& device) {
    std::optional<Input> room;
    const Operator* const op = operator_of(problem);
    const Input* const in = expression_of(problem, room);
    return (op == nullptr || is_portable(*op, device)) && (in == nullptr || is_portable(*in, device));
}
template <class Problem>
void check_portable_problem(std::string_view algorithm, const Problem& problem, const Device& device) {
    std::optional<Input> room;
    if (const Operator* const op = operator_of(problem)) check_portable(algorithm, *op, device);
    if (const Input* const in = expression_of(problem, room)) check_portable(algorithm, *in, device);
}

// Returns the row that the options select. A table lists its variants in order of preference: `auto` uses the first row
// that supports and suits the problem, else the first that supports it. Problem::type() is the type of the arithmetic.
template <class Problem, std::size_t N>
const Row<Problem>& choose(std::string_view algorithm, const std::array<Row<Problem>, N>& table,
                           const Device& device, const Problem& problem, const Options& options) {
    const bool by_name = options.variant != "auto";
    if (options.order && options.order != OperationOrder::unspecified)
        check_portable_problem(algorithm, problem, device);
    // Without an order, `auto` asks for the canonical one if the operator has one.
    OperationOrder asked = options.order.value_or(OperationOrder::unspecified);
    if (!options.order && !by_name && is_portable_problem(problem, device)) asked = OperationOrder::canonical;
    auto supports = [&](const Row<Problem>& row) {
        Support dialect = supports_dialect(device, row.variant);
        if (!dialect) return dialect;
        const Support order = supports_order(device, row.variant, asked, rounds(problem));
        return order ? row.supports(device, problem) : order;
    };
    // What `auto` takes. Null if no row supports the problem.
    auto first = [&]() -> const Row<Problem>* {
        for (const Row<Problem>& row : table) {
            if (row.suits(device, problem) && supports(row)) return &row;
        }
        for (const Row<Problem>& row : table) {
            if (supports(row)) return &row;
        }
        return nullptr;
    };
    auto usable = [&] {
        std::vector<std::string_view> names;
        for (const Row<Problem>& row : table) {
            if (supports(row)) names.push_back(row.variant.name);
        }
        return names;
    };
    if (!by_name) {
        if (const Row<Problem>* const row = first()) return *row;
        if (!options.order) {
            asked = OperationOrder::unspecified;
            if (const Row<Problem>* const row = first()) return *row;
        }
        // The reason of the first row that is implemented for the device.
        const Row<Problem>* blamed = &table[0];
        for (const Row<Problem>& row : table) {
            if (!supports_dialect(device, row.variant) || row.on(device.traits().launch).run == nullptr)
                continue;
            blamed = &row;
            break;
        }
        throw_unsupported_variant(algorithm, "auto", device, supports(*blamed), {});
    }
    for (const Row<Problem>& row : table) {
        if (row.variant.name != options.variant) continue;
        if (const Support support = supports(row); !support)
            throw_unsupported_variant(algorithm, row.variant.name, device, support, usable());
        return row;
    }
    throw_unknown_variant(algorithm, options.variant, usable());
}

// Like choose(), but `auto` uses the variant in the device's table. That variant must support the problem and guarantee
// at least the order that the options name, by default that of the variant that choose() returns.
template <class Problem, std::size_t N>
const Row<Problem>& choose_tuned(std::string_view algorithm, const std::array<Row<Problem>, N>& table,
                                 const Device& device, const Problem& problem, const TuningPoint& point,
                                 const Options& options) {
    const Row<Problem>& otherwise = choose(algorithm, table, device, problem, options);
    const Tuning& tuning = tuning_of(device);
    if (tuning.is_silent() || options.variant != "auto") return otherwise;
    const Variant* const wanted = tuning.variant(&table[0].variant, point);
    for (const Row<Problem>& row : table) {
        if (&row.variant != wanted) continue;
        const bool keeps = supports_dialect(device, row.variant) &&
                           supports_order(device, row.variant,
                                          options.order.value_or(otherwise.variant.order), rounds(problem)) &&
                           row.supports(device, problem);
        return keeps ? row : otherwise;
    }
    return otherwise;
}

// The result of a call that the row runs.
template <class Problem>
Enqueued enqueued(const Stream& stream, const Row<Problem>& row, const Problem& problem) {
    const bool exact = !rounds(problem);
    const bool portable =
        (exact || stream.device().traits().keeps_denormals) && is_portable_problem(problem, stream.device());
    return {row.variant.name, &stream.device(),
            !portable ? OperationOrder::unspecified
            : exact   ? OperationOrder::canonical
                      : row.variant.order};
}

}  // namespace concord::detail
