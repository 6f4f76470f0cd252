#pragma once
/// Tables of what was measured to be fastest on a device: which variant `auto` takes, and the parameters that launches take.
///
/// A table has rows for an algorithm's variant and for its tunables, by element type, size class and the problem's own label.
/// Where it has no row, everything is as if there were no table. Results do not depend on tables: every value that a tunable
/// permits is right, a row's variant is taken only where it supports the call and keeps the order that is asked for and
/// that `auto` would keep without it.
///
/// A device's table is the first that fits its backend, name and units among: the file or the files of the folder that
/// $CONCORD_TUNING names; those in $XDG_CONFIG_HOME/concord/tuning (else ~/.config/concord/tuning); those that are shipped.
/// $CONCORD_TUNING=off means none, and a path in it that those elsewhere are not looked at. `concord tune` makes them. They
/// are text, a row a line, '#' begins a comment:
///
///     concord tuning 1
///     version: 0.1.0
///     backend: tbb
///     device: AMD EPYC
///     units: 2
///     driver: oneTBB 2021.8
///     date: 2026-11-22
///     # what          type  label     sizes        value  gain
///     sort            u16   -         2^18..2^21   sample_radix  1.31
///     stencil.groups  f32   star=4     2^20         8  1.07
///
/// what: an algorithm, whose value is a variant, or a tunable, whose value is one of those it permits. type: or * for all.
/// label: a number or range (star=1..4) of what the algorithm is labelled by, or - for all. sizes: classes by the power of
/// two at or below the size, as the algorithm counts it, or * for all. gain: how often as fast as without the row; for
/// people. Of several rows that fit, the first counts. A line that is wrong is a warning in the log and left out.

#include <concord/algorithm.hpp>

#include <array>
#include <filesystem>
#include <memory>
#include <optional>

namespace concord {

/// Whose launches a tunable is for.
enum class TunableUser : u8 {
    cuda,
    opencl,              ///< with many work-items per group
    opencl_single_item,  ///< with one work-item per group, as on CPUs
    host                 ///< the CPU's own device
};
using TunableUsers = detail::EnumSet<TunableUser>;

/// A parameter of launch code that a table may set. Its constant lies next to the code that uses it; the algorithm's descriptor
/// lists it.
struct Tunable {
    std::string_view name;  ///< the algorithm's, a dot, its own: "scan.lookback_tiles"
    std::string_view summary;
    TunableUsers used_by;
    std::array<u64, 8> values;  ///< that are permitted, ascending; zeros at the end are none

    std::string_view algorithm() const { return name.substr(0, name.find('.')); }
    bool permits(u64 value) const;
    /// Whether the device's launches ask for it.
    bool is_for(const Device& device) const;
};

/// What rows are looked up by.
struct TuningPoint {
    Type type = Type::u8;
    u64 size = 0;   ///< as the algorithm counts it
    u64 label = 0;  ///< of Algorithm::tuning_label

    /// The power of two at or below the size.
    u32 size_class() const;
    bool operator==(const TuningPoint&) const = default;
};

/// A row, as it is written.
struct TuningRow {
    std::string what;          ///< an algorithm or a tunable
    std::optional<Type> type;  ///< nothing: any
    u64 label_first = 0, label_last = ~u64{0};
    u32 class_first = 0, class_last = 63;
    std::string value;  ///< a variant or a number
    double gain = 1;

    bool operator==(const TuningRow&) const = default;
};

/// A file's content.
struct TuningTable {
    std::string version, backend, device, driver, date;
    u32 units = 0;
    std::vector<TuningRow> rows;

    /// A table without rows for this device, of now.
    static TuningTable of(const Device& device);
    /// Reads what text() writes. Lines that are wrong are left out and told with `name`, the file's, in the log. Nothing if
    /// the first line is not that of a table, which is told too.
    static std::optional<TuningTable> parse(std::string_view text, const std::string& name);
    std::string text() const;
    /// Whether it is for the device: of its backend, name and units.
    bool fits(const Device& device) const;
    /// Adds rows, and makes neighbouring size classes one where all else but the gain is equal, which becomes the least.
    void add(std::vector<TuningRow> more);
    /// "tbb_amd_epyc_2.txt".
    std::string file_name() const;
};

/// A table as calls ask it. Immutable, so that any thread may; but one that notes what it is asked is for one thread.
class Tuning {
  public:
    /// A lookup that was made.
    struct Asked {
        const Tunable* tunable;  ///< null: of a variant, in the table that begins with that one
        const Variant* table;
        TuningPoint point;
        u64 otherwise;  ///< of a tunable: what the call takes if there is no row
    };

    Tuning() = default;
    /// Rows that are wrong are left out and told in the log. source: what it is, for people. asked: where lookups are noted.
    explicit Tuning(const std::vector<TuningRow>& rows, std::string source,
                    std::vector<Asked>* asked = nullptr);

    /// The variant to take instead of the first that suits, or null.
    const Variant* variant(const Variant* table, const TuningPoint& point) const;
    u64 value(const Tunable& tunable, const TuningPoint& point, u64 otherwise) const;
    /// Whether asking it is in vain.
    bool is_silent() const noexcept { return rows_.empty() && asked_ == nullptr; }
    std::size_t size() const { return rows_.size(); }
    const std::string& source() const { return source_; }

  private:
    struct Row {
        const void* what;  // a Tunable, or an algorithm's first Variant
        u64 label_first, label_last;
        u64 value;
        const Variant* variant;
        std::optional<Type> type;
        u32 class_first, class_last;
    };
    const Row* find(const void* what, const TuningPoint& point) const;

    std::vector<Row> rows_;  // by what
    std::string source_ = "none";
    std::vector<Asked>* asked_ = nullptr;
};

/// The device's table, which the first call looks for; without rows if there is none.
const Tuning& tuning_of(const Device& device);
/// Gives the device another table from now on; null: the one that it would find by itself. The old one stays where it is, for
/// calls that are just asking it, until the process ends.
void set_tuning(const Device& device, std::shared_ptr<const Tuning> tuning);
/// The file that the device would read, with its rows; nothing if there is none.
std::optional<TuningTable> find_tuning_table(const Device& device, std::string* source = nullptr);
/// The folder of the user's tables; empty if neither $XDG_CONFIG_HOME nor $HOME says where it is.
std::filesystem::path tuning_folder();

namespace detail {

/// What a launch is to take for the tunable: the device's row, else `otherwise`.
inline u64 tuned(const Device& device, const Tunable& tunable, const TuningPoint& point, u64 otherwise) {
    const Tuning& tuning = tuning_of(device);
    return tuning.is_silent() ? otherwise : tuning.value(tunable, point, otherwise);
}

/// choose(), but that `auto` takes the variant of the device's table, where that supports the problem and promises of the
/// order of operations no less than the one that choose() takes.
template <class Row, std::size_t N, class Problem>
const Row& choose_tuned(std::string_view algorithm, const Row (&table)[N], const Device& device,
                        const Problem& problem, const TuningPoint& point, const Options& options) {
    const Row& otherwise = choose(algorithm, table, device, problem, options);
    const Tuning& tuning = tuning_of(device);
    if (tuning.is_silent() || options.variant != "auto") return otherwise;
    const Variant* const wanted = tuning.variant(&table[0].variant, point);
    for (const Row& row : table) {
        if (&row.variant != wanted) continue;
        const bool keeps = supports_dialect(device, row.variant) &&
                           supports_order(row.variant, otherwise.variant.order, is_float(problem.type())) &&
                           row.supports(device, problem);
        return keeps ? row : otherwise;
    }
    return otherwise;
}

}  // namespace detail
}  // namespace concord
