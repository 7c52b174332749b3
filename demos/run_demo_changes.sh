#!/usr/bin/env bash
# Finds the change in a release of click that broke a test. Called by `make demo-changes`; needs replay-dd on the PATH,
# and the package index.
#
#     demos/run_demo_changes.sh [FOLDER]     the results go to FOLDER, which is emptied first (default: build/demo-changes)
set -euo pipefail
# shellcheck source=demos/steps.sh
source "$(dirname "${BASH_SOURCE[0]}")/steps.sh"

demo=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)/changes
results=${1:-build/demo-changes}
rm -rf "$results"
mkdir -p "$results"
results=$(cd "$results" && pwd)
cd "$demo"

printf '# A test passes with click 8.2.1 and fails with 8.3.0. Which change is to blame?\n'
run 0 replay-dd changes pip:click==8.2.1 pip:click==8.3.0 -o "$results/failing.patch" -- python test_flag.py

if ! grep -q '^-.*def get_default' "$results/failing.patch"; then
  printf 'The demo stops: the change found is not in get_default.\n' >&2
  exit 1
fi
