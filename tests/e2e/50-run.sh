#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# proctor run: from a task and scripts to marks and records.
. "$(dirname "$0")/../lib/e2e.sh"
need_root
task=$e2e_root/tasks/c2c/row-softmax
chmod 755 "$scratch"
record() { cat "$scratch/run/attempts/row-softmax-000$1/record.json"; }

it 'marks an honest solution VALID and FAST and each cheat WRONG'
run -t 120 proctor run --run "$scratch/run" --agent scripted:honest-vector --agent scripted:cheat-previous \
	--agent scripted:cheat-seen-shapes --agent scripted:cheat-late-write "$task"
expect_code 1
record 1 | grep -qE '"seen":\{"kind":"VALID".*"verdict":"FAST".*"unseen":\{"kind":"VALID"' || fail 'the honest one'
record 2 | grep -qE '"seen":\{"kind":"WRONG"' || fail 'the previous output'
record 3 | grep -qE '"seen":\{"kind":"VALID".*"unseen":\{"kind":"WRONG"' || fail 'the seen shapes'
record 4 | grep -qE '"seen":\{"kind":"WRONG"' || fail 'the late write'

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

it 'commits itself to a secret before the first agent starts'
first=$(grep -n '"event":"run.committed"' "$scratch/run/journal.jsonl" | cut -d : -f 1)
agent=$(grep -n '"event":"attempt.begun"' "$scratch/run/journal.jsonl" | head -n 1 | cut -d : -f 1)
check test "$first" -lt "$agent"
record 1 | grep -q '"committed_first":true' || fail 'the record does not say so'

it 'tells nothing of an unseen case but its number'
record 3 | grep -q '"why":"WRONG: candidate, check: an output is wrong; unseen case [0-9]*"' || fail "$(record 3)"

it "leaves the run to the operator's account"
check test "$(stat -c %U "$scratch/run")" = proctor
check test "$(stat -c %U "$scratch/run/journal.jsonl")" = proctor

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
find / -xdev \( -name '*solutions*' -o -name 'task.yaml' -o -name 'journal.jsonl' \) -not -path '/proc/*' -not -path '/usr/*' 2>/dev/null
grep -rl honest-vector /work /tmp /run /etc 2>/dev/null
env
EOF
chmod 755 "$scratch/nosy"
run -t 120 proctor run --run "$scratch/nosy-run" --agent "scripted:$scratch/nosy" "$task"
check_not grep -qE 'solutions|task\.yaml|journal|honest' "$scratch/nosy-run/attempts/row-softmax-0001/agent.stdout"
check grep -q '^PATH=' "$scratch/nosy-run/attempts/row-softmax-0001/agent.stdout"

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
cp -R "$task" "$scratch/slow-task"
sed -i 's/wall: 60s, cache/wall: 3s, cache/' "$scratch/slow-task/task.yaml"
printf '#!/bin/sh\nsed -i "s/^void row_softmax(.*/#include <unistd.h>\\n__attribute__((constructor)) static void slow(void) { sleep(9); }\\n&/" /work/softmax.c\n' >"$scratch/sleepy"
chmod 755 "$scratch/sleepy"
run -t 60 proctor run --run "$scratch/sleepy-run" --agent "scripted:$scratch/sleepy" "$scratch/slow-task"
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

it 'refuses a folder that is there, an agent that is none and a task that is none'
run proctor run --run "$scratch/run" --agent scripted:honest-vector "$task"
expect_code 3
run proctor run --run "$scratch/x1" --agent claude "$task"
expect_code 2
run proctor run --run "$scratch/x2" --agent scripted:honest-vector /nonexistent
expect_code 3
run proctor run --run "$scratch/x3" --agent scripted:no-such-solution "$task"
expect_code 1
