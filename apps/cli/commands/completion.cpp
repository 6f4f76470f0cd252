// Shell completion for bash, zsh and fish, generated from the command line's definition.

#include "command_tree.hpp"

#include <algorithm>
#include <map>
#include <sstream>

namespace concord::app {
namespace {

std::string shell_quoted(const std::string& text) {
    std::string result = "'";
    for (const char c : text)
        result += c == '\'' ? std::string("'\\''") : std::string(1, c);
    return result + "'";
}

std::vector<std::string> names_of_commands(const CommandInfo& command) {
    std::vector<std::string> names;
    for (const CommandInfo& below : command.commands)
        names.push_back(below.name);
    return names;
}

// The first sentence without what depends on defaults, for menus.
std::string short_description(const std::string& description) {
    return description.substr(0, std::min(description.find(" (default"), description.find("; ")));
}

// --- bash ------------------------------------------------------------------------------------------------------------

std::string kind_word(ValueKind kind) {
    static const std::map<ValueKind, const char*> words = {{ValueKind::files, "files"},
                                                           {ValueKind::folders, "folders"},
                                                           {ValueKind::selectors, "selectors"},
                                                           {ValueKind::words, "words"}};
    const auto it = words.find(kind);
    return it == words.end() ? "text" : it->second;
}

// Values as the bash functions print them: COUNT KIND LIST WORDS...
std::string bash_values(const OptionInfo& option) {
    std::string text =
        std::to_string(option.count) + " " + kind_word(option.kind) + (option.list ? " list" : " single");
    for (const std::string& word : option.words)
        text += " " + word;
    return text;
}

constexpr const char* bash_engine = R"bash(
# Completes the current word. Splits the line at blanks only, because bash also splits it at ':' and '='.
_concord() {
    local line=${COMP_LINE:0:COMP_POINT} path=concord current='' option='' prefix='' word=''
    local strip='' kind='' list='' values=''
    local count=0
    local -a words=() value=()
    COMPREPLY=()
    read -ra words <<<"$line"
    if [[ $line != *[[:space:]] ]]; then
        current=${words[${#words[@]} - 1]}
        unset "words[${#words[@]} - 1]"
    fi
    while ((${#words[@]} > 1)) && [[ ${words[0]} == *=* ]]; do words=("${words[@]:1}"); done
    for word in "${words[@]:1}"; do
        if ((count > 0)); then
            ((--count))
        elif [[ $word == -*=* ]]; then
            continue
        elif [[ $word == -* ]]; then
            option=$word
            read -ra value <<<"$(_concord_option "$path" "$option")"
            count=${value[0]:-0}
        elif [[ " $(_concord_commands "$path") " == *" $word "* ]]; then
            path+=" $word"
        fi
    done
    if ((count == 0)) && [[ $current == --*=* ]]; then
        option=${current%%=*}
        [[ $COMP_WORDBREAKS == *=* ]] || prefix="$option="
        current=${current#*=}
        count=1
    fi
    if ((count > 0)); then
        read -ra value <<<"$(_concord_option "$path" "$option")"
    elif [[ $current == -* ]]; then
        COMPREPLY=($(compgen -W "$(_concord_options "$path")" -- "$current"))
        return
    else
        read -ra value <<<"0 words single $(_concord_commands "$path")"
        ((${#value[@]} > 3)) || read -ra value <<<"$(_concord_argument "$path")"
    fi
    kind=${value[1]} list=${value[2]}
    if [[ $list == list && $current == *,* ]]; then
        prefix+=${current%,*},
        current=${current##*,}
    fi
    case $kind in
        files | folders)
            [[ $kind == files ]] && values=-f || values=-d
            compopt -o filenames 2>/dev/null
            mapfile -t COMPREPLY < <(compgen $values -- "$current")
            ;;
        selectors)
            COMPREPLY=($(compgen -W "$("${words[0]/#\~/$HOME}" completion selectors 2>/dev/null)" -- "$current"))
            ;;
        words) COMPREPLY=($(compgen -W "${value[*]:3}" -- "$current")) ;;
    esac
    COMPREPLY=("${COMPREPLY[@]/#/$prefix}")
    # Bash replaces only what follows the last ':' of the word.
    if [[ $COMP_WORDBREAKS == *:* && $prefix$current == *:* ]]; then
        strip=$prefix$current
        strip=${strip%"${strip##*:}"}
        COMPREPLY=("${COMPREPLY[@]#"$strip"}")
    fi
}
complete -F _concord concord
)bash";

}  // namespace

std::string bash_completion(const CommandInfo& program) {
    std::ostringstream commands, options, values, arguments;
    each_command(program, [&](const CommandInfo& command) {
        const std::string path = shell_quoted(command.path);
        if (!command.commands.empty())
            commands << "        " << path << ") echo "
                     << shell_quoted(joined(names_of_commands(command), " ")) << " ;;\n";
        std::vector<std::string> names;
        for (const OptionInfo& option : command.options) {
            names.insert(names.end(), option.names.begin(), option.names.end());
            if (option.count == 0) continue;
            for (std::size_t i = 0; i < option.names.size(); ++i)
                values << (i == 0 ? "        " : " | ") << shell_quoted(command.path + " " + option.names[i]);
            values << ") echo " << shell_quoted(bash_values(option)) << " ;;\n";
        }
        options << "        " << path << ") echo " << shell_quoted(joined(names, " ")) << " ;;\n";
        for (const OptionInfo& argument : command.arguments)
            arguments << "        " << path << ") echo " << shell_quoted(bash_values(argument)) << " ;;\n";
    });
    return "# bash completion for concord. Generated by `concord completion bash`.\n"
           "# shellcheck disable=SC2207,SC2086\n\n"
           "# _concord_commands PATH: the subcommands of a command.\n"
           "_concord_commands() {\n    case $1 in\n" +
           commands.str() +
           "    esac\n}\n\n# _concord_options PATH: the options of a command.\n"
           "_concord_options() {\n    case $1 in\n" +
           options.str() +
           "    esac\n}\n\n# _concord_option PATH OPTION: number and kind of its values, \"list\" or "
           "\"single\", words.\n"
           "_concord_option() {\n    case \"$1 $2\" in\n" +
           values.str() +
           "    esac\n}\n\n# _concord_argument PATH: the same for the command's arguments.\n"
           "_concord_argument() {\n    case $1 in\n" +
           arguments.str() + "    esac\n}\n" + bash_engine;
}

// --- zsh -------------------------------------------------------------------------------------------------------------

namespace {

// Text within an _arguments specification.
std::string zsh_text(const std::string& text) {
    std::string result;
    for (const char c : text) {
        if (c == '[' || c == ']' || c == ':' || c == '\\') result += '\\';
        result += c;
    }
    return result;
}

std::string zsh_action(const OptionInfo& option) {
    switch (option.kind) {
        case ValueKind::files:
            return "_files";
        case ValueKind::folders:
            return "_files -/";
        case ValueKind::selectors:
            return "_concord_selectors";
        case ValueKind::words:
            return option.list ? "_sequence compadd - " + joined(option.words, " ")
                               : "(" + joined(option.words, " ") + ")";
        default:
            return " ";
    }
}

std::string zsh_name(const CommandInfo& command) {
    std::string name = "_" + command.path;
    std::replace(name.begin(), name.end(), ' ', '_');
    return name;
}

std::string zsh_option(const OptionInfo& option) {
    const std::string text = "[" + zsh_text(short_description(option.description)) + "]";
    std::string value;
    for (int i = 0; i < option.count; ++i)
        value += ":" + zsh_text(option.value) + ":" + zsh_action(option);
    std::string spec;
    for (const std::string& name : option.names) {
        std::string one = option.repeats || option.list ? "*" : "(" + joined(option.names, " ") + ")";
        one += name;
        one += text;
        one += value;
        spec += " \\\n        ";
        spec += app::shell_quoted(one);
    }
    return spec;
}

void zsh_function(std::ostream& out, const CommandInfo& command) {
    for (const CommandInfo& below : command.commands)
        zsh_function(out, below);
    out << zsh_name(command) << "() {\n";
    if (command.commands.empty()) {
        out << "    _arguments -S";
        for (const OptionInfo& option : command.options)
            out << zsh_option(option);
        for (const OptionInfo& argument : command.arguments)
            out << " \\\n        "
                << shell_quoted((argument.repeats ? "*:" : "::") + zsh_text(argument.value) + ":" +
                                zsh_action(argument));
        out << "\n}\n\n";
        return;
    }
    out << "    local line state\n    _arguments -S -C";
    for (const OptionInfo& option : command.options)
        out << zsh_option(option);
    out << " \\\n        '1: :->command' \\\n        '*:: :->rest'\n    case $state in\n        command)\n"
        << "            local -a commands=(\n";
    for (const CommandInfo& below : command.commands)
        out << "                " << shell_quoted(below.name + ":" + below.text.summary) << '\n';
    out << "            )\n            _describe command commands\n            ;;\n        rest)\n"
        << "            case $line[1] in\n";
    for (const CommandInfo& below : command.commands)
        out << "                " << below.name << ") " << zsh_name(below) << " ;;\n";
    out << "            esac\n            ;;\n    esac\n}\n\n";
}

}  // namespace

std::string zsh_completion(const CommandInfo& program) {
    std::ostringstream out;
    out << "#compdef concord\n# zsh completion for concord. Generated by `concord completion zsh`.\n\n"
           "_concord_selectors() {\n"
           "    local -a selectors=(${(f)\"$(_call_program selectors concord completion selectors "
           "2>/dev/null)\"})\n"
           "    _sequence compadd - $selectors\n}\n\n";
    zsh_function(out, program);
    out << "_concord \"$@\"\n";
    return out.str();
}

// --- fish ------------------------------------------------------------------------------------------------------------

namespace {

// Text in single quotes.
std::string fish_text(const std::string& text) {
    std::string result = "'";
    for (const char c : text) {
        if (c == '\'' || c == '\\') result += '\\';
        result += c;
    }
    return result + "'";
}

std::string fish_values(const OptionInfo& option) {
    switch (option.kind) {
        case ValueKind::files:
            return " -rF";
        case ValueKind::folders:
            return " -xa '(__fish_complete_directories)'";
        case ValueKind::selectors:
            return " -xa '(__fish_complete_list , __concord_selectors)'";
        case ValueKind::words:
            return option.list ? " -xa " + fish_text("(__fish_complete_list , 'string split \" \" \"" +
                                                     joined(option.words, " ") + "\"')")
                               : " -xa " + fish_text(joined(option.words, " "));
        case ValueKind::text:
            return " -x";
        default:
            return "";
    }
}

}  // namespace

std::string fish_completion(const CommandInfo& program) {
    std::ostringstream out;
    std::vector<std::string> paths;
    each_command(program, [&](const CommandInfo& command) { paths.push_back(fish_text(command.path)); });
    out << "# fish completion for concord. Generated by `concord completion fish`.\n\n"
           "function __concord_selectors\n    concord completion selectors 2>/dev/null\nend\n\n"
           "# Whether the command line names this command, given as a path.\n"
           "function __concord_at\n    set -l paths "
        << joined(paths, " ")
        << "\n    set -l path concord\n    for word in (commandline -opc)[2..-1]\n"
           "        if contains -- \"$path $word\" $paths\n            set path \"$path $word\"\n        "
           "end\n    end\n"
           "    test \"$path\" = \"$argv\"\nend\n\ncomplete -c concord -f\n";
    each_command(program, [&](const CommandInfo& command) {
        const std::string begin = "complete -c concord -n " + fish_text("__concord_at " + command.path);
        out << '\n';
        for (const CommandInfo& below : command.commands)
            out << begin << " -a " << below.name << " -d " << fish_text(below.text.summary) << '\n';
        for (const OptionInfo& argument : command.arguments) {
            if (argument.kind == ValueKind::words)
                out << begin << " -a " << fish_text(joined(argument.words, " ")) << '\n';
        }
        for (const OptionInfo& option : command.options) {
            out << begin;
            for (const std::string& name : option.names)
                out << (name.rfind("--", 0) == 0 ? " -l " + name.substr(2) : " -s " + name.substr(1));
            out << fish_values(option) << " -d " << fish_text(short_description(option.description)) << '\n';
        }
    });
    return out.str();
}

}  // namespace concord::app
