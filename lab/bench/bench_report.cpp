#include "bench_printer.hpp"

#include <concord/lab/internal/statistics.hpp>

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

// Selector, name and driver, shortened to one line.
std::string first_line(const DeviceInfo& info) {
    constexpr std::size_t width = 120;
    std::string line = info.selector + ": " + info.name + " (" + info.driver + ")";
    if (line.size() > width) line = line.substr(0, width - 4) + "...)";
    return line + "\n";
}

// A number of the compiler, or "-" if it is unknown.
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
    if (known.mma_f64) add("f64 tensor cores " + rounded(*known.mma_f64 * 1e-9) + " GFLOP/s");
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

// The fraction of the ceiling.
std::string fraction_name(const BenchRow& row) {
    if (row.ceiling.empty()) return "-";
    const double fraction = row.ceiling_ms / row.timing->median;
    return (fraction > max_of_ceiling ? ">100 %" : percent(fraction)) + " " + row.ceiling;
}

}  // namespace

void BenchLayout::add(const BenchRow& row, const SizeNames& names) {
    work = std::max(work, width_of(work_name(row)));
    variant = std::max(variant, width_of(row.variant));
    size = std::max(size, width_of(size_name(row.n, names)));
    operations = operations || row.operations > 0;
    elements = elements || !row.has_ceiling;
    ratios = ratios || row.baseline;
}

void BenchPrinter::print_machine(const Machine& machine) {
    const std::string how =
        options_.calls > 0
            ? std::to_string(options_.calls) + (options_.recorded ? " replays of a call" : " calls") +
                  " in a row on the same data; host time per call, including the wait for the last one"
        : options_.hot ? "device time, every call on the same data"
                       : "device time, calls alternate between copies of the data larger than the caches";
    out_ << machine.cpu << ", " << machine.cores << " cores, " << bytes_name(machine.memory) << "; "
         << machine.os << "; " << machine.compiler << "\nmedians and quartiles of verified results; " << how
         << "\n\n"
         << std::flush;
}

void BenchPrinter::begin_device(const DeviceInfo& info, const BenchLayout& layout) {
    layout_ = layout;
    rows_.clear();
    std::vector<Column> columns = {{"work", layout.work}, {"variant", layout.variant}, {">n", layout.size},
                                   {">median", 9},        {">quartiles", 14},          {">GB/s", 6}};
    if (layout.operations) columns.push_back({">GFLOP/s", 8});
    if (layout.elements) columns.push_back({">Gkeys/s", 7});
    columns.push_back({">of ceiling", 11});
    columns.push_back({">end to end", 10});
    if (layout.ratios) columns.push_back({">ratio", 7});
    table_ = std::make_unique<StreamedTable>(out_, std::move(columns));
    out_ << first_line(info) << std::flush;
}

void BenchPrinter::print_row(const BenchRow& row) {
    rows_.push_back(row);
    std::vector<Cell> cells = {work_name(row), row.variant, size_name(row.n, options_.size_names)};
    if (row.timing) {
        const Timing& t = *row.timing;
        auto rate = [&](u64 amount) { return amount == 0 ? "-" : rounded(per_second(amount, t) * 1e-9); };
        const std::string mark = row.note.empty() ? "" : " *";
        cells.insert(cells.end(), {time_name(t.median) + mark, quartiles_name(t), rate(row.bytes)});
        if (layout_.operations) cells.emplace_back(rate(row.operations));
        if (layout_.elements) cells.emplace_back(row.has_ceiling ? "-" : rate(row.n));
        cells.emplace_back(fraction_name(row));
        cells.emplace_back(time_name(row.end_to_end_ms));
        if (layout_.ratios) cells.emplace_back(row.ratio ? rounded(*row.ratio) + " x" : "-");
    } else {
        cells.emplace_back(row.problem.rfind("WRONG", 0) == 0 ? "WRONG" : "none", Tone::bad);
        const std::size_t columns =
            8 + (layout_.operations ? 1 : 0) + (layout_.elements ? 1 : 0) + (layout_.ratios ? 1 : 0);
        cells.resize(columns, Cell("-"));
    }
    table_->print(cells);
}

void BenchPrinter::end_device(const BenchDevice& device) {
    Table times({"work", "variant", ">n", ">compile", ">upload", ">kernel", ">download", ">end to end"});
    Table kernels({"work", "variant", ">n", "kernel", ">group size", ">registers", ">local B", ">spill B",
                   ">occupancy"});
    std::string problems, notes;
    bool exceeds = false;
    std::set<std::string> libraries;
    for (const BenchRow& row : rows_) {
        const std::string size = size_name(row.n, options_.size_names);
        const std::vector<Cell> begin = {work_name(row), row.variant, size};
        if (row.timing && !row.baseline) {
            std::vector<Cell> line = begin;
            line.insert(line.end(),
                        {time_name(row.compile_ms), time_name(row.upload_ms), time_name(row.timing->median),
                         time_name(row.download_ms), time_name(row.end_to_end_ms)});
            times.add(std::move(line));
        }
        if (!row.timing)
            problems += work_name(row) + ", " + row.variant + ", " + size + ": " + row.problem + "\n";
        if (row.timing && row.ceiling_ms > max_of_ceiling * row.timing->median) exceeds = true;
        if (!row.note.empty())
            notes += "* " + work_name(row) + ", " + row.variant + ", " + size + ": " + row.note + "\n";
        if (row.baseline)
            libraries.insert(row.variant + " is " + row.library +
                             (row.call.empty() ? "" : " (" + row.call + ")"));
        for (const KernelUse& use : row.kernels) {
            const KernelAttributes& a = use.attributes;
            std::vector<Cell> line = begin;
            line.insert(line.end(), {use.name, std::to_string(use.group_size), number_name(a.registers),
                                     number_name(a.local_bytes), number_name(a.spill_bytes),
                                     use.occupancy < 0 ? "-" : percent(use.occupancy)});
            kernels.add(std::move(line));
        }
    }
    if (!problems.empty()) out_ << painted(problems, Tone::bad);
    out_ << notes;
    out_ << ceilings_line(device.ceilings);
    if (exceeds) out_ << ">100 %: faster than the kernel that measures this rate; see docs/measuring.md\n";
    for (const std::string& library : libraries)
        out_ << library << '\n';
    for (const std::string& baseline : device.missing_baselines)
        out_ << "not measured: " << baseline << '\n';
    if (!libraries.empty())
        out_ << "ratio: time of the baseline / time of Concord's first variant; above 1 Concord is faster\n";
    for (const auto& [wanted, table] :
         {std::pair(options_.times, &times), std::pair(options_.attributes, &kernels)}) {
        if (!wanted || table->empty()) continue;
        out_ << '\n';
        table->print(out_);
    }
    out_ << '\n' << std::flush;
}

void BenchPrinter::print_interruption() {
    out_ << "interrupted: unfinished rows are missing\n" << std::flush;
}

BenchReport::BenchReport(BenchOptions options)
    : options_(std::move(options)), machine_(this_machine()), date_(date_now()) {}

void BenchReport::print(std::ostream& out) const {
    BenchPrinter printer(out, options_);
    printer.print_machine(machine_);
    for (const BenchDevice& device : devices_) {
        BenchLayout layout;
        std::vector<const BenchRow*> rows;
        for (const BenchRow& row : rows_) {
            if (row.device != device.info.selector) continue;
            rows.push_back(&row);
            layout.add(row, options_.size_names);
        }
        printer.begin_device(device.info, layout);
        for (const BenchRow* row : rows)
            printer.print_row(*row);
        printer.end_device(device);
    }
    if (interrupted_) printer.print_interruption();
}

}  // namespace concord::lab
