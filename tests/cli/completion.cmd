for s in bash zsh fish; do snag completion $s >$s; wc -l <$s | sed 's/^ *[1-9][0-9]*/lines/'; done
bash -n bash && echo good

# What bash offers: complete WORD... for the last word.
printf '. ./bash\ncomplete_words() { COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); COMPREPLY=(); _snag; echo "${COMPREPLY[@]}"; }\ncomplete_words "$@"\n' >ask.sh
bash ask.sh snag ''
bash ask.sh snag e
bash ask.sh snag help ex
bash ask.sh snag completion ''
bash ask.sh snag list r --ver
bash ask.sh snag list r --verdict ''
bash ask.sh snag analyze r --detector l
bash ask.sh snag query r --
touch run.snag && bash ask.sh snag list run
bash -c '. ./bash; complete -p snag'
