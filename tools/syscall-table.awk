# SPDX-License-Identifier: Apache-2.0
# Turns policies/syscalls/*.list into the C table that sandbox/seccomp.c compiles in:
#
#	awk -f syscall-table.awk base.list … gpu.list profiler.list refused.list
#
# and, for sandbox/wire.c, one of them into its names alone:
#
#	awk -v names=yes -f syscall-table.awk refused.list
#
# One name a line, the reason after #. A line of anything else, a name without a reason and a name
# that is given twice end the build; a name that libseccomp does not know does not compile. Only
# profiler.list may name what refused.list names: where it is in, it has the last word.
function fail(text)
{
	printf "%s:%d: %s\n", FILENAME, FNR, text > "/dev/stderr"
	failed = 1
	exit 1
}

FNR == 1 {
	section = FILENAME
	sub(/.*\//, "", section)
	sub(/\.list$/, "", section)
}

/^[ \t]*(#.*)?$/ { next }

!/^[a-z_][a-z0-9_]*[ \t]+# *[^ \t]/ { fail("'" $0 "' is not 'name # reason'") }

$1 in seen && !(section == "refused" && list[$1] == "profiler") {
	fail("'" $1 "' is given twice, first at " seen[$1])
}

{
	seen[$1] = FILENAME ":" FNR
	list[$1] = section
	reason = $0
	sub(/^[^#]*# */, "", reason)
	sub(/[ \t]+$/, "", reason)
	gsub(/\\/, "&&", reason)
	gsub(/"/, "\\\"", reason)
	if (names)
		rows[++count] = "\t\"" $1 "\","
	else
		rows[++count] = "\t{ SCMP_SYS(" $1 "), LIST_" toupper(section) ", \"" $1 "\", \"" reason "\" },"
}

END {
	if (failed)
		exit 1
	print "/* Made from policies/syscalls by tools/syscall-table.awk: edit the lists. */"
	for (i = 1; i <= count; i++)
		print rows[i]
}
