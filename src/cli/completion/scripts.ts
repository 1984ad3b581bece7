/**
 * The completion scripts for bash, zsh and fish. Each only hands the words of the line to
 * `turnpike complete-words` and shows what it prints, so a script stays right when commands change.
 */

export const shells = ['bash', 'zsh', 'fish'] as const
export type Shell = (typeof shells)[number]

/** Printed in place of candidates where the shell is to complete paths. */
export const filesMark = ':files'

const bash = String.raw`# Completion of turnpike for bash. Use it now: source <(turnpike completion bash)
_turnpike() {
  local program="\${1/#\~/$HOME}" current="\${COMP_WORDS[COMP_CWORD]}" word value words=()
  for word in "\${COMP_WORDS[@]:1:COMP_CWORD}"; do
    word="\${word//\\/}" word="\${word#[\"\']}"
    words+=("\${word%[\"\']}")
  done
  COMPREPLY=()
  while IFS=$'\t' read -r value _; do
    if [[ $value == '${filesMark}' ]]; then
      compopt -o filenames 2>/dev/null
      while IFS= read -r value; do COMPREPLY+=("$value"); done < <(compgen -f -- "$current")
    elif [[ $current == [\"\']* ]]; then
      COMPREPLY+=("$value")
    else
      COMPREPLY+=("$(printf %q "$value")")
    fi
  done < <("$program" complete-words -- "\${words[@]}" 2>/dev/null)
}
complete -F _turnpike turnpike
`

const zsh = String.raw`#compdef turnpike
# Completion of turnpike for zsh. Use it now: source <(turnpike completion zsh)
_turnpike() {
  local line
  local -a found=("\${(@f)$("\${(Q)words[1]}" complete-words -- "\${(@Q)words[2,CURRENT]}" 2>/dev/null)}")
  local -a candidates=()
  for line in "\${found[@]}"; do
    if [[ $line == '${filesMark}' ]]; then
      _files
      return
    fi
    [[ -n $line ]] && candidates+=("\${\${line%%$'\t'*}//:/\\:}:\${line#*$'\t'}")
  done
  _describe turnpike candidates
}
if [[ $funcstack[1] == _turnpike ]]; then
  _turnpike "$@"
else
  (( $+functions[compdef] )) || { autoload -Uz compinit && compinit; }
  compdef _turnpike turnpike
fi
`

const fish = String.raw`# Completion of turnpike for fish. Use it now: turnpike completion fish | source
function __turnpike_complete
  set -l words (commandline --tokenize --cut-at-cursor --current-process)
  set -l current (commandline --current-token --cut-at-cursor)
  set -l found ($words[1] complete-words -- $words[2..-1] "$current" 2>/dev/null)
  if test "$found" = '${filesMark}'
    __fish_complete_path "$current"
  else
    printf '%s\n' $found
  end
end
complete --command turnpike --no-files --arguments '(__turnpike_complete)'
`

/** The scripts, with the backslash before each brace of the shell removed. */
export const scripts: Readonly<Record<Shell, string>> = {
  bash: bash.replaceAll('\\${', '${'),
  zsh: zsh.replaceAll('\\${', '${'),
  fish,
}
