#pragma once
// Prints a benchmark as text: all at once, or row by row while it runs.

#include <concord/lab/bench.hpp>

#include <memory>

namespace concord::lab {

// Columns of a device's table, and the widths of those that depend on what is measured.
struct BenchLayout {
    std::size_t work = 0, variant = 0, size = 0;
    bool operations = false, elements = false, ratios = false;

    void add(const BenchRow& row, const SizeNames& names);
};

class BenchPrinter {
  public:
    // Both must outlive the printer.
    BenchPrinter(std::ostream& out, const BenchOptions& options) : out_(out), options_(options) {}

    void print_machine(const Machine& machine);
    // A device: begin, its rows, end.
    void begin_device(const DeviceInfo& info, const BenchLayout& layout);
    void print_row(const BenchRow& row);
    void end_device(const BenchDevice& device);
    void print_interruption();

  private:
    std::ostream& out_;
    const BenchOptions& options_;
    BenchLayout layout_;
    std::unique_ptr<StreamedTable> table_;
    std::vector<BenchRow> rows_;  // of the current device
};

}  // namespace concord::lab
