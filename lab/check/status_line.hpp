#pragma once
// Progress line on a terminal's stderr.

#include <string>

namespace concord::lab {

// Shows one line at a time. Prints nothing if stderr is not a terminal.
class StatusLine {
  public:
    StatusLine();
    ~StatusLine() { clear(); }
    StatusLine(const StatusLine&) = delete;
    StatusLine& operator=(const StatusLine&) = delete;

    bool visible() const { return terminal_; }
    void show(const std::string& text);
    // Erases the line. Call it before printing anything else.
    void clear();

  private:
    bool terminal_;
};

}  // namespace concord::lab
