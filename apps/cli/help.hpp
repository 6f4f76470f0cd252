#pragma once
// --help, and the options of every level.

#include "program.hpp"

namespace concord::app {

// The options of every level.
struct CommonOptions {
    std::string log_level;
    u32 threads = 0;
};
CommonOptions& common_options();

// Sets the texts of the program itself. Call it before add_command().
void set_up_program(CLI::App& program, CommandText text);
// Adds the options of every level to a command and to all below it. Call it last.
void add_common_options(CLI::App& command);

// What was wrong with the arguments: one line, with a hint at the help of the command that they name.
std::string complaint(const CLI::App& program, const CLI::ParseError& error);

}  // namespace concord::app
