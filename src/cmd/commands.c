/* The one table of commands. */
#include "cmd/commands.h"

#include "cmd/options.h"

#define MAX_ARGS 1000000

static const struct command commands[] = {
    {"record", "[options] PROGRAM [ARGUMENT ...]", "run a program, and record a trace of it", 0,
     MAX_ARGS, cmd_record,
     "Runs a program as it is under the tracer, which writes an OTF2 archive: all calls of\n"
     "MPI, messages and collectives, and the calls of the program's own functions: all of\n"
     "them where it is in Python, or was compiled with -finstrument-functions, else those\n"
     "that are on the stack when MPI is called. At the end, snag says on standard error\n"
     "what it could not record. Standard output is the program's alone. Programs without\n"
     "MPI are recorded if they are in Python, were compiled so, or with --sample. The exit\n"
     "status is the program's, or 128 and the signal that ended it; 1 where that is 0 and\n"
     "there is no trace. Calls that could not be recorded, because a disk was full, for\n"
     "example, are counted and reported; snag analyze ends with 3 then.\n\n"
     "However the program ends, even by a signal, what it did until then is in the trace.\n"
     "Where snag record itself was killed, --finish makes the trace, or snag analyze does\n"
     "when it meets it.\n\n"
     "With --sample threads that compute are interrupted so many times in a second of their\n"
     "processor time, and the functions on their stacks recorded, also those that call no\n"
     "MPI and are called by none that does. Their begins and ends are known to within two\n"
     "samples. The signal is SIGURG; a program that handles it itself is not sampled.\n\n"
     "Calls of MPI are named with where they are called, MPI_Wait@halo.c:45 in a program\n"
     "with debug information, MPI_Wait@halo.py:45 in Python, else MPI_Wait@exchange+0x1f:\n"
     "each such place is a function of its own in trees, reasons and the page.\n\n"
     "All calls are recorded, whatever that costs, and the cost is reported. With\n"
     "--overhead SHARE, once the cost is above SHARE, short and frequent functions are no\n"
     "longer recorded; the trace says which, from when on, and how many calls. Messages and\n"
     "collectives are always recorded.\n\n"
     "Without --output the trace is in snag-trace, snag-trace-2 and so on, the first that\n"
     "is free. With --watch the page of snag watch opens before the program starts, and\n"
     "stays after it until it is interrupted; --once ends it with the program. Ranks on\n"
     "other machines need the environment of this one: of Open MPI, mpirun -x LD_PRELOAD -x\n"
     "SNAG_TRACER_DIR.\n\n"
     "With --live, snag record replaces itself by PROGRAM (so it may be started by srun or\n"
     "mpirun), and the program sends its events to the snag ad or snag watch of its node.",
     "  snag record -o run1 -- mpirun -n 4 ./app input\n"
     "  snag analyze run1\n"
     "  snag record -o run2 -- mpirun -n 4 python3 program.py\n"
     "  snag record --watch -- mpirun -n 4 ./app input\n"
     "  snag record --watch --foi loop -- mpirun -n 4 ./app input\n"
     "  snag record --finish run1\n"
     "  srun snag record --live /tmp/job/socket -- ./app input"},
    {"info", "TRACE ... [options]", "what is in a trace, and which functions are worth a look",
     1, MAX_ARGS, cmd_info,
     "Reads a trace and prints its locations, its regions with calls and times, what was\n"
     "wrong with it, and which regions would make good functions of interest and why.\n"
     "Nothing is written.\n\n"
     "A trace of Chrome JSON may be a file per rank: name all of them, or their directory.",
     "  snag info traces.otf2\n"
     "  snag info traces.otf2 --json | jq .quality\n"
     "  snag info profile/rank*.json.gz"},
    {"analyze", "TRACE ... [options]", "find the strange executions of a function", 1, MAX_ARGS,
     cmd_analyze,
     "Reads a trace, takes every outermost execution of the functions of interest as a\n"
     "tree, and ranks the trees by how strange they are: too long for what they did, made\n"
     "of parts that are typically absent, or lacking typical ones. Prints the strangest\n"
     "with a reason each and writes a run, a directory that the other commands read.\n\n"
     "Without --foi the best suggestion of snag info is taken. Where no function is good,\n"
     "as in a trace of MPI alone, that is a loop of the program, found by what repeats:\n"
     "its iterations are the executions. --foi loop takes the best loop, whatever else\n"
     "there is. Without --output the run is named after the trace, in the current\n"
     "directory. --force replaces a run, of another version of snag too, and hands its\n"
     "labels on. A trace of Chrome JSON may be a file per rank: name all of them, or their\n"
     "directory.",
     "  snag analyze traces.otf2\n"
     "  snag analyze traces.otf2 --foi PairEAM::compute -o lammps.snag\n"
     "  snag analyze 'synth:300*step(solve@1ms send);slow=solve/97/5' --foi step\n"
     "  mpirun -n 8 snag analyze --together traces.otf2 -o lammps.snag"},
    {"list", "RUN [options]",
     "incidents (executions that were strange together), or executions by score", 1, 1,
     cmd_list,
     "Prints how many executions of each function of interest are anomalies, what these\n"
     "cost the run and which is the worst; then the incidents: executions that were strange\n"
     "together, because they waited for each other, are one. Those that lost most come\n"
     "first. Only incidents that are anomalies are listed (--all: all of them); a last line\n"
     "says how many other executions there are, which may be by chance or lost too little\n"
     "to count.\n\n"
     "incident: its number in the run, from 1; where it has none, only a label made it one.\n\n"
     "lost: how much longer its executions took than typical ones (with the same calls on\n"
     "the same rank), where that is more than noise, summed over all ranks; open: an\n"
     "execution does not end, and what it lost is not known.\n\n"
     "cost: by how much the run, replayed without that lost time, is shorter; empty: not\n"
     "known. 29.2 to 36.4 ms: at least 29.2 without what the cause alone lost, 36.4 without\n"
     "all that was lost at that time, which may have other causes, too.\n\n"
     "when: how long after the begin of the run the first of its executions began.\n\n"
     "head: the execution that delayed the others: #2-59 is number 59 on rank 2, both from\n"
     "0; #2.1-59 is on its thread 1. ranks: on how many ranks the incident is.\n\n"
     "cause, or why where normal incidents are listed, too: what is strangest about its\n"
     "head: a call path and how much more or less than typical its calls took, or calls\n"
     "that are too many or missing; snag show HEAD says all.\n\n"
     "score: how strange an execution is, in nats; higher is stranger. 3 nats is about one\n"
     "execution in twenty. Scores order the executions of one run, nothing else.\n\n"
     "typical: the median of calls on the same path with the same calls inside, or of\n"
     "executions with the same calls, on the same rank.\n\n"
     "by chance in 1 of N runs: if nothing were wrong, 1 of N such runs would have an\n"
     "execution that takes this long.\n\n"
     "group: incidents with the same cause, as their heads are strange in the same way, at\n"
     "any time and on any rank; how often, where, and what each cost by itself, summed; a\n"
     "range where their causes alone cost less. --groups lists all anomalies by the way in\n"
     "which they are strange, also those that only waited. snag label takes\n"
     "group=N=abnormal.\n\n"
     "With --executions, single executions, the strangest first, with a reason each; --by\n"
     "lost puts first those that lost most time, --by cost those that cost the run most.\n"
     "With --json, one object per line: executions, with --incidents incidents, with\n"
     "--groups groups.",
     "  snag list lammps.snag --top 25\n"
     "  snag list lammps.snag --incidents --json\n"
     "  snag list lammps.snag --all --verdict anomaly --json"},
    {"ranks", "RUN [options]", "who is slow again and again, and who waits for it", 1, 1,
     cmd_ranks,
     "Compares the ranks of a run in what they do the same: the times of their calls on\n"
     "each call path, execution by execution. A rank is slow when its own work takes\n"
     "longer than that of its peers, imbalanced when it has more calls or more data.\n"
     "waits: it waits longer than its peers; the table says for whom. inconclusive:\n"
     "perhaps slow. Two to four ranks are compared by the own work of their executions,\n"
     "eight at least.\n\n"
     "costs the run 29.2 to 36.4 ms: the replayed run is 29.2 ms shorter without what the\n"
     "rank is slow by at least, 36.4 ms without all that it may be slow by.",
     "  snag ranks lammps.snag\n"
     "  snag ranks lammps.snag --by thread --json | jq '.places[].verdict'"},
    {"compare", "BASE NEW ... | --base BASE ... NEW ... [options]",
     "what changed between runs, and a gate for it", 1, MAX_ARGS, cmd_compare,
     "Compares how long the executions of a function took, by call path: what became\n"
     "slower, what is new, gone, or called from elsewhere, which kind of execution it is\n"
     "in, and on which rank. What the paths contribute adds up to the whole change.\n\n"
     "With several runs on each side, slower and faster mean: the change is larger than the\n"
     "spread between runs. same: it is not larger than --least. inconclusive: more runs are\n"
     "needed. Three base runs are few, five are good. With one run on each side that spread\n"
     "is not known: the spread within one run is used instead, and less than 5 % counts as\n"
     "none.\n\n"
     "Each side may be a run, a trace, which is analysed first, or a history (see snag\n"
     "history): as BASE, its last 10 runs, or those of --last and --tag; as NEW, its last\n"
     "run. A history alone: its last run is compared with those before.\n\n"
     "With --fail-on the exit status is 4 when the new side is significantly slower than\n"
     "the limit allows, and only then.",
     "  snag compare monday.snag tuesday.snag\n"
     "  snag compare --base nightly.db --last 10 new.snag --fail-on 5%\n"
     "  snag compare -b b1.snag -b b2.snag -b b3.snag new.snag --fail-on 5%\n"
     "  snag compare b.snag n.snag --fail-on 'solve > MPI_Wait:2ms' --format junit"},
    {"report", "RUN|HISTORY | BASE NEW ... | --base BASE ... NEW ... [options]",
     "what was found, in one file to send", 1, MAX_ARGS, cmd_report,
     "Writes one HTML file that needs no server and no network: it opens from a mail, and\n"
     "prints. Of a run it has the headline, the strangest executions with their reasons,\n"
     "what they cost, their trees and the timeline around them, the ranks, the quality of\n"
     "the trace, versions and command lines. Of two or more runs it has what changed (see\n"
     "snag compare), and what is strange in the new one; of a history its runs, where they\n"
     "changed, and the last against those before it. It is smaller than 2 MB, whatever the\n"
     "run. Where scripts are not run, as in the preview of a mail, text and tables are\n"
     "there, drawings are not.\n\n"
     "A trace is analysed for it. What a report says of functions, hosts and files comes\n"
     "from the trace: look at it before it goes to others.",
     "  snag report lammps.snag -o report.html\n"
     "  snag report monday.snag tuesday.snag -o tuesday.html\n"
     "  snag report --base nightly.db new.snag --last 10\n"
     "  snag report nightly.db -o nightly.html"},
    {"history", "add HISTORY RUN ... | list|show|prune HISTORY [options]",
     "keep what runs can be compared by, and see when it changed", 2, MAX_ARGS, cmd_history,
     "A history is a file with some kilobytes of each run: how long the calls on each path\n"
     "took, not the calls. add keeps runs, with tags that say what they were: those of\n"
     "--tag, and commit, branch, build, job, partition, cluster and nodes as CI and batch\n"
     "systems have them in the environment. list prints them. show prints how long\n"
     "executions took from run to run, by call path, and where that changed: by more than\n"
     "the spread between runs (E-divisive means, permutation tests, by chance in 1 of 100\n"
     "series), and by at least 1 % of the whole. With --format csv it is a table that other\n"
     "tools for series of benchmarks read. prune forgets runs. In place of a file the URL\n"
     "of a PostgreSQL database may stand (docs/ postgresql.md).",
     "  snag history add nightly.db run.snag --tag commit=1a2b3c\n"
     "  snag history show nightly.db\n"
     "  snag history show nightly.db --path 'step > solve' --format csv\n"
     "  snag history prune nightly.db --keep 200"},
    {"show", "RUN ID [options]",
     "one execution: where its time went, what is not typical in it", 2, 2, cmd_show,
     "Prints what an execution took on each call path and what is typical for calls of the\n"
     "same path and subtree, which calls are too many or missing, whom it waited for, from\n"
     "rank to rank (of an anomaly that lost time: the cause), the tree of its call paths,\n"
     "and the anomalies elsewhere at the same time.\n\n"
     "With --subtrees also those parts of the tree that make it different from the\n"
     "executions most like it, by the embedding stack2vec: importance 0.69 is twice as much\n"
     "of a subtree as they have, -0.69 half as much.\n\n"
     "An execution is written #RANK-INDEX, with #RANK.THREAD-INDEX off the master thread\n"
     "and the function in front, as in compute#4-40, when a run has several functions of\n"
     "interest.",
     "  snag show lammps.snag '#1-40'\n"
     "  snag show lammps.snag '#1-40' --subtrees"},
    {"what-if", "RUN [options]", "by how much the run would be shorter without some excess", 1,
     1, cmd_what_if,
     "Replays the run: each rank computes as long as it did, and waits for messages and\n"
     "collectives are computed again. Then the excess (what calls took beyond what is\n"
     "typical) of what --without names is taken out, and the run is replayed once more.\n"
     "Prints by how much the run is shorter, and which ranks wait less.\n\n"
     "Of an execution, of an incident (incident=3, incident=3,5 or 1-31) and of anomalies,\n"
     "the excess is the time that they lost; repeats are all incidents that come back, or\n"
     "whose heads are of one group (snag list --groups), at least four. Costs do not add\n"
     "up: when two delays overlap, removing one of them may save nothing. With rank=N all\n"
     "calls of the rank take what is typical on all ranks; with path= or region= the calls\n"
     "there, and what they call, take what is typical there. Only calls in executions of\n"
     "the function of interest have an excess. Waiting is never taken out. Threads and GPU\n"
     "streams without messages of their own are not replayed.",
     "  snag what-if lammps.snag --without anomalies\n"
     "  snag what-if lammps.snag --without incident=1,3\n"
     "  snag what-if lammps.snag --without '#1-40' --without rank=3 --json\n"
     "  snag what-if lammps.snag --without path='step > pair_forces'"},
    {"label", "RUN [ID=LABEL ...] [options]", "mark what is abnormal and what is normal", 1,
     MAX_ARGS, cmd_label,
     "Keeps what a person decides about executions: abnormal, normal, or clear to take a\n"
     "label back. group=3=normal labels all executions of a group (snag list RUN --groups).\n"
     "All labels are taken or, if one of them is wrong, none. Without labels it prints\n"
     "those of the run. They are kept when the trace is analysed again into the same run.",
     "  snag label lammps.snag '#1-40=abnormal' '#0-0=normal'\n"
     "  snag label lammps.snag group=3=normal\n"
     "  snag label lammps.snag --from labels.csv"},
    {"next", "RUN [options]", "which executions to label next", 1, 1, cmd_next,
     "Prints the strangest executions that are not labelled yet, leaving out those that\n"
     "look like one that is asked about already.",
     "  snag next lammps.snag --top 5"},
    {"retrain", "RUN [options]", "learn from the labels: a new ranking, and what it changed", 1,
     1, cmd_retrain,
     "Makes the scores and verdicts of a run again from the detector's scores and all\n"
     "labels, and prints whose verdict changed. Every retrain is kept in the run and can be\n"
     "undone.",
     "  snag retrain lammps.snag\n"
     "  snag retrain lammps.snag --undo\n"
     "  snag retrain lammps.snag --history"},
    {"model", "save RUN ...|SERVER FILE | info FILE [options]",
     "keep what was learnt for the next run", 2, MAX_ARGS, cmd_model,
     "save writes to a file what is typical of a function of interest, the calibration of\n"
     "its scores, and what was learnt from labels: by it snag score judges the executions\n"
     "of another trace of the program. Runs of the detectors residual and ocsvm (on the\n"
     "features residual or stack2vec, whose embedding is kept too) have such a model. info\n"
     "prints what is in such a file.\n\n"
     "What is kept is what holds in the run: the labels of the newest retrain that was not\n"
     "undone, or none; with --learner, what that learns from all labels. What --threshold\n"
     "and --false-alarms said is not kept: say it to snag score, too. Of several runs, or of\n"
     "those in a history (see snag history; --tag and --last choose), the model has what was\n"
     "typical in any of them, without labels: what differs from run to run is not strange\n"
     "then. A history keeps sums, not executions: those of its runs that are still where they\n"
     "were added from are learnt from, the others counted.\n\n"
     "Of a parameter server, by its address or its snapshot, it is what all its clients\n"
     "know of calls; snag ps --load begins with that.",
     "  snag model save lammps.snag lammps.model\n"
     "  snag model save monday.snag tuesday.snag lammps.model\n"
     "  snag model info lammps.model"},
    {"score", "TRACE ... --model FILE [options]", "judge a trace by the model of another run",
     1, MAX_ARGS, cmd_score,
     "As snag analyze, but executions are compared with those of the run that the model was\n"
     "made from, and with the labels of a person: the same execution gets the same score in\n"
     "every trace. Reports what the model has never seen.",
     "  snag score traces.otf2 --model lammps.model -o today.snag"},
    {"evaluate", "RUN --labels FILE [options]", "how well the scores agree with labels", 1, 1,
     cmd_evaluate,
     "Compares the scores of a run with a CSV file of labels, columns id and label\n"
     "(abnormal or normal): areas under the ROC and the precision-recall curve, and\n"
     "precision and recall of the verdicts.",
     "  snag evaluate lammps.snag --labels labels.csv --json"},
    {"project", "RUN [options]", "executions as points on a plane, near where they are alike",
     1, 1, cmd_project,
     "Computes a place on a plane for every execution of a function of interest and writes\n"
     "it to the run, table projection, in place of what the method had there. Equal\n"
     "executions get equal places. On a terminal the progress and the divergence so far are\n"
     "shown; when interrupted, the run stays as it was.",
     "  snag project lammps.snag\n"
     "  snag project lammps.snag --method tsne --perplexity 50 --features subtrees\n"
     "  snag query lammps.snag 'SELECT tree, x, y FROM projection'"},
    {"serve", "RUN|STORE|HISTORY | BASE NEW ... [options]",
     "look at a run in a browser: the page, and its HTTP API", 1, MAX_ARGS, cmd_serve,
     "Prints the URL of a page that shows the run, takes labels and learns from them, and\n"
     "serves it until it is interrupted. Only this machine reaches it, unless --listen\n"
     "names another address; then a random token, which is part of the URL, is asked for.\n"
     "From another machine, a tunnel is safer: --print-tunnel prints the command for it.\n"
     "For a store of provenance it shows what snag watch showed, as far as it was kept.\n\n"
     "With several runs it shows what snag compare shows, with the same arguments: all\n"
     "executions of both sides, call paths by what changed, and from there the executions\n"
     "behind it. Up to 4 run directories of each side, the last ones, have their own pages\n"
     "beside it. Of a history it shows how long executions took from run to run, and any\n"
     "run against those before it.",
     "  snag serve lammps.snag\n"
     "  snag serve lammps.snag --port 8000 --print-tunnel\n"
     "  snag serve monday.snag tuesday.snag\n"
     "  snag serve --base nightly.db --last 10 new.snag\n"
     "  snag serve nightly.db"},
    {"query", "RUN|STORE|HISTORY|SERVER SQL [options]",
     "SQL over a run's database, a store of provenance, a history or a parameter server", 2, 2,
     cmd_query,
     "Answers one SELECT over run.db, whose tables snag man formats describes: meta,\n"
     "location, region, comm, quality, foi, execution, model, embedding, projection; or\n"
     "over a store of provenance, whose views are anomalies, normalexecs, metadata,\n"
     "func_stats, counter_stats, ad_model, jobs, runs; or over a history, whose tables are\n"
     "run, tag and digest; or over what a parameter server knows, by its address or its\n"
     "snapshot, whose tables are server, functions and statistics. The page of snag serve\n"
     "takes the same SQL of a run, in its view Query.",
     "  snag query lammps.snag 'SELECT rank, max(score) FROM execution GROUP BY rank'\n"
     "  snag query lammps.snag 'SELECT * FROM quality' --json\n"
     "  snag query nightly.db 'SELECT run, foi, median_ns FROM digest ORDER BY run'"},
    {"export", "RUN|STORE [options]",
     "executions or calls as CSV, JSON, Parquet or Chrome JSON", 1, 1, cmd_export,
     "Writes the executions of a run, or all its calls, in a format other tools read.\n"
     "Chrome trace JSON opens in Perfetto and chrome://tracing; messages are arrows there.\n"
     "Parquet is for DuckDB, Polars, pandas; into a directory (-o DIR/) all tables are\n"
     "written: executions, calls and messages, or the one of --what. Of several processes\n"
     "(--together) each writes its own locations: calls-0.parquet, calls-1.parquet. Of a\n"
     "store of provenance it writes the anomalies, or the normal executions that were kept.",
     "  snag export lammps.snag --format csv > executions.csv\n"
     "  snag export lammps.snag --what calls --format chrome -o calls.json\n"
     "  snag export lammps.snag --format parquet -o tables/\n"
     "  mpirun -n 8 snag export --together lammps.snag --format parquet -o tables/"},
    {"provdb",
     "filter|top|compare|reduction|backup|prune STORE [CONDITION|STORE|DIR] [options]",
     "strange calls that were kept while programs ran", 2, 3, cmd_provdb,
     "filter prints the records that meet a condition, all of each as JSON with the field\n"
     "names of Chimbuko, a line each. A condition is one of SQL over the columns pid, rid,\n"
     "tid, event_id, fid, func, entry, exit, runtime_total, runtime_exclusive, io_step, p,\n"
     "outlier_score, outlier_severity, model_version, is_gpu_event, is_pruned, final_score,\n"
     "final_p, cost_ns, cost_is_bound, run, in microseconds where they are times and their\n"
     "names have no unit. top prints those that lost the most time, or cost the program\n"
     "most; with --incidents a delay that went from rank to rank is one line, with the call\n"
     "that it goes back to. compare puts the functions of two stores side by side, say of\n"
     "two runs of a program: anomalies, time lost in them, and how many of all calls they\n"
     "are, over all runs that a store holds. Records that the final model would not have\n"
     "kept are left out of both. reduction says how many bytes of trace its runs read, how\n"
     "many it has, and how many times less that is.\n\n"
     "backup copies STORE, which may be written meanwhile, to a new directory, and marks in\n"
     "STORE the runs that the backup holds completely. prune removes only marked runs, by\n"
     "age (--keep-days) or until the store fits (--keep-mib); exit status 1: more would\n"
     "have to be removed, but they have no backup.\n\n"
     "STORE is a directory, sqlite:DIRECTORY, or postgresql://..., of which a backup is a\n"
     "directory, too. snag query and snag export take one too.",
     "  snag provdb filter store 'rid = 3 AND p < 1e-9' | jq .call_stack\n"
     "  snag provdb top store --by score --top 20\n"
     "  snag provdb compare monday tuesday\n"
     "  snag provdb backup store /archive/2026-11-23\n"
     "  snag provdb prune store --keep-days 30"},
    {"ad", "SOURCE [options]", "find strange calls while a program runs", 1, 1, cmd_ad,
     "Reads the events of a program while it runs, step by step, learns how long the calls\n"
     "of each region take, and judges them at the end of the step in which they ended.\n"
     "Memory does not grow with the length of the run. Ends with the program, or at SIGTERM\n"
     "or SIGINT after the step it is at.\n\n"
     "With --foi loop the iterations of the program's loop are executions, from when it is\n"
     "found; loop@FUNCTION is that of a function.\n\n"
     "A finished trace is replayed as fast as it goes, or with --speed. With --ps the\n"
     "instances of a job share what they learn.",
     "  snag ad replay:traces.otf2 --step 0.5\n"
     "  snag ad traces.otf2 --rank 3 --ps tcp://127.0.0.1:5559"},
    {"watch", "SOURCE|STORE [options]",
     "look at strange calls in a browser while a program runs", 0, 1, cmd_watch,
     "Prints the URL of a page, then does what snag ad does, and shows it as it goes: a\n"
     "scatter plot, the history of all ranks, ranks and regions by what was strange in\n"
     "them, the models that judge, and the strange calls themselves. When the program is\n"
     "over the page stays, until SIGINT or SIGTERM; --once ends with the program. Who\n"
     "reaches the page: see snag serve.\n\n"
     "Of a job whose ranks are read by several snag ad it is the page of the whole job: of\n"
     "the store that they write, and with --server of what their parameter server knows;\n"
     "either will do.",
     "  snag watch replay:traces.otf2 --speed 10\n"
     "  snag watch traces.otf2 --port 8000 --once"},
    {"ps", "[options]", "a parameter server: one model for all instances of a job", 0, 0,
     cmd_ps,
     "Merges what the instances of a job know of the durations of their calls and sends the\n"
     "whole model back to them, until SIGTERM or SIGINT. Prints the address to connect to\n"
     "first, and what was done last. What a snapshot has is not lost when the server or its\n"
     "machine dies: started again, it goes on there, and its clients send what it has not.\n"
     "For jobs with many instances servers make a tree: one for some tens of them, below\n"
     "(--upstream) one for some tens of these. What is known at its top is the same as with\n"
     "one server for all.",
     "  snag ps --listen tcp://127.0.0.1:5559 --snapshot job.ps\n"
     "  snag ps --listen 'tcp://*:5559' --curve-key job.key\n"
     "  snag ps --load job.ps --frozen\n"
     "  snag ps --upstream tcp://127.0.0.1:5559 --snapshot rack7.ps"},
    {"sim", "ADDRESS|--tree LEVELSxFAN [options]", "load parameter servers as many ranks would",
     0, 1, cmd_sim,
     "Plays the ranks of a job to a running snag ps, in one process, and prints how many\n"
     "requests it answered and how soon. The ranks share a few connections; to the server\n"
     "each is a client. With --tree it plays them to a tree of servers of its own, to\n"
     "choose how deep and how wide one is to be: 3x32 is a server, 32 below it, and the\n"
     "ranks below these.",
     "  snag sim tcp://127.0.0.1:5559 --ranks 4096 --rate 2 --seconds 10\n"
     "  snag sim --tree 3x32 --ranks 1024"},
    {0},
};

const struct command *command_list(void)
{
    return commands;
}
