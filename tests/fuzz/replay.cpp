// The program of a fuzzer without libFuzzer: runs the seeds, then inputs that are mutated from them at random. Without
// coverage it finds less than libFuzzer, but it needs no clang and its runs are reproducible.
//
//     fuzz-NAME FILE_OR_FOLDER... [-runs=N] [-seed=N]
//
// An input that ends the process is left in crash-fuzz-NAME.

#include "fuzz.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <csignal>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>
#include <vector>

namespace {

namespace fs = std::filesystem;

constexpr unsigned seconds_per_input = 30;
constexpr std::size_t max_bytes = 4096;

std::string input;       // of the current run
std::string crash_file;  // where a run that ends the process leaves it

// Async-signal-safe.
void save_input(int signal) {
    const int file = ::open(crash_file.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
    if (file >= 0 && ::write(file, input.data(), input.size()) == static_cast<ssize_t>(input.size())) {
        constexpr char text[] = "the input is in the file crash-fuzz-NAME\n";
        [[maybe_unused]] const ssize_t written = ::write(STDERR_FILENO, text, sizeof text - 1);
    }
    ::raise(signal);  // the handler is reset: ends the process
}

// Drivers that the library loads may set handlers of their own.
void handle_crashes() {
    for (const int signal : {SIGABRT, SIGALRM, SIGBUS, SIGFPE, SIGILL, SIGSEGV}) {
        struct sigaction action {};
        action.sa_handler = save_input;
        action.sa_flags = static_cast<int>(SA_RESETHAND | SA_NODEFER);
        ::sigaction(signal, &action, nullptr);
    }
}

void run(std::string bytes) {
    input = std::move(bytes);
    handle_crashes();
    ::alarm(seconds_per_input);
    LLVMFuzzerTestOneInput(reinterpret_cast<const std::uint8_t*>(input.data()), input.size());
    ::alarm(0);
}

class Mutator {
  public:
    Mutator(const std::vector<std::string>& seeds, std::uint64_t seed) : seeds_(seeds), random_(seed) {}

    std::string next() {
        std::string bytes = any_seed();
        for (std::size_t n = 1 + below(4); n > 0; --n)
            change(bytes);
        return bytes.substr(0, max_bytes);
    }

  private:
    std::size_t below(std::size_t n) { return random_() % n; }
    const std::string& any_seed() { return seeds_[below(seeds_.size())]; }
    std::string any_part(const std::string& bytes) {
        const std::size_t at = below(bytes.size() + 1);
        return bytes.substr(at, below(17));
    }
    std::string any_bytes() {
        static const std::string words[] = {"0",
                                            "-1",
                                            "18446744073709551615",
                                            "9223372036854775808",
                                            "4294967296",
                                            "1e400",
                                            "\"",
                                            "{",
                                            "}",
                                            "[",
                                            "]",
                                            "(",
                                            ")",
                                            ",",
                                            ".",
                                            "\n",
                                            " ",
                                            std::string(1, '\0'),
                                            "\xff\xff\xff\xff"};
        return below(2) == 0 ? words[below(std::size(words))] : std::string(1, static_cast<char>(below(256)));
    }
    void change(std::string& bytes) {
        const std::size_t at = below(bytes.size() + 1);
        switch (below(6)) {
            case 0:
                bytes.insert(at, any_bytes());
                break;
            case 1:
                bytes.replace(at, below(17), any_bytes());
                break;
            case 2:
                bytes.erase(at, 1 + below(16));
                break;
            case 3:
                bytes.insert(at, any_part(bytes));
                break;
            case 4:
                bytes.replace(at, below(17), any_part(any_seed()));
                break;
            default:
                if (at < bytes.size()) bytes[at] = static_cast<char>(bytes[at] ^ 1 << below(8));
        }
    }

    const std::vector<std::string>& seeds_;
    std::mt19937_64 random_;
};

std::string content_of(const fs::path& path) {
    std::ifstream file(path, std::ios::binary);
    std::string bytes((std::istreambuf_iterator<char>(file)), {});
    if (!file) {
        std::fprintf(stderr, "cannot read %s\n", path.c_str());
        std::exit(2);
    }
    return bytes;
}

bool reads_number(std::string_view argument, std::string_view option, std::uint64_t& value) {
    if (argument.substr(0, option.size()) != option) return false;
    argument.remove_prefix(option.size());
    const auto [end, error] = std::from_chars(argument.data(), argument.data() + argument.size(), value);
    return error == std::errc() && end == argument.data() + argument.size();
}

}  // namespace

int main(int count, char** arguments) {
    std::uint64_t runs = 0, seed = 1;
    std::vector<fs::path> files;
    for (int i = 1; i < count; ++i) {
        const std::string_view argument = arguments[i];
        if (reads_number(argument, "-runs=", runs) || reads_number(argument, "-seed=", seed)) continue;
        if (!fs::is_directory(argument)) {
            files.emplace_back(argument);
            continue;
        }
        for (const auto& item : fs::directory_iterator(argument))
            files.push_back(item.path());
    }
    std::sort(files.begin(), files.end());  // the same runs in every file system
    if (files.empty()) {
        std::fprintf(stderr, "usage: %s FILE_OR_FOLDER... [-runs=N] [-seed=N]\n", arguments[0]);
        return 2;
    }

    crash_file = "crash-" + fs::path(arguments[0]).filename().string();
    std::vector<std::string> seeds;
    for (const fs::path& file : files) {
        seeds.push_back(content_of(file));
        run(seeds.back());
    }
    Mutator mutator(seeds, seed);
    for (std::uint64_t k = 0; k < runs; ++k)
        run(mutator.next());
    std::printf("%zu seeds and %llu mutations passed\n", seeds.size(), static_cast<unsigned long long>(runs));
    return 0;
}
