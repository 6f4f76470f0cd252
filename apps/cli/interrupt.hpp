#pragma once
// Handling of the signals that end programs: the program leaves no unfinished files behind.

namespace concord::app {

// Installs handlers that remove temporary files, print one line on stderr, and end the program by the signal. A signal
// that is ignored at the start of the program (nohup) stays ignored.
void catch_interrupts();

// From now on the first SIGINT or SIGTERM only sets a flag, so that work can end in order. The next one ends the
// program.
void defer_interrupts();
// Whether such a signal has arrived. Any thread may call it.
bool is_interrupted();
// Ends the program by the deferred signal if one has arrived.
void end_if_interrupted();

// From now on SIGTERM ends the program without a message.
void silence_sigterm();

// Whether the last line on the terminal is a progress bar, which the handlers erase.
void bar_is_shown(bool shown);

}  // namespace concord::app
