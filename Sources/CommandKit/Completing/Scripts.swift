/// A shell that has a completion script.
public enum Shell: String, CaseIterable, Sendable {
  case bash
  case zsh
  case fish
}

extension Program {
  /// The script that lets a shell complete the commands of this program.
  ///
  /// The script itself knows no commands. It calls `__complete`, whose first output line is the kind of the words that
  /// follow, and then one word a line with its summary after a tab.
  public func completionScript(for shell: Shell) -> String {
    let function = "_" + name.map { $0.isLetter || $0.isNumber ? String($0) : "_" }.joined()
    let script =
      switch shell {
      case .bash: bashScript
      case .zsh: zshScript
      case .fish: fishScript
      }
    return script.split(separator: "@PROGRAM@", omittingEmptySubsequences: false)
      .joined(separator: name)
      .split(separator: "@FUNCTION@", omittingEmptySubsequences: false).joined(separator: function)
  }
}

private let bashScript = #"""
  # Completion of @PROGRAM@ for bash: source it, or put it into /usr/share/bash-completion/completions/@PROGRAM@
  @FUNCTION@() {
    local line="${COMP_LINE:0:COMP_POINT}" kind="" word summary typed cut
    local -a words
    read -ra words <<<"$line"
    [[ "$line" == *[[:space:]] ]] && words+=("")
    typed="${words[-1]}"
    # bash breaks words at = and : and replaces only what is behind the last of them.
    cut=""
    [[ "$typed" == *[=:]* ]] && cut="${typed%"${typed##*[=:]}"}"
    COMPREPLY=()
    while IFS=$'\t' read -r word summary; do
      if [[ -z "$kind" ]]; then kind="$word"; continue; fi
      COMPREPLY+=("${word#"$cut"}")
    done < <("${words[0]}" __complete -- "${words[@]:1}" 2>/dev/null)
    case "$kind" in
      files) compopt -o filenames; mapfile -t COMPREPLY < <(compgen -f -- "$typed") ;;
      folders) compopt -o filenames; mapfile -t COMPREPLY < <(compgen -d -- "$typed") ;;
    esac
    # No space behind "--name=" and the like.
    [[ ${#COMPREPLY[@]} == 1 && "${COMPREPLY[0]}" == *= ]] && compopt -o nospace
    return 0
  }
  complete -F @FUNCTION@ @PROGRAM@

  """#

private let zshScript = #"""
  #compdef @PROGRAM@
  # Completion of @PROGRAM@ for zsh: put it as _@PROGRAM@ into a folder of $fpath, or source it
  @FUNCTION@() {
    local kind="" word summary
    local -a plain described
    while IFS=$'\t' read -r word summary; do
      if [[ -z "$kind" ]]; then kind="$word"; continue; fi
      plain+=("$word")
      described+=("${word//:/\\:}${summary:+:$summary}")
    done < <("${words[1]}" __complete -- "${(@)words[2,CURRENT]}" 2>/dev/null)
    case "$kind" in
      files) _files ;;
      folders) _files -/ ;;
      words) (( ${#plain} )) && _describe '@PROGRAM@' described plain ;;
    esac
  }
  if [[ "${funcstack[1]}" == "@FUNCTION@" ]]; then @FUNCTION@ "$@"; else compdef @FUNCTION@ @PROGRAM@; fi

  """#

private let fishScript = #"""
  # Completion of @PROGRAM@ for fish: source it, or put it into ~/.config/fish/completions/@PROGRAM@.fish
  function @FUNCTION@
    set -l words (commandline -opc) (commandline -ct)
    set -l lines ($words[1] __complete -- $words[2..] 2>/dev/null)
    switch "$lines[1]"
      case files
        __fish_complete_path (commandline -ct)
      case folders
        __fish_complete_directories (commandline -ct)
      case words
        printf '%s\n' $lines[2..]
    end
  end
  complete -c @PROGRAM@ -f -a '(@FUNCTION@)'

  """#
