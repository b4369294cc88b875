// SPDX-License-Identifier: Apache-2.0
#include "cli/verbs/completion.h"

#include <fmt/format.h>

#include <string>
#include <string_view>

#include "cli/options/options.h"
#include "cli/terminal/output.h"

namespace clrscope::cli {
namespace {

// The scripts hold the verbs. Options and their words are asked of the program itself
// (VerbOptions::kListOptions), as are processes (`clrscope ps`). "@VERBS@" is a line for each verb,
// "NAME:SUMMARY".

constexpr std::string_view kBash =
    R"script(# clrscope's completion for bash: eval "$(clrscope completion bash)"
_clrscope_processes() {  # $1: what is typed; pids with their names, or names
  local pid name rest found=()
  while read -r pid name rest; do
    [[ $pid == PID ]] && continue
    if [[ $2 == names ]]; then
      [[ $name == "$1"* ]] && found+=("$name")
    elif [[ $pid == "$1"* ]]; then
      found+=("$pid  ($name)")
    fi
  done < <("${COMP_WORDS[0]}" ps --color never 2>/dev/null)
  # Words are shown beside a pid while there are several, and never become part of the line.
  ((${#found[@]} == 1)) && found=("${found[0]%%  (*}")
  COMPREPLY=("${found[@]}")
}
_clrscope() {
  local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD-1]} verb=${COMP_WORDS[1]}
  local line names value words place='' choices='' options='' i
  COMPREPLY=()
  if ((COMP_CWORD == 1)); then
    COMPREPLY=($(compgen -W "@NAMES@ --help --version" -- "$cur"))
    return
  fi
  for ((i = 2; i < COMP_CWORD; i++)); do  # what follows -- is a command of its own
    if [[ ${COMP_WORDS[i]} == -- ]]; then
      ((COMP_CWORD == i + 1)) && COMPREPLY=($(compgen -c -- "$cur"))
      return
    fi
  done
  while IFS= read -r line; do  # names, value, words; the first may be empty
    names=${line%%$'\t'*} line=${line#*$'\t'}
    value=${line%%$'\t'*} words=${line#*$'\t'}
    if [[ -z $names ]]; then
      place=$value choices=$words
      continue
    fi
    options+=" $names"
    [[ -n $value && " $names " == *" $prev "* ]] || continue
    case $value in
      PID) _clrscope_processes "$cur" ;;
      NAME|'NAME|PID') _clrscope_processes "$cur" names ;;
      DIR) compopt -o filenames; mapfile -t COMPREPLY < <(compgen -d -- "$cur") ;;
      FILE) compopt -o filenames; mapfile -t COMPREPLY < <(compgen -f -- "$cur") ;;
      *) COMPREPLY=($(compgen -W "$words" -- "$cur")) ;;
    esac
    return
  done < <("${COMP_WORDS[0]}" "$verb" --list-options 2>/dev/null)
  if [[ $cur == -* ]]; then
    COMPREPLY=($(compgen -W "$options" -- "$cur"))
  elif [[ $place == *PID* ]]; then
    _clrscope_processes "$cur"
  elif [[ -n $choices ]]; then
    COMPREPLY=($(compgen -W "$choices" -- "$cur"))
  elif [[ -n $place ]]; then
    compopt -o filenames
    mapfile -t COMPREPLY < <(compgen -f -- "$cur")
  fi
}
complete -F _clrscope clrscope
)script";

constexpr std::string_view kZsh = R"script(#compdef clrscope
# clrscope's completion for zsh: eval "$(clrscope completion zsh)"
_clrscope_processes() {  # $1: pids or names
  local -a found
  local pid name rest
  while read -r pid name rest; do
    [[ $pid == PID ]] && continue
    [[ $1 == names ]] && found+=("$name") || found+=("$pid:$name")
  done < <(${words[1]} ps --color never 2>/dev/null)
  _describe -t processes 'process' found
}
_clrscope() {
  local -a verbs options
  local line names value choices place='' place_choices='' verb=${words[2]} prev=${words[CURRENT-1]} i
  if ((CURRENT == 2)); then
    verbs=(
@VERBS@
    )
    _describe -t verbs 'verb' verbs
    return
  fi
  for ((i = 3; i < CURRENT; i++)); do  # what follows -- is a command of its own
    if [[ ${words[i]} == -- ]]; then
      ((CURRENT == i + 1)) && _command_names -e || _files
      return
    fi
  done
  while IFS= read -r line; do
    names=${line%%$'\t'*} line=${line#*$'\t'}
    value=${line%%$'\t'*} choices=${line#*$'\t'}
    if [[ -z $names ]]; then
      place=$value place_choices=$choices
      continue
    fi
    options+=(${=names})
    [[ -n $value && " $names " == *" $prev "* ]] || continue
    case $value in
      PID) _clrscope_processes pids ;;
      NAME|NAME\|PID) _clrscope_processes names ;;
      DIR) _files -/ ;;
      FILE) _files ;;
      *) [[ -n $choices ]] && compadd -- ${=choices} ;;
    esac
    return
  done < <(${words[1]} $verb --list-options 2>/dev/null)
  if [[ ${words[CURRENT]} == -* ]]; then
    compadd -- $options
  elif [[ $place == *PID* ]]; then
    _clrscope_processes pids
  elif [[ -n $place_choices ]]; then
    compadd -- ${=place_choices}
  elif [[ -n $place ]]; then
    _files
  fi
}
if [[ $funcstack[1] == _clrscope ]]; then _clrscope "$@"; else compdef _clrscope clrscope; fi
)script";

constexpr std::string_view kFish =
    R"script(# clrscope's completion for fish: clrscope completion fish | source
function __clrscope_processes  # pids with their names, or names
    for line in (clrscope ps --color never 2>/dev/null | tail -n +2)
        set -l fields (string split -n ' ' -- $line)
        if test "$argv[1]" = names
            echo $fields[2]
        else
            printf '%s\t%s\n' $fields[1] $fields[2]
        end
    end
end
function __clrscope_complete
    set -l typed (commandline -opc)
    set -l cur (commandline -ct)
    set -l verb $typed[2]
    if contains -- -- $typed
        return
    end
    set -l place
    set -l choices
    for line in (clrscope $verb --list-options 2>/dev/null)
        set -l fields (string split \t -- $line)
        if test -z "$fields[1]"
            set place $fields[2]
            set choices (string split -n ' ' -- $fields[3])
            continue
        end
        set -l names (string split ' ' -- $fields[1])
        if test -n "$fields[2]"; and contains -- $typed[-1] $names
            switch $fields[2]
                case PID
                    __clrscope_processes
                case NAME 'NAME|PID'
                    __clrscope_processes names
                case DIR
                    __fish_complete_directories $cur
                case FILE
                    __fish_complete_path $cur
                case '*'
                    string split -n ' ' -- $fields[3]
            end
            return
        end
        if string match -q -- '-*' $cur
            printf '%s\n' $names
        end
    end
    if string match -q -- '-*' $cur
        return
    end
    if string match -q '*PID*' -- "$place"
        __clrscope_processes
    else if test -n "$choices"
        printf '%s\n' $choices
    else if test -n "$place"
        __fish_complete_path $cur
    end
end
complete -c clrscope -f
@VERBS@
complete -c clrscope -n 'not __fish_use_subcommand' -a '(__clrscope_complete)'
)script";

std::string Replace(std::string text, std::string_view mark, std::string_view with) {
  const size_t at = text.find(mark);
  return at == std::string::npos ? text : text.replace(at, mark.size(), with);
}

std::string Script(std::string_view shell) {
  std::string names, lines;
  for (const Verb& verb : Verbs()) {
    names += fmt::format("{}{}", names.empty() ? "" : " ", verb.name);
    lines += shell == "zsh"
                 ? fmt::format("      '{}:{}'\n", verb.name, verb.summary)
                 : fmt::format("complete -c clrscope -n __fish_use_subcommand -a {} -d '{}'\n",
                               verb.name, verb.summary);
  }
  if (!lines.empty()) lines.pop_back();
  if (shell == "bash") return Replace(std::string(kBash), "@NAMES@", names);
  return Replace(std::string(shell == "zsh" ? kZsh : kFish), "@VERBS@", lines);
}

}  // namespace

int RunCompletion(const Args& args) {
  std::string shell;
  VerbOptions verb("completion", "SHELL",
                   "Prints a script that completes clrscope's command lines: verbs, options, their "
                   "values, and running .NET processes.",
                   "  eval \"$(clrscope completion bash)\"           in ~/.bashrc\n"
                   "  eval \"$(clrscope completion zsh)\"            in ~/.zshrc, after compinit\n"
                   "  clrscope completion fish > ~/.config/fish/completions/clrscope.fish\n");
  verb.Add("shell", shell, "bash, zsh or fish")
      .Value("SHELL")
      .OneOf({"bash", "zsh", "fish"})
      .Required();
  if (const auto code = verb.Parse(args)) return *code;
  Output out;
  out.Write(Script(shell));
  return kExitOk;
}

}  // namespace clrscope::cli
