#include "progress_bar.hpp"

#include "interrupt.hpp"
#include "rank_job.hpp"

#include <concord/internal/environment.hpp>
#include <concord/internal/number_text.hpp>
#include <concord/lab/internal/status_line.hpp>

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <string_view>

namespace concord::app {
namespace {

bool is_terminal() {
    return ::isatty(STDERR_FILENO) == 1 && detail::environment_variable("TERM") != "dumb";
}

}  // namespace

ProgressBar::ProgressBar(std::string what, u64 bytes)
    : what_(std::move(what)), bytes_(bytes), on_(is_terminal() && RankJob::speaks()) {}

ProgressBar::~ProgressBar() {
    if (!shown_) return;
    std::fputs("\r\033[K", stderr);
    bar_is_shown(false);
}

void ProgressBar::at(u64 done) {
    if (!on_ || bytes_ == 0) return;
    const auto now = Clock::now();
    constexpr auto moment = std::chrono::milliseconds(300), step = std::chrono::milliseconds(100);
    if (now - start_ < moment || now - drawn_ < step) return;
    drawn_ = now;
    const double seconds = std::chrono::duration<double>(now - start_).count();
    const double rate = static_cast<double>(done) / seconds,
                 share = static_cast<double>(done) / static_cast<double>(bytes_);
    constexpr double gib = 1 << 30;
    const std::string percent = detail::fixed_text(100 * share, 0);
    std::string line = std::string(3 - std::min<std::size_t>(3, percent.size()), ' ') + percent + " %  " +
                       detail::fixed_text(static_cast<double>(done) / gib, 2) + " of " +
                       detail::fixed_text(static_cast<double>(bytes_) / gib, 2) + " GiB  " +
                       detail::fixed_text(rate / 1e9, 2) + " GB/s  " +
                       lab::duration_name(static_cast<double>(bytes_ - done) / std::max(rate, 1.0)) + " left";
    winsize window{};
    const std::size_t columns =
        ::ioctl(STDERR_FILENO, TIOCGWINSZ, &window) == 0 && window.ws_col > 0 ? window.ws_col : 80;
    constexpr std::size_t most = 30;
    if (const std::size_t taken = what_.size() + line.size() + 6; taken + 4 < columns) {
        const std::size_t width = std::min(most, columns - taken);
        const auto full = static_cast<std::size_t>(share * static_cast<double>(width));
        line = "[" + std::string(full, '#') + std::string(width - full, '.') + "] " + line;
    }
    line = (what_ + " " + line).substr(0, columns - 1);
    std::fprintf(stderr, "\r\033[K%s", line.c_str());
    std::fflush(stderr);
    shown_ = true;
    bar_is_shown(true);
}

}  // namespace concord::app
