#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Services: what a jail reaches through its relay, what it does not, and each cap.
# shellcheck disable=SC2016 # scripts are expanded inside of the jail
# shellcheck disable=SC2317 # functions that wait_for calls
. "$(dirname "$0")/../lib/e2e.sh"
need_root
own_place
chmod 755 "$scratch"
mkdir -m 755 "$scratch/put"
cp "$e2e_build/tests/endpoint" "$scratch/put/endpoint"
chmod 755 "$scratch/put/endpoint"
mkdir -m 777 "$scratch/sockets"

# Starts a server; sets $port to where it listens.
serve() { # WHERE HOW [N]
	: >"$scratch/port"
	"$e2e_build/tests/endpoint" serve "$@" >"$scratch/port" &
	wait_for test -s "$scratch/port"
	port=$(cat "$scratch/port")
}

jail() { # OPTION… -- COMMAND…
	run proctor jail --put "$scratch/put" "$@"
}

serve tcp echo
echo_port=$port
serve tcp count
count_port=$port
serve "$scratch/sockets/echo" echo
chmod 666 "$scratch/sockets/echo"
serve tcp pour 104857600
pour_port=$port
serve tcp deaf
deaf_port=$port

it 'asks and is answered through a port and through the path of a socket'
jail --service one=8080:127.0.0.1:"$echo_port" --service two=80:unix:"$scratch/sockets/echo" -- \
	sh -c 'echo by port | ./endpoint ask 8080; echo by path | ./endpoint ask 80'
expect_code 0
expect_out_is "$(printf 'by port\nby path')"

it 'ends one half of a connection and keeps the other open'
jail --service count=8080:127.0.0.1:"$count_port" -- sh -c 'printf 12345 | ./endpoint ask 8080'
expect_out_is 5

it 'carries 100 MiB out, and 100 MiB in'
jail --service count=8080:127.0.0.1:"$count_port" -- ./endpoint pour 8080 104857600
expect_out_is 104857600
jail --service pour=8080:127.0.0.1:"$pour_port" -- sh -c '</dev/null ./endpoint ask 8080 | wc -c'
expect_out_is 104857600

it 'carries bytes of every kind, and no terminal sees them'
jail --service one=8080:127.0.0.1:"$echo_port" --service-log "$scratch/hostile.jsonl" -- \
	sh -c 'printf "\033]0;x\007\000\377\r\n" | ./endpoint ask 8080 | od -An -tx1'
expect_out_is ' 1b 5d 30 3b 78 07 00 ff 0d 0a'
check_not grep -q "$(printf '\033')" "$scratch/hostile.jsonl" "$scratch/err"

it 'writes a line for each connection, and one for the service'
jail --service one=8080:127.0.0.1:"$echo_port" --service-log "$scratch/log.jsonl" -- \
	sh -c 'echo 1 | ./endpoint ask 8080; echo 22 | ./endpoint ask 8080'
run sh -c 'cat "$0"' "$scratch/log.jsonl"
check test "$(wc -l <"$scratch/log.jsonl")" -eq 3
expect_out '^\{"service":"one","connection":1,"opened_ns":[0-9]+,"closed_ns":[0-9]+,"sent":2,"received":2,"ended":"closed","error":null\}$'
expect_out '^\{"service":"one","connection":2,"opened_ns":[0-9]+,"closed_ns":[0-9]+,"sent":3,"received":3,"ended":"closed","error":null\}$'
expect_out '^\{"service":"one","connections":2,"refused":0,"unreachable":0,"sent":5,"received":5,"capped":\[\],"unlogged":0\}$'
check test "$(stat -c '%U %a' "$scratch/log.jsonl")" = 'proctor 600'
jail --service one=8080:127.0.0.1:"$echo_port" --service-log "$scratch/log.jsonl" -- true
expect_code 125
expect_err "option --service-log: create file '.*log.jsonl': File exists"

it 'has no other way out: ports of the host, other addresses, names'
jail --service one=8080:127.0.0.1:"$echo_port" -- bash -c "for to in 127.0.0.1/$count_port 127.0.0.1/$echo_port 127.0.0.1/81 192.0.2.1/80 ::1/8080; do
	(exec 3<>/dev/tcp/\$to) 2>/dev/null && echo \"reached \$to\"; done; true"
expect_no_out reached

it 'says of an endpoint that is not there that it is not, and goes on'
jail --json=1 --service gone=8080:unix:"$scratch/sockets/none" --service-log "$scratch/gone.jsonl" -- \
	sh -c 'echo x | ./endpoint ask 8080; exit 0'
expect_code 0
expect_out '"flags":\["service_unreachable:gone"\].*"services":\[\{"name":"gone","connections":0,"refused":0,"unreachable":1,'
check grep -q '"ended":"unreachable","error":"No such file or directory"' "$scratch/gone.jsonl"

it 'reaches an endpoint with the rights of the account, and not with those of root'
serve "$scratch/sockets/rooted" echo
chmod 600 "$scratch/sockets/rooted"
jail --json=1 --service rooted=8080:unix:"$scratch/sockets/rooted" --service-log "$scratch/rooted.jsonl" -- \
	sh -c 'echo x | ./endpoint ask 8080; exit 0'
check grep -q '"ended":"unreachable","error":"Permission denied"' "$scratch/rooted.jsonl"

it 'lets nobody have the port of a service'
jail --service one=8080:127.0.0.1:"$echo_port" -- python3 -c '
import socket
for host in "127.0.0.1", "0.0.0.0":
    for option in None, socket.SO_REUSEADDR, socket.SO_REUSEPORT:
        s = socket.socket()
        if option: s.setsockopt(socket.SOL_SOCKET, option, 1)
        try: s.bind((host, 8080)); print("bound", host, option)
        except OSError as e: pass
'
expect_no_out bound

# --- caps; a policy has them ---

policy() { # CAPS
	printf 'schema: 1\nname: caps\nservices:\n  - {name: api, listen: 8080, connect: "127.0.0.1:%s"%s}\nagent: {wall: 20s}\n' \
		"$1" "$2" >"$scratch/policy.yaml"
}

task=$e2e_root/tasks/c2c/row-softmax
# A whole attempt of an agent that runs SCRIPT, which finds the helper beside it; its folder is $attempt.
attempt_of() { # SCRIPT
	printf '#!/bin/sh\n%s\necho "no C" >softmax.c\n' "$1" >"$scratch/agent"
	chmod 755 "$scratch/agent"
	rm -rf "$scratch/run"
	run -t 120 proctor run --run "$scratch/run" --policy "$scratch/policy.yaml" --agent "scripted:$scratch/agent" "$task"
	attempt=$scratch/run/attempts/row-softmax-0001
}

# What bash can do alone: opens so many connections, keeps them, and says how many answer.
asks='ask() { exec 3<>/dev/tcp/127.0.0.1/8080 && echo "$1" >&3 && read -r line <&3 && echo "$line"; }'

it 'has services in a run: log, digest, flags and the names of what is weaker'
policy "$echo_port" ', total: 2'
attempt_of "bash -c '$asks; for i in 1 2 3 4; do (ask \$i); done' 2>/dev/null"
check test "$(cat "$attempt/agent.stdout")" = "$(printf '1\n2')"
check test "$(grep -c '"ended":"closed"\|"ended":"reset"' "$attempt/services.jsonl")" -eq 2
check test "$(grep -c '"ended":"total"' "$attempt/services.jsonl")" -eq 1
check grep -q '"capped":\["total"\]' "$attempt/services.jsonl"
sum=$(sha256sum <"$attempt/services.jsonl" | cut -d ' ' -f 1)
check grep -q "\"services\":\"$sum\"" "$attempt/record.json"
check grep -q "\"event\":\"attempt.agent\",.*\"services\":\"$sum\"" "$scratch/run/journal.jsonl"
check grep -q '"weaker":\["services:api"\]' "$attempt/record.json"
check grep -q '"how":"exited".*"flags":\["service_capped:api"\]' "$attempt/record.json"
check cmp "$scratch/policy.yaml" "$scratch/run/policy.yaml"

it 'caps the bytes that go out'
policy "$count_port" ', sent: 100000B'
attempt_of "bash -c 'exec 3<>/dev/tcp/127.0.0.1/8080; head -c 100000 /dev/zero >&3; head -c 400000 /dev/zero >&3' 2>/dev/null"
check grep -q '"ended":"sent"' "$attempt/services.jsonl"
check grep -q '"sent":100000,.*"capped":\["sent"\]' "$attempt/services.jsonl"
check grep -q 'service_capped:api' "$attempt/record.json"

it 'caps the bytes that come in'
policy "$pour_port" ', received: 1MiB'
attempt_of "bash -c 'exec 3<>/dev/tcp/127.0.0.1/8080; cat <&3 | wc -c' 2>/dev/null"
check test "$(cat "$attempt/agent.stdout")" -le 1048576
check grep -q '"received":1048576,.*"capped":\["received"\]' "$attempt/services.jsonl"

it 'caps connections at a time'
policy "$echo_port" ', connections: 2'
attempt_of "bash -c 'for i in 1 2 3 4; do eval \"exec 1\$i<>/dev/tcp/127.0.0.1/8080\"; done; sleep 0.3; for i in 1 2 3 4; do (eval \"echo \$i >&1\$i && read -r line <&1\$i && echo \\\$line\"); done' 2>/dev/null"
check test "$(cat "$attempt/agent.stdout")" = "$(printf '1\n2')"
check test "$(grep -c '"ended":"connections"' "$attempt/services.jsonl")" -eq 2

it 'ends what is idle'
policy "$echo_port" ', idle: 1s'
attempt_of "bash -c '$asks; ask early; sleep 2; echo late >&3; read -r line <&3 || echo over' 2>/dev/null"
check test "$(cat "$attempt/agent.stdout")" = "$(printf 'early\nover')"
check grep -q '"ended":"idle"' "$attempt/services.jsonl"

it 'is refused to builds and workers, with the way out'
for role in build worker; do
	printf 'schema: 1\nname: bad\n%s: {services: [{name: a, listen: 80, connect: "127.0.0.1:1"}]}\n' $role >"$scratch/bad.yaml"
	run proctor policy check "$scratch/bad.yaml"
	expect_code 3
	expect_err "bad.yaml:3: key 'services': a $role reaches nothing, and can not be given services: the agent alone can"
done

it 'is explained, checked, and told apart'
policy "$echo_port" ''
run proctor policy explain "$scratch/policy.yaml"
expect_out '^services    api: 127\.0\.0\.1:8080 in the jail leads to 127\.0\.0\.1:[0-9]+$'
expect_out '16 connections at a time, 10000 in all; bytes: 256MiB out, 256MiB in; idle: 5m$'
check test "$(grep -c '^services    none$' "$scratch/out")" -eq 3
run proctor policy check --json "$scratch/policy.yaml"
expect_out '"weaker":\["services:api"\]'
run proctor policy diff default "$scratch/policy.yaml"
expect_out '^services\.api +- .* weaker'

# --- those who mean harm ---

relays() { pgrep -xc proctor-relay; }
relay_fds() { find "/proc/$(pgrep -x proctor-relay | head -n 1)/fd" -mindepth 1 | wc -l; }
relay_rss() { sed -n 's/^VmRSS:[^0-9]*\([0-9]*\).*/\1/p' "/proc/$(pgrep -x proctor-relay | head -n 1)/status"; }

it 'has no more descriptors and memory after a flood, and still serves'
"$e2e_build/proctor" jail --put "$scratch/put" --service one=8080:127.0.0.1:"$echo_port" -- \
	sh -c 'echo x | ./endpoint ask 8080; sleep 1; ./endpoint many 8080 3000 >many; sleep 1; ./endpoint hold 8080 500; sleep 1; echo still | ./endpoint ask 8080; sleep 1' >"$scratch/flooded" 2>&1 &
client=$!
wait_for test -s "$scratch/flooded"
before=$(relay_fds)
wait_for grep -q still "$scratch/flooded"
sleep 0.2
check test "$(relay_fds)" -eq "$before"
check test "$(relay_rss)" -lt 65536
wait "$client"
check test "$(cat "$scratch/flooded")" = "$(printf 'x\n16\nstill')"

it 'holds no more for a reader that does not read than its buffers'
"$e2e_build/proctor" jail --put "$scratch/put" --service pour=8080:127.0.0.1:"$pour_port" --service deaf=81:127.0.0.1:"$deaf_port" -- \
	bash -c 'for i in 1 2 3 4 5 6 7 8; do exec {fd}<>/dev/tcp/127.0.0.1/8080; ./endpoint pour 81 100000000 & done; echo ready; sleep 2' >"$scratch/slow" 2>&1 &
client=$!
wait_for grep -q ready "$scratch/slow"
sleep 1
check test "$(relay_rss)" -lt 32768
wait "$client"

it 'keeps two jails with the same port apart'
serve tcp pour 6
"$e2e_build/proctor" jail --put "$scratch/put" --service one=8080:127.0.0.1:"$port" -- \
	sh -c 'for i in 1 2 3 4 5 6 7 8 9 10; do ./endpoint ask 8080 </dev/null; echo; sleep 0.05; done' >"$scratch/first" 2>&1 &
client=$!
jail --service one=8080:127.0.0.1:"$echo_port" -- \
	sh -c 'for i in 1 2 3 4 5 6 7 8 9 10; do echo mine | ./endpoint ask 8080; sleep 0.05; done'
wait "$client"
check test "$(sort -u "$scratch/out")" = mine
check test "$(sort -u "$scratch/first")" = pppppp

it 'leaves no relay when its jail is over, however that ends'
jail --wall 1s --service deaf=8080:127.0.0.1:"$deaf_port" -- sh -c './endpoint hold 8080 4; sleep 60'
expect_code 124
check test "$(relays)" -eq 0
it 'leaves none when proctor is killed'
"$e2e_build/proctor" jail --service deaf=8080:127.0.0.1:"$deaf_port" -- sleep 60 >/dev/null 2>&1 &
client=$!
has_relay() { [ "$(relays)" -eq 1 ]; }
no_relay() { [ "$(relays)" -eq 0 ]; }
wait_for has_relay
kill -9 "$client"
wait "$client" 2>/dev/null
wait_for no_relay
it 'ends the jail of a relay that is killed, as a failure of ours'
"$e2e_build/proctor" jail --service deaf=8080:127.0.0.1:"$deaf_port" -- sleep 60 >"$scratch/out" 2>"$scratch/err" &
client=$!
wait_for has_relay
kill -9 "$(pgrep -x proctor-relay)"
wait "$client"
code=$?
e2e_command='proctor jail whose relay is killed'
expect_code 125
expect_err 'the relay of the services was ended by signal 9'

it 'refuses options that make no sense'
for option in api api=0:127.0.0.1:1 api=80:localhost:1 api=80:192.0.2.1:80 API=80:127.0.0.1:1; do
	run proctor jail --service $option -- true
	expect_code 2
	expect_err 'option --service: '
done
run proctor jail --service-log "$scratch/never" -- true
expect_code 2
expect_err 'option --service-log: there is no --service to write about'

# Those that wait for ever were forked for a connection.
# shellcheck disable=SC2046 # words on purpose
kill $(pgrep -x endpoint)
wait
expect_nothing_left
