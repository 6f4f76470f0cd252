#pragma once
// Progress line on a terminal's stderr, and durations in it.

#include <string>

namespace concord::lab {

// "45 s", "3 min 20 s" or "2 h 5 min".
std::string duration_name(double seconds);

// Shows one line at a time, cut to the terminal's width. Prints nothing if stderr is not a terminal that moves the
// cursor.
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
