#include <concord/lab/bench.hpp>

#include <concord/lab/table.hpp>

#include <algorithm>
#include <ostream>
#include <set>

namespace concord::lab {
namespace {

std::string time_name(double ms) {
    return ms < 1 ? rounded(ms * 1e3) + " us" : ms < 1000 ? rounded(ms) + " ms" : rounded(ms / 1e3) + " s";
}

std::string time_name(const std::optional<double>& ms) {
    return ms ? time_name(*ms) : "-";
}

// "1.21 .. 1.26", in the unit of the median.
std::string quartiles_name(const Timing& t) {
    const double scale = t.median < 1 ? 1e3 : t.median < 1000 ? 1 : 1e-3;
    return rounded(t.first_quartile * scale) + " .. " + rounded(t.third_quartile * scale);
}

// "96 %".
std::string percent(double part) {
    return rounded(part * 100, part < 0.1 ? 2 : 3) + " %";
}

double per_second(u64 amount, const Timing& t) {
    return static_cast<double>(amount) / (t.median * 1e-3);
}

// Selector, name and driver, as far as they fit a line.
std::string first_line(const DeviceInfo& info) {
    constexpr std::size_t width = 120;
    std::string line = info.selector + ": " + info.name + " (" + info.driver + ")";
    if (line.size() > width) line = line.substr(0, width - 4) + "...)";
    return line + "\n";
}

// A number of the compiler's, or that it cannot tell.
std::string number_name(i64 value) {
    return value < 0 ? "-" : std::to_string(value);
}

std::string ceilings_line(const Ceilings::Known& known) {
    std::string line;
    auto add = [&](const std::string& text) { line += (line.empty() ? "ceilings: " : ", ") + text; };
    auto rate = [](double value) { return rounded(value * 1e-9) + " GB/s"; };
    if (known.copy) add("copy " + rate(*known.copy));
    if (known.read) add("read " + rate(*known.read));
    if (known.fma_f32) add("fma f32 " + rounded(*known.fma_f32 * 1e-9) + " GFLOP/s");
    if (known.fma_f64) add("f64 " + rounded(*known.fma_f64 * 1e-9) + " GFLOP/s");
    if (known.launch_ms) add("launch " + time_name(*known.launch_ms));
    if (!line.empty()) line += '\n';
    if (const auto& t = known.transfers)
        line += "transfers: up " + rate(t->upload_pinned) + " pinned, " + rate(t->upload_pageable) +
                " pageable; down " + rate(t->download_pinned) + " pinned, " + rate(t->download_pageable) +
                " pageable\n";
    return line;
}

std::string work_name(const BenchRow& row) {
    const std::string function = row.function == row.algorithm ? "" : " " + row.function;
    return row.algorithm + function + " " + std::string(name_of(row.type));
}

}  // namespace

BenchReport::BenchReport(BenchOptions options)
    : options_(std::move(options)), machine_(this_machine()), date_(date_now()) {}

void BenchReport::print(std::ostream& out) const {
    print_machine(out);
    for (const BenchDevice& device : devices_)
        print_device(out, device);
}

void BenchReport::print_machine(std::ostream& out) const {
    const std::string how =
        options_.calls > 0
            ? std::to_string(options_.calls) + (options_.recorded ? " replays of a call" : " calls") +
                  " in a row on the same data: host time of one, the wait for the last included"
        : options_.hot ? "every call on the same data"
                       : "calls take turns on copies of the data, against caches";
    out << machine_.cpu << ", " << machine_.cores << " cores, " << bytes_name(machine_.memory) << "; "
        << machine_.os << "; " << machine_.compiler << "\nmedians and quartiles, verified first; " << how
        << "\n\n";
}

void BenchReport::print_device(std::ostream& out, const BenchDevice& device) const {
    std::vector<const BenchRow*> rows;
    for (const BenchRow& row : rows_) {
        if (row.device == device.info.selector) rows.push_back(&row);
    }
    const bool operations =
        std::any_of(rows.begin(), rows.end(), [](auto* row) { return row->operations > 0; });
    const bool ratios = std::any_of(rows.begin(), rows.end(), [](auto* row) { return row->baseline; });
    std::vector<std::string> header = {"work", "variant", ">n", ">median", ">quartiles", ">GB/s"};
    if (operations) header.emplace_back(">GFLOP/s");
    header.insert(header.end(), {">of ceiling", ">end to end"});
    if (ratios) header.emplace_back(">ratio");

    Table main(header);
    Table times({"work", "variant", ">n", ">compile", ">upload", ">kernel", ">download", ">end to end"});
    Table kernels({"work", "variant", ">n", "kernel", ">group size", ">registers", ">local B", ">spill B",
                   ">occupancy"});
    std::string problems;
    std::set<std::string> libraries;
    for (const BenchRow* row : rows) {
        const std::vector<Cell> begin = {work_name(*row), row->variant, size_name(row->n)};
        std::vector<Cell> cells = begin;
        if (row->timing) {
            const Timing& t = *row->timing;
            auto rate = [&](u64 amount) { return amount == 0 ? "-" : rounded(per_second(amount, t) * 1e-9); };
            cells.insert(cells.end(), {time_name(t.median), quartiles_name(t), rate(row->bytes)});
            if (operations) cells.emplace_back(rate(row->operations));
            cells.emplace_back(
                row->ceiling.empty() ? "-" : percent(row->ceiling_ms / t.median) + " " + row->ceiling);
            cells.emplace_back(time_name(row->end_to_end_ms));
            if (ratios) cells.emplace_back(row->ratio ? rounded(*row->ratio) + " x" : "-");
            if (!row->baseline) {
                std::vector<Cell> line = begin;
                line.insert(line.end(),
                            {time_name(row->compile_ms), time_name(row->upload_ms), time_name(t.median),
                             time_name(row->download_ms), time_name(row->end_to_end_ms)});
                times.add(std::move(line));
            }
        } else {
            cells.emplace_back(row->problem.rfind("WRONG", 0) == 0 ? "WRONG" : "none", Tone::bad);
            cells.resize(header.size(), Cell("-"));
            problems +=
                work_name(*row) + ", " + row->variant + ", " + size_name(row->n) + ": " + row->problem + "\n";
        }
        main.add(std::move(cells));
        if (row->baseline) libraries.insert(row->variant + " is " + row->library);
        for (const KernelUse& use : row->kernels) {
            const KernelAttributes& a = use.attributes;
            std::vector<Cell> line = begin;
            line.insert(line.end(), {use.name, std::to_string(use.group_size), number_name(a.registers),
                                     number_name(a.local_bytes), number_name(a.spill_bytes),
                                     use.occupancy < 0 ? "-" : percent(use.occupancy)});
            kernels.add(std::move(line));
        }
    }
    out << first_line(device.info) << ceilings_line(device.ceilings);
    if (!main.empty()) main.print(out);
    out << painted(problems, Tone::bad);
    for (const std::string& library : libraries)
        out << library << '\n';
    if (ratios) out << "ratio: the baseline's time / that of Concord's first variant of the same work\n";
    for (const auto& [wanted, table] :
         {std::pair(options_.times, &times), std::pair(options_.attributes, &kernels)}) {
        if (!wanted || table->empty()) continue;
        out << '\n';
        table->print(out);
    }
    out << '\n' << std::flush;
}

}  // namespace concord::lab
