#pragma once
/// What SIGINT, SIGTERM and SIGHUP do: nothing half-written stays behind.

#include <concord/types.hpp>

#include <string>

namespace concord::app {

/// From here on these signals remove the files named below, say so in one line on stderr, and then end the program as
/// they do by default. A signal that the program was started without (nohup) stays ignored.
void catch_interrupts();

/// Names a file to be removed; the number takes it back.
u64 remove_on_interrupt(const std::string& path);
void keep_on_interrupt(u64 number);

/// Removes them now, before the program ends in another way.
void remove_unfinished();
/// From here on SIGTERM ends the program without a word.
void silence_sigterm();

/// Whether the last line on the terminal is a progress bar, to be erased first.
void bar_is_shown(bool shown);

}  // namespace concord::app
