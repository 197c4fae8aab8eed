#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Images as the root of jails: made here, of the shell and a few programs of this machine, and then of
# whatever an image can have that no mount may follow.
. "$(dirname "$0")/../lib/e2e.sh"
need_root
# In this file's own mount namespace; the folder itself stays.
mkdir -p /etc/proctor && mount -t tmpfs -o mode=755 e2e /etc/proctor || exit 1
own_place
chmod 755 "$scratch"
for program in mksquashfs mkfs.erofs; do
	command -v "$program" >/dev/null && continue
	it 'has the tools that make images'
	skip "no $program here (tools/setup test)"
	exit 0
done
# Where nobody loads what is asked for.
[ -e /dev/loop-control ] || modprobe loop
images=$scratch/images
mkdir "$images"

conf() { # LINE…: besides those of every image
	{
		printf 'source %s %s %s\n' squash squashfs "$images/squash.sqfs" ero erofs "$images/ero.erofs" \
			folder folder "$images/folder"
		printf '%s\n' "$@"
	} >/etc/proctor/site.conf
}

# The least that runs: programs of this machine, and the libraries that they want.
make_root() { # FOLDER
	mkdir -p "$1/bin" "$1/etc" "$1/opt" "$1/tmp" "$1/proc" "$1/sys" "$1/dev" "$1/usr/bin" "$1/usr/local/lib"
	for name in sh true cat ls id stat touch mkdir rm dd sleep ln; do
		cp -L "/bin/$name" "$1/bin/"
		ldd "$1/bin/$name" 2>/dev/null | grep -oE '/[^ ]+' | while read -r library; do
			mkdir -p "$1${library%/*}"
			[ -e "$1$library" ] || cp -L "$library" "$1$library"
		done
	done
	echo 'root:x:0:0:of the image:/root:/bin/sh' >"$1/etc/passwd"
	echo 'the image itself' >"$1/etc/which"
	echo kept >"$1/opt/kept"
	echo secret >"$1/opt/secret"
	chmod 600 "$1/opt/secret"
	cp -p "$1/opt/secret" "$1/usr/local/lib/secret"
	cp "$1/bin/id" "$1/opt/setuid"
	chmod 4755 "$1/opt/setuid"
	mknod -m 666 "$1/opt/null" c 1 3
	mknod -m 666 "$1/opt/disk" b 7 0
}

squash() { # FOLDER FILE
	rm -f "$2"
	mksquashfs "$1" "$2" -quiet -no-progress >/dev/null || fail "mksquashfs $1"
}

# An image of its own for one test, made from the root by COMMAND… in a copy of it. A folder: how it is
# mounted makes no difference to what is put over it.
variant() { # NAME COMMAND…
	variant_name=$1
	shift
	rm -rf "$scratch/variant"
	cp -a "$scratch/root" "$scratch/variant"
	(cd "$scratch/variant" && "$@") || fail "make the variant: $*"
	conf "source $variant_name folder $scratch/variant"
}

# Loop devices whose file is one of ours.
loops() {
	grep -l "^$images/" /sys/block/loop*/loop/backing_file 2>/dev/null | wc -l
}

# At once, or soon.
expect_loops() { # COUNT
	tries=0
	until [ "$(loops)" -eq "$1" ]; do
		tries=$((tries + 1))
		[ "$tries" -lt $((100 * slow)) ] || { fail "there are $(loops) loop devices, not $1" && return; }
		sleep 0.1
	done
}

expect_no_loops() {
	expect_loops 0
}

sum() {
	sha256sum "$1" | cut -c 1-64
}

make_root "$scratch/root"
cp -a "$scratch/root" "$images/folder"
squash "$scratch/root" "$images/squash.sqfs"
mkfs.erofs --quiet "$images/ero.erofs" "$scratch/root" >/dev/null 2>&1 || mkfs.erofs "$images/ero.erofs" "$scratch/root" >/dev/null

it 'refuses an image that nobody listed, and says who can list it'
run proctor jail --image rocm -- true
expect_code 125
expect_err "there is no image 'rocm' for jails on this host: its administrator can list it in /etc/proctor/site.conf \('source rocm squashfs /PATH'\)"

it 'takes no path for a name, and no changes of the host'
run proctor jail --image "$images/squash.sqfs" -- true
expect_code 2
expect_err "option --image: '.*' is no name of an image"
run proctor jail --changes 1MiB -- true
expect_code 2
expect_err "nobody changes the host's files; name an image by --image"

conf
for image in squash ero folder; do
	it "runs a command of the image '$image', and no other"
	run proctor jail --image "$image" -- cat /etc/which
	expect_code 0
	expect_out_is 'the image itself'
	run proctor jail --image "$image" -- /usr/bin/perl
	expect_code 127

	it "shows the payload in '$image' our accounts, its own folders and no file of the host"
	run proctor jail --image "$image" -- sh -c 'cat /etc/passwd; id; ls -d /work /tmp /dev/shm /proc/self; cat /etc/shadow /etc/hostname /usr/bin/perl'
	expect_out '^agent:x:1000:'
	expect_no_out 'of the image'
	expect_out '^uid=1000\(agent\)'
	expect_out '^/dev/shm$'
	expect_err 'cat: /etc/shadow: No such file'
	expect_err 'cat: /usr/bin/perl: No such file'

	it "keeps '$image' read-only, its setuid and device files without effect, and closed what its mode closes"
	run proctor jail --image "$image" -- sh -c 'touch /new /opt/new /bin/sh; cat </dev/null >/etc/passwd; rm -f /opt/kept; touch /work/a /tmp/b && echo writable'
	expect_err '/new.: Read-only file system'
	expect_err '/opt/kept.: Read-only file system'
	expect_out '^writable$'
	run proctor jail --image "$image" -- sh -c '/opt/setuid -u; cat /etc/which >/opt/null; cat /opt/disk /opt/secret; cat /etc/which >/dev/null && echo null'
	expect_out '^1000$'
	expect_err '/opt/null: Permission denied'
	expect_err '/opt/disk: Permission denied'
	expect_err '/opt/secret: Permission denied'
	expect_out '^null$'
done

it 'names the image and its digest in the outcome; of a folder there is none'
run proctor jail --image squash --json -- true
expect_out "\"image\":\{\"name\":\"squash\",\"sha256\":\"$(sum "$images/squash.sqfs")\"\}"
run proctor jail --image ero --json -- true
expect_out "\"sha256\":\"$(sum "$images/ero.erofs")\""
run proctor jail --image folder --json -- true
expect_out '"image":\{"name":"folder","sha256":null\}'
run proctor jail --json -- true
expect_out '"image":null'

it 'lets the payload change what the image has, up to a cap, and for itself alone'
before=$(sum "$images/squash.sqfs")
for image in ero squash; do
	run proctor jail --image "$image" --changes 1MiB --json -- sh -c '
		echo mine >/etc/which && cat /etc/which /opt/secret && rm /opt/kept && ! ls /opt/kept && mkdir /opt/new /new &&
		/opt/setuid -u && stat -c %u /opt/secret; dd if=/dev/zero of=/big bs=64k count=64'
	if grep -q 'map the ids of the image' "$scratch/out" "$scratch/err"; then
		note "$image: $(grep -h 'map the ids' "$scratch/out")"
		[ "$image" = squash ] || fail 'erofs takes ids since Linux 5.19'
		continue
	fi
	expect_code 1
	expect_err '^mine$'
	expect_err '^secret$'
	expect_err '^1000$'
	expect_err 'No space left on device'
	expect_out '"flags":\[.*"disk_full"'
	run proctor jail --image "$image" -- cat /etc/which /opt/kept
	expect_out '^the image itself$'
	expect_out '^kept$'
done
[ "$(sum "$images/squash.sqfs")" = "$before" ] || fail 'the image is another one'

it 'has no changes of a folder of the host, which would open what root keeps for itself'
run proctor jail --image folder --changes 1MiB -- true
expect_code 125
expect_err "image 'folder' is a folder of this host, which no jail changes"

it 'is as walled as any other root: /proc, /sys and /dev are ours'
run proctor jail --image ero --changes 1MiB -- sh -c 'cat /etc/which >/proc/sys/kernel/core_pattern; cat /proc/kcore; ls /sys; touch /sys/x /dev/x; ls /dev'
expect_err 'core_pattern: Read-only file system'
expect_out '^devices$'
expect_no_out '^(class|block|fs)$'
expect_err '/dev/x.: (Read-only file system|Permission denied)'
expect_out '^null$'
expect_no_out '^(kmsg|mem|loop0|sda|vda)$'

mkdir "$scratch/put"
cp "$e2e_build/tests/attack-walls" "$scratch/put/walls"
for image in squash folder; do
	it "has all walls of a jail in the image '$image'"
	run proctor jail --image "$image" --put "$scratch/put" -- /work/walls
	expect_code 0
	expect_out '^ok [0-9]+ - the_root_can_not_be_written$'
	expect_no_out '^not ok'
done
it 'has all of them where the root can be changed, but those that make it so'
run proctor jail --image ero --changes 1MiB --put "$scratch/put" -- /work/walls
expect_out '^not ok [0-9]+ - the_root_can_not_be_written$'
# Its files are the payload's, as whoever allowed changes wants it.
expect_out '^not ok [0-9]+ - no_file_that_the_host_keeps_for_root_is_readable$'
check [ "$(grep -c '^not ok' "$scratch/out")" -eq 2 ]

# A link in the place of each mount, and of a folder above one, that leads to where a mount would be seen.
mkdir "$scratch/host"
for place in dev proc sys etc work tmp; do
	it "does not follow a link in the place of /$place"
	rm -rf "${scratch:?}/host/"*
	variant link sh -c "rm -rf $place && ln -s $scratch/host $place"
	run proctor jail --image link -- true
	expect_code 125
	expect_err "image 'link' has a link in the way, which is not followed: make it a folder, or leave it out: .*/$place"
	check [ -z "$(ls "$scratch/host")" ]
	check_not grep -q "$scratch/host" /proc/self/mountinfo
done

it 'does not follow links to where the host keeps what they name, nor those above a mount'
variant link sh -c 'rm -rf sys && mkdir sys && ln -s /sys/devices sys/devices'
run proctor jail --image link -- true
expect_code 125
expect_err "image 'link' has a link in the way"
variant link sh -c 'rm -f etc/passwd && ln -s ../../../../etc/shadow etc/passwd && ln -s /proc/self/root/etc/shadow etc/hosts'
run proctor jail --image link -- cat /etc/passwd /etc/hosts
expect_code 0
expect_out '^agent:x:1000:'
expect_out '^127.0.0.1 localhost$'

it 'says what is in the way where it is a file, or a folder'
variant odd sh -c 'rm -rf dev && touch dev'
run proctor jail --image odd -- true
expect_code 125
expect_err "image 'odd' has a file in the way: make it a folder, or leave it out: devices '/dev'"
variant odd sh -c 'rm -f etc/group; mkdir -p etc/group/a'
run proctor jail --image odd -- true
expect_code 125
expect_err "image 'odd' has a folder in the way: leave it out: text '/etc/group'"

it 'makes the mount points that an image lacks'
variant bare sh -c 'rm -rf etc/passwd dev proc sys tmp'
run proctor jail --image bare -- sh -c 'ls -d /proc/self /dev/pts /sys/devices /tmp /work && id'
expect_code 0
expect_out '^uid=1000\(agent\)'

it 'says so where it lies on what no overlay can lie over'
mkdir "$scratch/layers"
mount -t tmpfs none "$scratch/layers"
mkdir "$scratch/layers/1" "$scratch/layers/2" "$scratch/layers/up1" "$scratch/layers/up2" "$scratch/layers/work1" "$scratch/layers/work2"
mount -t overlay none -o "lowerdir=$scratch/root,upperdir=$scratch/layers/up1,workdir=$scratch/layers/work1" "$scratch/layers/1"
mount -t overlay none -o "lowerdir=$scratch/layers/1,upperdir=$scratch/layers/up2,workdir=$scratch/layers/work2" "$scratch/layers/2"
conf "source one folder $scratch/layers/1" "source two folder $scratch/layers/2"
run proctor jail --image one -- cat /etc/which
expect_out_is 'the image itself'
run proctor jail --image two -- true
expect_code 125
expect_err "image 'two': it lies on a file system that no overlay can lie over, .* \(see dmesg\): copy it elsewhere: create the overlay: Invalid argument$"
umount "$scratch/layers/2" "$scratch/layers/1" "$scratch/layers"

it 'takes an image with names that no one would give'
# shellcheck disable=SC2016 # expanded by the inner shell
variant names sh -c 'mkdir "opt/$(printf "a\nb\t\033[31m")" && touch "opt/$(printf "\377\376")" "opt/-rf" "opt/ " && ln -s self opt/self && ln -s / opt/loop'
squash "$scratch/variant" "$images/names.sqfs"
conf "source names squashfs $images/names.sqfs"
run proctor jail --image names -- sh -c 'ls -1 /opt | cat -v; cat /opt/self; ls /opt/loop/opt/loop >/dev/null && echo around'
expect_out 'M-\^?M-~|M-\^\?'
expect_err 'Too many levels'
expect_out '^around$'

it 'stops reading a large image when nobody waits for it any more, and the next one reads it whole'
cp "$images/squash.sqfs" "$images/large.sqfs"
truncate -s 1T "$images/large.sqfs" # holes: reading them takes a quarter of an hour
conf "source large squashfs $images/large.sqfs"
for signal in TERM KILL; do
	"$e2e_build/proctor" jail --image large -- true >"$scratch/out" 2>"$scratch/err" &
	child=$!
	"$e2e_build/proctor" jail --image large -- true >"$scratch/out.2" 2>"$scratch/err.2" &
	second=$!
	sleep 1
	kill -$signal "$child" "$second"
	wait "$second"
	wait "$child"
	code=$?
	[ $signal = KILL ] || expect_code 143
	[ $signal = KILL ] || expect_err 'nobody waits for it any more'
	expect_nothing_left
done
truncate -s "$(stat -c %s "$images/squash.sqfs")" "$images/large.sqfs"
run proctor jail --image large --json -- true
expect_out "\"sha256\":\"$(sum "$images/squash.sqfs")\""

it 'refuses what is cut off, empty, of another kind or not there, in one line'
head -c 4096 "$images/squash.sqfs" >"$images/cut.sqfs"
head -c 8192 "$images/ero.erofs" >"$images/cut.erofs"
: >"$images/empty"
conf "source cut squashfs $images/cut.sqfs" "source cuter erofs $images/cut.erofs" "source empty squashfs $images/empty" \
	"source kind erofs $images/squash.sqfs" "source gone squashfs $images/none" "source script squashfs /bin/sh"
for case in 'cut:is cut off: it has 4096 bytes of [0-9]+; copy it anew' 'cuter:is cut off' 'empty:is no squashfs image' \
	'kind:is no erofs image: make it anew, or name its kind' 'gone:No such file or directory' 'script:is no squashfs image'; do
	run proctor jail --image "${case%%:*}" -- true
	expect_code 125
	expect_err "jail 'jail': image: '${case%%:*}'.*${case#*:}"
	check [ "$(wc -l <"$scratch/err")" -eq 1 ]
done
expect_no_loops

it 'ends jails in a damaged image with errors of their own, and nothing else'
cp "$images/squash.sqfs" "$images/bad.sqfs"
size=$(stat -c %s "$images/bad.sqfs")
dd if=/dev/urandom of="$images/bad.sqfs" bs=1 seek=96 count=$((size - 8192)) conv=notrunc 2>/dev/null
conf "source bad squashfs $images/bad.sqfs"
run proctor jail --image bad -- cat /etc/which
check [ "$code" -ne 0 ]
run proctor jail --image squash -- cat /etc/which
expect_code 0
expect_no_loops

it 'takes no image that others than root can write'
cp "$images/squash.sqfs" "$images/open.sqfs"
chmod 664 "$images/open.sqfs"
conf "source open squashfs $images/open.sqfs"
run proctor jail --image open -- true
expect_code 125
expect_err "open.sqfs' belongs to user 0 and has mode 0664: root alone may be able to write it"
chmod 644 "$images/open.sqfs"
chown 61001 "$images/open.sqfs"
run proctor jail --image open -- true
expect_code 125
expect_err 'belongs to user 61001'

it 'sees that an image was written while it was used'
cp "$images/squash.sqfs" "$images/live.sqfs"
conf "source live squashfs $images/live.sqfs"
"$e2e_build/proctor" jail --image live --put "$scratch/host" --json=2 -- sh -c 'echo here; sleep 3' >"$scratch/out" 2>"$scratch/err" &
child=$!
wait_for grep -q here "$scratch/out"
printf x | dd of="$images/live.sqfs" bs=1 seek=$(($(stat -c %s "$images/live.sqfs") - 1)) conv=notrunc 2>/dev/null
wait "$child"
expect_err '"flags":\[.*"image_changed"'

it 'says nothing of the kind where another file took its name'
cp "$images/squash.sqfs" "$images/live.sqfs"
cp "$images/squash.sqfs" "$images/other.sqfs"
"$e2e_build/proctor" jail --image live --json=2 -- sh -c 'echo here; sleep 1' >"$scratch/out" 2>"$scratch/err" &
child=$!
wait_for grep -q here "$scratch/out"
mv "$images/other.sqfs" "$images/live.sqfs"
wait "$child"
expect_err '"flags":\[\]'

it 'gives a jail the file that has the name now'
variant next sh -c 'echo second >etc/which'
squash "$scratch/variant" "$images/second.sqfs"
conf "source next squashfs $images/next.sqfs"
cp "$images/squash.sqfs" "$images/next.sqfs"
run proctor jail --image next -- cat /etc/which
expect_out_is 'the image itself'
mv "$images/second.sqfs" "$images/next.sqfs"
run proctor jail --image next --json -- cat /etc/which
expect_err '^second$'
expect_out "\"sha256\":\"$(sum "$images/next.sqfs")\""

cat >"$scratch/policy.yaml" <<-END
	schema: 1
	name: imaged
	agent: { image: squash }
	build: { image: ero, changes: { size: 1MiB } }
END
it 'is shown by policy explain before there is a jail, and is no weaker wall'
run proctor policy explain "$scratch/policy.yaml"
expect_code 0
expect_out '^/ +image +squash +overlay +ro,nosuid,nodev +lowerdir='
expect_out '^/ +image +ero +overlay +rw,nosuid,nodev +lowerdir='
expect_out '^/ +1MiB +- +tmpfs '
expect_out '^weaker +no wall than in the shipped default'
run proctor policy diff default "$scratch/policy.yaml"
expect_out '^agent\.image +host +squash +other'

it 'stops a run whose images can not be had, before it has begun'
printf 'schema: 1\nname: none\nbuild: { image: rocm }\n' >"$scratch/none.yaml"
cp -r "$e2e_root/tasks/c2c/row-softmax" "$scratch/row-softmax"
chmod -R a+rX "$scratch/row-softmax"
run proctor run --run "$scratch/run-none" --policy "$scratch/none.yaml" --agent scripted:honest-vector "$scratch/row-softmax"
expect_code 3
expect_err "policy 'none': build: jail 'image': there is no image 'rocm' for jails on this host: its administrator can list it in"
check_not test -e "$scratch/run-none/journal.jsonl"

it 'writes down what the images of a run hold, and goes on with these alone'
conf "source next squashfs $images/next.sqfs"
printf 'schema: 1\nname: next\nagent: { image: next }\n' >"$scratch/next.yaml"
"$e2e_build/proctor" run --run "$scratch/run-next" --policy "$scratch/next.yaml" --agent scripted:honest-vector \
	"$scratch/row-softmax" >"$scratch/out" 2>"$scratch/err" &
child=$!
wait_for grep -qs run.planned "$scratch/run-next/journal.jsonl"
kill -9 "$child"
wait "$child" 2>/dev/null
was=$(sum "$images/next.sqfs")
check grep -q "\"images\":\[\"agent next sha256:$was\"\]" "$scratch/run-next/journal.jsonl"
cp "$images/squash.sqfs" "$images/third.sqfs"
mv "$images/third.sqfs" "$images/next.sqfs"
run proctor resume "$scratch/run-next"
expect_code 3
expect_err "the run was planned with another image \('agent next sha256:$was', now 'agent next sha256:$(sum "$images/next.sqfs")'\): put that one back"

it 'gives no attempt of a run another image than the run was planned with'
# An agent whose work can not be built: the next attempt begins soon.
printf '#!/bin/sh\necho ... >/work/kernel.c\ntouch /work/ready\nsleep 3\n' >"$scratch/agent"
chmod 755 "$scratch/agent"
cp "$images/squash.sqfs" "$images/third.sqfs"
mv "$images/third.sqfs" "$images/next.sqfs"
was=$(sum "$images/next.sqfs")
"$e2e_build/proctor" run --run "$scratch/run-put" --policy "$scratch/next.yaml" --attempts 2 --retries 0 \
	--agent "scripted:$scratch/agent" "$scratch/row-softmax" >"$scratch/out" 2>"$scratch/err" &
child=$!
wait_for grep -qs '"attempt.begun".*"AGENT"' "$scratch/run-put/journal.jsonl"
variant next sh -c 'echo another >etc/which'
squash "$scratch/variant" "$images/third.sqfs"
mv "$images/third.sqfs" "$images/next.sqfs"
wait "$child"
expect_out '^row-softmax .* 1 +exited '
expect_out '^row-softmax .* 2 .*INFRA'
# shellcheck disable=SC2016 # a pattern
check grep -qr "is another one than was asked for: its SHA-256 is $(sum "$images/next.sqfs"), and should be $was: put that one back" "$scratch/run-put/attempts"

it 'leaves no mount, no loop device and no process behind'
expect_no_loops
expect_nothing_left

it 'mounts an image once for all jails of a service'
group=61000 one=61001
conf "group $group"
mkdir -m 755 "$scratch/run"
mkdir -m 700 "$scratch/one"
chown $one:$one "$scratch/one"
"$e2e_build/proctor-launcher" --listen --socket="$scratch/run/socket" 2>"$scratch/log" &
service=$!
wait_for test -S "$scratch/run/socket"
jail_of_one() {
	env -C "$scratch/one" PROCTOR_SOCKET="$scratch/run/socket" setpriv --reuid=$one --regid=$one --groups=$group -- \
		"$e2e_build/proctor" jail "$@"
}
children=''
for number in 1 2 3 4 5 6; do
	jail_of_one --image squash -- sh -c 'cat /etc/which; while [ ! -e /work/none ]; do sleep 0.2; done' >"$scratch/one.$number" 2>&1 &
	children="$children $!"
done
for number in 1 2 3 4 5 6; do
	wait_for grep -qx 'the image itself' "$scratch/one.$number"
done
expect_loops 1
# shellcheck disable=SC2086 # words on purpose
kill $children
for child in $children; do
	wait "$child" 2>/dev/null
done
jail_of_one --image squash -- cat /etc/which >"$scratch/out" 2>"$scratch/err"
expect_out_is 'the image itself'
expect_loops 1

it 'refuses one that is not listed to a member of the group as well'
jail_of_one --image rocm -- true >"$scratch/out" 2>"$scratch/err"
code=$?
expect_code 125
expect_err "there is no image 'rocm' for jails on this host"

it 'lets it go with the service'
kill -TERM "$service"
wait "$service"
expect_no_loops
expect_nothing_left

it 'leaves nothing behind when the launcher is killed'
for image in squash ero; do
	: >"$scratch/out"
	"$e2e_build/proctor" jail --image $image -- sh -c 'echo here; sleep 60' >"$scratch/out" 2>"$scratch/err" &
	child=$!
	wait_for grep -q here "$scratch/out"
	kill -9 "$(pgrep -P "$child" | head -n 1)"
	wait "$child" 2>/dev/null
	code=$?
	e2e_command="kill -9 of the launcher, image $image"
	expect_code 125
	expect_no_loops
done
expect_nothing_left
