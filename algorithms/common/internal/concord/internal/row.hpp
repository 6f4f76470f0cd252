#pragma once
// The rows of an algorithm's table of variants.

#include <concord/variant.hpp>

namespace concord::detail {

// The classes of devices that variants are implemented for.
enum class DeviceClass {
    groups,  // groups of many work-items that synchronise at barriers, as on GPUs
    items,   // one work-item per group, which processes a tile with wide vectors, as in OpenCL on CPUs
    host     // C++ functions, one call per group
};

inline DeviceClass class_of(const Device& device) {
    const DeviceTraits& traits = device.traits();
    if (traits.serial_groups) return DeviceClass::host;
    return traits.many_items ? DeviceClass::groups : DeviceClass::items;
}

// A variant on one class of devices. Without `run` it is not implemented there. The functions ask traits for limits and
// capabilities only.
template <class Problem>
struct Implementation {
    void (*run)(Stream&, const Problem&) = nullptr;
    Support (*supports)(const Device&, const Problem&) = nullptr;  // null: every problem
    // Whether `auto` prefers the variant to those further down the table; null: always.
    bool (*suits)(const Device&, const Problem&) = nullptr;
};

// A row: a variant, and one function per class of devices.
template <class Problem>
struct Row {
    Variant variant;
    Implementation<Problem> groups = {};
    Implementation<Problem> items = {};
    Implementation<Problem> host = {};
    // What the variant supports on every device; null: every problem.
    Support (*accepts)(const Variant&, const Problem&) = nullptr;

    constexpr const Implementation<Problem>& on(DeviceClass devices) const {
        switch (devices) {
            case DeviceClass::groups:
                return groups;
            case DeviceClass::items:
                return items;
            case DeviceClass::host:
                break;
        }
        return host;
    }

    Support supports(const Device& device, const Problem& problem) const {
        const Implementation<Problem>& implementation = on(class_of(device));
        if (implementation.run == nullptr)
            return Support::no(class_of(device) == DeviceClass::groups
                                   ? "requires a device that prefers one work-item per group; " +
                                         device.info().selector + " prefers many"
                                   : "requires a device that prefers many work-items per group; " +
                                         device.info().selector + " prefers one");
        if (accepts != nullptr) {
            if (Support accepted = accepts(variant, problem); !accepted) return accepted;
        }
        return implementation.supports == nullptr ? Support{} : implementation.supports(device, problem);
    }

    bool suits(const Device& device, const Problem& problem) const {
        const auto asks = on(class_of(device)).suits;
        return asks == nullptr || asks(device, problem);
    }

    void run(Stream& stream, const Problem& problem) const {
        on(class_of(stream.device())).run(stream, problem);
    }

    // Whether there are functions for the languages that the descriptor names, and for no others.
    constexpr bool is_complete() const {
        const bool cuda = variant.dialects.has(Dialect::cuda), opencl = variant.dialects.has(Dialect::opencl);
        const bool on_groups = groups.run != nullptr, on_items = items.run != nullptr;
        return variant.dialects.has(Dialect::host) == (host.run != nullptr) &&
               (cuda || opencl) == (on_groups || on_items) && (on_groups || !cuda) && (opencl || !on_items);
    }
};

// The variants of a table, for the algorithm's descriptor. Does not compile if a row is not complete.
template <class Problem, std::size_t N>
constexpr std::array<const Variant*, N> variants_of(const Row<Problem> (&table)[N]) {
    std::array<const Variant*, N> list{};
    for (std::size_t i = 0; i < N; ++i) {
        if (!table[i].is_complete()) throw "a row names a language without functions, or the reverse";
        list[i] = &table[i].variant;
    }
    return list;
}

}  // namespace concord::detail
