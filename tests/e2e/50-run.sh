#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# proctor run: from tasks and scripts to marks and records. About a minute and a half on a quiet
# machine; on one where others keep the CPUs busy, an honest candidate may be AMBG or RESOURCE, and
# tests fail.
# shellcheck disable=SC2016 # scripts are expanded inside of the jail
. "$(dirname "$0")/../lib/e2e.sh"
need_root
task=$e2e_root/tasks/c2c/row-softmax
chmod 755 "$scratch"
record() { cat "$scratch/run/attempts/row-softmax-000$1/record.json"; }

it 'marks an honest solution VALID and FAST and each cheat WRONG'
run -t 120 proctor run --run "$scratch/run" --agent scripted:honest-vector --agent scripted:cheat-previous \
	--agent scripted:cheat-seen-shapes --agent scripted:cheat-late-write "$task"
expect_code 1
cp "$scratch/out" "$scratch/told"
record 1 | grep -qE '"seen":\{"kind":"VALID".*"verdict":"FAST".*"unseen":\{"kind":"VALID"' || fail 'the honest one'
record 2 | grep -qE '"seen":\{"kind":"WRONG"' || fail 'the previous output'
record 3 | grep -qE '"seen":\{"kind":"VALID".*"unseen":\{"kind":"WRONG"' || fail 'the seen shapes'
record 4 | grep -qE '"seen":\{"kind":"WRONG"' || fail 'the late write'

it 'keeps the raw samples, their digest in the record, and that of the record in the journal'
for i in 1 2 3 4; do
	sum=$(sha256sum <"$scratch/run/attempts/row-softmax-000$i/samples.json" | cut -d ' ' -f 1)
	record $i | grep -q "\"samples\":\"$sum\"" || fail "not so for attempt $i"
	sum=$(record $i | sha256sum | cut -d ' ' -f 1)
	grep -q "\"event\":\"attempt.recorded\",.*\"attempt\":$i,\"stopped\":false,\"file\":\"$sum\"" "$scratch/run/journal.jsonl" ||
		fail "not so for the record of attempt $i"
done
check grep -q '"samples":\[\[0,' "$scratch/run/attempts/row-softmax-0001/samples.json"

it 'keeps a journal whose lines chain'
prev=0000000000000000000000000000000000000000000000000000000000000000
while IFS= read -r line; do
	case $line in
	*"\"prev\":\"$prev\""*) ;;
	*) fail "a line does not follow: $line" ;;
	esac
	prev=$(printf %s "$line" | sha256sum | cut -d ' ' -f 1)
done <"$scratch/run/journal.jsonl"
check grep -q '"event":"run.finished"' "$scratch/run/journal.jsonl"

it 'is verified with all its files, and each that was changed is named'
run proctor report --files "$scratch/run"
expect_code 0
cp -R "$scratch/run" "$scratch/changed"
printf x >>"$scratch/changed/attempts/row-softmax-0001/record.json"
chmod -R go+rX "$scratch/changed"
run proctor report --files "$scratch/changed"
expect_code 3
expect_err "run '$scratch/changed': journal line [0-9]*: 'attempts/row-softmax-0001/record.json' is not what the journal has"
run proctor report "$scratch/changed"
expect_code 0

it 'has each state of each attempt in the journal, in order'
for i in 1 2 3 4; do
	states=$(sed -n "s/.*\"event\":\"attempt\.\([a-z]*\)\".*\"attempt\":${i}[,}].*/\1/p" "$scratch/run/journal.jsonl" | grep -v begun | xargs)
	[ "$states" = 'leased agent frozen built judged recorded' ] || fail "attempt $i: $states"
done
check test "$(find "$scratch/run/attempts" -name record.json | wc -l)" -eq 4

it 'commits itself to a secret before the first agent starts'
first=$(grep -n '"event":"run.committed"' "$scratch/run/journal.jsonl" | cut -d : -f 1)
agent=$(grep -n '"event":"attempt.begun"' "$scratch/run/journal.jsonl" | head -n 1 | cut -d : -f 1)
check test "$first" -lt "$agent"
record 1 | grep -q '"committed_first":true' || fail 'the record does not say so'

it 'marks every solution of every task VALID or WRONG as its NOTE.md says'
for folder in "$e2e_root"/tasks/c2c/*/; do
	name=$(basename "$folder")
	set --
	for solution in "$folder"solutions/*/; do
		set -- "$@" --agent "scripted:$(basename "$solution")"
	done
	run -t 120 proctor run --run "$scratch/run-$name" "$@" "$folder"
	expect_code 1
	for solution in "$folder"solutions/*/; do
		expected=$(sed -n 's/^Expected: seen \([A-Z]*\).*, unseen \([A-Z]*\).*/"seen":{"kind":"\1".*"unseen":{"kind":"\2"/p' "${solution}NOTE.md")
		[ -n "$expected" ] || fail "${solution}NOTE.md expects nothing"
		found=$(grep -l "\"agent\":\"scripted:$(basename "$solution")\".*$expected" "$scratch/run-$name"/attempts/*/record.json)
		[ -n "$found" ] || fail "$name: $(basename "$solution")"
	done
done

it 'tells nothing of an unseen case but its number'
record 3 | grep -q '"why":"WRONG: candidate, check: an output is wrong; unseen case [0-9]*"' || fail "$(record 3)"

it 'says how many unseen cases there are, and how the agents stand, now and later'
record 3 | grep -q '"unseen":{"kind":"WRONG",.*"cases":[1-9]' || fail "$(record 3)"
check grep -qE '^scripted:honest-vector +1 +1 +100 % ' "$scratch/told"
check grep -qE '^scripted:cheat-previous +1 +1 +0 % +20\.0 +0\.10 ' "$scratch/told"
run proctor report --attempts "$scratch/run"
expect_code 0
expect_out '^  row-softmax, scripted:cheat-seen-shapes, try 3 of [^:]*: full seen score [0-9.]*, unseen WRONG \([1-9][0-9]* unseen cases\)$'
# The rows of the attempts are those that the run has shown.
grep '^row-softmax ' "$scratch/told" | sed 's/  */ /g' >"$scratch/rows"
grep '^row-softmax ' "$scratch/out" | sed 's/  */ /g' | cmp -s - "$scratch/rows" || fail 'other rows'

it "leaves the run to the operator's account"
check test "$(stat -c %U "$scratch/run")" = proctor
check test "$(find "$scratch/run" ! -user proctor)" = "$scratch/run/secret"
check test "$(stat -c '%U %a' "$scratch/run/secret")" = 'root 600'
mkdir "$scratch/daemons"
chown daemon "$scratch/daemons"
SUDO_UID=$(id -u daemon)
export SUDO_UID
run -t 60 proctor run --run "$scratch/daemons/sudo-run" --agent scripted:cheat-previous "$task"
unset SUDO_UID
expect_code 1
check test "$(stat -c %U "$scratch/daemons/sudo-run/planned.json")" = daemon
check test -n "$(find "$scratch/daemons/sudo-run" -name record.json)"
check test "$(find "$scratch/daemons/sudo-run" ! -user daemon)" = "$scratch/daemons/sudo-run/secret"

it 'ends with 0 where each attempt is VALID, and says so in JSON'
run -t 120 sh -c '"$0" run --run "$1" --json=5 --agent scripted:honest-vector "$2" 5>"$3"' \
	"$e2e_build/proctor" "$scratch/valid-run" "$task" "$scratch/json"
expect_code 0
expect_out '^row-softmax +scripted:honest-vector +1 +exited +VALID +VALID'
check grep -q '^{"run":".*"attempts":\[{.*}\].*"summary":{.*}}$' "$scratch/json"
check grep -q '"seen":"VALID"' "$scratch/json"

it 'takes a program as an agent, and marks what it leaves when its time is over'
cat >"$scratch/slow" <<'EOF'
#!/bin/sh
echo '/* the same, later */' >>/work/softmax.c
sleep 600
EOF
printf 'schema: 1\nname: short\nagent: { wall: 2s, grace: 100ms }\n' >"$scratch/policy.yaml"
chmod 755 "$scratch/slow"
run -t 120 proctor run --run "$scratch/slow-run" --policy "$scratch/policy.yaml" --agent "scripted:$scratch/slow" "$task"
grep -q '"ending":{"how":"timeout".*"seen":{"kind":"VALID"' "$scratch/slow-run/attempts/row-softmax-0001/record.json" || fail 'not so in the record'

it 'shows the agent no solutions, no other task and no hidden case'
cat >"$scratch/nosy" <<'EOF'
#!/bin/sh
echo "places:"
find / -path /run/task -prune -o \( -name 'solutions' -o -name 'task.yaml' -o -name 'journal.jsonl' -o -name 'evaluate' -o -name '*row-softmax*' \
	-o -name '*.tree' -o -name '*proctor*' \) -not -path '/proc/*' -not -path '/sys/*' -print 2>/dev/null
grep -rl -e 'honest[-]vector' -e 'prime[(]149' /work /tmp /run /etc /dev/shm 2>/dev/null
echo "processes:"
cat /proc/[0-9]*/cmdline | tr '\0' ' '
echo "variables:"
env
EOF
chmod 755 "$scratch/nosy"
run -t 120 proctor run --run "$scratch/nosy-run" --agent "scripted:$scratch/nosy" "$task"
told=$scratch/nosy-run/attempts/row-softmax-0001/agent.stdout
check_not grep -qE 'solutions|task\.yaml|journal|honest|evaluate|row-softmax|\.tree|'"$scratch" "$told"
check_not grep -qE 'SUDO|nosy-run' "$told"
check grep -q '^places:$' "$told"
check grep -q '^PATH=' "$told"
note "$(sed -n '/^places/,/^processes/p' "$told")"

it 'scores a candidate that does not compile 0 and keeps the compiler'\''s words'
printf '#!/bin/sh\necho "this is no C" >/work/softmax.c\n' >"$scratch/broken"
chmod 755 "$scratch/broken"
run -t 60 proctor run --run "$scratch/broken-run" --json --agent "scripted:$scratch/broken" "$task"
expect_code 1
grep -q '"built":false,"build_why":"the build ended with code 1".*"score":0.0' "$scratch/broken-run/attempts/row-softmax-0001/record.json" || fail 'not so in the record'
check grep -q 'error' "$scratch/broken-run/attempts/row-softmax-0001/build.stderr"

it 'takes a library that no worker could hold for one that was not built, which is no failure of ours'
printf '#!/bin/sh\necho "char big[80<<20] = { 1 };" >>/work/softmax.c\n' >"$scratch/big"
chmod 755 "$scratch/big"
run -t 60 proctor run --run "$scratch/big-run" --agent "scripted:$scratch/big" "$task"
expect_code 1
grep -q '"built":false.*"infra":null' "$scratch/big-run/attempts/row-softmax-0001/record.json" || fail 'not so in the record'

it 'takes all of mark.wall for the candidate'\''s doing'
mkdir "$scratch/slow-task"
cp -R "$task" "$scratch/slow-task/row-softmax"
sed -i 's/wall: 60s, cache/wall: 3s, cache/' "$scratch/slow-task/row-softmax/task.yaml"
printf '#!/bin/sh\nsed -i "s/^void row_softmax(.*/#include <unistd.h>\\n__attribute__((constructor)) static void slow(void) { sleep(9); }\\n&/" /work/softmax.c\n' >"$scratch/sleepy"
chmod 755 "$scratch/sleepy"
run -t 60 proctor run --run "$scratch/sleepy-run" --agent "scripted:$scratch/sleepy" "$scratch/slow-task/row-softmax"
grep -q '"seen":{"kind":"RESOURCE".*"infra":null' "$scratch/sleepy-run/attempts/row-softmax-0001/record.json" || fail 'not so in the record'

it 'ignores what the agent does to files that are not editable'
printf '#!/bin/sh\necho x >/work/Makefile; echo y >/work/task.yaml; ln -s /etc/passwd /work/link; mkfifo /work/fifo\n' >"$scratch/messy"
chmod 755 "$scratch/messy"
run -t 60 proctor run --run "$scratch/messy-run" --agent "scripted:$scratch/messy" "$task"
grep -q '"rejected":{"total":2,.*"unused":{"total":[1-9]' "$scratch/messy-run/attempts/row-softmax-0001/record.json" || fail 'not so in the record'

it 'names file, line, key and value of a mistake in a policy or a task'
printf 'schema: 1\nname: bad\nagent: { pids: 9 }\n' >"$scratch/bad.yaml"
run proctor run --run "$scratch/bad-run" --policy "$scratch/bad.yaml" --agent scripted:honest-vector "$task"
expect_code 3
expect_err "bad.yaml:3: key 'pids': '9' is not within"
cp -R "$task" "$scratch/bad-task"
sed -i 's/^kind: c2c/kind: hip2hip/' "$scratch/bad-task/task.yaml"
run proctor run --run "$scratch/bad-run2" --agent scripted:honest-vector "$scratch/bad-task"
expect_code 3
expect_err "task.yaml:4: key 'kind': 'hip2hip'"
sed -i 's/^kind: hip2hip/kind: c2c/' "$scratch/bad-task/task.yaml"
run proctor run --run "$scratch/bad-run2" --agent scripted:honest-vector "$scratch/bad-task"
expect_code 3
expect_err "task '$scratch/bad-task': task.yaml:3: key 'name': 'row-softmax' is not the name of the task's folder, 'bad-task'"
run proctor tasks list "$scratch/bad-task"
expect_code 3
expect_err "task.yaml:3: key 'name': "
run proctor tasks show "$scratch/bad-task"
expect_code 3
expect_err "task.yaml:3: key 'name': "

it 'refuses a folder that is there, an agent that is none and a task that is none'
run proctor run --run "$scratch/run" --agent scripted:honest-vector "$task"
expect_code 3
run proctor run --run "$scratch/x1" --agent claude "$task"
expect_code 2
run proctor run --run "$scratch/x2" --agent scripted:honest-vector /nonexistent
expect_code 3
run proctor run --run "$scratch/x3" --agent scripted:no-such-solution "$task"
expect_code 3
expect_err "task '$task': agent 'scripted:no-such-solution': there is no solution 'no-such-solution'"
run proctor run --run "$scratch/x4" --agent scripted:.. "$task"
expect_code 3
expect_err "'\.\.' is no name of a solution"
run proctor run --run "$scratch/x5" --agent scripted:honest-vector "$task" "$task"
expect_code 3
expect_err "task '$task': a task of this name is given twice"
run proctor run --run "$scratch/x6" --agent "scripted:$scratch" "$task"
expect_code 3
expect_err 'it is no regular file'
check mkfifo "$scratch/fifo"
for policy in "$scratch" "$scratch/fifo" /nonexistent; do
	run -t 10 proctor run --run "$scratch/x7" --policy "$policy" --agent scripted:honest-vector "$task"
	expect_code 3
	expect_err "policy '$policy'"
done
run proctor run --run "$scratch/x8" --attempts 0 --agent scripted:honest-vector "$task"
expect_code 2
run proctor run --run "$scratch/x9" "$task"
expect_code 2

it 'stops in the middle of a marking when it is told to, and marks later what the agent left'
"$e2e_build/proctor" run --run "$scratch/stopped" --attempts 3 --agent scripted:honest-vector "$task" >"$scratch/out" 2>&1 &
client=$!
tries=0
until grep -q '"state":"JUDGED"' "$scratch/stopped/journal.jsonl" 2>/dev/null || [ "$tries" -gt 300 ]; do
	tries=$((tries + 1))
	sleep 0.1
done
kill -TERM "$client"
tries=0
while kill -0 "$client" 2>/dev/null && [ "$tries" -lt 50 ]; do
	tries=$((tries + 1))
	sleep 0.1
done
[ "$tries" -lt 50 ] || fail 'it goes on after five seconds'
wait "$client"
code=$?
expect_code 1
check grep -q '"event":"run.stopped"' "$scratch/stopped/journal.jsonl"
check test "$(find "$scratch/stopped" -name record.json | wc -l)" -eq 0
check grep -q '3 of 3 planned attempts are still to do: 3 have no record yet, 0 ended INFRA' "$scratch/out"
run -t 120 proctor resume "$scratch/stopped"
expect_code 0
check test "$(grep -c '"event":"attempt.begun".*"state":"AGENT"' "$scratch/stopped/journal.jsonl")" -eq 3
check test "$(find "$scratch/stopped" -name record.json | wc -l)" -eq 3
