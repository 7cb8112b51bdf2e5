/* The one table of commands. */
#include "cmd/commands.h"

#include "cmd/options.h"

#define MOST_ARGS 1000000

static const struct command commands[] = {
    {"record", "[options] PROGRAM [ARGUMENT ...]", "run a program, and record a trace of it",
     "output functions stacks mpi overhead watch tracer foi model store least false-alarms "
     "port "
     "listen print-tunnel once",
     1, MOST_ARGS, cmd_record,
     "Runs a program as it is under the tracer, which writes an OTF2 archive: all calls of "
     "MPI,\n"
     "messages and collectives, and the calls of the program's own functions: all of them "
     "where\n"
     "it was compiled with -finstrument-functions, else those that are on the stack when MPI\n"
     "is called. What is missing is said in the end, on standard error, as all that is not "
     "the\n"
     "program's. Programs without MPI are recorded if they were compiled so. The exit status "
     "is the program's, or 128 and the signal that ended it.\n\n"
     "All calls are recorded, whatever that costs, and what it cost is said. With --overhead,\n"
     "short functions that are called too often are left out from when they cost too much;\n"
     "which, since when, and how many calls, is in the trace. Calls of MPI never are.\n\n"
     "Without --output the trace is in snag-trace, snag-trace-2 and so on, the first that is\n"
     "free. With --watch the page of snag watch is there before the program is, and stays\n"
     "after it until it is interrupted; --once ends it with the program. Ranks on other\n"
     "machines need the environment of this one: of Open MPI, mpirun -x LD_PRELOAD -x\n"
     "SNAG_TRACER_DIR.",
     "  snag record -o run1 -- mpirun -n 4 ./app input\n"
     "  snag analyze run1\n"
     "  snag record --watch -- mpirun -n 4 ./app input"},
    {"info", "TRACE ... [options]", "what is in a trace, and which functions are worth a look",
     "links top all", 1, MOST_ARGS, cmd_info,
     "Reads a trace and prints its locations, its regions with calls and times, what was "
     "wrong\n"
     "with it, and which regions would make good functions of interest and why.\n"
     "Nothing is written.\n\n"
     "A trace of Chrome JSON may be a file per rank: say all, or their directory.",
     "  snag info traces.otf2\n  snag info traces.otf2 --json | jq .quality\n"
     "  snag info profile/rank*.json.gz"},
    {"analyze", "TRACE ... [options]", "find the strange executions of a function",
     "per-call call-detector least inclusive foi output force features detector dimensions "
     "epochs learning-rate negatives gamma neighbours false-alarms threshold seed top all "
     "links",
     1, MOST_ARGS, cmd_analyze,
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
     "  snag analyze 'synth:300*step(solve@1ms send);slow=solve/97/5' --foi step"},
    {"list", "RUN [options]", "what was disturbed, or executions by score",
     "incidents executions by foi top all rank verdict per-call verify", 1, 1, cmd_list,
     "Prints the incidents of a run: executions that were strange together, because they "
     "waited\n"
     "for each other, are one; those that lost most come first. Lost is the time over what is\n"
     "usual, summed over its executions; cost, what the run would be shorter without that, if "
     "it\n"
     "is known; the head is the execution it goes back to, and the\n"
     "others were delayed by it.\n\n"
     "With --executions, single executions, the strangest first, with a reason each; --by "
     "lost,\n"
     "those first that lost most time, --by cost, those without which the run would be "
     "shortest.\n"
     "With --json, one object per line: executions, or with --incidents incidents.",
     "  snag list lammps.snag --top 25\n"
     "  snag list lammps.snag --incidents --json\n"
     "  snag list lammps.snag --all --verdict anomaly --json"},
    {"ranks", "RUN [options]", "who is slow in every execution, and who waits for it",
     "by foi top all verify", 1, 1, cmd_ranks,
     "Compares the ranks of a run in what they do the same: the times of their calls on each\n"
     "call path, execution by execution. A rank is slow when its own work takes longer than\n"
     "that of its peers, imbalanced when it has more calls or more data, waits when it waits\n"
     "more than they do, and for whom; unsure when it may be slow. It takes five ranks.",
     "  snag ranks lammps.snag\n"
     "  snag ranks lammps.snag --by thread --json | jq '.places[].verdict'"},
    {"compare", "BASE NEW ... | --base BASE ... NEW ... [options]",
     "what changed between runs, and a gate for it",
     "base foi rename least fail-on format top all verify", 1, MOST_ARGS, cmd_compare,
     "Compares how long the executions of a function took, by call path: what became slower,\n"
     "what is new, gone, or called from elsewhere, which kind of execution it is in, and on\n"
     "which rank. What the paths contribute adds up to the whole change.\n\n"
     "With several runs on a side their spread decides: slower and faster is what differs by\n"
     "more than runs differ anyway; same is what surely does not; the rest is unsure. Three\n"
     "runs before are few, five are well. With one on each side nothing is known of that\n"
     "spread: it is said within one run, and less than 5 % counts as nothing.\n\n"
     "With --fail-on the exit status is 4 when it is slower beyond the limit, and never\n"
     "otherwise.",
     "  snag compare monday.snag tuesday.snag\n"
     "  snag compare -b b1.snag -b b2.snag -b b3.snag new.snag --fail-on 5%\n"
     "  snag compare b.snag n.snag --fail-on 'solve > MPI_Wait:2ms' --format junit"},
    {"show", "RUN ID [options]", "one execution: where its time went, what is unusual in it",
     "foi depth all subtrees threshold verify", 2, 2, cmd_show,
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
    {"what-if", "RUN [options]", "by how much the run would be shorter without some excess",
     "without foi top all verify", 1, 1, cmd_what_if,
     "Plays the whole run again on what waits for what: each rank's own time stays, waiting "
     "for\n"
     "messages and collectives is found anew. Then the excess, what calls took over what is\n"
     "usual there, is taken out of what --without says, and it prints by how much the run is\n"
     "shorter, and which ranks waited less.\n\n"
     "Of an execution and of anomalies, the excess is the time that they lost. All calls of a\n"
     "rank take what is usual on all ranks; those of a call path or region, and what is "
     "called\n"
     "in them, what is usual there. Only calls in executions of the function of interest have\n"
     "an excess. Waiting is never taken out. Threads and GPU streams without messages of "
     "their\n"
     "own are left out.",
     "  snag what-if lammps.snag --without anomalies\n"
     "  snag what-if lammps.snag --without '#1-40' --without rank=3 --json\n"
     "  snag what-if lammps.snag --without path='step > pair_forces'"},
    {"label", "RUN [ID=LABEL ...] [options]", "say what is abnormal and what is normal",
     "foi from author", 1, MOST_ARGS, cmd_label,
     "Keeps what a person says of executions: abnormal, normal, or clear to take a label "
     "back.\n"
     "All labels are taken or, if one of them is wrong, none. Without labels it prints those\n"
     "that there are. They are kept when the trace is analysed again into the same run.",
     "  snag label lammps.snag '#1-40=abnormal' '#0-0=normal'\n"
     "  snag label lammps.snag --from labels.csv"},
    {"next", "RUN [options]", "which executions to label next", "foi top learner features seed",
     1, 1, cmd_next,
     "Prints the strangest executions that are not labelled yet, leaving out those that look\n"
     "like one that is asked about already.",
     "  snag next lammps.snag --top 5"},
    {"retrain", "RUN [options]", "learn from the labels: a new ranking, and what it changed",
     "foi learner features dimensions epochs learning-rate negatives gamma seed author undo "
     "history",
     1, 1, cmd_retrain,
     "Makes the scores and verdicts of a run anew from the detector's scores and all labels,\n"
     "and prints whose verdict changed. Every retrain is kept in the run and can be undone.",
     "  snag retrain lammps.snag\n  snag retrain lammps.snag --undo\n"
     "  snag retrain lammps.snag --history"},
    {"model", "save RUN FILE | info FILE [options]", "keep what was learnt for the next run",
     "foi learner dimensions epochs learning-rate negatives gamma seed", 2, 3, cmd_model,
     "save writes what is usual for a function of interest, the yardstick its executions were\n"
     "measured by, and what was learnt from labels to a file, by which snag score judges the\n"
     "executions of another trace of the program. Runs of the detectors residual and ocsvm "
     "(on\n"
     "the features residual or stack2vec, whose embedding is kept too) have such a model. info "
     "prints what is in such a file.\n\n"
     "What is kept is what holds in the run: the labels of the newest retrain that was not "
     "undone, or none; with --learner, what that learns from all labels.",
     "  snag model save lammps.snag lammps.model\n  snag model info lammps.model"},
    {"score", "TRACE ... --model FILE [options]", "judge a trace by the model of another run",
     "model output force false-alarms threshold fail-on seed top all links", 1, MOST_ARGS,
     cmd_score,
     "As snag analyze, but executions are compared with those of the run that the model was\n"
     "made from, and with what a person said of them: the same execution gets the same score\n"
     "in every trace. Says what the model has never seen.",
     "  snag score traces.otf2 --model lammps.model -o today.snag"},
    {"evaluate", "RUN --labels FILE [options]", "how well the scores agree with labels",
     "foi labels simulate batch learner features dimensions epochs learning-rate negatives "
     "gamma seed verify",
     1, 1, cmd_evaluate,
     "Compares the scores of a run with a CSV file of labels, columns id and label (abnormal "
     "or\n"
     "normal): areas under the ROC and the precision-recall curve, and precision and recall "
     "of\n"
     "the verdicts.",
     "  snag evaluate lammps.snag --labels labels.csv --json"},
    {"project", "RUN [options]", "executions as points on a plane, near where they are alike",
     "foi method features dimensions epochs learning-rate negatives perplexity iterations seed",
     1, 1, cmd_project,
     "Computes a place on a plane for every execution of a function of interest and writes it "
     "to\n"
     "the run, table projection, in place of what the method had there. Equal executions get\n"
     "equal places. On a terminal the progress and the divergence so far are shown; when\n"
     "interrupted, the run stays as it was.",
     "  snag project lammps.snag\n"
     "  snag project lammps.snag --method tsne --perplexity 50 --features subtrees\n"
     "  snag query lammps.snag 'SELECT tree, x, y FROM projection'"},
    {"serve", "RUN|STORE [options]", "look at a run in a browser: the page, and its HTTP API",
     "port listen print-tunnel author", 1, 1, cmd_serve,
     "Prints the URL of a page that shows the run, takes labels and learns from them, and\n"
     "serves it until it is interrupted. Nobody but this machine reaches it, unless --listen\n"
     "says so; then a random token, which is part of the URL, is asked for. From another\n"
     "machine, a tunnel is safer: --print-tunnel prints the command for it. Of a store of\n"
     "provenance it shows what snag watch showed, as far as it was kept.",
     "  snag serve lammps.snag\n  snag serve lammps.snag --port 8000 --print-tunnel"},
    {"query", "RUN|STORE SQL [options]", "SQL over a run's database or a store of provenance",
     "format verify", 2, 2, cmd_query,
     "Answers one SELECT over run.db, whose tables snag man formats describes: meta, "
     "location,\n"
     "region, comm, quality, foi, execution, model, embedding, projection; or over a store of\n"
     "provenance, whose views are anomalies, normalexecs, metadata, func_stats, "
     "counter_stats,\n"
     "ad_model, runs.",
     "  snag query lammps.snag 'SELECT rank, max(score) FROM execution GROUP BY rank'\n"
     "  snag query lammps.snag 'SELECT * FROM quality' --json"},
    {"export", "RUN|STORE [options]", "executions or calls as CSV, JSON or Chrome trace JSON",
     "foi output what format rank verdict verify", 1, 1, cmd_export,
     "Writes the executions of a run, or all its calls, in a format other tools read. Chrome\n"
     "trace JSON opens in Perfetto and chrome://tracing; messages are arrows there.\n"
     "Of a store of provenance it writes the anomalies, or the normal executions that were "
     "kept.",
     "  snag export lammps.snag --format csv > executions.csv\n"
     "  snag export lammps.snag --what calls --format chrome -o calls.json"},
    {"provdb", "filter STORE CONDITION | top STORE | compare STORE STORE",
     "strange calls that were kept while programs ran", "what by top all rank format incidents",
     2, 3, cmd_provdb,
     "filter prints the records that meet a condition, all of each as JSON with the field "
     "names\n"
     "of Chimbuko, a line each. A condition is one of SQL over the columns pid, rid, tid,\n"
     "event_id, fid, func, entry, exit, runtime_total, runtime_exclusive, io_step, p,\n"
     "outlier_score, outlier_severity, model_version, is_gpu_event, is_pruned, final_score,\n"
     "final_p, run, in microseconds where they are times.\n"
     "top prints those that lost the most time; with --incidents a delay that went from rank "
     "to\n"
     "rank is one line, with the call that it goes back to. compare puts the functions of two\n"
     "stores side by side, say of two runs of a program: anomalies, time lost in them, and "
     "how\n"
     "many of all calls they are, over all runs that a store holds. Records that the final\n"
     "model would not have kept are left out of both.\n\n"
     "STORE is a directory, or sqlite:DIRECTORY. snag query and snag export take one too.",
     "  snag provdb filter store 'rid = 3 AND p < 1e-9' | jq .call_stack\n"
     "  snag provdb top store --by score --top 20\n"
     "  snag provdb compare monday tuesday"},
    {"ad", "SOURCE [options]", "find strange calls while a program runs",
     "foi model call-detector algo-file model-key inclusive step speed min-count min-time "
     "least false-alarms ignore thresholds window store program rank as-rank watchlist "
     "counter-prefix "
     "connect-timeout silence-timeout tree-window tree-features tree-sigmas ps curve-key "
     "deterministic",
     1, 1, cmd_ad,
     "Reads what a program says while it runs, step by step, learns how long the calls of "
     "each\n"
     "region take, and judges them at the end of the step in which they ended. Memory does "
     "not\n"
     "grow with the length of the run. Ends with the program, or at SIGTERM or SIGINT after "
     "the\n"
     "step it is at.\n\n"
     "A finished trace is replayed as fast as it goes, or with --speed. With --ps the "
     "instances\n"
     "of a job share what they learn.",
     "  snag ad replay:traces.otf2 --step 0.5\n"
     "  snag ad traces.otf2 --rank 3 --ps tcp://127.0.0.1:5559"},
    {"watch", "SOURCE [options]", "look at strange calls in a browser while a program runs",
     "foi model call-detector algo-file model-key inclusive step speed min-count min-time "
     "least false-alarms ignore thresholds window store program rank as-rank watchlist "
     "counter-prefix "
     "connect-timeout silence-timeout tree-window tree-features tree-sigmas port listen "
     "print-tunnel once",
     1, 1, cmd_watch,
     "Prints the URL of a page, then does what snag ad does, and shows it as it goes: a "
     "scatter\n"
     "plot, the history of all ranks, ranks and regions by what was strange in them, what\n"
     "judges, and the strange calls themselves. When the program is over the page stays, "
     "until\n"
     "SIGINT or SIGTERM; --once ends with the program. Who reaches the page: see snag serve.",
     "  snag watch replay:traces.otf2 --speed 10\n  snag watch traces.otf2 --port 8000 --once"},
    {"ps", "[options]", "a parameter server: one model for all instances of a job",
     "listen workers snapshot load frozen interval deterministic curve-key insecure", 0, 0,
     cmd_ps,
     "Merges what the instances of a job know of the durations of their calls and sends the "
     "whole\n"
     "back to them, until SIGTERM or SIGINT. Prints the address to connect to first, and what "
     "was\n"
     "done last. What a snapshot has is not lost when the server or its machine dies: started\n"
     "again, it goes on there, and its clients send what it has not.",
     "  snag ps --listen tcp://127.0.0.1:5559 --snapshot job.ps\n"
     "  snag ps --listen 'tcp://*:5559' --curve-key job.key\n"
     "  snag ps --load job.ps --frozen"},
    {"sim", "ADDRESS [options]", "load a parameter server as many ranks would",
     "ranks rate seconds functions curve-key seed", 1, 1, cmd_sim,
     "Plays the ranks of a job to a running snag ps, in one process, and prints how many "
     "requests\n"
     "it answered and how soon. The ranks share a few connections; to the server each is a "
     "client.",
     "  snag sim tcp://127.0.0.1:5559 --ranks 4096 --rate 2 --seconds 10"},
    {0},
};

const struct command *command_list(void)
{
    return commands;
}
