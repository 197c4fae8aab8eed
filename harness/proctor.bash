# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
#
# Completion of proctor's command line: it asks the program itself (--help), so that the two can not
# disagree.

_proctor() {
	local word=${COMP_WORDS[COMP_CWORD]} command=${COMP_WORDS[1]-} words=''

	COMPREPLY=()
	if [[ $COMP_CWORD -eq 1 ]]; then
		words=$("$1" --help 2>/dev/null | sed -n 's/^  \([a-z][a-z-]*\)  *.*/\1/p')
	elif [[ $word == -* && $command == policy && ${COMP_WORDS[2]-} == explain ]]; then
		words=$("$1" policy explain --help 2>/dev/null | sed -n 's/^  \(--[a-z][a-z-]*\).*/\1/p')
	elif [[ $word == -* ]]; then
		words=$("$1" "$command" --help 2>/dev/null | sed -n 's/^  \(--[a-z][a-z-]*\).*/\1/p')
	elif [[ $command == tasks && $COMP_CWORD -eq 2 ]]; then
		words='check list show'
	elif [[ $command == policy && $COMP_CWORD -eq 2 ]]; then
		words='check diff explain'
	fi
	[[ -z $words ]] || mapfile -t COMPREPLY < <(compgen -W "$words" -- "$word")
}

complete -o bashdefault -o default -F _proctor proctor
