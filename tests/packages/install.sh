#!/bin/sh
# cmake --install into a folder of its own, and the completions that it brings, tried.
. "$(dirname "$0")/common.sh"
prefix=$work/prefix.$$
trap 'rm -rf "$prefix"' EXIT
cmake --install "$build" --prefix "$prefix" >"$work/install.log" 2>&1 ||
  { cat "$work/install.log"; fail "cmake --install"; }
(cd "$prefix" && find . -type f) | check_contents LICENSE ""
"$prefix/bin/memtrace" --version >/dev/null || fail "the installed program does not run"

PATH=$prefix/bin:$PATH
# What bash offers for the words given, with the cursor behind the last one.
complete_in_bash() {
  bash -c '. "$0"; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _memtrace
    printf "%s\n" "${COMPREPLY[@]}"' "$prefix/share/bash-completion/completions/memtrace" "$@"
}

expect() {
  [ "$2" = "$1" ] || fail "completion of '$3': '$2', not '$1'"
}

command -v bash >/dev/null || skip "bash is not installed: its completions are not tried"
expect "record report reclaim" "$(complete_in_bash memtrace re | tr '\n' ' ' | sed 's/ $//')" "memtrace re"
expect kmalloc-top "$(complete_in_bash memtrace kmalloc- )" "memtrace kmalloc-"
expect "" "$(complete_in_bash memtrace sudo)" "memtrace sudo"
expect --dry-run "$(complete_in_bash memtrace record --dry)" "memtrace record --dry"
expect hfaults "$(complete_in_bash memtrace record --for hf)" "memtrace record --for hf"
expect oom "$(complete_in_bash memtrace report oo)" "memtrace report oo"

if ! command -v zsh >/dev/null; then
  echo "zsh is not installed: its completions are not tried"
  exit 0
fi
# Without its line editor zsh offers nothing: compadd is replaced by one that prints what it gets.
complete_in_zsh() {
  zsh -fc 'compadd() { shift; print -l -- "$@" }
    _files() { }
    file=$1; shift; words=("$@"); CURRENT=$#; PREFIX=${words[-1]}; . $file' zsh \
    "$prefix/share/zsh/site-functions/_memtrace" "$@"
}
complete_in_zsh memtrace '' | grep -qx record || fail "zsh: no record"
complete_in_zsh memtrace '' | grep -qx sudo && fail "zsh: sudo is no command"
complete_in_zsh memtrace record --d | grep -qx -- --dry-run || fail "zsh: no --dry-run"
complete_in_zsh memtrace report '' | grep -qx leaks || fail "zsh: no leaks"
exit 0
