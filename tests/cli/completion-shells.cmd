#needs zsh
#needs fish
snag completion zsh >_snag && zsh -n _snag && echo good
snag completion fish >snag.fish && fish -n snag.fish && echo good
HOME=$PWD fish -c 'source snag.fish; complete -C "snag exp"' | cut -f1
HOME=$PWD fish -c 'source snag.fish; complete -C "snag list r --verdict "' | cut -f1 | sort
HOME=$PWD fish -c 'source snag.fish; complete -C "snag analyze r --fo"' | cut -f1 | sort
