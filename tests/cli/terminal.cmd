# Names that would do something to a terminal: ESC, controls above 0x7f, a mark that turns text round, bytes that are no UTF-8.
printf '[{"ph":"M","name":"thread_name","pid":0,"tid":0,"args":{"name":"th\xc2\x9b31mread\\u001b[0m"}},' >t.json
for i in $(seq 40); do printf '{"ph":"X","name":"st\xc2\x9b31mep\\u001b]0;x\\u0007","ts":%d,"dur":%d,"pid":0,"tid":0},{"ph":"X","name":"in\xe2\x80\xaener\x9b2J","ts":%d,"dur":%d,"pid":0,"tid":0},' $((i * 100)) $((50 + i / 40 * 45)) $((i * 100 + 5)) $((20 + i / 40 * 45)); done >>t.json
printf '{"ph":"X","name":"end","ts":9000,"dur":1,"pid":0,"tid":0}]' >>t.json
printf '%s\n' "LC_ALL=C grep -ac -e \$'\\x1b' -e \$'\\xc2[\\x80-\\x9f]' -e \$'\\xe2\\x80[\\x8e\\x8f\\xa8-\\xae]' -e \$'\\xe2\\x81[\\xa6-\\xa9]' -e \$'[^\\xc2-\\xef\\x80-\\xbf][\\x80-\\x9f]'" >harm.sh; cat harm.sh; bash harm.sh <t.json
snag info t.json | bash harm.sh
snag info t.json | grep -c '?'
snag info t.json --json | bash harm.sh
snag analyze t.json --foi 'st' -o r.snag 2>&1 | bash harm.sh
snag list r.snag --all | bash harm.sh
snag show r.snag '#0-39' | bash harm.sh
snag show r.snag '#0-39' --json | bash harm.sh
snag list r.snag --all --json | bash harm.sh
snag next r.snag | bash harm.sh
snag label r.snag '#0-1=normal' --author "$(printf 'me\033[2J\302\233')" && snag label r.snag | bash harm.sh
snag export r.snag --what calls --format csv | bash harm.sh
snag export r.snag --what calls --format json | bash harm.sh
snag export r.snag --what calls --format chrome | bash harm.sh
snag export r.snag --what executions --format json | bash harm.sh
snag query r.snag "SELECT name, 1 AS \"$(printf 'c\033[31m\302\233ol')\" FROM region" | bash harm.sh
snag query r.snag "SELECT name, 1 AS \"$(printf 'c\033[31m\302\233ol')\" FROM region" --format csv | bash harm.sh
snag query r.snag "SELECT name, 1 AS \"$(printf 'c\033[31m\302\233ol')\" FROM region" --json | bash harm.sh
snag query r.snag "SELECT * FROM \"$(printf 'no\033[31m\302\233')\"" 2>&1 | bash harm.sh
snag ad t.json --foi st 2>&1 | bash harm.sh
snag list "$(printf 'no\033[31m\302\233')" 2>&1 | bash harm.sh
sed 's/"in/"out/g' t.json >other.json; snag analyze other.json --foi 'st' -o other.snag 2>&1 | bash harm.sh
for format in text markdown junit json; do snag compare r.snag other.snag --all --format $format | bash harm.sh; done
snag compare r.snag other.snag | grep '?' >/dev/null && echo shown
snag what-if r.snag --without "$(printf 'region=in\342\200\256\033')" 2>&1 | bash harm.sh
snag ranks r.snag --all | bash harm.sh
snag list r.snag --incidents --json | bash harm.sh
