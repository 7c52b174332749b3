#!/usr/bin/env bash
# Reduces two real inputs that break real programs. Called by `make demo-input`; needs replay-dd on the PATH.
#
#     demos/run_demo_input.sh [FOLDER]     the results go to FOLDER, which is emptied first (default: build/demo-input)
set -euo pipefail
# shellcheck source=demos/steps.sh
source "$(dirname "${BASH_SOURCE[0]}")/steps.sh"

demos=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)/input
results=${1:-build/demo-input}
rm -rf "$results"
mkdir -p "$results"
results=$(cd "$results" && pwd)
cd "$demos"

holds() { # holds FILE PATTERN BYTES: check that a result has the cause in it, and little else
  if ! grep -q -- "$2" "$1" || [ "$(wc -c <"$1")" -gt "$3" ]; then
    printf 'The demo stops: %s does not hold the cause alone.\n' "$1" >&2
    exit 1
  fi
}

printf '=== 1. A file of 274 lines that PyYAML cannot load ===\n'
say 'The traceback does not tell which line is to blame:'
python load.py services.yaml 2>&1 | tail -n 1 || true

say 'Leave out lines and what stands in brackets, then characters, as long as it fails in the same way:'
run 0 replay-dd input services.yaml -o "$results/minimal.yaml" -- python load.py {}
holds "$results/minimal.yaml" '2023-02-29' 40

say 'Which character makes the difference between a file that loads and this one?'
sed 's/2023-02-29/2023-02-28/' services.yaml >"$results/loads.yaml"
run 0 replay-dd input services.yaml --passing "$results/loads.yaml" -o "$results/fails.yaml" -- python load.py {}

if command -v g++ >/dev/null; then
  printf '\n=== 2. A C program that g++ cannot compile yet ===\n'
  say 'It is a valid C program, but the compiler for C++ is "sorry":'
  g++ -x c++ -fsyntax-only automaton.c 2>&1 | grep -m 1 sorry || true

  say 'What of it does that need?'
  run 0 replay-dd input automaton.c -o "$results/minimal.c" --grep 'sorry, unimplemented' -- \
    g++ -x c++ -fsyntax-only {}
  holds "$results/minimal.c" '\[[A-Z]\]=1' 40
fi

printf '\nThe reduced inputs are in %s\n' "$results"
