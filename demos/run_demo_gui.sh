#!/usr/bin/env bash
# Crashes a real program, xsok from Debian, with random input, and isolates the few actions that it needs.
# Called by `make demo-gui`; needs replay-dd on the PATH, with the extra `gui`.
#
#     demos/run_demo_gui.sh [FOLDER]     the results go to FOLDER, which is emptied first (default: build/demo-gui)
set -euo pipefail
# shellcheck source=demos/steps.sh
source "$(dirname "${BASH_SOURCE[0]}")/steps.sh"

results=${1:-build/demo-gui}
PATH="$PATH:/usr/games"

missing=()
for need in Xvfb:xvfb openbox:openbox xsok:xsok; do
  command -v "${need%%:*}" >/dev/null || missing+=("${need##*:}")
done
if [ ${#missing[@]} -gt 0 ]; then
  if [ "$(id -u)" -eq 0 ] && command -v apt-get >/dev/null; then
    printf 'Installing %s\n' "${missing[*]}"
    export DEBIAN_FRONTEND=noninteractive
    apt-get install -y -qq --no-install-recommends "${missing[@]}" >/dev/null 2>&1 ||
      { apt-get update -qq && apt-get install -y -qq --no-install-recommends "${missing[@]}" >/dev/null; }
  else
    printf 'The demo needs these packages of Debian: %s\n' "${missing[*]}" >&2
    printf 'Install them first: apt install %s\n' "${missing[*]}" >&2
    exit 1
  fi
fi

rm -rf "$results"
mkdir -p "$results"
cd "$results"

printf '=== A game that crashes: xsok 1.02 from Debian ===\n'

say 'Send random input to the game, on a private display, until it crashes:'
run 0 replay-dd monkey -o session.log --seed 101 --actions 300 -- xsok

say 'Which of these actions does the crash need? Each test is a fresh game on a fresh display:'
run 0 replay-dd events session.log -o minimal.log --strip minimal.html

say 'The same crash again, from the minimal session (status 1: it failed as recorded):'
run 1 replay-dd replay minimal.log

printf '\nThe film strip, with scripts for a bug report, is %s/minimal.html\n' "$PWD"
