# Completion for bash. Commands, views and options are those that memtrace itself lists.
_memtrace() {
  local word=${COMP_WORDS[COMP_CWORD]} topic=${COMP_WORDS[1]}
  COMPREPLY=()
  if [ "$COMP_CWORD" -eq 1 ]; then
    mapfile -t COMPREPLY < <(compgen -W "$(memtrace help 2>/dev/null |
      awk '/^(Commands|Views|Known)/ { on = 1; next } /^[^ ]/ { on = 0 } on { print $1 }')" \
      -- "$word")
    return
  fi
  case $word in
    -*)
      mapfile -t COMPREPLY < <(compgen -W "$(memtrace "$topic" --help 2>/dev/null |
        grep -oE -- '^ +(-[a-zA-Z], )?--[a-z][a-z0-9-]*' | grep -oE -- '--[a-z0-9-]+')" -- "$word")
      return
      ;;
  esac
  case $topic:${COMP_WORDS[COMP_CWORD - 1]} in
    report:report | help:help | doctor:doctor | record:--for | watch:--for)
      mapfile -t COMPREPLY < <(compgen -W "$(memtrace help 2>/dev/null |
        awk '/^Views/ { on = 1; next } /^[^ ]/ { on = 0 } on { print $1 }')" -- "$word")
      ;;
    *) mapfile -t COMPREPLY < <(compgen -f -- "$word") ;;
  esac
}
complete -o filenames -F _memtrace memtrace
