#include <concord/detail/trusted_code.hpp>
#include <concord/error.hpp>
#include <concord/internal/environment.hpp>
#include <concord/internal/folder_names.hpp>
#include <concord/internal/input_file.hpp>
#include <concord/internal/new_file.hpp>
#include <concord/internal/program_cache.hpp>
#include <concord/log.hpp>

#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstring>
#include <ctime>

namespace concord::detail::program_cache {
namespace {

namespace fs = std::filesystem;

// A file consists of a header, the key and the program. The whole key is compared, so that keys with equal hashes
// differ.
struct Header {
    char magic[8];
    u64 key_bytes;
    u64 program_bytes;
    u64 checksum;  // of key and program
};
constexpr char magic[8] = {'c', 'o', 'n', 'c', 'o', 'r', 'd', '1'};
constexpr std::string_view extension = ".program";

u64 hash(std::string_view bytes, u64 seed) {
    u64 h = seed;
    for (const char c : bytes)
        h = (h ^ static_cast<unsigned char>(c)) * 0x100000001b3;
    return h ^ (h >> 29);
}

u64 checksum(std::string_view key, std::string_view program) {
    return hash(program, hash(key, 0x84222325));
}

fs::path path_of(const fs::path& where, std::string_view key) {
    char name[40];
    std::snprintf(name, sizeof name, "%016llx%016llx",
                  static_cast<unsigned long long>(hash(key, 0xcbf29ce484222325)),
                  static_cast<unsigned long long>(hash(key, 0x6c62272e07bb0142)));
    return where / (std::string(name) + std::string(extension));
}

// Entries are files that this user wrote. Throws io.
std::string read_all(const fs::path& path) {
    return text_of_file(path, "kernel cache", {.trusted = true, .follow_link = false});
}

void complain_once(const fs::path& where, std::string_view why) {
    static std::atomic<bool> complained = false;
    if (!complained.exchange(true))
        log_info("cannot write to the kernel cache " + where.string() + ": " + std::string(why));
}

// Creates the folder. Returns why nothing can be written there; empty if it can.
std::string problem_of(const fs::path& where) {
    std::error_code error;
    fs::create_directories(where.parent_path(), error);
    if (error) return error.message();
    if (::mkdir(where.c_str(), 0700) != 0) {
        const int why = errno;
        if (why != EEXIST) return std::error_code(why, std::generic_category()).message();
        if (!fs::is_directory(where, error))
            return std::make_error_code(std::errc::not_a_directory).message();
    }
    if (std::string why = why_untrusted(where); !why.empty()) return why;
    return ::access(where.c_str(), W_OK | X_OK) == 0
               ? std::string()
               : std::error_code(errno, std::generic_category()).message();
}

// Removes files of processes that were killed while they stored an entry. That takes less than a second.
void remove_abandoned_files(const fs::path& where) {
    constexpr time_t age = 3600;
    for (const std::string& name : folder_names(where)) {
        if (!name.starts_with(temporary_prefix)) continue;
        const fs::path path = where / name;
        struct stat found {};
        if (::lstat(path.c_str(), &found) == 0 && S_ISREG(found.st_mode) &&
            ::time(nullptr) - found.st_mtime > age)
            ::unlink(path.c_str());
    }
}

}  // namespace

std::optional<Parts> parts_of(std::string_view bytes) {
    Header header;
    if (bytes.size() < sizeof header) return std::nullopt;
    std::memcpy(&header, bytes.data(), sizeof header);
    bytes.remove_prefix(sizeof header);
    if (std::memcmp(header.magic, magic, sizeof magic) != 0 || header.key_bytes > bytes.size() ||
        header.program_bytes != bytes.size() - header.key_bytes)
        return std::nullopt;
    const Parts parts{bytes.substr(0, header.key_bytes), bytes.substr(header.key_bytes)};
    if (checksum(parts.key, parts.program) != header.checksum) return std::nullopt;
    return parts;
}

std::string header_of(std::string_view key, std::string_view program) {
    Header header{};
    std::memcpy(header.magic, magic, sizeof magic);
    header.key_bytes = key.size();
    header.program_bytes = program.size();
    header.checksum = checksum(key, program);
    return {reinterpret_cast<const char*>(&header), sizeof header};
}

fs::path folder() {
    if (environment_variable("CONCORD_CACHE") == "off") return {};
    if (const std::string_view cache = environment_variable("XDG_CACHE_HOME"); cache.starts_with('/'))
        return fs::path(cache) / "concord";
    if (const std::string_view home = environment_variable("HOME"); home.starts_with('/'))
        return fs::path(home) / ".cache" / "concord";
    return {};
}

std::vector<Entry> list() {
    std::vector<Entry> entries;
    const fs::path where = folder();
    for (const std::string& name : folder_names(where)) {
        if (!name.ends_with(extension)) continue;
        Entry entry;
        entry.path = where / name;
        try {
            const std::string bytes = read_all(entry.path);
            entry.bytes = bytes.size();
            if (const auto parts = parts_of(bytes)) {
                entry.valid = path_of(where, parts->key) == entry.path;
                entry.title = parts->key.substr(0, parts->key.find('\n'));
            }
        } catch (const Error& failed) {
            std::error_code unknown;
            if (fs::symlink_status(entry.path, unknown).type() == fs::file_type::not_found)
                continue;  // removed by another process
            entry.problem = failed.what();
        }
        entries.push_back(std::move(entry));
    }
    return entries;
}

u64 clear() {
    u64 removed = 0;
    const fs::path where = folder();
    for (const std::string& name : folder_names(where)) {
        std::error_code failed;
        if ((name.ends_with(extension) || name.starts_with(temporary_prefix)) &&
            fs::remove(where / name, failed))
            ++removed;
    }
    return removed;
}

}  // namespace concord::detail::program_cache

namespace concord::backend {

namespace program_cache = detail::program_cache;

std::optional<std::string> load_program(std::string_view key) {
    const std::filesystem::path where = program_cache::folder();
    if (where.empty() || !detail::why_untrusted(where).empty()) return std::nullopt;
    std::string bytes;
    try {
        bytes = program_cache::read_all(program_cache::path_of(where, key));
    } catch (const Error&) {
        return std::nullopt;  // usually because there is no such file
    }
    const auto parts = program_cache::parts_of(bytes);
    if (!parts || parts->key != key) return std::nullopt;
    return std::string(parts->program);
}

void store_program(std::string_view key, std::string_view program) noexcept try {
    const std::filesystem::path where = program_cache::folder();
    if (where.empty()) return;
    if (const std::string why = program_cache::problem_of(where); !why.empty())
        return program_cache::complain_once(where, why);
    program_cache::remove_abandoned_files(where);
    try {
        // After a failure of the machine the checksum finds what is incomplete.
        detail::write_file(program_cache::path_of(where, key),
                           {program_cache::header_of(key, program), key, program},
                           {.mode = 0600, .follow_link = false, .durable = false});
    } catch (const Error& failed) {
        program_cache::complain_once(where, failed.what());
    }
} catch (...) {
    // Too little memory for a path: does not store the program.
}

std::string program_cache_problem() {
    const std::filesystem::path where = program_cache::folder();
    const std::string why = where.empty() ? std::string() : program_cache::problem_of(where);
    return why.empty() ? why : "the kernel cache " + detail::quoted(where.string()) + " is not used: " + why;
}

}  // namespace concord::backend
