// `concord devices`: the devices, and why a backend is not available.

#include "driver_process.hpp"
#include "program.hpp"

#include <concord/internal/backend_status.hpp>
#include <concord/tuning.hpp>

#include <nlohmann/json.hpp>

#include <algorithm>
#include <chrono>
#include <iostream>
#include <map>

namespace concord::app {
namespace {

using nlohmann::ordered_json;

std::string yes_or_no(bool value) {
    return value ? "yes" : "no";
}

std::string tuning_words(const Device& device) {
    const Tuning& tuning = tuning_of(device);
    return tuning.source() == "none" ? "none"
                                     : tuning.source() + ", " + std::to_string(tuning.size()) + " entries";
}

std::vector<DeviceProperty> traits_of(const Device& device) {
    const DeviceTraits& t = device.traits();
    return {{"dialect", std::string(name_of(t.dialect))},
            {"many work-items per group", yes_or_no(t.launch == LaunchModel::groups)},
            {"compute units", std::to_string(t.units)},
            {"maximum group size", std::to_string(t.max_group_size)},
            {"maximum resident work-items per compute unit", std::to_string(t.max_resident_items)},
            {"sub-group width", std::to_string(t.sub_group_width)},
            {"local memory per group", bytes_name(t.local_memory)},
            {"global memory", bytes_name(t.global_memory)},
            {"largest buffer", bytes_name(t.max_allocation)},
            {"cache", bytes_name(t.cache)},
            {"kernel parameters", bytes_name(t.parameter_bytes)},
            {"compiles kernels at run time", yes_or_no(t.launch != LaunchModel::host)},
            {"one call per group", yes_or_no(t.launch == LaunchModel::host)},
            {"instruction set of host kernels",
             std::string(t.launch == LaunchModel::host ? name_of(t.host_isa) : "none")},
            {"shuffles", yes_or_no(t.shuffles)},
            {"asynchronous copies to local memory", yes_or_no(t.async_copy)},
            {"constant buffers", yes_or_no(t.constant_buffers)},
            {"compiler limits registers to the group size", yes_or_no(t.bounds_registers)},
            {"device fence", yes_or_no(t.device_fence)},
            {"forward progress", yes_or_no(t.forward_progress)},
            {"atomics between devices", yes_or_no(t.system_atomics)},
            {"f64", yes_or_no(t.fp64)},
            {"f64 matrices on tensor cores", yes_or_no(t.f64_matrix_units)},
            {"correctly rounded division and square root", yes_or_no(t.exact_divide_sqrt)},
            {"denormals", yes_or_no(t.keeps_denormals)},
            {"shares host memory", yes_or_no(t.shares_host_memory)},
            {"kernels use host memory in place", yes_or_no(t.uses_host_memory)},
            {"hardware", device.info().hardware},
            {"tuning table", tuning_words(device)}};
}

// A driver's description, shortened for the table. --verbose and --json print all of it.
std::string shortened(const std::string& text) {
    constexpr std::size_t most = 60;
    return text.size() <= most ? text : text.substr(0, most - 3) + "...";
}

// Backends whose drivers end the process that calls them, and how.
using FatalBackends = std::map<std::string, std::string>;

// The selector of the device that `auto` opens; empty if there is none. `auto` asks all backends.
std::string auto_selector(const FatalBackends& fatal) {
    if (!fatal.empty()) return {};
    try {
        return open_device("auto")->info().selector;
    } catch (const Error&) {
        return {};
    }
}

struct Row {
    DeviceInfo info;
    std::shared_ptr<Device> device;  // null if the device does not open
    std::string failure;             // why it does not open
};

// All backends. The fatal ones have their reason.
std::vector<BackendStatus> statuses(const FatalBackends& fatal) {
    std::vector<BackendStatus> result;
    for (const std::string& name : detail::backend_names()) {
        if (const auto found = fatal.find(name); found != fatal.end())
            result.push_back({.name = name,
                              .path = {},
                              .available = false,
                              .reason = "its driver " + found->second + "; see `concord doctor`",
                              .devices = {}});
        else
            result.push_back(detail::backend_status(name));
    }
    return result;
}

std::vector<Row> rows(const std::vector<BackendStatus>& backends) {
    std::vector<Row> result;
    for (const BackendStatus& backend : backends) {
        for (const DeviceInfo& info : backend.devices) {
            Row row{info, nullptr, {}};
            try {
                row.device = open_device(info.selector);
            } catch (const Error& error) {
                row.failure = error.what();
            }
            result.push_back(std::move(row));
        }
    }
    std::stable_sort(result.begin(), result.end(),
                     [](const Row& a, const Row& b) { return a.info.rank < b.info.rank; });
    return result;
}

ordered_json object_of(const std::vector<DeviceProperty>& properties) {
    ordered_json object = ordered_json::object();
    for (const DeviceProperty& property : properties)
        object[property.name] = property.value;
    return object;
}

void print_json(const std::vector<Row>& list, const std::vector<BackendStatus>& backends,
                const std::string& preferred, bool verbose) {
    ordered_json root;
    root["auto"] = preferred.empty() ? ordered_json(nullptr) : ordered_json(preferred);
    root["devices"] = ordered_json::array();
    for (const Row& row : list) {
        ordered_json object = {{"selector", row.info.selector},
                               {"backend", row.info.backend},
                               {"name", row.info.name},
                               {"driver", row.info.driver},
                               {"auto", row.info.selector == preferred}};
        if (row.device != nullptr) {
            object["memory"] = row.device->traits().global_memory;
            object["units"] = row.device->traits().units;
            if (verbose) {
                object["traits"] = object_of(traits_of(*row.device));
                object["properties"] = object_of(row.device->properties());
            }
        } else {
            object["failure"] = row.failure;
        }
        root["devices"].push_back(std::move(object));
    }
    root["backends"] = ordered_json::array();
    for (const BackendStatus& backend : backends) {
        root["backends"].push_back({{"name", backend.name},
                                    {"available", backend.available},
                                    {"reason", backend.reason},
                                    {"path", backend.path}});
    }
    std::cout << root.dump(2, ' ', false, ordered_json::error_handler_t::replace) << '\n';
}

void print_properties(const char* title, const std::vector<DeviceProperty>& properties) {
    std::cout << "  " << title << '\n';
    std::size_t width = 0;
    for (const DeviceProperty& property : properties)
        width = std::max(width, property.name.size());
    for (const DeviceProperty& property : properties) {
        std::cout << "    " << property.name << std::string(width - property.name.size() + 2, ' ')
                  << property.value << '\n';
    }
}

int list_devices(bool verbose, bool json, const FatalBackends& fatal) {
    const std::vector<BackendStatus> backends = statuses(fatal);
    const std::vector<Row> list = rows(backends);
    const std::string preferred = auto_selector(fatal);
    if (json) {
        print_json(list, backends, preferred, verbose);
        return status_ok;
    }
    Table table({"selector", "name", "backend", "driver", ">memory", ">units", ""});
    for (const Row& row : list) {
        if (row.device == nullptr) {
            table.add({row.info.selector,
                       row.info.name,
                       row.info.backend,
                       shortened(row.info.driver),
                       "-",
                       "-",
                       {"does not open: " + row.failure, Tone::bad}});
            continue;
        }
        const DeviceTraits& traits = row.device->traits();
        table.add({row.info.selector,
                   row.info.name,
                   row.info.backend,
                   shortened(row.info.driver),
                   bytes_name(traits.global_memory),
                   std::to_string(traits.units),
                   {row.info.selector == preferred ? "auto" : "", Tone::good}});
    }
    if (!table.empty()) table.print(std::cout);
    for (const BackendStatus& backend : backends) {
        if (!backend.available) std::cout << backend.name << " is not available: " << backend.reason << '\n';
    }
    if (table.empty()) std::cout << "no device is available\n";
    if (!verbose) return status_ok;
    for (const Row& row : list) {
        if (row.device == nullptr) continue;
        std::cout << '\n' << row.info.selector << "  " << row.info.name << " (" << row.info.driver << ")\n";
        print_properties("traits, which algorithms plan with", traits_of(*row.device));
        print_properties("driver properties", row.device->properties());
    }
    return status_ok;
}

// Drivers that end their process end a child.
int devices(bool verbose, bool json) {
    const auto try_driver = [](const std::function<int()>& f) {
        constexpr std::chrono::minutes patience(1);
        return in_driver_process(f, patience, [] { return u64{0}; });
    };
    const DriverProcess all = try_driver([&] { return list_devices(verbose, json, {}); });
    if (all.end.empty()) return all.status;
    FatalBackends fatal;
    for (const std::string& name : detail::backend_names()) {
        DriverProcess one = try_driver([&] {
            for (const DeviceInfo& info : detail::backend_status(name).devices)
                static_cast<void>(open_device(info.selector)->properties());
            return status_ok;
        });
        if (!one.end.empty()) fatal.emplace(name, std::move(one.end));
    }
    return list_devices(verbose, json, fatal);
}

}  // namespace

void add_devices(CLI::App& program, Action& action) {
    CLI::App* command = add_command(program, "devices",
                                    {.summary = "List the devices of this machine and their selectors",
                                     .examples = {"concord devices --verbose"}});
    auto verbose = std::make_shared<bool>(false), json = std::make_shared<bool>(false);
    command->add_flag("--verbose", *verbose, "Print all traits and driver properties of each device");
    command->add_flag("--json", *json, "Print one JSON object");
    command->callback([=, &action] { action = [=] { return devices(*verbose, *json); }; });
}

}  // namespace concord::app
