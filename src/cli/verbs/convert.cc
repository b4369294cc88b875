// SPDX-License-Identifier: Apache-2.0
#include "cli/verbs/convert.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/options/options.h"
#include "cli/terminal/output.h"
#include "cli/verbs/convert_database.h"
#include "export/file_sink.h"
#include "export/registry.h"
#include "report/input/input.h"
#include "report/input/source_code.h"
#include "report/rows/views.h"
#include "report/text/humanize.h"

namespace clrscope::cli {
namespace {

struct ConvertOptions {
  report::InputOptions input;
  std::string output, format, weight, root;
  std::vector<std::string> source_paths;  // --source-path
  bool force = false, machinery = false;
};

std::string FormatNames() {
  std::string names;
  for (const exporter::Format& format : exporter::Formats())
    names += std::string(format.name) + ", ";
  return names + "clrscope, sqlite";
}

// The database that is asked for, if it is one and no export format.
std::optional<DatabaseFormat> DatabaseFormatOf(const ConvertOptions& o) {
  if (o.format == "clrscope") return DatabaseFormat::kCapture;
  if (o.format == "sqlite") return DatabaseFormat::kRows;
  if (!o.format.empty()) return std::nullopt;
  if (o.output.ends_with(".clrscope")) return DatabaseFormat::kCapture;
  if (o.output.ends_with(".sqlite") || o.output.ends_with(".sqlite3") || o.output.ends_with(".db"))
    return DatabaseFormat::kRows;
  return std::nullopt;
}

Result<const exporter::Format*> ExportFormatOf(const ConvertOptions& o) {
  if (o.format.empty() && o.output == "-")
    return Error{ErrorCode::kUsage, fmt::format("-o - needs --format: one of {}", FormatNames())};
  Result<const exporter::Format*> format =
      o.format.empty() ? exporter::FormatByPath(o.output) : exporter::FormatByName(o.format);
  if (!format.ok())
    format.error().message += o.format.empty() ? ", .clrscope, .sqlite" : ", clrscope, sqlite";
  return format;
}

// What was made, how large it is, and what to do with it.
void SayWritten(const std::string& path, std::string_view format) {
  struct stat s {};
  if (path == "-" || ::stat(path.c_str(), &s) != 0) return;
  std::string next;
  if (format == "html") next = fmt::format("; open it in a browser: xdg-open {}", path);
  if (format == "pprof") next = fmt::format("; go tool pprof -http=: {}", path);
  if (format == "speedscope") next = "; drop it on https://www.speedscope.app";
  if (format == "folded") next = fmt::format("; flamegraph.pl {} > flame.svg", path);
  if (format == "clrscope") next = fmt::format("; clrscope report {}", path);
  if (format == "sqlite") next = fmt::format("; sqlite3 {} 'select * from sites limit 10'", path);
  Warn(fmt::format("wrote {} ({}){}", path, report::HumanBytes(static_cast<double>(s.st_size)),
                   next));
}

int Finished(const ConvertOptions& o, std::string_view format, const std::optional<Error>& damage) {
  SayWritten(o.output, format);
  if (!damage) return kExitOk;
  Warn(damage->message);
  return kExitIncomplete;
}

int FailWithoutText() {
  return Fail({ErrorCode::kUsage,
               "--source-path is where a page's source texts are: other formats hold none"});
}

int ConvertToDatabase(const ConvertOptions& o, DatabaseFormat format) {
  if (!o.source_paths.empty()) return FailWithoutText();
  const profile::Filter& f = o.input.filter;
  const bool filtered =
      !o.input.from.empty() || !o.input.to.empty() || !o.input.event.empty() || o.input.live ||
      !o.input.measure.empty() || !f.type.empty() || !f.method.empty() || !f.process.empty() ||
      !f.thread.empty() || !f.request.empty() || !o.input.slower_than.empty() ||
      !o.input.older_than.empty() || !f.state.empty() || f.all_states || !o.root.empty();
  if (filtered)
    return Fail({ErrorCode::kUsage,
                 "a database holds the whole recording: leave the filters away and use them in "
                 "`clrscope report`, or `where` in SQL"});
  Result<std::optional<Error>> damage =
      WriteDatabase(o.input.path, o.output, format, o.force, o.input.symbols);
  if (!damage.ok()) return Fail(damage.error());
  return Finished(o, format == DatabaseFormat::kCapture ? "clrscope" : "sqlite", *damage);
}

// The weight that a name of JSON's means. errors: kUsage (another measure's)
Result<std::optional<exporter::FoldedWeight>> WeightOf(const std::string& name,
                                                       const profile::Figure& figure) {
  using Weight = std::optional<exporter::FoldedWeight>;
  const profile::MeasureSpec& spec = figure.spec();
  if (name.empty()) return Weight();
  if (name == spec.count.name) return Weight(exporter::FoldedWeight::kCount);
  if (name == spec.amount.name) return Weight(exporter::FoldedWeight::kAmount);
  if (name == "samples" && !figure.events()) return Weight(exporter::FoldedWeight::kSamples);
  return Error{ErrorCode::kUsage, fmt::format("--weight {}: {} have {}, {}{}", name, spec.title,
                                              (spec.amount_first ? spec.amount : spec.count).name,
                                              (spec.amount_first ? spec.count : spec.amount).name,
                                              figure.events() ? "" : ", samples")};
}

// They are asked for, or are all that is left.
Error OnlyRequests(const ConvertOptions& o) {
  if (!o.input.measure.empty())
    return {ErrorCode::kUsage,
            "--measure requests has no stacks to convert: `clrscope report --by request` shows "
            "what each route cost"};
  const bool narrowed = o.input.filter.any_but_process() || !o.input.filter.process.empty() ||
                        !o.input.slower_than.empty() || !o.input.from.empty() ||
                        !o.input.to.empty();
  return {
      ErrorCode::kEmpty,
      fmt::format("{} holds requests alone{}, which have no stacks to convert: `clrscope report "
                  "--by request` shows what each route cost",
                  o.input.path, narrowed ? " of what was asked for" : "")};
}

// A file of some requests has nothing of what is not known of them.
void DropWithoutRequests(profile::Profile& p) {
  for (profile::Figure& f : p.figures) {
    if (f.by_request()) continue;
    f.cells.clear();
    f.lives.clear();
    f.live_ages.clear();
    f.gc_cpu.clear();
  }
  for (profile::Process& process : p.processes) process.followed = false;
}

// Of pages, which are passed on: what the PDB holds, and what lies in folders that the user named.
exporter::SourceText SourceTextFor(const profile::Profile& p, uint32_t file,
                                   const std::vector<std::string>& folders) {
  using Is = exporter::SourceText::Is;
  const report::SourceSearch search = report::LookForSource(p, file, folders, false);
  if (!search.found) return {search.another.empty() ? Is::kAbsent : Is::kAnother, {}, false};
  return {Is::kText, fmt::format("{}", fmt::join(search.found->lines, "\n")),
          search.found->checked};
}

int Export(const ConvertOptions& o, const exporter::Format& format) {
  if (o.output == "-" && format.binary && IsTerminal(STDOUT_FILENO))
    return Fail(
        {ErrorCode::kUsage,
         fmt::format("{} is binary and would upset the terminal: redirect it, or give -o FILE",
                     format.name)});
  struct stat s {};
  if (!o.force && o.output != "-" && ::stat(o.output.c_str(), &s) == 0 && S_ISREG(s.st_mode))
    return Fail(
        {ErrorCode::kUsage,
         fmt::format("{} exists already: give another name, or -f to replace it", o.output)});
  if (o.input.measure == "gc-cpu")
    return Fail({ErrorCode::kUsage,
                 "--measure gc-cpu has no stacks to convert: `clrscope report --measure gc-cpu` "
                 "shows it, and so does an HTML page of the whole recording"});
  if (o.input.measure == "requests") return Fail(OnlyRequests(o));
  // pprof has threads and requests as labels, a page threads as a table; its times follow filters.
  report::InputOptions wanted = o.input;
  profile::Filter& f = wanted.filter;
  if (Status status = report::ResolveSlowerThan(wanted.slower_than, f); !status.ok())
    return Fail(status.error());
  const bool page = format.name == "html";
  if (!page && !o.source_paths.empty()) return FailWithoutText();
  // Folded stacks have no place for lines.
  if (page || format.name.starts_with("pprof") || format.name == "speedscope")
    wanted.lines = report::InputOptions::Lines::kRecorded;
  wanted.detail = {.threads = page || format.name == "pprof" || !f.thread.empty(),
                   .times = page && f.any_but_process(),
                   .requests = format.name.starts_with("pprof") || !o.root.empty()};
  Result<report::Input> input = report::LoadInput(wanted);
  if (!input.ok()) return Fail(input.error());
  WarnAll(input->notes);
  if (Status status = report::CheckView(input->profile, std::nullopt, f); !status.ok())
    return Fail(status.error());
  if (!profile::HasStacks(input->profile.measure())) return Fail(OnlyRequests(o));
  if (f.of_requests()) DropWithoutRequests(input->profile);
  if (Status status = report::ApplyRoot(o.root, input->profile); !status.ok())
    return Fail(status.error());
  if (const auto empty = report::EmptyReason(*input, o.input)) {
    if (!input->damage) return Fail(*empty);
    Warn(input->damage->message);
    Warn(empty->message);
    return kExitIncomplete;
  }
  exporter::ExportOptions options;
  options.keep_machinery = o.machinery;
  options.only_shown = !o.input.measure.empty();
  Result<std::optional<exporter::FoldedWeight>> weight = WeightOf(o.weight, input->profile.shown());
  if (!weight.ok()) return Fail(weight.error());
  options.folded_weight = *weight;
  options.source_text = [&](uint32_t file) {
    return SourceTextFor(input->profile, file, o.source_paths);
  };
  if (!o.source_paths.empty() && input->profile.source_files.size() == 1)
    Warn("no source line is known, and the page shows no source: `record --lines` keeps them");
  auto sink = exporter::FileSink::Create(
      o.output, o.force ? exporter::IfExists::kReplace : exporter::IfExists::kRefuse);
  if (!sink.ok()) return Fail(sink.error());
  if (Status status = format.write(input->profile, options, **sink); !status.ok())
    return Fail(status.error());
  if (Status status = (*sink)->Finish(); !status.ok()) return Fail(status.error());
  return Finished(o, format.name, input->damage);
}

}  // namespace

int RunConvert(const Args& args) {
  ConvertOptions o;
  VerbOptions verb(
      "convert", "FILE -o OUTPUT [options]",
      "Writes a recording in another format. The ending of OUTPUT, or --format, selects it.",
      "  clrscope convert orders.clrscope -o orders.html        flame graph and tables, one page\n"
      "  clrscope convert trace.nettrace -o trace.clrscope      a tenth of the size\n"
      "  clrscope convert orders.clrscope -o orders.pb.gz --from 5m --to 6m\n"
      "  clrscope convert orders.clrscope -o - --format folded | flamegraph.pl > flame.svg\n");
  AddInputOptions(verb, o.input);
  std::string formats = "the output's format:";
  for (const exporter::Format& format : exporter::Formats())
    formats +=
        fmt::format(" {} ({}; {}),", format.name, format.extensions.front(), format.description);
  formats += " clrscope (.clrscope; a capture), sqlite (.sqlite; plain rows)";
  verb.Add("-o,--output", o.output, "the file to write; '-' writes to standard output")
      .Value("FILE")
      .Required();
  verb.Add("--format", o.format, formats).Value("F");
  verb.Flag("-f,--force", o.force, "overwrite the output if it exists");
  verb.Add("--weight", o.weight,
           "the figure of folded stacks: bytes (default), objects or samples; count (default) or "
           "rethrows of exceptions; wait_ns (default) or count of locks and waits")
      .Value("W")
      .OneOf({"bytes", "objects", "samples", "count", "rethrows", "wait_ns"});
  verb.Add("--source-path", o.source_paths,
           "search this folder for the program's sources, to show them on pages beside their "
           "figures (repeatable). A file with another checksum is left out. Sources inside the PDB "
           "need no folder")
      .Value("DIR")
      .OneAtATime();
  AddRootOption(verb, o.root, "of stacks");
  verb.Flag("--framework", o.machinery, "keep async and thread-pool plumbing");
  if (const auto code = verb.Parse(args)) return *code;
  if (const auto database = DatabaseFormatOf(o)) return ConvertToDatabase(o, *database);
  const auto format = ExportFormatOf(o);
  return format.ok() ? Export(o, **format) : Fail(format.error());
}

}  // namespace clrscope::cli
