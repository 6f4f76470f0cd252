#pragma once
/// @file
/// Tuning tables: measured choices of the variant that `auto` uses and of launch parameters, per device.
///
/// A table has rows for the variant of an algorithm and for its tunables, by element type, size class and label.
/// Without a matching row, a call behaves as if there were no table. Results do not depend on tables. Every permitted
/// value of a tunable is correct. A row's variant is used only if it supports the call and guarantees the same order
/// as `auto` without a table.
///
/// The table of a device is the first one that matches its backend, hardware (DeviceInfo::hardware) and number of
/// units, in this order:
/// 1. the file, or the *.txt files of the folder, that the environment variable CONCORD_TUNING names;
/// 2. the files in $XDG_CONFIG_HOME/concord/tuning, by default ~/.config/concord/tuning;
/// 3. the tables that Concord ships.
///
/// If CONCORD_TUNING names a path, Concord searches nowhere else. CONCORD_TUNING=off disables tables. If no
/// table matches a CPU, the first call measures a few rows (a calibration) and keeps them in the kernel cache.
/// CONCORD_CALIBRATION=off disables that. `concord tune` writes tables. They are text with one row per line, and '#'
/// starts a comment:
///
///     concord tuning 2
///     version: 0.1.0
///     backend: tbb
///     hardware: AuthenticAMD family 25 model 17, AVX-512
///     device: AMD EPYC
///     units: 2
///     driver: oneTBB 2021.8
///     date: 2026-11-22
///     # what          type  label     sizes        value  gain
///     sort            u16   -         2^18..2^21   sample_radix  1.31
///     stencil.groups  f32   star=4     2^20         8  1.07
///
/// The first matching row counts. An invalid line is skipped with a warning in the log. The columns are:
/// - what: an algorithm, with a variant as its value, or a tunable, with a permitted number as its value
/// - type: an element type, or * for all
/// - label: a number or range of Algorithm::tuning_label, for example star=1..4, or - for all
/// - sizes: size classes, or * for all. The class of a size is the largest power of two that does not exceed it.
/// - gain: speed-up over a call without the row, for information

#include <concord/algorithm.hpp>

#include <array>
#include <filesystem>
#include <memory>
#include <optional>

namespace concord {

/// A launch parameter that a table may set. The algorithm's descriptor lists it.
struct Tunable {
    std::string_view name;      ///< algorithm, a dot, and the parameter, for example "scan.lookback_tiles"
    std::string_view summary;   ///< what it sets, with the unit
    LaunchModels used_by;       ///< kinds of kernels whose launches read it
    std::array<u64, 8> values;  ///< permitted values, ascending; zeros at the end are unused
    Dialects languages = {};    ///< languages of these kernels; empty: all

    /// Returns the part of the name before the dot.
    std::string_view algorithm() const { return name.substr(0, name.find('.')); }
    /// Whether the value is permitted.
    bool permits(u64 value) const;
    /// Whether launches of kernels in that language read it, or of those in another one from the same files.
    bool is_for(Dialect language, LaunchModel launch) const;
    /// Whether launches on the device read it.
    bool is_for(const Device& device) const;
};

/// Key of a lookup: the properties of a call by which rows are selected.
struct TuningPoint {
    Type type = Type::u8;  ///< element type
    u64 size = 0;          ///< problem size, in the unit of the algorithm
    u64 label = 0;         ///< value of Algorithm::tuning_label

    /// Returns the exponent of the largest power of two that does not exceed the size; 0 for size 0.
    u32 size_class() const;
    /// Compares all members.
    bool operator==(const TuningPoint&) const = default;
};

/// A row of a table.
struct TuningRow {
    std::string what;          ///< name of an algorithm or a tunable
    std::optional<Type> type;  ///< element type; none: any
    u64 label_first = 0;       ///< smallest label
    u64 label_last = ~u64{0};  ///< largest label
    u32 class_first = 0;       ///< smallest size class
    u32 class_last = 63;       ///< largest size class
    std::string value;         ///< name of a variant, or a number
    double gain = 1;           ///< measured speed-up over a call without the row

    /// Compares all members.
    bool operator==(const TuningRow&) const = default;
};

/// Content of a table's file.
struct TuningTable {
    std::string version;          ///< version of Concord that wrote it
    std::string backend;          ///< backend of the device, for example "cuda"
    std::string hardware;         ///< DeviceInfo::hardware
    std::string device;           ///< DeviceInfo::name, for information
    std::string driver;           ///< DeviceInfo::driver at the time of measurement
    std::string date;             ///< date of measurement, for example "2026-11-22"
    u32 units = 0;                ///< DeviceTraits::units
    std::vector<TuningRow> rows;  ///< rows in order of precedence

    /// Returns a table without rows for the device, with today's date.
    static TuningTable of(const Device& device);
    /// Parses what text() returns. Skips invalid lines with a warning that begins with `name`, the file's name.
    /// Returns nothing if the text is not a table, also with a warning.
    static std::optional<TuningTable> parse(std::string_view text, const std::string& name);
    /// Returns the table in its file format.
    std::string text() const;
    /// Whether backend, hardware and number of units are those of the device.
    bool fits(const Device& device) const;
    /// Adds rows. Merges rows of adjacent size classes that differ only in their gain, and keeps the smallest gain.
    void add(std::vector<TuningRow> more);
    /// Returns the file name of a shipped table for the device, such as "cuda_nvidia_h200_sm_90_driver_580_132.txt".
    std::string file_name() const;
};

/// A table in the form that calls look up. Immutable: any thread may use it, unless it records lookups.
class Tuning {
  public:
    /// A recorded lookup.
    struct Asked {
        const Tunable* tunable;  ///< the tunable; null for a lookup of a variant
        const Variant* table;    ///< first variant of the algorithm, for a lookup of a variant
        TuningPoint point;       ///< the key
        u64 otherwise;           ///< default value of the tunable
    };

    /// Creates a table without rows.
    Tuning() = default;
    /// Creates a table from rows. Skips invalid rows with a warning in the log. `source` describes where the rows
    /// come from. If `asked` is not null, every lookup is appended to it. It must outlive the table.
    explicit Tuning(const std::vector<TuningRow>& rows, std::string source,
                    std::vector<Asked>* asked = nullptr);

    /// Returns the variant of the matching row, or null. `table`: the algorithm's first variant.
    const Variant* variant(const Variant* table, const TuningPoint& point) const;
    /// Returns the value of the matching row, or `otherwise`.
    u64 value(const Tunable& tunable, const TuningPoint& point, u64 otherwise) const;
    /// Whether lookups have no effect: there are no rows and lookups are not recorded.
    bool is_silent() const noexcept { return rows_.empty() && asked_ == nullptr; }
    /// Returns the number of valid rows.
    std::size_t size() const { return rows_.size(); }
    /// Returns the description of where the rows come from, for example a path; "none" without rows.
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

    std::vector<Row> rows_;  // sorted by `what`
    std::string source_ = "none";
    std::vector<Asked>* asked_ = nullptr;
};

/// Returns the device's table, which has no rows if no table matches. The first call for a device searches for it, and
/// may calibrate a CPU, which takes up to 200 ms. Calls of other threads do not wait for that; they use the defaults.
const Tuning& tuning_of(const Device& device);
/// Replaces the device's table. Null: the table that Concord finds for the device. The previous table stays valid
/// until the process ends, because concurrent calls may use it.
void set_tuning(const Device& device, const std::shared_ptr<const Tuning>& tuning);
/// Searches for the device's table and returns it, or nothing if no table matches. Does not calibrate. `source`
/// receives its path or name.
std::optional<TuningTable> find_tuning_table(const Device& device, std::string* source = nullptr);
/// Returns the folder of the user's tables. Empty if both XDG_CONFIG_HOME and HOME are unset.
std::filesystem::path tuning_folder();

namespace detail {

// Keeps the table until the process ends, because another thread may be using it.
std::shared_ptr<const Tuning> keep_tuning(std::shared_ptr<const Tuning> tuning);

// Returns the value of the tunable in the device's table. Returns `otherwise` without a matching row, and on devices
// whose launches do not read the tunable.
inline u64 tuned(const Device& device, const Tunable& tunable, const TuningPoint& point, u64 otherwise) {
    const Tuning& tuning = tuning_of(device);
    return tuning.is_silent() || !tunable.is_for(device) ? otherwise
                                                         : tuning.value(tunable, point, otherwise);
}

}  // namespace detail
}  // namespace concord
