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

// A variant on one class of devices. Without `run` it is not implemented there.
template <class Problem>
struct Implementation {
    void (*run)(Stream&, const Problem&) = nullptr;
    Support (*supports)(const Device&, const Problem&) = nullptr;  // null: every call
    // Whether `auto` prefers the variant to those further down the table; null: always.
    bool (*suits)(const Device&, const Problem&) = nullptr;
};

// A row: a variant, and one function per class of devices. The function of a class asks traits for limits only.
template <class Problem>
struct Row {
    Variant variant;
    Implementation<Problem> groups = {};
    Implementation<Problem> items = {};
    Implementation<Problem> host = {};

    const Implementation<Problem>& on(const Device& device) const {
        switch (class_of(device)) {
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
        const Implementation<Problem>& implementation = on(device);
        if (implementation.run == nullptr)
            return Support::no(class_of(device) == DeviceClass::groups
                                   ? "requires a device that prefers one work-item per group; " +
                                         device.info().selector + " prefers many"
                                   : "requires a device that prefers many work-items per group; " +
                                         device.info().selector + " prefers one");
        return implementation.supports == nullptr ? Support{} : implementation.supports(device, problem);
    }

    void run(Stream& stream, const Problem& problem) const { on(stream.device()).run(stream, problem); }
};

template <class Problem>
bool suits(const Row<Problem>& row, const Device& device, const Problem& problem) {
    const auto asks = row.on(device).suits;
    return asks == nullptr || asks(device, problem);
}

}  // namespace concord::detail
