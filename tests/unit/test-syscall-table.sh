#!/bin/sh
# tools/syscall-table.awk: what is wrong in a list ends the build.
set -eu

root=$1
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
count=0

# check NAME WANTED-STATUS WANTED-TEXT: runs the program over $folder/*.list
check() {
	count=$((count + 1))
	status=0
	# shellcheck disable=SC2086 # words on purpose
	text=$(awk ${options:-} -f "$root/tools/syscall-table.awk" "$folder"/*.list 2>&1) || status=$?
	case $status:$text in
	$2:*"$3"*) echo "ok $count - $1" ;;
	*) printf '# status %s, %s\nnot ok %s - %s\n' "$status" "$text" "$count" "$1" ;;
	esac
	rm -f "$folder"/*.list
}

echo 'TAP version 13'
echo '1..10'

printf '# heading\n\nread # files\nwrite\t#files\n' >"$folder/base.list"
check 'a good list becomes rows' 0 '{ SCMP_SYS(write), LIST_BASE, "write", "files" },'

printf 'read # "quoted" \\ and so on \n' >"$folder/base.list"
check 'a reason is a text of C' 0 '"read", "\"quoted\" \\ and so on" },'

printf 'read # files\nwrite\n' >"$folder/base.list"
check 'a name needs a reason' 1 "base.list:2: 'write' is not 'name # reason'"

printf 'read # \n' >"$folder/base.list"
check 'an empty reason is none' 1 "base.list:1: 'read # ' is not 'name # reason'"

printf 'read # files\n' >"$folder/base.list"
printf '# heading\nread # refused\n' >"$folder/refused.list"
check 'a name in two lists is a contradiction' 1 "refused.list:2: 'read' is given twice"

printf 'bpf # opened\n' >"$folder/profiler.list"
printf 'bpf # refused\n' >"$folder/refused.list"
check 'the list of profilers may open what is refused' 0 'LIST_REFUSED, "bpf", "refused" },'

printf 'bpf # opened\n' >"$folder/gpu.list"
printf 'bpf # refused\n' >"$folder/refused.list"
check 'no other list may' 1 "refused.list:1: 'bpf' is given twice"

printf 'read) } # files\n' >"$folder/base.list"
check 'only names get into C' 1 "is not 'name # reason'"

printf 'read write # files\n' >"$folder/base.list"
check 'one name a line' 1 "is not 'name # reason'"

options='-v names=yes'
printf 'mount # mounts\n' >"$folder/refused.list"
check 'the names alone are texts' 0 '"mount",'
