#include "cli/completion.h"

#include <memory>

#include <fmt/format.h>

#include "limits/size.h"

namespace weir::cli {
namespace {

/// A flag's spellings: "-n,--tokens" is {"-n", "--tokens"}.
std::vector<std::string> spellings(const Flag& flag) {
  const auto comma = flag.name.find(',');
  if (comma == std::string::npos) return {flag.name};
  return {flag.name.substr(0, comma), flag.name.substr(comma + 1)};
}

/// The subcommand's flags, and those that every subcommand has.
std::vector<Flag> all_flags(const Subcommand& subcommand) {
  std::vector<Flag> flags = subcommand.flags;
  flags.push_back({"--quiet", "", "Keep weir's own lines off stderr", static_cast<bool*>(nullptr)});
  flags.push_back({"--help", "", "Print this subcommand's help", static_cast<bool*>(nullptr)});
  return flags;
}

std::string flag_words(const Subcommand& subcommand) {
  std::string words;
  for (const Flag& flag : all_flags(subcommand)) {
    for (const std::string& name : spellings(flag))
      words += (words.empty() ? "" : " ") + name;
  }
  return words;
}

std::string joined(const std::vector<std::string>& words) {
  std::string out;
  for (const std::string& word : words)
    out += (out.empty() ? "" : " ") + word;
  return out;
}

std::string choice_words(const Subcommand& subcommand) {
  std::vector<std::string> words;
  for (const Positional& positional : subcommand.positionals)
    words.insert(words.end(), positional.choices.begin(), positional.choices.end());
  return joined(words);
}

/// Lines of a bash case over "SUBCOMMAND FLAG".
std::string value_cases(const Subcommand& subcommand) {
  std::string cases;
  for (const Flag& flag : subcommand.flags) {
    if (flag.choices.empty()) continue;
    for (const std::string& name : spellings(flag))
      cases += fmt::format("    '{} {}') values='{}' ;;\n", subcommand.name, name, joined(flag.choices));
  }
  return cases;
}

std::string bash_script(const std::vector<Subcommand>& table) {
  std::string names;
  std::string cases;
  std::string values;
  for (const Subcommand& subcommand : table) {
    if (subcommand.hidden) continue;
    values += value_cases(subcommand);
    names += (names.empty() ? "" : "|") + subcommand.name;
    cases += fmt::format("    {}) flags='{}' choices='{}' ;;\n", subcommand.name, flag_words(subcommand),
                         choice_words(subcommand));
  }
  std::string list = names;
  for (char& c : list) {
    if (c == '|') c = ' ';
  }
  return fmt::format(R"(# Completion of weir for bash: source <(weir completion bash)
_weir() {{
  local current=${{COMP_WORDS[COMP_CWORD]}} flag=${{COMP_WORDS[COMP_CWORD - 1]}} name= flags= choices= values= i
  COMPREPLY=()
  for ((i = 1; i < COMP_CWORD; i++)); do
    case ${{COMP_WORDS[i]}} in
    --) compopt -o default; return ;;
    {names}) [[ -n $name ]] || name=${{COMP_WORDS[i]}} ;;
    esac
  done
  case $name in
    '') flags='--help --version --quiet' choices='{list}' ;;
{cases}  esac
  [[ $flag == = ]] && flag=${{COMP_WORDS[COMP_CWORD - 2]}}
  [[ $current == = ]] && current=
  case "$name $flag" in
{values}    *) ;;
  esac
  if [[ -n $values ]]; then
    COMPREPLY=($(compgen -W "$values" -- "$current"))
  elif [[ $current == -* ]]; then
    COMPREPLY=($(compgen -W "$flags" -- "$current"))
  else
    COMPREPLY=($(compgen -W "$choices" -- "$current"))
    [[ -z $name ]] || compopt -o default
  fi
}}
complete -F _weir weir
)",
                     fmt::arg("names", names), fmt::arg("list", list), fmt::arg("cases", cases),
                     fmt::arg("values", values));
}

/// For a text inside single quotes in which `special` characters need a backslash.
std::string quoted(const std::string& text, std::string_view special, std::string_view quote) {
  std::string out;
  for (const char c : text) {
    if (c == '\'') {
      out += quote;
      continue;
    }
    if (special.find(c) != std::string_view::npos) out += '\\';
    out += c;
  }
  return out;
}

std::string zsh_text(const std::string& text) {
  return quoted(text, "[]:\\", "'\\''");
}
std::string fish_text(const std::string& text) {
  return quoted(text, "\\", "\\'");
}

/// Each positional up to the last one with choices, at its place.
std::string zsh_words(const Subcommand& subcommand) {
  std::string words, passed;
  for (std::size_t i = 0; i < subcommand.positionals.size(); ++i) {
    const Positional& positional = subcommand.positionals[i];
    const std::string offered = positional.choices.empty() ? " " : "(" + joined(positional.choices) + ")";
    passed += fmt::format("'{}:{}:{}' ", i + 1, zsh_text(positional.name), offered);
    if (!positional.choices.empty()) words = passed;
  }
  return words;
}

std::string zsh_script(const std::vector<Subcommand>& table) {
  std::string commands;
  std::string cases;
  for (const Subcommand& subcommand : table) {
    if (subcommand.hidden) continue;
    commands += fmt::format("    '{}:{}'\n", subcommand.name, zsh_text(subcommand.summary));
    cases += fmt::format("    {}) _arguments", subcommand.name);
    for (const Flag& flag : all_flags(subcommand)) {
      const std::string offered = flag.choices.empty() ? "" : "(" + joined(flag.choices) + ")";
      const std::string value = flag.value.empty() ? "" : ":" + zsh_text(flag.value) + ":" + offered;
      for (const std::string& name : spellings(flag)) {
        cases += fmt::format(" \\\n      '{}[{}]{}'", name, zsh_text(flag.help), value);
      }
    }
    cases += " \\\n      " + zsh_words(subcommand) + "'*:file:_files' ;;\n";
  }
  return fmt::format(R"(#compdef weir
# Completion of weir for zsh: source <(weir completion zsh), or save as _weir in a folder of $fpath
_weir() {{
  local -a commands
  commands=(
{}  )
  if (( CURRENT == 2 )); then
    _describe -t commands 'subcommand' commands
    return
  fi
  local name=$words[2]
  shift words
  (( CURRENT-- ))
  case $name in
{}  esac
}}
if [ "$funcstack[1]" = "_weir" ]; then _weir "$@"; else compdef _weir weir; fi
)",
                     commands, cases);
}

std::string fish_script(const std::vector<Subcommand>& table) {
  std::string out = "# Completion of weir for fish: weir completion fish | source\n";
  for (const Subcommand& subcommand : table) {
    if (subcommand.hidden) continue;
    out += fmt::format("complete -c weir -n __fish_use_subcommand -f -a {} -d '{}'\n", subcommand.name,
                       fish_text(subcommand.summary));
    const std::string seen = "__fish_seen_subcommand_from " + subcommand.name;
    if (const std::string choices = choice_words(subcommand); !choices.empty()) {
      out += fmt::format("complete -c weir -n '{}' -a '{}'\n", seen, choices);
    }
    for (const Flag& flag : all_flags(subcommand)) {
      out += fmt::format("complete -c weir -n '{}'", seen);
      for (const std::string& name : spellings(flag)) {
        out += name.rfind("--", 0) == 0 ? " -l " + name.substr(2) : " -s " + name.substr(1);
      }
      const std::string offered = flag.choices.empty() ? "" : " -a '" + joined(flag.choices) + "'";
      out += fmt::format("{}{} -d '{}'\n", flag.value.empty() ? "" : " -x", offered, fish_text(flag.help));
    }
  }
  return out;
}

}  // namespace

Result<std::string> completion_script(std::string_view shell, const std::vector<Subcommand>& table) {
  if (shell == "bash") return bash_script(table);
  if (shell == "zsh") return zsh_script(table);
  if (shell == "fish") return fish_script(table);
  return fail(ErrorKind::kUsage, "weir completion",
              "no completion for the shell " + limits::shown(shell) + "; write bash, zsh or fish");
}

Subcommand completion_subcommand(std::function<std::vector<Subcommand>()> table) {
  const auto shell = std::make_shared<std::optional<std::string>>();
  Subcommand subcommand;
  subcommand.name = "completion";
  subcommand.summary = "Print a completion script for bash, zsh or fish";
  subcommand.example = "  source <(weir completion bash)";
  subcommand.positionals = {{"SHELL", "bash, zsh or fish", shell.get(), true, {"bash", "zsh", "fish"}}};
  subcommand.run = [shell, table = std::move(table)](const Invocation&) -> Result<int> {
    const auto script = completion_script(shell->value_or(""), table());
    if (!script) return tl::unexpected(script.error());
    print_result(*script);
    return 0;
  };
  return subcommand;
}

}  // namespace weir::cli
