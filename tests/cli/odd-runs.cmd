#needs python3
#needs jq
mkdir t && sample_archive t && snag analyze t --foi step -o t.snag --quiet >/dev/null
# A run of another version is replaced when that is asked for, and hands its labels on.
snag analyze t --foi step -o old.snag --quiet >/dev/null; snag label old.snag '#1-7=normal' '#0-3=abnormal' --quiet; snag label old.snag '#0-3=clear' --quiet; python3 -c "import sqlite3; d = sqlite3.connect('old.snag/run.db'); d.execute(\"UPDATE meta SET value = 1 WHERE key = 'format'\"); d.execute('DROP VIEW labelled'); d.execute('DROP TABLE retrain'); d.commit()"; cp -r old.snag lost.snag; cp -r old.snag view.snag
snag list old.snag 2>&1 | sed 's/reads [0-9]*/reads N/'
snag analyze nowhere.otf2 --force -o old.snag; snag analyze t --foi step -o old.snag; snag list old.snag 2>&1 | sed 's/reads [0-9]*/reads N/' | cut -c1-60
snag analyze t --foi step --force -o old.snag --quiet | grep label; snag list old.snag --label normal --executions --json | jq -c '[.id, .label]'

# Not where its labels would be lost, or are not what they seem; nor what no run is.
python3 -c "import sqlite3; d = sqlite3.connect('lost.snag/run.db'); d.execute('DROP TABLE label'); d.commit(); d = sqlite3.connect('view.snag/run.db'); d.execute('ALTER TABLE label RENAME TO l'); d.execute('CREATE VIEW label AS SELECT * FROM l'); d.commit()"; mkdir foreign && python3 -c "import sqlite3; d = sqlite3.connect('foreign/run.db'); d.execute('CREATE TABLE label (id)'); d.commit()" && touch foreign/mine && find lost.snag view.snag foreign -type f ! -name 'run.db-*' | sort | xargs sha256sum >before
snag analyze t --foi step --force -o lost.snag
snag analyze t --foi step --force -o view.snag
snag analyze t --foi step --force -o foreign
find lost.snag view.snag foreign -type f ! -name 'run.db-*' | sort | xargs sha256sum | cmp - before; rm -r lost.snag view.snag foreign before; ls -A | grep old

# A run without a function of interest.
cp -r t.snag none.snag && python3 -c "import sqlite3; d = sqlite3.connect('none.snag/run.db'); d.execute('DELETE FROM foi'); d.commit()" && snag report none.snag -o bad.html
ls
