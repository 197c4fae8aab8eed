#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Many attempts over a few seats: what process proctor itself needs. Prints its largest memory and its CPU
# time an attempt, and beside that the CPU time of its seats and judges. Needs root.
# usage: many.sh BUILD [ATTEMPTS [SEATS]]
set -eu

build=${1:?usage: many.sh BUILD [ATTEMPTS [SEATS]]}
attempts=${2:-200}
seats=${3:-4}
root=$(cd "$(dirname "$0")/../.." && pwd)
folder=$(mktemp -d /tmp/proctor-many-XXXXXX)
chmod 755 "$folder"
trap 'rm -rf "$folder"' EXIT
ticks=$(getconf CLK_TCK)

# At most 100 attempts of one agent: as many agents as it takes, all of the same solution.
cat >"$folder/plan.yaml" <<-EOF
	schema: proctor/run/1
	tasks: [$root/tasks/c2c/row-softmax]
	agents:
	$(for i in $(seq $(((attempts + 99) / 100))); do echo "  - {name: agent-$i, solution: cheat-previous}"; done)
	repeats: $((attempts / ((attempts + 99) / 100)))
	seats: $seats
EOF
began=$(date +%s)
"$build/proctor" run --config "$folder/plan.yaml" --run "$folder/run" >"$folder/out" 2>"$folder/err" &
proctor=$!
# The last look before its end: fields 14 to 17 are its own and its children's time, in ticks.
while look=$(cat "/proc/$proctor/stat" 2>/dev/null) && memory=$(sed -n 's/^VmHWM:[^0-9]*\([0-9]*\) kB/\1/p' "/proc/$proctor/status"); do
	[ -n "$memory" ] || break
	last=$look most=$memory
	sleep 0.05
done
code=0
wait "$proctor" || code=$?
records=$(find "$folder/run" -name record.json | wc -l)
echo "exit code $code, $records records, $seats seats, $(($(date +%s) - began)) s"
echo "$last" | sed 's/.*) //' | awk -v n="$attempts" -v t="$ticks" -v kib="$most" '{
	printf "process proctor: %.1f MiB at most, %.2f ms CPU an attempt\n", kib / 1024, 1000 * ($12 + $13) / t / n
	printf "its children (launcher, seats, judges, keeper, as far as they have ended): %.0f ms CPU an attempt\n", 1000 * ($14 + $15) / t / n
}'
sed -n '/attempts:/,$p' "$folder/out"
[ "$records" -eq "$attempts" ]
