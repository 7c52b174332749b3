#!/usr/bin/env bash
# Finds the guilty thread switch in two real programs. Called by `make demo`; needs replay-dd on the PATH.
#
#     demos/run_demo.sh [FOLDER]     the results go to FOLDER, which is emptied first (default: build/demo)
set -euo pipefail
# shellcheck source=demos/steps.sh
source "$(dirname "${BASH_SOURCE[0]}")/steps.sh"

demos=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
results=${1:-build/demo}
rm -rf "$results"
mkdir -p "$results/htpasswd/work" "$results/socketio"
results=$(cd "$results" && pwd)

printf '=== 1. A password file that loses a user ===\n'
# A separate folder containing only the program: --fresh-copy gives each run a copy of it.
cp "$demos/htpasswd/htpasswd.py" "$results/htpasswd/work"
cd "$results/htpasswd/work"
users=(alice:wonderland bob:builder)

say 'Two updates of a password file, each in its own thread. Normally, all is well:'
run 0 python htpasswd.py -c users.htpasswd --verify "${users[@]}"
rm users.htpasswd

say 'Try other thread schedules until one run passes and one fails, and keep a log of each:'
run 0 replay-dd hunt --fresh-copy -o ../found -- python htpasswd.py -c users.htpasswd --verify "${users[@]}"

say 'The failing run can be replayed as often as you like. It fails, so the status is 1:'
run 1 replay-dd replay ../found/fail.log

say 'What is in the log:'
run 0 replay-dd show ../found/fail.log

say 'Which thread switch makes the difference? Mix the two schedules, run the mixtures, narrow it down:'
run 0 replay-dd schedules ../found/pass.log ../found/fail.log -o ../isolated

printf '\n=== 2. A chat room that loses a client (python-socketio, as users install it) ===\n'
cd "$demos/socketio"

say 'Two clients enter a room at the same time. Normally, all is well (the program prints nothing):'
run 0 python join_room.py

say 'The same two steps. The guilty switch is not in this program, but in the library:'
run 0 replay-dd hunt -o "$results/socketio/found" -- python join_room.py
run 0 replay-dd schedules "$results/socketio/found/pass.log" "$results/socketio/found/fail.log" -o "$results/socketio/isolated"

printf '\nThe logs and the minimal schedules are in %s\n' "$results"
