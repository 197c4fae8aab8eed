#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# What tests/vm/test runs in a virtual machine: tests of the whole, in a copy of the tree of its own.
# Their TAP and the doctor's answer go to /run/out; running/ has those that have not ended. Whoever has
# a test for such a machine alone puts it into tests/vm/guest-NAME.sh, written as those of tests/e2e are.
set -u
tree=/tree out=/run/out
PROCTOR_BUILD=$tree/build TAP_FOLDER=$out/tap
# Nothing is measured here, and what may take two seconds elsewhere takes more.
E2E_SLOW=10 ROUNDS=$(cat /run/test/rounds)
# One blow while the jail is built or starts; the tests wait by themselves until it runs.
MOMENTS=0.05
export PROCTOR_BUILD TAP_FOLDER E2E_SLOW ROUNDS MOMENTS

if [ $# -gt 0 ]; then
	name=$(basename "$1" .sh)
	up=$(cut -d . -f 1 /proc/uptime)
	: >"$out/running/$name"
	timeout -k 10 "$(cat /run/test/limit)" tests/lib/tap-keep "$1" >/dev/null 2>"$out/$name.err"
	rm "$out/running/$name"
	[ -s "$out/$name.err" ] || rm "$out/$name.err"
	echo "   $name: $(($(cut -d . -f 1 /proc/uptime) - up)) s" >/dev/ttyS1
	exit 0
fi

mkdir -p $tree $out/tap $out/running && tar -C $tree -xf /run/test/tree.tar && cd $tree || exit 1
build/proctor doctor --json >$out/doctor.json 2>$out/doctor.err
build/proctor doctor >$out/doctor.txt 2>&1

# Not here: what measures or has the judge measure, since a clock of this machine may stand still for longer than a
# candidate takes; what needs marks that came out, or the build with hooks.
elsewhere='50-run 52-start 55-check 57-tasks-check 60-late-write 70-resume 72-seats 80-report 90-demo'
# What takes longest comes first. Where minutes count: the walls and limits, and what other hosts here have not.
longest='25-drill 40-limits 44-service 10-jail 42-killed 41-endings'
quick='25-drill 41-endings 20-walls gpu'
# The attacks without walls: they harm the machine, so they are the last and alone.
control=tests/attacks/control
only=$(cat /run/test/only)
case $only in
quick) only='' longest=$quick control='' ;;
esac

# The files of these names, wherever they are.
named() { # NAME…
	for name in "$@"; do
		ls "tests/e2e/$name.sh" "tests/vm/$name.sh" 2>/dev/null
	done
}

others() {
	for file in tests/e2e/[0-9]*.sh tests/vm/gpu.sh tests/vm/guest-*.sh; do
		name=$(basename "$file" .sh)
		case " $longest $elsewhere " in
		*" $name "*) ;;
		*) echo "$file" ;;
		esac
	done
}

# A file a CPU: they keep apart from each other, and each waits half of the time.
{
	# shellcheck disable=SC2086 # words on purpose
	named $longest
	[ "$longest" = "$quick" ] || others
} | while read -r file; do
	case $file in
	*"$only"*) [ ! -x "$file" ] || echo "$file" ;;
	esac
done | xargs -r -P "$(nproc)" -n 1 sh /run/test/run.sh
case $control in
?*"$only"*)
	modprobe vsock # nobody asks for it by its number here
	DRILL_MAY_HARM=yes
	export DRILL_MAY_HARM
	sh /run/test/run.sh $control
	;;
esac
