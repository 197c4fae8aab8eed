#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The layout check passes a good tree and fails each planted fault.
. "$(dirname "$0")/../lib/e2e.sh"

spdx='/* SPDX-License-Identifier: Apache-2.0 */'

put() {
	mkdir -p "$scratch/tree/$(dirname "$1")"
	cat >"$scratch/tree/$1"
}

# lines N TEXT: TEXT, N times
lines() {
	awk -v n="$1" -v text="$2" 'BEGIN { for (i = 0; i < n; i++) print text }'
}

good_tree() {
	rm -rf "$scratch/tree"
	put sandbox/x.h <<-EOF
		$spdx
		#pragma once

		struct x {
			const char *(*name)(int a, int b, int c, int d, int e, int f, int g);
		};

		#define LONG(a) \\
			static int a;

		extern const char *const x_names[2];

		/**
		 * x_make() - six parameters, the last one a function of many
		 */
		int x_make(int a, int b, int c, int d, int e,
			   void (*f)(int, int, int, int, int, int, int)) must_check;

		/**
		 * x_say() - with an attribute
		 */
		int x_say(struct x *x, const char *format, ...) printf_like(2, 3);
	EOF
	put sandbox/x.c <<-EOF
		$spdx
		#include "sandbox/x.h"
		#include <stdio.h>

		const char *const x_names[2] = { "go" "to", "// no comment; goto x" };
		static const struct {
			char quote;
		} table[] = { { '"' }, { '\\'' }, { '/' } };
		enum { LIMIT = 5 };
		_Static_assert(sizeof(int) == 4, "x");

		/* { a brace in a comment */
		printf_like(1, 0) static int six(int a, int b, int c, int d, int e, int f)
		{
			static const char text[] = "}";
			struct x x = { 0 };
		$(lines 74 '	a++;')
			return 0;
		}

		int last(void)
		{
			return 0;
		}
	EOF
	put tests/unit/test-x.c <<-EOF
		$spdx
		static int counter;
	EOF
	put tests/lib/y.h <<-EOF
		$spdx
		#pragma once
	EOF
	put tools/run <<-EOF
		#!/bin/sh
		# SPDX-License-Identifier: Apache-2.0
	EOF
}

it "passes a tree that keeps the rules"
good_tree
run "$e2e_root/tools/check-layout" "$scratch/tree"
expect_code 0
check_not test -s "$scratch/out"

# planted SENTENCE FILE ERE: good_tree with what standard input holds added to the end of FILE
planted() {
	it "fails $1"
	good_tree
	mkdir -p "$scratch/tree/$(dirname "$2")"
	cat >>"$scratch/tree/$2"
	run "$e2e_root/tools/check-layout" "$scratch/tree"
	expect_code 1
	expect_out "^$2:[0-9]+: .*$3"
	[ "$(wc -l <"$scratch/out")" -eq 1 ] || fail "more than one complaint"
}

planted 'a function of 81 lines' sandbox/x.c '81 lines; 80' <<EOF
static int
long_one(void)
{
$(lines 77 '	a++;')
}
EOF
planted 'a file of 601 lines' sandbox/x.c '6[0-9][0-9] lines; 600' <<EOF
$(lines 520 '/* line */')
EOF
planted 'seven parameters' sandbox/x.c 'seven\(\) takes more' <<'EOF'
static int seven(int a, int b, int c, int d,
		 int e, int f, int g)
{
	return 0;
}
EOF
planted 'seven parameters in a header' sandbox/x.h 'seven\(\) takes more' <<'EOF'
/**
 * seven() - too much
 */
int seven(int a, int b, int c, int d, int e, int f, int g);
EOF
planted 'a goto' sandbox/x.c 'no goto' <<'EOF'
int f(void)
{
	goto out;
}
EOF
planted 'a // comment' sandbox/x.c 'comments are' <<'EOF'
int a(void); // why
EOF
todo=TO todo=${todo}DO # the check reads this file, too
planted 'a note to oneself' sandbox/x.c 'file an issue' <<EOF
/* $todo: more */
EOF
planted 'a note to oneself in a script' tools/run 'file an issue' <<EOF
# $todo more
EOF
planted 'a function in a header without a comment' sandbox/x.h 'x_new\(\) has no kernel-doc' <<'EOF'

void x_new(void);
EOF
planted 'a comment that is not right above' sandbox/x.h 'x_new\(\) has no kernel-doc' <<'EOF'

/**
 * x_new() - far away
 */

void x_new(void);
EOF
planted 'a comment with the name of another' sandbox/x.h 'x_new\(\) has no kernel-doc' <<'EOF'

/**
 * x_old() - renamed since
 */
static inline void x_new(void)
{
}
EOF
planted 'a variable at file scope' sandbox/x.c 'variable that can change.*: static int count' <<'EOF'
static int count = 3;
EOF
planted 'a table that is not const' sandbox/x.c 'variable that can change' <<'EOF'
static struct row {
	int a;
} rows[] = {
	{ 1 },
};
EOF
planted 'a pointer that is not const' sandbox/x.c 'variable that can change' <<'EOF'
const char *name = "x";
EOF
planted 'a pointer to a function that is not const' sandbox/x.c 'variable that can change' <<'EOF'
static int (*hook)(void);
EOF
planted 'a static variable in a function' sandbox/x.c 'variable that can change' <<'EOF'
int f(void)
{
	static int calls;
	return calls++;
}
EOF
planted 'an own header that is not the first' tests/lib/y.c 'first header' <<EOF
$spdx
#include <stdio.h>
#include "tests/lib/y.h"
EOF
planted 'a library file without a test' harness/z.c 'no tests/unit/test-z.c' <<EOF
$spdx
EOF
planted 'a C file without a licence' tests/unit/test-y.c 'SPDX' <<'EOF'
int x(void);
EOF
planted 'a script without a licence' tools/other 'SPDX' <<'EOF'
#!/bin/sh
EOF
planted 'a header without pragma once' harness/z.h 'pragma once' <<EOF
$spdx
EOF

it "passes the tree that it stands in"
run "$e2e_root/tools/check-layout"
expect_code 0
