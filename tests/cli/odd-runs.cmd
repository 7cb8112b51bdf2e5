#needs python3
mkdir t && sample_archive t && snag analyze t --foi step -o t.snag --quiet >/dev/null
# Labels of a run of another version cannot be kept: it is said before anything is read.
snag analyze t --foi step -o old.snag --quiet >/dev/null; python3 -c "import sqlite3; d = sqlite3.connect('old.snag/run.db'); d.execute(\"UPDATE meta SET value = 1 WHERE key = 'format'\"); d.commit()"
snag analyze nowhere.otf2 --force -o old.snag 2>&1 | sed 's/reads [0-9]*/reads N/'
ls -A | grep old

# A run without a function of interest.
cp -r t.snag none.snag && python3 -c "import sqlite3; d = sqlite3.connect('none.snag/run.db'); d.execute('DELETE FROM foi'); d.commit()" && snag report none.snag -o bad.html
ls
