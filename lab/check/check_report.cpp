#include <concord/lab/check.hpp>
#include <concord/lab/compare.hpp>
#include <concord/lab/machine.hpp>
#include <concord/lab/table.hpp>

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>
#include <ostream>

namespace concord::lab {
namespace {

std::string initializer(const Placement& at) {
    std::string text;
    auto offset = [&](const char* name, u64 value) {
        if (value != 0)
            text.append(text.empty() ? "" : ", ").append(name).append(" = ").append(std::to_string(value));
    };
    offset(".a", at.a);
    offset(".b", at.b);
    offset(".out", at.out);
    if (at.in_place) text.append(text.empty() ? "" : ", ").append(".in_place = true");
    return "Placement{" + text + "}";
}

std::string description_of(const Difference& difference) {
    std::string what = "element " + std::to_string(difference.index) + ": expected " + difference.expected +
                       ", got " + difference.got;
    if (difference.ulps >= 0) what += ", " + rounded(difference.ulps) + " ulps apart";
    if (difference.ratio >= 0 || std::isnan(difference.ratio))
        what += std::string(", error / ") + (difference.alarm ? "alarm bound" : "bound") + " = " +
                rounded(difference.ratio);
    return what;
}

// What the cases of a variant are limited to. Empty: the suites' cases with every type.
nlohmann::ordered_json limits_of(const CheckOptions& options) {
    nlohmann::ordered_json limits = nlohmann::ordered_json::object();
    const auto limit = [&](const char* name, const auto& list, const auto& text_of) {
        for (const auto& item : list)
            limits[name].push_back(text_of(item));
    };
    const auto is_asked_for = [&](Type type) {
        return std::ranges::find(options.types, type) != options.types.end();
    };
    if (!std::ranges::all_of(all_types, is_asked_for))
        limit("types", options.types, [](Type type) { return name_of(type); });
    limit("sizes", options.sizes, [](u64 n) { return n; });
    limit("patterns", options.patterns, [](Pattern pattern) { return name_of(pattern); });
    limit("placements", options.placements, [](const Placement& at) { return at.name(); });
    return limits;
}

std::vector<const Variant*> all_variants(const Suite& suite) {
    std::vector<const Variant*> all = suite.variants;
    all.insert(all.end(), suite.more_variants.begin(), suite.more_variants.end());
    return all;
}

}  // namespace

std::string CheckCase::description(const SizeNames& sizes) const {
    std::string shape;
    for (const u64 length : work->shape)
        shape.append(shape.empty() ? " (" : " x ").append(std::to_string(length));
    if (!shape.empty()) shape += ")";
    return work->title + " of " + size_name(work->n, sizes) + shape + " " +
           std::string(name_of(work->type())) + ", " + std::string(name_of(work->pattern())) + ", " +
           placement.name();
}

CheckReport::CheckReport(CheckOptions options, const std::vector<Suite>& suites,
                         std::vector<std::string> devices, std::ostream* live)
    : options_(std::move(options)), devices_(std::move(devices)), live_(live) {
    for (const Suite& suite : suites) {
        if (!asked_for(options_.algorithms, suite.name)) continue;
        for (const Variant* variant : all_variants(suite)) {
            if (asked_for(options_.variants, variant->name))
                rows_.push_back({suite.name, std::string(variant->name), variant->order});
        }
    }
}

void CheckReport::Tally::add(const Tally& other) {
    passed += other.passed;
    compiled += other.compiled;
    failed += other.failed;
    skipped += other.skipped;
    ratio = std::max(ratio, other.ratio);
    alarm = std::max(alarm, other.alarm);
    bits = bits && other.bits;
    threw += other.threw;
}

CheckReport::Tally& CheckReport::tally(const CheckCase& at) {
    return tallies_[{at.algorithm, std::string(at.variant->name), at.device, at.work->type()}];
}

void CheckReport::pass(const CheckCase& at, const Verdict& verdict) {
    Tally one;
    one.passed = 1;
    one.ratio = verdict.ratio;
    one.alarm = verdict.alarm;
    one.bits = verdict.bits;
    tally(at).add(one);
    if (verdict.statistical)
        note(at, "passed",
             "within a statistical bound that rejects a correct result with probability " +
                 rounded(statistical_failure));
}

void CheckReport::compile(const CheckCase& at) {
    ++tally(at).compiled;
}

void CheckReport::fail(const CheckCase& at, const Difference& difference) {
    ++tally(at).failed;
    record(at, description_of(difference), {at.device});
}

void CheckReport::fail(const CheckCase& at, const std::string& message, FailureCause cause) {
    Tally& counts = tally(at);
    ++counts.failed;
    ++counts.threw;
    if (cause == FailureCause::device && device_failure_.empty())
        device_failure_ = at.device + ": " + message;
    record(at, message, {at.device});
}

void CheckReport::disagree(const CheckCase& at, const std::string& other,
                           const std::optional<Difference>& difference) {
    ++tally(at).failed;
    const bool itself = other == at.device;
    record(at,
           "not bitwise identical to the result " +
               (itself ? "with the operands at other offsets" : "on " + other) + ": " +
               (difference ? description_of(*difference) : "that result differs from call to call"),
           itself ? std::vector{other} : std::vector{other, at.device}, Repeat::all_placements);
}

std::string CheckReport::command(const CheckCase& at, const std::vector<std::string>& devices,
                                 Repeat repeat) const {
    const std::string variant(at.variant->name), type(name_of(at.work->type())),
        pattern(name_of(at.work->pattern())), seed = std::to_string(options_.seed);
    std::string list;
    if (!options_.program.empty()) {
        for (const std::string& device : devices)
            list.append(list.empty() ? "" : ",").append(device);
        return options_.program + " " + at.algorithm + " --devices " + list + " --variants " + variant +
               " --types " + type + " --sizes " + size_name(at.work->n, options_.size_names) +
               " --patterns " + pattern + " --seed " + seed;
    }
    for (const std::string& device : devices)
        list.append(list.empty() ? "\"" : ", \"").append(device).append("\"");
    return "CheckOptions{.algorithms = {\"" + at.algorithm + "\"}, .devices = {" + list +
           "}, .variants = {\"" + variant + "\"}, .types = {Type::" + type + "}, .sizes = {" +
           std::to_string(at.work->n) + "}, .patterns = {Pattern::" + pattern + "}, " +
           (repeat == Repeat::all_placements ? "" : ".placements = {" + initializer(at.placement) + "}, ") +
           ".seed = " + seed + "}";
}

void CheckReport::record(const CheckCase& at, std::string what, const std::vector<std::string>& devices,
                         Repeat repeat) {
    failures_.push_back({at.algorithm, std::string(at.variant->name), at.device,
                         at.description(options_.size_names), std::move(what), command(at, devices, repeat),
                         at.work->type()});
    // The first failures of a variant are printed. json() has all of them.
    constexpr u64 max_shown = 3;
    const CheckFailure& failure = failures_.back();
    const u64 shown = ++shown_[failure.algorithm + "/" + failure.variant + "/" + failure.device];
    if (shown > max_shown || live_ == nullptr) return;
    *live_ << painted("FAILED", Tone::bad) << " " << failure.algorithm << "/" << failure.variant << " on "
           << failure.device << ": " << failure.description << "\n    " << failure.what << '\n';
    if (!failure.command.empty()) *live_ << "    " << failure.command << '\n';
    if (shown == max_shown)
        *live_ << "    (further failures of this variant on this device are counted and written to --json)\n";
    live_->flush();
}

void CheckReport::note(const CheckCase& at, const std::string& kind, const std::string& reason) {
    ++notes_[{kind, at.algorithm + "/" + std::string(at.variant->name) + " on " + at.device, reason}];
}

void CheckReport::skip(const CheckCase& at, const std::string& reason, const std::string& detail) {
    ++tally(at).skipped;
    ++skipped_[reason];
    note(at, "skipped", detail.empty() ? reason : reason + ": " + detail);
}

void CheckReport::not_applicable(const CheckCase& at, const std::string& reason) {
    ++not_applicable_[{at.algorithm, std::string(at.variant->name), at.device}];
    note(at, "not applicable", reason);
}

void CheckReport::fail_device(const std::string& message) {
    if (device_failure_.empty()) device_failure_ = message;
}

void CheckReport::no_cases(const std::string& algorithm) {
    without_cases_.push_back(algorithm);
}

void CheckReport::require_cases(const Suite& suite, const Device& device) {
    const auto& types = options_.types;
    const bool narrowed = !options_.sizes.empty() || !options_.patterns.empty() ||
                          !options_.placements.empty() ||
                          (!types.empty() && std::find(types.begin(), types.end(), Type::f32) == types.end());
    if (!suite.must_run || (narrowed && !options_.every_variant) ||
        !asked_for(options_.algorithms, suite.name))
        return;
    const std::string& selector = device.info().selector;
    for (const Variant* variant : all_variants(suite)) {
        if (!asked_for(options_.variants, variant->name) || !detail::supports_dialect(device, *variant))
            continue;
        const Tally counts = total(suite.name, variant->name, selector);
        if (counts.failed + counts.skipped > 0 && counts.correct() == 0) continue;
        const std::string where = suite.name + "/" + std::string(variant->name) + " on " + selector;
        std::string reasons;
        bool explained = false;
        for (const auto& [note, count] : notes_) {
            if (note.kind == "not applicable" && note.where == where)
                reasons.append(reasons.empty() ? "" : "; ").append(note.reason);
        }
        auto lose = [&](std::string what) {
            losses_.push_back({suite.name, std::string(variant->name), selector, std::move(what)});
        };
        for (const Refusal& refusal : suite.refusals) {
            const bool names = (refusal.algorithm.empty() || refusal.algorithm == suite.name) &&
                               (refusal.variant.empty() || refusal.variant == variant->name);
            if (!names || !refusal.applies(device.traits())) continue;
            explained = explained || reasons.find(refusal.reason) != std::string::npos;
            if (counts.correct() > 0 && !refusal.is_possible_only)
                lose("passes, although the table of refusals has an entry '" + std::string(refusal.reason) +
                     "'; remove the entry");
        }
        if (counts.correct() == 0 && !explained)
            lose("no passing case, and no entry in the table of refusals: " +
                 (reasons.empty() ? "no case reached it" : reasons));
    }
}

void CheckReport::note_interrupted(u64 done, u64 total) {
    interrupted_ = true;
    done_ = done;
    planned_ = total;
}

u64 CheckReport::sum(u64 Tally::*count) const {
    u64 sum = 0;
    for (const auto& [key, counts] : tallies_)
        sum += counts.*count;
    return sum;
}

u64 CheckReport::passed() const {
    return sum(&Tally::passed);
}

u64 CheckReport::compiled() const {
    return sum(&Tally::compiled);
}

u64 CheckReport::failed() const {
    return sum(&Tally::failed) + without_cases_.size() + losses_.size();
}

u64 CheckReport::skipped() const {
    return sum(&Tally::skipped);
}

u64 CheckReport::not_applicable() const {
    u64 sum = 0;
    for (const auto& [at, count] : not_applicable_)
        sum += count;
    return sum;
}

int CheckReport::status() const {
    if (nothing_ran()) return 2;
    if (failed() == 0) return device_failure_.empty() ? 0 : 4;
    bool differs = !without_cases_.empty() || !losses_.empty();
    for (const auto& [key, counts] : tallies_)
        differs = differs || counts.differs();
    return !differs && !device_failure_.empty() ? 4 : 1;
}

CheckReport::Tally CheckReport::total(const std::string& algorithm, std::string_view variant,
                                      const std::string& device) const {
    Tally sum;
    for (const auto& [key, counts] : tallies_) {
        if (std::get<0>(key) == algorithm && std::get<1>(key) == variant && std::get<2>(key) == device)
            sum.add(counts);
    }
    return sum;
}

std::string CheckReport::verdict(const Tally& tally) const {
    if (tally.failed > 0) return tally.differs() ? "DIFFERS" : "FAILED";
    if (tally.compiled > 0) return "compiles";
    if (tally.passed == 0) return tally.skipped > 0 ? "skipped" : "-";
    return tally.bits ? "bits" : tally.ratio < 0 ? "bound" : "bound " + rounded(tally.ratio, 2);
}

void CheckReport::print(std::ostream& out) const {
    std::vector<std::string> header = {"algorithm", "variant", "order"};
    header.insert(header.end(), devices_.begin(), devices_.end());
    Table table(header);
    for (const Row& row : rows_) {
        std::vector<Cell> cells = {row.algorithm, row.variant, std::string(name_of(row.order))};
        bool applies = false;
        for (const std::string& device : devices_) {
            const Tally counts = total(row.algorithm, row.variant, device);
            const Tone tone = counts.failed > 0 ? Tone::bad : counts.correct() > 0 ? Tone::good : Tone::faint;
            cells.emplace_back(verdict(counts), tone);
            applies = applies || !counts.empty();
        }
        if (applies) table.add(std::move(cells));
    }
    out << '\n';
    if (passed() > 0)
        out << "bits: bitwise identical to the reference. bound: within the error bound; the number is the "
               "largest error / bound.\n";
    if (passed() > 0 && devices_.size() > 1 && failed() == 0)
        out << "Results in a canonical or variant-specific order are bitwise identical on all devices.\n";
    if (compiled() > 0) out << "compiles: compiled for a compile-only device, not run.\n";
    if (options_.verbose || nothing_ran()) {
        for (const auto& [note, count] : notes_)
            out << note.kind << ": " << note.where << ": " << note.reason << " (" << count << ")\n";
    }
    for (const std::string& algorithm : without_cases_)
        out << "FAILED: " << algorithm << " has no test cases\n";
    for (const Loss& loss : losses_)
        out << "FAILED: " << loss.algorithm << "/" << loss.variant << " on " << loss.device << ": "
            << loss.what << '\n';
    if (interrupted_)
        out << "interrupted after " << done_ << " of " << planned_
            << " cases; the matrix has the results up to there\n";
    else if (nothing_ran())
        out << "nothing could be checked\n";
    if (!table.empty()) {
        out << '\n';
        table.print(out);
        out << '\n';
    }
    std::vector<std::pair<u64, std::string>> groups;
    for (const auto& [reason, count] : skipped_)
        groups.emplace_back(count, reason);
    std::sort(groups.rbegin(), groups.rend());
    for (const auto& [count, reason] : groups)
        out << "skipped " << count << (count == 1 ? " case: " : " cases: ") << reason << '\n';
    out << "check: " << passed() << " passed, ";
    if (compiled() > 0) out << compiled() << " compiled, ";
    out << failed() << " failed, " << skipped() << " skipped, " << not_applicable() << " not applicable\n";
}

std::string CheckReport::json() const {
    using nlohmann::ordered_json;
    ordered_json root;
    root["version"] = CONCORD_VERSION;
    root["commit"] = build_commit();
    root["date"] = date_now();
    root["seed"] = options_.seed;
    root["full"] = options_.full;
    root["limited_to"] = limits_of(options_);
    root["interrupted"] = interrupted_;
    root["devices"] = devices_;
    root["matrix"] = ordered_json::array();
    for (const Row& row : rows_) {
        for (const std::string& device : devices_) {
            const Tally counts = total(row.algorithm, row.variant, device);
            ordered_json cell = {{"algorithm", row.algorithm},  {"variant", row.variant},
                                 {"order", name_of(row.order)}, {"device", device},
                                 {"verdict", verdict(counts)},  {"passed", counts.passed},
                                 {"compiled", counts.compiled}, {"failed", counts.failed},
                                 {"skipped", counts.skipped}};
            const auto other = not_applicable_.find({row.algorithm, row.variant, device});
            cell["not_applicable"] = other == not_applicable_.end() ? 0 : other->second;
            if (counts.ratio >= 0) cell["worst_error_over_bound"] = counts.ratio;
            if (counts.alarm >= 0) cell["worst_error_over_alarm_bound"] = counts.alarm;
            root["matrix"].push_back(std::move(cell));
        }
    }
    root["failures"] = ordered_json::array();
    for (const CheckFailure& f : failures_) {
        root["failures"].push_back({{"algorithm", f.algorithm},
                                    {"variant", f.variant},
                                    {"device", f.device},
                                    {"type", name_of(f.type)},
                                    {"case", f.description},
                                    {"what", f.what},
                                    {"command", f.command}});
    }
    root["lost_variants"] = ordered_json::array();
    for (const Loss& loss : losses_) {
        root["lost_variants"].push_back({{"algorithm", loss.algorithm},
                                         {"variant", loss.variant},
                                         {"device", loss.device},
                                         {"what", loss.what}});
    }
    root["notes"] = ordered_json::array();
    for (const auto& [note, count] : notes_) {
        root["notes"].push_back(
            {{"kind", note.kind}, {"where", note.where}, {"reason", note.reason}, {"cases", count}});
    }
    root["skipped_by_reason"] = ordered_json::array();
    for (const auto& [reason, count] : skipped_)
        root["skipped_by_reason"].push_back({{"reason", reason}, {"cases", count}});
    root["passed"] = passed();
    root["compiled"] = compiled();
    root["failed"] = failed();
    root["skipped"] = skipped();
    root["not_applicable"] = not_applicable();
    return root.dump(2, ' ', false, ordered_json::error_handler_t::replace) + "\n";
}

namespace {

std::string xml(std::string_view text) {
    std::string safe = escaped(text);
    std::ranges::replace_if(
        safe, [](unsigned char c) { return c < ' ' && c != '\n'; }, '?');
    return safe;
}

}  // namespace

std::string CheckReport::junit() const {
    // A test case is a variant on a device with a type. It is skipped if none of its runs passed or failed.
    u64 failed_tests = 0, skipped_tests = 0;
    std::string body;
    for (const auto& [key, counts] : tallies_) {
        const auto& [algorithm, variant, device, type] = key;
        body += "  <testcase classname=\"concord." + xml(algorithm) + "." + xml(variant) + "\" name=\"" +
                xml(device) + " " + std::string(name_of(type)) + "\" assertions=\"" +
                std::to_string(counts.correct() + counts.failed) + "\">";
        if (counts.failed > 0) {
            ++failed_tests;
            body += "\n    <failure message=\"" + std::to_string(counts.failed) + " cases failed\">";
            for (const CheckFailure& f : failures_) {
                if (f.algorithm == algorithm && f.variant == variant && f.device == device && f.type == type)
                    body += xml(f.description + ": " + f.what + "\n" + f.command + "\n");
            }
            body += "</failure>\n  ";
        } else if (counts.correct() == 0) {
            ++skipped_tests;
            body += "<skipped/>";
        }
        body += "</testcase>\n";
    }
    for (const std::string& algorithm : without_cases_) {
        ++failed_tests;
        body += "  <testcase classname=\"concord." + xml(algorithm) +
                "\" name=\"cases\"><failure message=\"no test cases\"/></testcase>\n";
    }
    for (const Loss& loss : losses_) {
        ++failed_tests;
        body += "  <testcase classname=\"concord." + xml(loss.algorithm) + "." + xml(loss.variant) +
                "\" name=\"" + xml(loss.device) + " has a passing case\"><failure message=\"" +
                xml(loss.what) + "\"/></testcase>\n";
    }
    return "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuite name=\"concord check\" tests=\"" +
           std::to_string(tallies_.size() + without_cases_.size() + losses_.size()) + "\" failures=\"" +
           std::to_string(failed_tests) + "\" skipped=\"" + std::to_string(skipped_tests) + "\">\n" +
           (interrupted_ ? "  <properties><property name=\"interrupted\" value=\"true\"/></properties>\n"
                         : "") +
           body + "</testsuite>\n";
}

}  // namespace concord::lab
