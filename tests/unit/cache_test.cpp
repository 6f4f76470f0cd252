// The disk cache of kernels: it returns exactly what was stored.
#include "devices.hpp"
#include "temporary_folder.hpp"

#include <concord/internal/input_file.hpp>
#include <concord/internal/modules.hpp>
#include <concord/internal/new_file.hpp>
#include <concord/internal/program_cache.hpp>

#include <fstream>
#include <thread>

#include <sys/stat.h>
#include <unistd.h>

using namespace concord;
using concord::test::throws;
namespace fs = std::filesystem;

namespace {

// A cache folder for one test. Restores the previous one at the end.
class CacheFolder {
  public:
    CacheFolder() {
        if (const char* old = std::getenv("XDG_CACHE_HOME")) old_ = old;
        setenv("XDG_CACHE_HOME", root().c_str(), 1);
    }
    ~CacheFolder() {
        if (old_.empty()) {
            unsetenv("XDG_CACHE_HOME");
        } else {
            setenv("XDG_CACHE_HOME", old_.c_str(), 1);
        }
    }
    const fs::path& root() const { return folder_.path(); }

  private:
    test::TemporaryFolder folder_{"cache"};
    std::string old_;
};

fs::path only_entry() {
    const auto entries = detail::program_cache::list();
    REQUIRE(entries.size() == 1);
    return entries[0].path;
}

}  // namespace

TEST_SUITE_BEGIN("core");

TEST_CASE("a stored program is loaded by its key only") {
    const CacheFolder folder;
    const std::string program("\0binary\xff", 8);
    CHECK_FALSE(backend::load_program("title\nkey").has_value());
    backend::store_program("title\nkey", program);
    CHECK(backend::load_program("title\nkey") == program);
    CHECK_FALSE(backend::load_program("title\nkex").has_value());
    const auto entries = detail::program_cache::list();
    REQUIRE(entries.size() == 1);
    CHECK(entries[0].title == "title");
    CHECK(entries[0].valid);
    CHECK(detail::program_cache::clear() == 1);
    CHECK(detail::program_cache::list().empty());
    CHECK_FALSE(backend::load_program("title\nkey").has_value());
}

TEST_CASE("an entry with a damaged byte is a miss") {
    const CacheFolder folder;
    backend::store_program("k", "0123456789");
    const fs::path path = only_entry();
    const u64 size = fs::file_size(path);
    for (u64 at = 0; at < size; ++at) {
        std::fstream file(path, std::ios::in | std::ios::out | std::ios::binary);
        file.seekg(static_cast<std::streamoff>(at));
        const char old = static_cast<char>(file.get());
        file.seekp(static_cast<std::streamoff>(at));
        file.put(static_cast<char>(old ^ 0x10));
        file.close();
        CAPTURE(at);
        CHECK_FALSE(backend::load_program("k").has_value());
        CHECK_FALSE(detail::program_cache::list()[0].valid);
        backend::store_program("k", "0123456789");
        CHECK(backend::load_program("k") == "0123456789");
    }
    fs::resize_file(path, size - 1);
    CHECK_FALSE(backend::load_program("k").has_value());
    fs::resize_file(path, 0);
    CHECK_FALSE(backend::load_program("k").has_value());
}

TEST_CASE("a cache below a folder that others may change is not used") {
    const CacheFolder folder;
    CHECK(backend::program_cache_problem().empty());
    backend::store_program("k", "program");
    const fs::path cache = only_entry().parent_path(), above = cache.parent_path();
    struct stat status {};
    REQUIRE(::stat(cache.c_str(), &status) == 0);
    CHECK((status.st_mode & 0777) == 0700);
    const auto is_used = [&](const fs::path& changed, mode_t mode, bool used) {
        REQUIRE(::chmod(changed.c_str(), mode) == 0);
        CAPTURE(changed);
        CAPTURE(mode);
        CHECK(backend::load_program("k").has_value() == used);
        CHECK(backend::program_cache_problem().empty() == used);
        CHECK(detail::why_untrusted(only_entry()).empty() == used);
        if (!used) {
            const fs::file_time_type before = fs::last_write_time(only_entry());
            backend::store_program("k", "another");
            CHECK(fs::last_write_time(only_entry()) == before);
        }
        REQUIRE(::chmod(changed.c_str(), 0700) == 0);
        CHECK(backend::load_program("k") == "program");
    };
    is_used(cache, 0777, false);
    is_used(above, 0777, false);
    is_used(above, 0770, true);   // members of the group are trusted
    is_used(above, 01777, true);  // others cannot rename what is in it
    for (const fs::path& given : {cache, above}) {
        if (::geteuid() != 0) break;  // only root gives folders away
        REQUIRE(::chown(given.c_str(), 54321, 0) == 0);
        CHECK_FALSE(backend::load_program("k").has_value());
        CHECK(backend::program_cache_problem().find("another user") != std::string::npos);
        REQUIRE(::chown(given.c_str(), 0, 0) == 0);
    }
}

TEST_CASE("a library that is cut off is not loaded") {
    const test::TemporaryFolder folder("library");
    const fs::path whole = detail::file_of(reinterpret_cast<const void*>(&backend::load_program));
    const std::string bytes = detail::text_of_file(whole, "test");
    for (const std::size_t size :
         {std::size_t{0}, std::size_t{10}, std::size_t{64}, std::size_t{4096}, std::size_t{16384}})
        CHECK(throws(ErrorCode::compile_failed, "cannot be loaded",
                     [&] { detail::load_library(std::string_view(bytes).substr(0, size), "test"); }));
}

TEST_CASE("an entry that is not the user's regular file is a miss") {
    const CacheFolder folder;
    backend::store_program("k", "program");
    const fs::path path = only_entry(), kept = folder.root() / "kept";
    fs::rename(path, kept);
    const auto is_missed = [&] {
        CHECK_FALSE(backend::load_program("k").has_value());
        const auto entries = detail::program_cache::list();
        REQUIRE(entries.size() == 1);
        CHECK_FALSE(entries[0].valid);
        CHECK_FALSE(entries[0].problem.empty());
    };
    // Each is replaced by the next store, except for the folder.
    const auto is_replaced = [&] {
        backend::store_program("k", "program");
        CHECK(backend::load_program("k") == "program");
        CHECK(fs::symlink_status(path).type() == fs::file_type::regular);
        fs::remove(path);
    };
    REQUIRE(::mkfifo(path.c_str(), 0600) == 0);
    is_missed();
    is_replaced();
    fs::create_symlink(kept, path);
    is_missed();
    is_replaced();
    CHECK(fs::file_size(kept) > 0);
    fs::copy_file(kept, path);
    fs::permissions(path, fs::perms::others_write, fs::perm_options::add);
    is_missed();
    is_replaced();
    fs::copy_file(kept, path);
    // Only root may give files away, and in a container only to some users.
    if (::chown(path.c_str(), 12345, 12345) == 0) {
        is_missed();
        is_replaced();
    }
    fs::remove(path);
    fs::create_directory(path);
    is_missed();
    CHECK_NOTHROW(backend::store_program("k", "program"));
    is_missed();
    CHECK(detail::program_cache::clear() == 1);
}

TEST_CASE("without a writable folder nothing is cached") {
    const CacheFolder folder;
    // A file in place of the folder also stops root.
    std::ofstream(folder.root() / "concord").put('x');
    CHECK_NOTHROW(backend::store_program("k", "program"));
    CHECK_FALSE(backend::load_program("k").has_value());
    CHECK(detail::program_cache::list().empty());
    setenv("CONCORD_CACHE", "off", 1);
    CHECK(detail::program_cache::folder().empty());
    CHECK_NOTHROW(backend::store_program("k", "program"));
    unsetenv("CONCORD_CACHE");
}

TEST_CASE("temporary files of killed processes are removed once they are an hour old") {
    const CacheFolder folder;
    backend::store_program("title\nfirst", "program");
    const fs::path where = only_entry().parent_path(), old = where / ".concord-0123456789abcdef",
                   recent = where / ".concord-fedcba9876543210", other = where / "other";
    for (const fs::path& path : {old, recent, other})
        std::ofstream(path) << "a part";
    for (const fs::path& path : {old, other, only_entry()})
        fs::last_write_time(path, fs::file_time_type::clock::now() - std::chrono::minutes(61));
    backend::store_program("title\nsecond", "program");
    CHECK_FALSE(fs::exists(old));
    CHECK(fs::exists(recent));
    CHECK(fs::exists(other));
    CHECK(backend::load_program("title\nfirst") == "program");
    CHECK(backend::load_program("title\nsecond") == "program");
}

TEST_CASE("concurrent readers and writers see whole programs") {
    const CacheFolder folder;
    const std::string a(100000, 'a'), b(100001, 'b');
    std::atomic<int> wrong = 0;
    {
        std::vector<std::jthread> threads;
        threads.reserve(4);
        for (int t = 0; t < 4; ++t) {
            threads.emplace_back([&, t] {
                for (int i = 0; i < 50; ++i) {
                    backend::store_program("k", t % 2 != 0 ? a : b);
                    const auto got = backend::load_program("k");
                    if (!got || (*got != a && *got != b)) ++wrong;
                }
            });
        }
    }
    CHECK(wrong == 0);
    CHECK(detail::program_cache::list().size() == 1);
    CHECK(detail::program_cache::clear() == 1);  // and no temporary files
}

TEST_CASE("a new file appears when it is published") {
    const CacheFolder folder;
    const fs::path path = folder.root() / "file";
    const auto text_of = [&] { return detail::text_of_file(path, "test"); };
    const std::string_view text = "new";
    for (const bool shared : {false, true}) {
        std::ofstream(path) << "old";
        for (const bool keep : {false, true}) {
            detail::NewFile file(path, {.shared = shared});
            file.write(std::as_bytes(std::span(text)));
            CHECK(file.temporary_path().empty() == !shared);
            CHECK(text_of() == "old");
            if (keep) file.publish();
            CHECK(text_of() == (keep ? "new" : "old"));
        }
        // No temporary file is left.
        CHECK(std::distance(fs::directory_iterator(folder.root()), fs::directory_iterator()) == 1);
        fs::remove(path);
    }
    CHECK(throws(ErrorCode::io, "No such file", [&] { detail::NewFile(folder.root() / "no" / "file"); }));
    CHECK(throws(ErrorCode::io, "not a regular file", [&] { detail::NewFile file(folder.root()); }));
}

TEST_CASE("a text file has a limit") {
    const CacheFolder folder;
    const fs::path path = folder.root() / "sparse";
    std::ofstream(path).put('x');
    fs::resize_file(path, detail::InputFile::largest_text + 1);
    CHECK(throws(ErrorCode::io, "the limit is 256 MiB", [&] { (void)detail::text_of_file(path, "test"); }));
    CHECK(throws(ErrorCode::io, "test: cannot be read, got '",
                 [&] { (void)detail::text_of_file("no", "test"); }));
}

TEST_SUITE_END();
