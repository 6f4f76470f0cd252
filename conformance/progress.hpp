#pragma once
/// A line on a terminal's stderr that says what is going on; nothing elsewhere.

#include <string>

namespace concord::conformance {

class Progress {
  public:
    Progress();
    ~Progress() { clear(); }
    Progress(const Progress&) = delete;
    Progress& operator=(const Progress&) = delete;

    bool visible() const { return terminal_; }
    void show(const std::string& text);
    /// Before anything else is printed.
    void clear();

  private:
    bool terminal_;
};

}  // namespace concord::conformance
