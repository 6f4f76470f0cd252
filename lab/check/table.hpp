#pragma once
/// Text for people: aligned tables, colours on terminals, and units.

#include <concord/types.hpp>

#include <iosfwd>
#include <string>
#include <vector>

namespace concord::lab {

enum class Tone { plain, good, bad, faint };

struct Cell {
    Cell(std::string words, Tone colour = Tone::plain) : text(std::move(words)), tone(colour) {}
    Cell(const char* words) : text(words) {}
    std::string text;
    Tone tone = Tone::plain;
};

/// Rows of cells under a header; columns are as wide as their widest cell. A header that begins with '>' is
/// of a column that is set flush right.
class Table {
  public:
    explicit Table(std::vector<std::string> header);
    void add(std::vector<Cell> row) { rows_.push_back(std::move(row)); }
    bool empty() const { return rows_.empty(); }
    void print(std::ostream& out) const;

  private:
    std::vector<std::string> header_;
    std::vector<bool> right_;
    std::vector<std::vector<Cell>> rows_;
};

/// The text in its colour, if stdout is a terminal and NO_COLOR is not set.
std::string painted(const std::string& text, Tone tone);

/// "1.5 GiB".
std::string bytes_name(u64 bytes);
/// "2^20", "2^20+1", "1000".
std::string size_name(u64 n);
/// A number with that many significant digits, never in scientific notation unless it must be.
std::string rounded(double value, int digits = 3);

}  // namespace concord::lab
