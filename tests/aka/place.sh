# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=sh
# For cheats.sh and beside.sh: what they need, namespaces of their own, and on a machine with GPUs what jails see of it.
#
# Root, and AKA_ROOT. Where python3 is one that has PyTorch and Triton outside of /usr, jails see its folders by a site.conf
# of this script's own mount namespace, and run their commands with it; AKA_FOLDERS names more folders.
set -eu
if [ -z "${AKA_ROOT:-}" ]; then
	echo '1..0 # SKIP AKA_ROOT is not set'
	exit 0
fi
[ "$(id -u)" -eq 0 ] || { echo '1..0 # SKIP needs root' && exit 0; }
python3 -c 'import yaml' 2>/dev/null || { echo '1..0 # SKIP python3-yaml is not there' && exit 0; }
[ -n "${AKA_INSIDE:-}" ] || AKA_INSIDE=yes exec unshare --pid --fork --kill-child --mount-proc -- "$0" "$@"
unset AKA_INSIDE
folders=$(python3 -c 'import sys, os
names = {sys.prefix, sys.base_prefix, os.path.dirname(os.path.realpath(sys.executable))}
for module in ("torch", "triton"):
    names.add(os.path.dirname(__import__(module).__path__[0]))
print("\n".join(sorted(name for name in names if not name.startswith("/usr/") and name != "/usr")))' 2>/dev/null) || folders=''
if [ -n "$folders" ]; then
	AKA_PYTHON=$(command -v python3)
	export AKA_PYTHON
fi
if [ -n "$folders${AKA_FOLDERS:-}" ]; then
	mkdir -p /etc/proctor
	mount -t tmpfs -o mode=755 none /etc/proctor
	{
		for folder in $folders ${AKA_FOLDERS:-}; do
			echo "root.folder $folder"
		done
		# With a site.conf, jails have the GPUs that it lists and no other: all of them, by their places.
		seq 0 7 | sed 's/.*/gpu & &/'
	} >/etc/proctor/site.conf
	chmod 644 /etc/proctor/site.conf
fi
