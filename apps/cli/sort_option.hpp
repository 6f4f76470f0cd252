#pragma once
// The options of commands that sort: --descending and --nan.

#include "run.hpp"

#include <concord/sort.hpp>

namespace concord::app {

class SortOption {
  public:
    void add(CLI::App& command) {
        command.add_flag("--descending", descending_,
                         "Sort in the exact reverse order; the NaNs of --nan last stay last");
        command
            .add_option(
                "--nan", nan_,
                "Order of floats: total, IEEE 754 totalOrder (default), or last, NumPy's order: -0 equals "
                "+0, all NaNs are equal and last")
            ->check(CLI::IsMember({"total", "last"}));
    }
    SortBy by() const {
        return {.order = descending_ ? SortOrder::descending : SortOrder::ascending,
                .nan = nan_ == "last" ? NanOrder::last : NanOrder::total};
    }
    std::string title() const {
        return std::string(descending_ ? ", descending" : "") + (nan_ == "last" ? ", NaN last" : "");
    }

  private:
    bool descending_ = false;
    std::string nan_ = "total";
};

}  // namespace concord::app
