#pragma once
/// A line on a terminal's stderr that says what is going on; nothing elsewhere.

#include <string>

namespace concord::lab {

class StatusLine {
  public:
    StatusLine();
    ~StatusLine() { clear(); }
    StatusLine(const StatusLine&) = delete;
    StatusLine& operator=(const StatusLine&) = delete;

    bool visible() const { return terminal_; }
    void show(const std::string& text);
    /// Before anything else is printed.
    void clear();

  private:
    bool terminal_;
};

}  // namespace concord::lab
