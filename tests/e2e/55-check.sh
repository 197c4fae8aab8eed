#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# proctor-check in an agent's jail: what an agent is told, and what it is not. Under a minute on a quiet
# machine; on one where others keep the CPUs busy an honest candidate may be AMBG, and tests fail.
# shellcheck disable=SC2016 # scripts are expanded inside of the jail
. "$(dirname "$0")/../lib/e2e.sh"
need_root
task=$e2e_root/tasks/c2c/row-softmax
chmod 755 "$scratch"

# Runs an agent that has the solutions at hand as shell functions: use NAME.
sit() { # NAME SCRIPT
	{
		printf '#!/bin/sh\nuse() {\ncase $1 in\n'
		for solution in "$task"/solutions/*; do
			printf '%s) cat >/work/softmax.c <<"EOF_C"\n' "${solution##*/}"
			cat "$solution/softmax.c"
			printf 'EOF_C\n;;\n'
		done
		printf 'pristine) cp /run/task/workspace/softmax.c /work/softmax.c ;;\nesac\n}\n%s\n' "$2"
	} >"$scratch/$1"
	chmod 755 "$scratch/$1"
	run -t 200 proctor run --run "$scratch/$1-run" --agent "scripted:$scratch/$1" "$task"
	cp "$scratch/$1-run/attempts/row-softmax-0001/agent.stdout" "$scratch/out"
	cp "$scratch/$1-run/attempts/row-softmax-0001/agent.stderr" "$scratch/err"
}
record() { cat "$scratch/$1-run/attempts/row-softmax-0001/record.json"; }

it "shows an agent the judge's verdict on the seen cases before it is marked"
sit honest 'use honest-vector; proctor-check; echo "code $?"; proctor-check --json; echo "code $?"'
expect_out '^code 0$'
expect_out '^VALID, FAST: '
expect_out '^rows=256 cols=128 +VALID +[0-9.]+ +[0-9.]+ +[0-9.]+'
expect_out '"task":"row-softmax","built":true,.*"mark":"VALID".*"verdict":"FAST"'
record honest | grep -q '"seen":{"kind":"VALID".*"verdict":"FAST".*"unseen":{' || fail 'the judge says something else'
note "proctor-check: $(grep '^VALID' "$scratch/out")"
note "judge: $(record honest | grep -o '"speedup":[0-9.]*' | head -n 1)"

it 'says what is wrong, where, and what was wanted'
sit wrong 'use cheat-previous; proctor-check; echo "code $?"
echo "void row_softmax(const float *x, float *y, long rows, long cols) { y[3] = x[0] + rows + cols; }" >/work/softmax.c
proctor-check --quick; echo "code $?"
echo "this is no C" >/work/softmax.c; proctor-check; echo "code $?"; proctor-check --json; echo "code $?"'
[ "$(grep -c '^code 1$' "$scratch/out")" = 2 ] || fail 'not twice 1'
[ "$(grep -c '^code 3$' "$scratch/out")" = 2 ] || fail 'not twice 3'
expect_out "^WRONG: candidate, check: an output is wrong; case 'rows=256 cols=128', call 1, argument 'y', element 0: got [0-9.e-]+, want [0-9.e-]+"
expect_out '^rows=16 cols=4096 +WRONG .*an output was not written'
expect_out '^NOT BUILT: the build ended with code 1$'
expect_out '"built":false,"build_why":"the build ended with code 1"'
expect_err 'error'

it 'finds nothing wrong with what is right on the seen shapes only, which the judge does'
sit seen 'use cheat-seen-shapes; proctor-check --quick; echo "code $?"'
expect_out '^code 0$'
expect_no_out 'FAST|SLOW|SAME'
record seen | grep -q '"seen":{"kind":"VALID".*"unseen":{"kind":"WRONG"' || fail 'the judge did not find it'

it 'takes from the workspace what is editable, and says so'
mkdir "$scratch/with-header"
cp -R "$task" "$scratch/with-header/row-softmax"
printf '#include "extra.h"\n' | cat - "$task/workspace/softmax.c" >"$scratch/with-header/row-softmax/workspace/softmax.c"
echo '#define EXTRA 1' >"$scratch/with-header/row-softmax/workspace/extra.h"
printf '#!/bin/sh\necho "#error changed" >/work/extra.h; touch /work/new\nproctor-check --quick; echo "code $?"\n' >"$scratch/header"
chmod 755 "$scratch/header"
run -t 120 proctor run --run "$scratch/header-run" --agent "scripted:$scratch/header" "$scratch/with-header/row-softmax"
cp "$scratch/header-run/attempts/row-softmax-0001/agent.stdout" "$scratch/out"
expect_out '^without effect, since not editable or no plain file: extra.h$'
expect_out '^code 0$'

it 'finds what the judge will not take: a library too large, a file that only the agent has'
sit more 'cp softmax.c base.txt; { echo "char big[33 << 20] = {1};"; cat base.txt; } >softmax.c; proctor-check --quick; echo "code $?"
{ echo "#include <stdio.h>"; sed "s%^{%{ static FILE *t; if (!t \&\& !(t = fopen(\"/work/base.txt\", \"r\"))) return;%" base.txt; } >softmax.c
proctor-check --quick; echo "code $?"; echo "#include \"/work/base.txt\"" >softmax.c; proctor-check --quick; echo "code $?"'
expect_out "^NOT BUILT: the build's 'softmax.so' is larger than 32 MiB$"
expect_out '^WRONG: candidate, check: an output was not written'
[ "$(grep -c '^code 3$' "$scratch/out")" = 2 ] || fail 'not twice 3'
expect_err '/work/base.txt: Permission denied'

it "tells a library that is too large from one that is missing in the judge's words as well"
sit large '{ echo "char big[33 << 20] = {1};"; cat /run/task/workspace/softmax.c; } >softmax.c'
record large | grep -q "the build's 'softmax.so' is larger than 32 MiB" || fail "$(record large)"

it 'gives an agent the README, the oracle and the task, and no hidden case, solution or secret'
sit nosy 'cat /run/task/README.md; ls -R /run/task; echo "hits:"
grep -rlIE "prime[(]149|range[(]5, 11|range[(]4000|range[(]16000|odd:|honest.vector|cheat-" /work /tmp /run/task /etc /dev/shm /home 2>/dev/null
find / \( -name solutions -o -name "keeper*" -o -name "secret*" -o -name journal.jsonl -o -name planned.json \) \
	-not -path "/proc/*" -not -path "/sys/*" -not -path "/usr/*" 2>/dev/null
echo "end of hits"; proctor-check --task /run/agent; echo "code $?"; proctor-check --fast; echo "code $?"; proctor-check x; echo "code $?"'
expect_out '^# Row softmax$'
expect_out '^oracle.c$'
[ "$(sed -n '/^hits:/,/^end of hits/p' "$scratch/out" | wc -l)" = 2 ] || fail "hits: $(sed -n '/^hits:/,/^end of hits/p' "$scratch/out")"
[ "$(grep -c '^code 2$' "$scratch/out")" = 2 ] || fail 'not twice 2'
expect_out '^code 4$'
expect_err "the task in '/run/agent': "
check_not grep -qE 'prime\(149|range\(' "$scratch/out"

it 'knows hidden cases nowhere in the tree that is given'
check_not grep -aqE 'prime\(149|range\(5, 11|range\(4000|range\(16000|honest-vector' "$scratch/nosy-run/tasks/row-softmax/given.tree"
check grep -aq 'row_softmax_oracle' "$scratch/nosy-run/tasks/row-softmax/given.tree"

it 'is no way to the judge: whatever an agent does to it is its own loss'
sit vandal 'rm -rf /run/task/bin /run/task/evaluate; : >/run/task/baseline/softmax.so
cp /run/task/baseline/softmax.so /run/task/oracle/oracle.so; echo "hidden: {}" >/run/task/task.yaml; use honest-vector'
record vandal | grep -q '"seen":{"kind":"VALID".*"unseen":{"kind":"VALID"' || fail "$(record vandal)"

it 'needs two CPUs, and says so'
sit lonely 'taskset -c "$(sed -n "s/^Cpus_allowed_list:[^0-9]*\([0-9]*\).*/\1/p" /proc/self/status)" proctor-check; echo "code $?"'
expect_out '^code 4$'
expect_err 'judge and worker need a CPU each, and there is only CPU [0-9]+'

it 'does not care whether its children are ignored where it is called'
sit ignored 'use honest-vector; trap "" CHLD; proctor-check --quick; echo "code $?"'
expect_out '^code 0$'

it 'is left by no worker, whatever group or session that has gone to'
sit escaped 'use honest-vector
cat >>softmax.c <<"EOF_C"
#include <sys/prctl.h>
#include <unistd.h>
int setpgid(int, int), getpgid(int), setsid(void);
__attribute__((constructor)) static void leave(void)
{
	prctl(PR_SET_PDEATHSIG, 0);
	if (fork() == 0) {
		setsid();
		for (;;)
			pause();
	}
	setpgid(0, getpgid(getppid()));
}
EOF_C
sleep 50 & other=$!
began=$(date +%s); proctor-check --quick; echo "code $?"; echo "took $(($(date +%s) - began)) s"
kill -0 $other && echo "other is there"; kill $other
echo "left: $(cat /proc/[0-9]*/comm | grep -cE "^(proctor-[cw]|sentry)")"'
expect_out '^code 0$'
expect_out '^took 1?[0-9] s$'
expect_out '^other is there$'
expect_out '^left: 0$'

it 'works in a folder that is named from here, or by an empty name'
sit named 'use honest-vector; TMPDIR=. proctor-check --quick; echo "code $?"; TMPDIR= proctor-check --quick; echo "code $?"
ls -A; TMPDIR=/nonexistent proctor-check --quick; echo "code $?"'
[ "$(grep -c '^code 0$' "$scratch/out")" = 2 ] || fail 'not twice 0'
expect_out '^code 4$'
expect_no_out 'proctor-check-'

it 'leaves nothing behind, also where it is ended'
sit ended 'proctor-check & pid=$!; sleep 1; kill -TERM $pid; wait $pid; echo "code $?"; sleep 0.5
ls /tmp; proctor-check --quick >/dev/null; ls /tmp; echo "left: $(cat /proc/[0-9]*/comm | grep -cE "^(proctor-[cw]|sentry)")"'
expect_out '^code 4$'
expect_err 'stopped by signal 15'
expect_no_out 'proctor-check-'
expect_out '^left: 0$'
