# shellcheck shell=bash
# What the demos have in common; sourced by run_demo*.sh.

say() { # say TEXT: announce the next step
  printf '\n# %s\n' "$1"
}

run() { # run STATUS COMMAND...: show a command, run it, and check its exit status
  local expected=$1 status=0
  shift
  printf '$ %s\n' "$*"
  "$@" || status=$?
  if [ "$status" -ne "$expected" ]; then
    printf 'The demo stops: exit status %s, expected %s.\n' "$status" "$expected" >&2
    exit 1
  fi
}
