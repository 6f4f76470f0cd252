// The disk cache of kernels: it returns exactly what was stored.
#include "devices.hpp"

#include <concord/internal/program_cache.hpp>

#include <fstream>
#include <thread>

#include <sys/stat.h>
#include <unistd.h>

using namespace concord;
namespace fs = std::filesystem;

namespace {

// A cache folder for one test. Restores the previous one at the end.
class CacheFolder {
  public:
    CacheFolder() {
        if (const char* old = std::getenv("XDG_CACHE_HOME")) old_ = old;
        root_ = fs::temp_directory_path() / ("concord-cache-" + std::to_string(getpid()));
        fs::remove_all(root_);
        fs::create_directories(root_);
        setenv("XDG_CACHE_HOME", root_.c_str(), 1);
    }
    ~CacheFolder() {
        if (old_.empty()) {
            unsetenv("XDG_CACHE_HOME");
        } else {
            setenv("XDG_CACHE_HOME", old_.c_str(), 1);
        }
        fs::permissions(root_, fs::perms::owner_all);
        fs::remove_all(root_);
    }
    const fs::path& root() const { return root_; }

  private:
    fs::path root_;
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
    CHECK_FALSE(detail::program_cache::load("title\nkey").has_value());
    detail::program_cache::store("title\nkey", program);
    CHECK(detail::program_cache::load("title\nkey") == program);
    CHECK_FALSE(detail::program_cache::load("title\nkex").has_value());
    const auto entries = detail::program_cache::list();
    REQUIRE(entries.size() == 1);
    CHECK(entries[0].title == "title");
    CHECK(entries[0].valid);
    CHECK(detail::program_cache::clear() == 1);
    CHECK(detail::program_cache::list().empty());
    CHECK_FALSE(detail::program_cache::load("title\nkey").has_value());
}

TEST_CASE("an entry with a damaged byte is a miss") {
    const CacheFolder folder;
    detail::program_cache::store("k", "0123456789");
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
        CHECK_FALSE(detail::program_cache::load("k").has_value());
        CHECK_FALSE(detail::program_cache::list()[0].valid);
        detail::program_cache::store("k", "0123456789");
        CHECK(detail::program_cache::load("k") == "0123456789");
    }
    fs::resize_file(path, size - 1);
    CHECK_FALSE(detail::program_cache::load("k").has_value());
    fs::resize_file(path, 0);
    CHECK_FALSE(detail::program_cache::load("k").has_value());
}

TEST_CASE("without a writable folder nothing is cached") {
    const CacheFolder folder;
    // A file in place of the folder also stops root.
    std::ofstream(folder.root() / "concord").put('x');
    CHECK_NOTHROW(detail::program_cache::store("k", "program"));
    CHECK_FALSE(detail::program_cache::load("k").has_value());
    CHECK(detail::program_cache::list().empty());
    setenv("CONCORD_CACHE", "off", 1);
    CHECK(detail::program_cache::folder().empty());
    CHECK_NOTHROW(detail::program_cache::store("k", "program"));
    unsetenv("CONCORD_CACHE");
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
                    detail::program_cache::store("k", t % 2 != 0 ? a : b);
                    const auto got = detail::program_cache::load("k");
                    if (!got || (*got != a && *got != b)) ++wrong;
                }
            });
        }
    }
    CHECK(wrong == 0);
    CHECK(detail::program_cache::list().size() == 1);
    CHECK(detail::program_cache::clear() == 1);  // and no temporary files
}

TEST_SUITE_END();
