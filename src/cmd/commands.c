/* The one table of commands. */
#include "cmd/commands.h"

#include "cmd/options.h"

#define MAX_ARGS 1000000

static const struct command commands[] = {
    {"record", "[options] PROGRAM [ARGUMENT ...]", "run a program, and record a trace of it", 0,
     MAX_ARGS, cmd_record,
     "Runs a program as it is under the tracer, which writes an OTF2 archive: all calls of "
     "MPI,\n"
     "messages and collectives, and the calls of the program's own functions: all of them "
     "where\n"
     "it is in Python, or was compiled with -finstrument-functions, else those that are on "
     "the\n"
     "stack when MPI is called. What is missing is said in the end, on standard error, as all\n"
     "that is not the program's. Programs without MPI are recorded if they are in Python, "
     "were\n"
     "compiled so, or with --sample.\n"
     "The exit status is the program's, or 128 and the signal that ended it; 1 where that "
     "is 0\n"
     "and there is no trace. Calls that could not be recorded, as a disk was full, say, are\n"
     "counted and said, and snag analyze ends with 3 then.\n\n"
     "However the program ends, by a signal, too, what it did until then is in the trace.\n"
     "Where snag record itself was killed, --finish makes the trace, or snag analyze does\n"
     "when it meets it.\n\n"
     "With --sample threads that compute are interrupted so many times in a second of their\n"
     "processor time, and the functions on their stacks recorded, also those that call no MPI\n"
     "and are called by none that does. That they begin and end is known to within two\n"
     "samples. The signal is SIGURG; a program that handles it itself is not sampled.\n\n"
     "Calls of MPI are named with where they are called, MPI_Wait@halo.c:45 in a program with\n"
     "debug information, MPI_Wait@halo.py:45 in Python, else MPI_Wait@exchange+0x1f: each\n"
     "such place is a function of its own in trees, reasons and the page.\n\n"
     "All calls are recorded, whatever that costs, and what it cost is said. With --overhead,\n"
     "short functions that are called too often are left out from when they cost too much;\n"
     "which, since when, and how many calls, is in the trace. Messages never are, nor what\n"
     "several ranks do together.\n\n"
     "Without --output the trace is in snag-trace, snag-trace-2 and so on, the first that is\n"
     "free. With --watch the page of snag watch is there before the program is, and stays\n"
     "after it until it is interrupted; --once ends it with the program. Ranks on other\n"
     "machines need the environment of this one: of Open MPI, mpirun -x LD_PRELOAD -x\n"
     "SNAG_TRACER_DIR.\n\n"
     "With --live it becomes the program, whose ranks are told to say what they do to a snag\n"
     "ad or snag watch of their node: it may stand behind a launcher.",
     "  snag record -o run1 -- mpirun -n 4 ./app input\n"
     "  snag analyze run1\n"
     "  snag record -o run2 -- mpirun -n 4 python3 program.py\n"
     "  snag record --watch -- mpirun -n 4 ./app input\n"
     "  snag record --watch --foi loop -- mpirun -n 4 ./app input\n"
     "  snag record --finish run1\n"
     "  srun snag record --live /tmp/job/socket -- ./app input"},
    {"info", "TRACE ... [options]", "what is in a trace, and which functions are worth a look",
     1, MAX_ARGS, cmd_info,
     "Reads a trace and prints its locations, its regions with calls and times, what was "
     "wrong\n"
     "with it, and which regions would make good functions of interest and why.\n"
     "Nothing is written.\n\n"
     "A trace of Chrome JSON may be a file per rank: say all, or their directory.",
     "  snag info traces.otf2\n  snag info traces.otf2 --json | jq .quality\n"
     "  snag info profile/rank*.json.gz"},
    {"analyze", "TRACE ... [options]", "find the strange executions of a function", 1, MAX_ARGS,
     cmd_analyze,
     "Reads a trace, takes every outermost execution of the functions of interest as a tree,\n"
     "and ranks the trees by how strange they are: too long for what they did, made of parts\n"
     "that are not usually there, or missing some.\n"
     "Prints the strangest with a reason each and writes a run, a directory that the other\n"
     "commands read.\n\n"
     "Without --foi the best suggestion of snag info is taken. Where no function is good, as\n"
     "in a trace of MPI alone, that is a loop of the program, found by what repeats: its\n"
     "iterations are the executions. --foi loop takes the best loop, whatever else there is.\n"
     "Without --output the run is named after the trace, in the current directory. A trace of\n"
     "Chrome JSON may be a file per rank: say all, or their directory.",
     "  snag analyze traces.otf2\n"
     "  snag analyze traces.otf2 --foi PairEAM::compute -o lammps.snag\n"
     "  snag analyze 'synth:300*step(solve@1ms send);slow=solve/97/5' --foi step\n"
     "  mpirun -n 8 snag analyze --together traces.otf2 -o lammps.snag"},
    {"list", "RUN [options]", "what was disturbed, or executions by score", 1, 1, cmd_list,
     "Prints how many executions of each function of interest are anomalies, what these cost\n"
     "the run and which is the worst; then the incidents: executions that were strange\n"
     "together, because they waited for each other, are one. Those that lost most come first.\n"
     "Only incidents that are anomalies are listed (--all: all of them); a last line says how\n"
     "many executions there are beside them, which are as chance makes them in such a run.\n\n"
     "incident: its number in the run, from 1; where it has none, only a label made it one.\n\n"
     "lost: what its executions took more than executions like them (the same calls on the\n"
     "same rank) usually take, where that is more than noise, summed over all ranks; open: it\n"
     "does not end, and what it lost is not known.\n\n"
     "cost: by how much the run would be shorter without that; empty: not known.\n\n"
     "when: how long after the begin of the run the first of its executions began.\n\n"
     "head: the execution that it goes back to: #2-59 is number 59 on rank 2, both from 0;\n"
     "#2.1-59 is on its thread 1. ranks: on how many it is.\n\n"
     "cause: what is strangest about its head, a call path and what its calls took more or\n"
     "less than usual, or calls that are too many or missing; snag show HEAD says all of "
     "it.\n\n"
     "score: how strange an execution is, in nats, -ln of the share of executions that are as\n"
     "strange; higher is stranger.\n\n"
     "usually: the median of calls on the same path with the same calls inside, or of\n"
     "executions with the same calls, on the same rank.\n\n"
     "chance alone does this in one of N runs: in one of so many runs like this one, in which\n"
     "nothing is wrong, some execution takes so long.\n\n"
     "group: anomalies that are strange in the same way, three at least, whenever and on\n"
     "whatever rank they are; --groups lists all of them. snag label takes "
     "group=N=abnormal.\n\n"
     "With --executions, single executions, the strangest first, with a reason each; --by "
     "lost,\n"
     "those first that lost most time, --by cost, those without which the run would be "
     "shortest.\n"
     "With --json, one object per line: executions, with --incidents incidents, with --groups\n"
     "groups.",
     "  snag list lammps.snag --top 25\n"
     "  snag list lammps.snag --incidents --json\n"
     "  snag list lammps.snag --all --verdict anomaly --json"},
    {"ranks", "RUN [options]", "who is slow in every execution, and who waits for it", 1, 1,
     cmd_ranks,
     "Compares the ranks of a run in what they do the same: the times of their calls on each\n"
     "call path, execution by execution. A rank is slow when its own work takes longer than\n"
     "that of its peers, imbalanced when it has more calls or more data, waits when it waits\n"
     "more than they do, and for whom; unsure when it may be slow. It takes five ranks.",
     "  snag ranks lammps.snag\n"
     "  snag ranks lammps.snag --by thread --json | jq '.places[].verdict'"},
    {"compare", "BASE NEW ... | --base BASE ... NEW ... [options]",
     "what changed between runs, and a gate for it", 1, MAX_ARGS, cmd_compare,
     "Compares how long the executions of a function took, by call path: what became slower,\n"
     "what is new, gone, or called from elsewhere, which kind of execution it is in, and on\n"
     "which rank. What the paths contribute adds up to the whole change.\n\n"
     "With several runs on a side their spread decides: slower and faster is what differs by\n"
     "more than runs differ anyway; same is what surely does not; the rest is unsure. Three\n"
     "runs before are few, five are well. With one on each side nothing is known of that\n"
     "spread: it is said within one run, and less than 5 % counts as nothing.\n\n"
     "What is compared may be a run, a trace, which is analysed for it, or a history (see "
     "snag\n"
     "history): before, its last 10 runs, or those of --last and --tag; new, its last one. A\n"
     "history alone is its last run against those before.\n\n"
     "With --fail-on the exit status is 4 when it is slower beyond the limit, and never\n"
     "otherwise.",
     "  snag compare monday.snag tuesday.snag\n"
     "  snag compare --base nightly.db --last 10 new.snag --fail-on 5%\n"
     "  snag compare -b b1.snag -b b2.snag -b b3.snag new.snag --fail-on 5%\n"
     "  snag compare b.snag n.snag --fail-on 'solve > MPI_Wait:2ms' --format junit"},
    {"report", "RUN|HISTORY | BASE NEW ... | --base BASE ... NEW ... [options]",
     "what was found, in one file to send", 1, MAX_ARGS, cmd_report,
     "Writes one HTML file that needs no server and no network: it opens from a mail, and "
     "prints.\n"
     "Of a run it has the headline, the strangest executions with their reasons, what they "
     "cost,\n"
     "their trees and the timeline around them, the ranks, the quality of the trace, versions "
     "and\n"
     "command lines. Of two or more runs it has what changed (see snag compare), and what is\n"
     "strange in the new one; of a history its runs, where they changed, and the last against\n"
     "those before it. It is smaller than 2 MB, whatever the run. Where scripts are not run, "
     "as "
     "in\n"
     "the preview of a mail, text and tables are there, drawings are not.\n\n"
     "A trace is analysed for it. What a report says of functions, hosts and files comes from "
     "the\n"
     "trace: look at it before it goes to others.",
     "  snag report lammps.snag -o report.html\n"
     "  snag report monday.snag tuesday.snag -o tuesday.html\n"
     "  snag report --base nightly.db new.snag --last 10\n"
     "  snag report nightly.db -o nightly.html"},
    {"history", "add HISTORY RUN ... | list|show|prune HISTORY [options]",
     "keep what runs can be compared by, and see when it changed", 2, MAX_ARGS, cmd_history,
     "A history is a file with some kilobytes of each run: how long the calls on each path "
     "took,\n"
     "not the calls. add keeps runs, with tags that say what they were: those of --tag, and\n"
     "commit, branch, build, job, partition, cluster and nodes as CI and batch systems have "
     "them\n"
     "in the environment. list prints them. show prints how long executions took from run to\n"
     "run, by call path, and where that changed: by more than runs differ anyway (E-divisive\n"
     "means, permutation tests, one series in a hundred by chance), and by 1 % of the whole "
     "at\n"
     "least. With --format csv it is a table that other tools for series of benchmarks read.\n"
     "prune forgets runs. In place of a file the URL of a PostgreSQL database may stand "
     "(docs/\n"
     "postgresql.md).",
     "  snag history add nightly.db run.snag --tag commit=1a2b3c\n"
     "  snag history show nightly.db\n"
     "  snag history show nightly.db --path 'step > solve' --format csv\n"
     "  snag history prune nightly.db --keep 200"},
    {"show", "RUN ID [options]", "one execution: where its time went, what is unusual in it", 2,
     2, cmd_show,
     "Prints what an execution took on each call path against what calls of the same path and\n"
     "subtree usually take, which calls are too many or missing, the tree of its call paths,\n"
     "and the anomalies on other ranks at the same time.\n\n"
     "With --subtrees also those parts of the tree that make it different from the executions\n"
     "most like it, by the embedding stack2vec: importance 0.69 is twice as much of a subtree "
     "as\n"
     "they have, -0.69 half as much.\n\n"
     "An execution is written #RANK-INDEX, with #RANK.THREAD-INDEX off the master thread and "
     "the\n"
     "function in front, as in compute#4-40, when a run has several functions of interest.",
     "  snag show lammps.snag '#1-40'\n  snag show lammps.snag '#1-40' --subtrees"},
    {"what-if", "RUN [options]", "by how much the run would be shorter without some excess", 1,
     1, cmd_what_if,
     "Plays the whole run again on what waits for what: each rank's own time stays, waiting "
     "for\n"
     "messages and collectives is found anew. Then the excess, what calls took over what is\n"
     "usual there, is taken out of what --without says, and it prints by how much the run is\n"
     "shorter, and which ranks waited less.\n\n"
     "Of an execution, of an incident (incident=3, incident=3,5 or 1-31) and of anomalies, "
     "the\n"
     "excess is the time that they lost; repeats are all incidents that come back, or whose\n"
     "heads are of one group (snag list --groups), four at least. What some hide of others, or "
     "were waited for at the same "
     "time,\n"
     "is saved together, so it is not the sum of what each costs by itself. All calls of a\n"
     "rank take what is usual on all ranks; those of a call path or region, and what is "
     "called\n"
     "in them, what is usual there. Only calls in executions of the function of interest have\n"
     "an excess. Waiting is never taken out. Threads and GPU streams without messages of "
     "their\n"
     "own are left out.",
     "  snag what-if lammps.snag --without anomalies\n"
     "  snag what-if lammps.snag --without incident=1,3\n"
     "  snag what-if lammps.snag --without '#1-40' --without rank=3 --json\n"
     "  snag what-if lammps.snag --without path='step > pair_forces'"},
    {"label", "RUN [ID=LABEL ...] [options]", "say what is abnormal and what is normal", 1,
     MAX_ARGS, cmd_label,
     "Keeps what a person says of executions: abnormal, normal, or clear to take a label "
     "back.\n"
     "group=3=normal says it of all executions of a group (snag list RUN --groups).\n"
     "All labels are taken or, if one of them is wrong, none. Without labels it prints those\n"
     "that there are. They are kept when the trace is analysed again into the same run.",
     "  snag label lammps.snag '#1-40=abnormal' '#0-0=normal'\n"
     "  snag label lammps.snag group=3=normal\n"
     "  snag label lammps.snag --from labels.csv"},
    {"next", "RUN [options]", "which executions to label next", 1, 1, cmd_next,
     "Prints the strangest executions that are not labelled yet, leaving out those that look\n"
     "like one that is asked about already.",
     "  snag next lammps.snag --top 5"},
    {"retrain", "RUN [options]", "learn from the labels: a new ranking, and what it changed", 1,
     1, cmd_retrain,
     "Makes the scores and verdicts of a run anew from the detector's scores and all labels,\n"
     "and prints whose verdict changed. Every retrain is kept in the run and can be undone.",
     "  snag retrain lammps.snag\n  snag retrain lammps.snag --undo\n"
     "  snag retrain lammps.snag --history"},
    {"model", "save RUN ...|SERVER FILE | info FILE [options]",
     "keep what was learnt for the next run", 2, MAX_ARGS, cmd_model,
     "save writes to a file what is typical of a function of interest, the calibration of its\n"
     "scores, and what was learnt from labels: by it snag score judges the executions of\n"
     "another trace of the program. Runs of the detectors residual and ocsvm "
     "(on\n"
     "the features residual or stack2vec, whose embedding is kept too) have such a model. info "
     "prints what is in such a file.\n\n"
     "What is kept is what holds in the run: the labels of the newest retrain that was not "
     "undone, or none; with --learner, what that learns from all labels. Of several runs, or\n"
     "of those in a history (see snag history; --tag and --last choose), it is what was usual\n"
     "in any of them, without labels: what differs from run to run anyway is not strange "
     "then.\n\n"
     "Of a parameter server, by its address or its snapshot, it is what all its clients know "
     "of "
     "calls; snag ps --load begins with that.",
     "  snag model save lammps.snag lammps.model\n"
     "  snag model save monday.snag tuesday.snag lammps.model\n  snag model info lammps.model"},
    {"score", "TRACE ... --model FILE [options]", "judge a trace by the model of another run",
     1, MAX_ARGS, cmd_score,
     "As snag analyze, but executions are compared with those of the run that the model was\n"
     "made from, and with what a person said of them: the same execution gets the same score\n"
     "in every trace. Says what the model has never seen.",
     "  snag score traces.otf2 --model lammps.model -o today.snag"},
    {"evaluate", "RUN --labels FILE [options]", "how well the scores agree with labels", 1, 1,
     cmd_evaluate,
     "Compares the scores of a run with a CSV file of labels, columns id and label (abnormal "
     "or\n"
     "normal): areas under the ROC and the precision-recall curve, and precision and recall "
     "of\n"
     "the verdicts.",
     "  snag evaluate lammps.snag --labels labels.csv --json"},
    {"project", "RUN [options]", "executions as points on a plane, near where they are alike",
     1, 1, cmd_project,
     "Computes a place on a plane for every execution of a function of interest and writes it "
     "to\n"
     "the run, table projection, in place of what the method had there. Equal executions get\n"
     "equal places. On a terminal the progress and the divergence so far are shown; when\n"
     "interrupted, the run stays as it was.",
     "  snag project lammps.snag\n"
     "  snag project lammps.snag --method tsne --perplexity 50 --features subtrees\n"
     "  snag query lammps.snag 'SELECT tree, x, y FROM projection'"},
    {"serve", "RUN|STORE|HISTORY | BASE NEW ... [options]",
     "look at a run in a browser: the page, and its HTTP API", 1, MAX_ARGS, cmd_serve,
     "Prints the URL of a page that shows the run, takes labels and learns from them, and\n"
     "serves it until it is interrupted. Nobody but this machine reaches it, unless --listen\n"
     "says so; then a random token, which is part of the URL, is asked for. From another\n"
     "machine, a tunnel is safer: --print-tunnel prints the command for it. Of a store of\n"
     "provenance it shows what snag watch showed, as far as it was kept.\n\n"
     "With several runs it shows what snag compare says, with the same arguments: all "
     "executions\n"
     "of both sides, call paths by what changed, and from there the executions behind it. Up "
     "to\n"
     "4 run directories of each side, the last ones, have their usual pages beside it. Of a "
     "history it\n"
     "shows how long executions took from run to run, and any run against those before it.",
     "  snag serve lammps.snag\n  snag serve lammps.snag --port 8000 --print-tunnel\n"
     "  snag serve monday.snag tuesday.snag\n"
     "  snag serve --base nightly.db --last 10 new.snag\n"
     "  snag serve nightly.db"},
    {"query", "RUN|STORE|HISTORY|SERVER SQL [options]",
     "SQL over a run's database, a store of provenance, a history or a parameter server", 2, 2,
     cmd_query,
     "Answers one SELECT over run.db, whose tables snag man formats describes: meta, "
     "location,\n"
     "region, comm, quality, foi, execution, model, embedding, projection; or over a store of\n"
     "provenance, whose views are anomalies, normalexecs, metadata, func_stats, "
     "counter_stats,\n"
     "ad_model, jobs, runs; or over a history, whose tables are run, tag and digest; or over "
     "what\n"
     "a parameter server knows, by its address or its snapshot, whose tables are server, "
     "functions\n"
     "and statistics.",
     "  snag query lammps.snag 'SELECT rank, max(score) FROM execution GROUP BY rank'\n"
     "  snag query lammps.snag 'SELECT * FROM quality' --json\n"
     "  snag query nightly.db 'SELECT run, foi, median_ns FROM digest ORDER BY run'"},
    {"export", "RUN|STORE [options]",
     "executions or calls as CSV, JSON, Parquet or Chrome JSON", 1, 1, cmd_export,
     "Writes the executions of a run, or all its calls, in a format other tools read. Chrome\n"
     "trace JSON opens in Perfetto and chrome://tracing; messages are arrows there. Parquet "
     "is\n"
     "for DuckDB, Polars, pandas; into a directory (-o DIR/) all tables are written: "
     "executions,\n"
     "calls and messages, or the one of --what. Of several processes (--together) each writes\n"
     "its own locations: calls-0.parquet, calls-1.parquet.\n"
     "Of a store of provenance it writes the anomalies, or the normal executions that were "
     "kept.",
     "  snag export lammps.snag --format csv > executions.csv\n"
     "  snag export lammps.snag --what calls --format chrome -o calls.json\n"
     "  snag export lammps.snag --format parquet -o tables/\n"
     "  mpirun -n 8 snag export --together lammps.snag --format parquet -o tables/"},
    {"provdb",
     "filter|top|compare|reduction|backup|prune STORE [CONDITION|STORE|DIR] [options]",
     "strange calls that were kept while programs ran", 2, 3, cmd_provdb,
     "filter prints the records that meet a condition, all of each as JSON with the field "
     "names\n"
     "of Chimbuko, a line each. A condition is one of SQL over the columns pid, rid, tid,\n"
     "event_id, fid, func, entry, exit, runtime_total, runtime_exclusive, io_step, p,\n"
     "outlier_score, outlier_severity, model_version, is_gpu_event, is_pruned, final_score,\n"
     "final_p, cost_ns, cost_is_bound, run, in microseconds where they are times and do not "
     "say\n"
     "otherwise. top prints those that lost the most time, or cost the program most; with "
     "--incidents a delay that went from rank "
     "to\n"
     "rank is one line, with the call that it goes back to. compare puts the functions of two\n"
     "stores side by side, say of two runs of a program: anomalies, time lost in them, and "
     "how\n"
     "many of all calls they are, over all runs that a store holds. Records that the final\n"
     "model would not have kept are left out of both. reduction says how many bytes of trace\n"
     "its runs read, how many it has, and how many times less that is.\n\n"
     "backup copies a store, which may be written meanwhile, to a new directory, and notes in\n"
     "the store which runs are in it as a whole. prune drops runs, of which there is such a\n"
     "note, by age (--keep-days) or until they fit (--keep-mib); the status is 1 when others\n"
     "would have to go.\n\n"
     "STORE is a directory, sqlite:DIRECTORY, or postgresql://..., of which a backup is a\n"
     "directory, too. snag query and snag export take one too.",
     "  snag provdb filter store 'rid = 3 AND p < 1e-9' | jq .call_stack\n"
     "  snag provdb top store --by score --top 20\n"
     "  snag provdb compare monday tuesday\n"
     "  snag provdb backup store /archive/2026-11-23\n"
     "  snag provdb prune store --keep-days 30"},
    {"ad", "SOURCE [options]", "find strange calls while a program runs", 1, 1, cmd_ad,
     "Reads what a program says while it runs, step by step, learns how long the calls of "
     "each\n"
     "region take, and judges them at the end of the step in which they ended. Memory does "
     "not\n"
     "grow with the length of the run. Ends with the program, or at SIGTERM or SIGINT after "
     "the\n"
     "step it is at.\n\n"
     "With --foi loop the iterations of the program's loop are executions, from when it is\n"
     "found; loop@FUNCTION is that of a function.\n\n"
     "A finished trace is replayed as fast as it goes, or with --speed. With --ps the "
     "instances\n"
     "of a job share what they learn.",
     "  snag ad replay:traces.otf2 --step 0.5\n"
     "  snag ad traces.otf2 --rank 3 --ps tcp://127.0.0.1:5559"},
    {"watch", "SOURCE|STORE [options]",
     "look at strange calls in a browser while a program runs", 0, 1, cmd_watch,
     "Prints the URL of a page, then does what snag ad does, and shows it as it goes: a "
     "scatter\n"
     "plot, the history of all ranks, ranks and regions by what was strange in them, what\n"
     "judges, and the strange calls themselves. When the program is over the page stays, "
     "until\n"
     "SIGINT or SIGTERM; --once ends with the program. Who reaches the page: see snag "
     "serve.\n\n"
     "Of a job whose ranks are read by several snag ad it is the page of the whole job: of the "
     "store\n"
     "that they write, and with --server of what their parameter server knows; either will do.",
     "  snag watch replay:traces.otf2 --speed 10\n  snag watch traces.otf2 --port 8000 --once"},
    {"ps", "[options]", "a parameter server: one model for all instances of a job", 0, 0,
     cmd_ps,
     "Merges what the instances of a job know of the durations of their calls and sends the "
     "whole\n"
     "back to them, until SIGTERM or SIGINT. Prints the address to connect to first, and what "
     "was\n"
     "done last. What a snapshot has is not lost when the server or its machine dies: started\n"
     "again, it goes on there, and its clients send what it has not.\n"
     "For jobs with many instances servers make a tree: one for some tens of them, below\n"
     "(--upstream) one for some tens of these. What is known at its top is the same as with "
     "one\n"
     "server for all.",
     "  snag ps --listen tcp://127.0.0.1:5559 --snapshot job.ps\n"
     "  snag ps --listen 'tcp://*:5559' --curve-key job.key\n"
     "  snag ps --load job.ps --frozen\n"
     "  snag ps --upstream tcp://127.0.0.1:5559 --snapshot rack7.ps"},
    {"sim", "ADDRESS|--tree LEVELSxFAN [options]", "load parameter servers as many ranks would",
     0, 1, cmd_sim,
     "Plays the ranks of a job to a running snag ps, in one process, and prints how many "
     "requests\n"
     "it answered and how soon. The ranks share a few connections; to the server each is a "
     "client.\n"
     "With --tree it plays them to a tree of servers of its own, to choose how deep and how "
     "wide\n"
     "one is to be: 3x32 is a server, 32 below it, and the ranks below these.",
     "  snag sim tcp://127.0.0.1:5559 --ranks 4096 --rate 2 --seconds 10\n"
     "  snag sim --tree 3x32 --ranks 1024"},
    {0},
};

const struct command *command_list(void)
{
    return commands;
}
