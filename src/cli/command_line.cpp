#include "cli/command_line.h"

#include <algorithm>
#include <charconv>
#include <sstream>

#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>

#include "limits/nearest_name.h"
#include "limits/size.h"

namespace weir::cli {
namespace {

constexpr const char* kCommandLine = "command line";
constexpr const char* kVersionText = "weir " WEIR_VERSION "\n";

/// A value as CLI11 found it; it becomes a number, or is found among the flag's choices, only after CLI11 is
/// done, by our own strict rules.
struct PendingValue {
  const Flag* flag;
  std::string text;
};

struct Pending {
  std::vector<PendingValue> numbers;
  std::vector<PendingValue> choices;
};

template <class Number>
Result<void> set_number(const Flag& flag, const std::string& text, std::optional<Number>* into,
                        const char* what) {
  Number number{};
  const char* const end = text.data() + text.size();
  const auto [stopped, error] = std::from_chars(text.data(), end, number);
  if (error != std::errc{} || stopped != end || text.empty()) {
    return fail(ErrorKind::kUsage, flag.name, std::string("not ") + what + ": " + limits::shown(text));
  }
  *into = number;
  return {};
}

Result<void> set_number(const PendingValue& pending) {
  if (const auto* whole = std::get_if<std::optional<std::int64_t>*>(&pending.flag->into)) {
    return set_number(*pending.flag, pending.text, *whole, "a whole number, such as 24");
  }
  return set_number(*pending.flag, pending.text, std::get<std::optional<double>*>(pending.flag->into),
                    "a number, such as 0.7");
}

void declare_flag(CLI::App& app, const Flag& flag, Pending& pending) {
  if (const auto* target = std::get_if<bool*>(&flag.into)) {
    app.add_flag_callback(
        flag.name, [to = *target] { *to = true; }, flag.help);
  } else if (const auto* text = std::get_if<std::optional<std::string>*>(&flag.into)) {
    app.add_option_function<std::string>(
           flag.name,
           [&flag, &pending, to = *text](const std::string& value) {
             if (!flag.choices.empty()) pending.choices.push_back({&flag, value});
             *to = value;
           },
           flag.help)
        ->type_name(flag.value);
  } else if (const auto* list = std::get_if<std::vector<std::string>*>(&flag.into)) {
    app.add_option_function<std::string>(
           flag.name, [to = *list](const std::string& value) { to->push_back(value); }, flag.help)
        ->type_name(flag.value)
        ->trigger_on_parse();
  } else {
    app.add_option_function<std::string>(
           flag.name,
           [&flag, &pending](const std::string& value) {
             pending.numbers.push_back({&flag, value});
           },
           flag.help)
        ->type_name(flag.value);
  }
}

void declare(CLI::App& app, const Subcommand& subcommand, bool& quiet, Pending& pending) {
  auto* sub = app.add_subcommand(subcommand.name, subcommand.summary);
  if (subcommand.hidden) sub->group("");
  if (!subcommand.example.empty()) sub->footer("\nExample:\n" + subcommand.example);
  for (const Positional& positional : subcommand.positionals) {
    sub->add_option_function<std::string>(
           positional.name, [to = positional.into](const std::string& value) { *to = value; },
           positional.help)
        ->required(positional.required)
        ->type_name("");
  }
  for (const Flag& flag : subcommand.flags)
    declare_flag(*sub, flag, pending);
  sub->add_flag_callback(
      "--quiet", [&quiet] { quiet = true; }, "Keep weir's own lines off stderr");
}

std::vector<std::string_view> names_of(const Subcommand& subcommand) {
  std::vector<std::string_view> names = {"--help", "--quiet"};
  for (const Flag& flag : subcommand.flags) {
    const std::string_view name = flag.name;
    const auto comma = name.find(',');
    names.push_back(name.substr(0, comma));
    if (comma != std::string_view::npos) names.push_back(name.substr(comma + 1));
  }
  return names;
}

tl::unexpected<Error> unknown(const std::string& program, const char* what, const std::string& word,
                              const std::vector<std::string_view>& known) {
  const auto near = limits::nearest_name(word, known);
  const std::string hint = near.empty() ? "" : "; did you mean " + std::string(near) + "?";
  const std::string where = program == "weir" ? kCommandLine : program;
  return fail(
      ErrorKind::kUsage, where,
      std::string("unknown ") + what + " " + limits::shown(word) + hint + " (see " + program + " --help)");
}

Result<void> check_choice(const PendingValue& pending) {
  const std::vector<std::string>& choices = pending.flag->choices;
  if (std::find(choices.begin(), choices.end(), pending.text) != choices.end()) return {};
  std::string all;
  for (std::size_t i = 0; i < choices.size(); ++i)
    all += (i == 0 ? "" : i + 1 == choices.size() ? " or " : ", ") + choices[i];
  const auto near = limits::nearest_name(pending.text, {choices.begin(), choices.end()});
  const std::string hint = near.empty() ? "" : "did you mean " + std::string(near) + "? ";
  return fail(ErrorKind::kUsage, pending.flag->name,
              "unknown value " + limits::shown(pending.text) + "; " + hint + "write " + all);
}

Result<void> settle(const Pending& pending) {
  for (const PendingValue& number : pending.numbers)
    if (auto set = set_number(number); !set) return set;
  for (const PendingValue& choice : pending.choices)
    if (auto known = check_choice(choice); !known) return known;
  return {};
}

/// The first word that is no flag must name a subcommand: said before CLI11 says it less well.
Result<const Subcommand*> named_subcommand(const std::vector<std::string>& words,
                                           const std::vector<Subcommand>& table) {
  const auto word =
      std::find_if(words.begin(), words.end(), [](const auto& w) { return w.empty() || w[0] != '-'; });
  if (word == words.end()) return nullptr;
  std::vector<std::string_view> names;
  for (const Subcommand& subcommand : table) {
    if (subcommand.name == *word) return &subcommand;
    if (!subcommand.hidden) names.push_back(subcommand.name);
  }
  return unknown("weir", "subcommand", *word, names);
}

/// `--name=` means an empty value; CLI11 would take the next word for it.
std::vector<std::string> with_empty_values(const std::vector<std::string>& words) {
  std::vector<std::string> out;
  for (const std::string& word : words) {
    const bool empty_value = word.size() > 3 && word.rfind("--", 0) == 0 && word.find('=') == word.size() - 1;
    out.push_back(empty_value ? word.substr(0, word.size() - 1) : word);
    if (empty_value) out.emplace_back();
  }
  return out;
}

tl::unexpected<Error> usage(const CLI::ParseError& error, const Subcommand* subcommand, const CLI::App& app) {
  if (subcommand == nullptr) {
    return fail(ErrorKind::kUsage, kCommandLine, std::string(error.what()) + " (see weir --help)");
  }
  const std::string where = "weir " + subcommand->name;
  for (const std::string& word : app.get_subcommand(subcommand->name)->remaining()) {
    if (word == "--version") return fail(ErrorKind::kUsage, where, "--version stands alone: weir --version");
    if (word.rfind('-', 0) == 0)
      return unknown(where, "flag", word.substr(0, word.find('=')), names_of(*subcommand));
    const std::string hint = subcommand->takes_command ? "; a command stands after --" : "";
    return fail(ErrorKind::kUsage, where,
                "one word too many: " + limits::shown(word) + hint + " (see " + where + " --help)");
  }
  std::string text = error.what();
  if (text.find("not expected: --json") != std::string::npos)
    return fail(ErrorKind::kUsage, where, "--json stands after the subcommand: " + where + " --json");
  if (const auto twice = text.find(": At Most 1 required"); twice != std::string::npos)
    text = text.substr(0, twice) + " is given more than once; give it once";
  return fail(ErrorKind::kUsage, where, text + " (see " + where + " --help)");
}

/// The words up to the first `--`, which is weir's, and those after it.
void split(const std::vector<std::string>& words, std::vector<std::string>& own, Invocation& invocation) {
  const auto dashes = std::find(words.begin(), words.end(), "--");
  own.assign(words.begin(), dashes);
  if (dashes != words.end()) invocation.command.emplace(dashes + 1, words.end());
}

void declare_all(CLI::App& app, const std::vector<Subcommand>& table, bool& quiet, bool& version,
                 Pending& pending) {
  app.require_subcommand(0, 1);
  app.add_flag_callback(
      "--version", [&version] { version = true; }, "Print the version");
  app.add_flag_callback(
      "--quiet", [&quiet] { quiet = true; }, "Keep weir's own lines off stderr");
  for (const Subcommand& subcommand : table)
    declare(app, subcommand, quiet, pending);
}

}  // namespace

Result<CommandLine> parse_command_line(const std::vector<std::string>& words,
                                       const std::vector<Subcommand>& table) {
  CommandLine line;
  std::vector<std::string> own;
  split(words, own, line.invocation);
  const auto named = named_subcommand(own, table);
  if (!named) return tl::unexpected(named.error());

  CLI::App app("weir bounds what an MLX process keeps, shows where every byte is, and prices the bound",
               "weir");
  bool version = false;
  Pending pending;
  declare_all(app, table, line.invocation.quiet, version, pending);
  std::vector<std::string> reversed = with_empty_values(own);
  std::reverse(reversed.begin(), reversed.end());
  try {
    app.parse(std::move(reversed));
  } catch (const CLI::ParseError& error) {
    if (error.get_exit_code() != 0) return usage(error, *named, app);
    line.text = *named == nullptr ? app.help() : app.get_subcommand((*named)->name)->help("weir");
    return line;
  }
  if (version) {
    line.text = kVersionText;
    return line;
  }
  if (*named == nullptr)
    return fail(ErrorKind::kUsage, kCommandLine, "no subcommand given (see weir --help)");
  if (auto set = settle(pending); !set) return tl::unexpected(std::move(set.error()));
  if (line.invocation.command && !(*named)->takes_command) {
    return fail(ErrorKind::kUsage, "weir " + (*named)->name, "takes no command after --");
  }
  line.subcommand = *named;
  return line;
}

}  // namespace weir::cli
