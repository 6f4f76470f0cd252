#pragma once
// Handling of SIGINT, SIGTERM and SIGHUP: the program leaves no unfinished files behind.

#include <concord/types.hpp>

#include <string>

namespace concord::app {

// Installs handlers that remove the files named below, print one line on stderr, and end the program by the signal. A
// signal that is ignored at the start of the program (nohup) stays ignored.
void catch_interrupts();

// Adds a file to be removed on a signal and returns its number. keep_on_interrupt() takes it off the list.
u64 remove_on_interrupt(const std::string& path);
void keep_on_interrupt(u64 number);

// From now on the first SIGINT or SIGTERM only sets a flag, so that work can end in order. The next one ends the
// program.
void defer_interrupts();
// Whether such a signal has arrived. Any thread may call it.
bool is_interrupted();
// Ends the program by the deferred signal if one has arrived.
void end_if_interrupted();

// Removes the files now.
void remove_unfinished();
// From now on SIGTERM ends the program without a message.
void silence_sigterm();

// Whether the last line on the terminal is a progress bar, which the handlers erase.
void bar_is_shown(bool shown);

}  // namespace concord::app
