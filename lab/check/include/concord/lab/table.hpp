#pragma once
/// @file
/// Text output: aligned tables, colours on terminals, and numbers with units.

#include <concord/types.hpp>

#include <iosfwd>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace concord::lab {

/// Meaning of a cell's colour.
enum class Tone {
    plain,  ///< no colour
    good,   ///< green
    bad,    ///< bold red
    faint   ///< dimmed
};

/// Cell of a table.
struct Cell {
    /// Cell with this text and colour.
    Cell(std::string words, Tone colour = Tone::plain) : text(std::move(words)), tone(colour) {}
    /// Cell with this text and no colour.
    Cell(const char* words) : text(words) {}
    std::string text;         ///< UTF-8
    Tone tone = Tone::plain;  ///< colour
};

/// Column of a table.
struct Column {
    std::string header;     ///< a leading '>' right-aligns the column
    std::size_t width = 0;  ///< minimum width in characters; at least the header's
};

/// Table that is printed at once, with columns as wide as their widest cell. A header that begins with '>' right-aligns
/// its column.
class Table {
  public:
    /// Creates an empty table with these column headers.
    explicit Table(std::vector<std::string> header);
    /// Appends a row with one cell per column.
    void add(std::vector<Cell> row) { rows_.push_back(std::move(row)); }
    /// Whether the table has no rows.
    bool empty() const { return rows_.empty(); }
    /// Prints the headers and all rows.
    void print(std::ostream& out) const;

  private:
    std::vector<Column> columns_;
    std::vector<std::vector<Cell>> rows_;
};

/// Table whose rows are printed one by one. The columns have fixed widths. A wider cell shifts the rest of its row.
class StreamedTable {
  public:
    /// Creates a table that prints to `out`, which must outlive it.
    StreamedTable(std::ostream& out, std::vector<Column> columns);
    /// Prints a row with one cell per column and flushes. The first row prints the headers before it.
    void print(const std::vector<Cell>& row);
    /// Whether no row was printed.
    bool empty() const { return empty_; }

  private:
    std::ostream& out_;
    std::vector<Column> columns_;
    bool empty_ = true;
};

/// The text with the escape codes of its colour, if stdout is a terminal and NO_COLOR is not set.
std::string painted(const std::string& text, Tone tone);

/// Width of UTF-8 text in characters.
std::size_t width_of(const std::string& text);

/// A byte count with a binary unit, such as "1.5 GiB".
std::string bytes_name(u64 bytes);

/// An element count, such as "1000", "2^20" or "2^26+12345". Counts below 100000 are decimal, except powers of two.
std::string size_name(u64 n);

/// Element counts with the texts that the user wrote for them.
using SizeNames = std::map<u64, std::string>;
/// The text in `given` for n; without one, size_name(n).
std::string size_name(u64 n, const SizeNames& given);

/// The largest problem size: 2^40. No machine holds operands of so many elements, and counts of their bytes and of up
/// to 2 n^(3/2) operations (a matrix product) fit 64 bits.
inline constexpr u64 max_elements = u64{1} << 40;
/// Throws invalid_argument if a size exceeds max_elements. `call` names the caller in the message.
void check_sizes(std::string_view call, const std::vector<u64>& sizes, const SizeNames& given);

/// A number with this many significant digits, in scientific notation only below 1e-4.
std::string rounded(double value, int digits = 3);

/// The text with the entities of HTML and XML: "&amp;" for "&".
std::string escaped(std::string_view text);
/// A field of a CSV file: in quotes if it has commas, quotes or newlines.
std::string csv_field(std::string_view text);

}  // namespace concord::lab
