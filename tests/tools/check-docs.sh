#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The documents' check passes a good tree and fails each planted fault.
. "$(dirname "$0")/../lib/e2e.sh"

# put FILE LINE…: one file of the tree under test
put() {
	mkdir -p "$scratch/tree/$(dirname "$1")"
	file=$1
	shift
	printf '%s\n' "$@" >"$scratch/tree/$file"
}

good_tree() {
	rm -rf "$scratch/tree"
	put harness/proctor.c 'static const struct command {' '} commands[] = {' '	{ "jail",    cli_jail },' '};'
	put harness/proctor.1.scd '*jail*' '	run one command'
	put harness/cli/jail.c 'static const struct option_row rows[] = {' '	{ "wall",    "TIME" },' '	{ "dry-run", NULL },' '};'
	put harness/proctor-jail.1.scd '*--wall* _TIME_' '*--dry-run*'
	# shellcheck disable=SC2016 # backquotes on purpose
	for name in jail init enter; do
		put "sandbox/$name.c" '} steps[] = {' '	{ "first",  f },' '	{ "second step", g },' '};' '	{ "third", h },'
		printf '%s\n' "## $name.c" '| 1 | `first` | x |' '| 2 | `second step` | y `z` |' >>"$scratch/tree/sandbox/README.md"
	done
	put tests/unit/test-wire.c 'TEST(nonsense_from_a_client)'
	put tests/e2e/10-jail.sh ''
	put tests/fuzz/fuzz-stream.c ''
	put tests/attacks/walls.c 'TEST(holds)'
	put tests/e2e/20-walls.sh "it 'is: so'"
	put harness/drill/corpus_x.c '	{ "id-x", THREAT_X, "x" },'
	put tests/BEHAVIOURS.md '| 1 | a | walls: holds; 20-walls: is: so |' '| 2 | b, c | test-wire: nonsense_from_a_client; drill: id-x |' \
		'| 3 | d | n/a: why not |' '| b1 | e | drill: id-x |'
	put README.md '[one](ARCHITECTURE.md) and [two](harness/cli/jail.c)' 'test-wire: nonsense_from_a_client; fuzz-stream; e2e/10-jail'
	put ARCHITECTURE.md 'harness/drill/corpus_x x' 'sandbox/jail     x' 'sandbox/init     x' 'sandbox/enter    x' 'harness/proctor  x' 'harness/cli/jail x'
}

it 'passes a tree whose documents are right'
good_tree
run "$e2e_root/tools/check-docs" "$scratch/tree"
expect_code 0
expect_no_out .

# faulty WHAT MESSAGE FILE LINE…: the good tree with one file replaced
faulty() {
	it "fails $1"
	message=$2
	shift 2
	good_tree
	put "$@"
	run "$e2e_root/tools/check-docs" "$scratch/tree"
	expect_code 1
	expect_out "$message"
}

faulty 'an option that the page lacks' 'option --dry-run is missing' harness/proctor-jail.1.scd '*--wall* _TIME_'
faulty 'an option that is none' 'there is no option --walls' harness/proctor-jail.1.scd '*--wall* _TIME_' '*--dry-run*' '*--walls*'
faulty 'a command without a word' 'command jail is missing' harness/proctor.1.scd 'jail'
faulty 'the second link of a line' "'nowhere.md' leads nowhere" README.md '[one](ARCHITECTURE.md) and [two](nowhere.md)'
faulty 'a test file that is not there' 'there is no test-wires' README.md 'test-wires'
faulty 'a fuzz target that is not there' 'there is no fuzz-wire' README.md 'fuzz-wire'
faulty 'an e2e file that is not there' 'there is no e2e/11-jail' README.md 'e2e/11-jail'
faulty 'a test name that is not there' "there is no test 'nonsense_from_the_client'" README.md 'nonsense_from_the_client'
faulty 'a file that the code map lacks' 'code map lacks sandbox/net$' sandbox/net.h ''
faulty 'a behaviour that an e2e test does not show' "row 1: there is no test '20-walls: is'" tests/BEHAVIOURS.md '| 1 | a | walls: holds; 20-walls: is |'
faulty 'a behaviour that no attack shows' "row b1: there is no test 'drill: id-y'" tests/BEHAVIOURS.md '| b1 | a | drill: id-y |'
faulty 'a behaviour that nothing shows' "row 1: there is no test ''" tests/BEHAVIOURS.md '| 1 | a |  |'
faulty 'a behaviour that is not there for no reason' "row 1: there is no test 'n/a'" tests/BEHAVIOURS.md '| 1 | a | n/a |'
faulty 'a behaviour that was left out' 'row 2 is missing' tests/BEHAVIOURS.md '| 1 | a | walls: holds |' '| 3 | a | walls: holds |'
faulty 'a line of the code map without a file' 'there is no sandbox/net' ARCHITECTURE.md 'sandbox/net  x'
faulty 'steps in another order' 'the steps of init.c' sandbox/init.c '} steps[] = {' '	{ "second step", f },' '	{ "first", g },' '};'
faulty 'a step that the table lacks' 'the steps of enter.c' sandbox/enter.c '} steps[] = {' '	{ "first", f },' '	{ "second step", g },' '	{ "third", h },' '};'
