// trine validate: the precision certificate of a model on a structure.
#include <fmt/format.h>
#include <unistd.h>
#include <CLI/CLI.hpp>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "command.hpp"
#include "frames.hpp"
#include "options.hpp"
#include "output_file.hpp"
#include "suggest.hpp"
#include "trine/certificate.hpp"
#include "trine/checkpoint.hpp"
#include "trine/devices.hpp"
#include "trine/error.hpp"
#include "trine/model_files.hpp"
#include "trine/precision_choice.hpp"
#include "validate_flags.hpp"

namespace trine::app {

namespace {

namespace fs = std::filesystem;

/// Words about what is done: on a terminal a line that changes, elsewhere a line now and then.
class Progress {
 public:
  explicit Progress(bool quiet) : quiet_(quiet), terminal_(isatty(STDERR_FILENO) != 0) {}

  void show(const std::string& words) {
    if (quiet_) return;
    if (terminal_) {
      fmt::print(stderr, "\r{}\033[K", words);
      return;
    }
    const auto now = Clock::now();
    if (now - shown_ < std::chrono::seconds(kSeconds)) return;
    shown_ = now;
    note(quiet_, words);
  }
  /// Leaves the line on the terminal.
  void finish() const {
    if (!quiet_ && terminal_) fmt::print(stderr, "\r\033[K");
  }

 private:
  using Clock = std::chrono::steady_clock;
  static constexpr int kSeconds = 10;

  bool quiet_, terminal_;
  Clock::time_point shown_ = Clock::now();
};

void write(OutputFile& file, const std::string& text) {
  file.stream() << text;
  file.commit();
}

/// Opened before anything is measured, so that nothing is measured in vain.
struct Files {
  std::optional<OutputFile> named;
  std::optional<OutputFile> json, html, policy;  ///< of the report

  Files(const std::string& json_name, const std::string& folder_name) {
    if (!json_name.empty()) named.emplace(json_name);
    if (folder_name.empty()) return;
    const fs::path folder = folder_name;
    std::error_code failed;
    fs::create_directories(folder, failed);
    if (failed) {
      throw Error(ErrorCode::bad_input, fmt::format("cannot make the folder {} ({}), name another",
                                                    folder_name, failed.message()));
    }
    json.emplace(folder / "report.json");
    html.emplace(folder / "report.html");
    policy.emplace(folder / "policy.json");
  }
};

/// A word as a shell takes it.
std::string quoted(const std::string& word) {
  constexpr const char* kPlain =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789@%+=:,./_-";
  if (!word.empty() && word.find_first_not_of(kPlain) == std::string::npos) return word;
  std::string text = "'";
  for (const char c : word) text += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return text + "'";
}

class Validate : public Command {
 public:
  void declare(CLI::App& app) override;
  void run() override;

 private:
  Structure read_frame() const;
  std::string call() const;
  void check_outputs_of_call() const;
  void write_outputs(const Certificate& certificate, Files& files) const;
  void throw_if_failed(const Certificate& certificate, const std::vector<Arithmetic>& asked) const;

  CLI::App* app_ = nullptr;  ///< outlives the call
  std::string model_, structure_, report_, json_;
  std::size_t frame_ = 1;
  bool store_ = false;
  ValidateFlags what_;
  EngineFlags flags_;
};

void Validate::declare(CLI::App& app) {
  app_ = &app;
  app.add_option("MODEL", model_, "checkpoint, model name, or synthetic:xs|s|s32|m|l")->required();
  app.add_option("STRUCTURE", structure_, "structure file; one of its frames is used")->required();
  app.add_option("--frame", frame_, "which frame, counted from 1 (default 1)")
      ->type_name("N")
      ->check(CLI::PositiveNumber);
  what_.declare(app);
  app.add_option("--report", report_, "write report.html, report.json and policy.json there")
      ->type_name("DIR");
  app.add_option("--json", json_, "write report.json under another name ('-': standard output)")
      ->type_name("FILE");
  app.add_flag("--store", store_, "keep the policy for --precision auto, on a GPU");
  flags_.declare_without_precision(app);
}

Structure Validate::read_frame() const {
  std::vector<Structure> frames = read_frames({structure_});
  if (frame_ > frames.size()) {
    throw Error(ErrorCode::usage, fmt::format("--frame {} is not there ({} holds {}), correct it",
                                              frame_, structure_, counted(frames.size(), "frame")));
  }
  if (frames.size() > 1 && app_->count("--frame") == 0) {
    note(flags_.quiet, fmt::format("first of {} frames of {}", frames.size(), structure_));
  }
  Structure frame = std::move(frames[frame_ - 1]);
  if (frame.size() > 0) return frame;
  throw Error(ErrorCode::bad_input,
              fmt::format("{} holds no atoms (there is nothing to measure), name another frame",
                          frame.source));
}

/// The command that repeats this one.
std::string Validate::call() const {
  std::string words = "trine validate";
  for (const CLI::Option* option : app_->get_options()) {
    if (option->count() == 0) continue;
    if (!option->get_positional()) words += " " + option->get_name();
    if (option->get_items_expected_max() == 0) continue;  // a flag
    for (const std::string& value : option->results()) words += " " + quoted(value);
  }
  return words;
}

void Validate::check_outputs_of_call() const {
  check_outputs({{"--json", json_}, {"--report", report_}});
  if (store_ && cuda_device_number(flags_.device) < 0) {
    throw Error(ErrorCode::usage,
                "--store means nothing here (on a CPU, auto is fp32), leave it out");
  }
}

void Validate::write_outputs(const Certificate& certificate, Files& files) const {
  if (files.named) write(*files.named, certificate_json(certificate));
  if (files.json) {
    write(*files.json, certificate_json(certificate));
    write(*files.html, certificate_html(certificate, call()));
    write(*files.policy, policy_json(certificate));
    note(flags_.quiet, fmt::format("report in {}", (fs::path(report_) / "report.html").string()));
  }
  if (store_) {
    const fs::path file = store_policy(policy_folder(), certificate);
    note(flags_.quiet, fmt::format("policy for --precision auto in {}", file.string()));
  }
  const bool to_files = !json_.empty() || !report_.empty();
  if (json_ != "-" && !(flags_.quiet && to_files)) {
    fmt::print("{}", certificate_text(certificate));
  }
}

void Validate::throw_if_failed(const Certificate& certificate,
                               const std::vector<Arithmetic>& asked) const {
  std::vector<std::string> failed;
  for (const Verdict& verdict : certificate.verdicts) {
    const bool was_asked = verdict.arithmetic == "fp32" ||
                           std::any_of(asked.begin(), asked.end(), [&](const Arithmetic& method) {
                             return method.name == verdict.arithmetic;
                           });
    if (was_asked && verdict.standing == Standing::fail) failed.push_back(verdict.arithmetic);
  }
  if (failed.empty()) return;
  throw Error(
      ErrorCode::validation_failed,
      fmt::format("{} {} not keep to the limits {} (the verdicts say where), use another "
                  "method or other --limits",
                  join(failed), failed.size() == 1 ? "does" : "do", certificate.limits.name));
}

void Validate::run() {
  Bench bench;
  bench.engine = flags_.resolve();
  CertificateOptions options = what_.resolve();
  check_outputs_of_call();
  const std::string path = find_model(model_);
  const Structure frame = read_frame();
  options.path = what_.path(frame);
  const Checkpoint checkpoint = Checkpoint::read(path);
  check_frames({{frame}}, checkpoint.info());
  Files files(json_, report_);
  bench.checkpoint = &checkpoint;
  Progress progress(flags_.quiet);
  bench.progress = [&progress](const std::string& words) { progress.show(words); };
  const Certificate certificate = certify(bench, frame, frame.source, options);
  progress.finish();
  write_outputs(certificate, files);
  throw_if_failed(certificate, options.arithmetics);
}

}  // namespace

std::unique_ptr<Command> make_validate() {
  return std::make_unique<Validate>();
}

}  // namespace trine::app
