/*
 * Long and short options are parsed by getopt_long from an array made of the table; values are
 * checked here, so that every message names the option and what it would take.
 */
#include "cmd/options.h"

#include "base/err.h"
#include "base/text.h"
#include "detect/call_detector.h"
#include "detect/detector.h"
#include "features/features.h"
#include "learn/learner.h"
#include "project/project.h"
#include "trace/definitions.h"

#include <assert.h>
#include <ctype.h>
#include <errno.h>
#include <getopt.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAX_OPTIONS 64
#define FIRST_LONG 1000 /* what getopt returns for row i is FIRST_LONG + i */

static const struct option_row rows[] = {
#define AT(member) offsetof(struct settings, member)
    {"foi", 'f', OPTION_LIST, AT(foi), "FUNCTION",
     .commands = "record analyze list ranks compare report history show what-if label next "
                 "retrain model evaluate project serve export ad watch",
     .help = "function of interest: its name, a part of it, or /regex/; may be repeated"},
    {"links", 0, OPTION_TEXT, AT(links), "FILE", .commands = "info analyze score",
     .help = "which calls of a trace in Chrome JSON are ends of messages and members of "
             "collectives: a rule a line (snag man formats)"},
    {"without", 0, OPTION_LIST, AT(without), "WHAT", .commands = "what-if",
     .help =
         "take the excess out of an execution '#RANK-INDEX', of incidents incident=N,N-N, of "
         "repeats or anomalies, or of the calls of rank=N, region=NAME or path='A > B'; may "
         "be repeated"},
    {"output", 'o', OPTION_TEXT, AT(output), "RUN", .commands = "analyze score",
     .help = "directory to write the run to"},
    {"output", 'o', OPTION_TEXT, AT(output), "FILE", .commands = "export",
     .help = "file to write to, or - (default: standard output)"},
    {"output", 'o', OPTION_TEXT, AT(output), "FILE", .commands = "report",
     .help =
         "file to write to, or - for standard output (default: the name of the run, .html)"},
    {"output", 'o', OPTION_TEXT, AT(output), "DIR", .commands = "record",
     .help = "directory to write the trace to"},
    {"force", 0, OPTION_FLAG, AT(is_forced), NULL, .commands = "analyze score",
     .help = "replace an existing run"},
    {"features", 0, OPTION_TEXT, AT(vectors.features), "KIND",
     .commands = "analyze next retrain evaluate project",
     .help = "what an execution is described by, for the detectors that compare vectors",
     .choice = feature_name},
    {"detector", 0, OPTION_TEXT, AT(detector), "KIND", .commands = "analyze",
     .help = "how strange executions are found", .choice = detector_name},
    {"dimensions", 0, OPTION_COUNT, AT(vectors.dimensions), "N",
     .commands = "analyze retrain model evaluate project",
     .help = "numbers that stack2vec describes an execution by (default 128)"},
    {"epochs", 0, OPTION_COUNT, AT(vectors.epochs), "N",
     .commands = "analyze retrain model evaluate project",
     .help = "how often stack2vec goes through all executions to learn (default 20)"},
    {"learning-rate", 0, OPTION_ABOVE, AT(vectors.learning_rate), "X",
     .commands = "analyze retrain model evaluate project",
     .help = "length of the steps in which stack2vec learns, up to 1 (default 0.02)"},
    {"negatives", 0, OPTION_ABOVE, AT(vectors.negatives), "X",
     .commands = "analyze retrain model evaluate project",
     .help = "subtrees that stack2vec tells each subtree of an execution from (default 5)"},
    {"gamma", 0, OPTION_ABOVE, AT(vectors.gamma), "X",
     .commands = "analyze retrain model evaluate",
     .help = "of the one-class SVM's kernel exp(-X d^2) (default: taken from the data)"},
    {"nu", 0, OPTION_ABOVE, AT(vectors.nu), "SHARE",
     .commands = "analyze retrain model evaluate",
     .help = "share of the executions that the one-class SVM expects outside, C / n, up to 1 "
             "(default 0.02)"},
    {"neighbours", 'k', OPTION_COUNT, AT(neighbours), "K", .commands = "analyze",
     .help = "neighbours that lof (default 20) and knn (default 10) look at"},
    {"threshold", 0, OPTION_REAL, AT(threshold), "SCORE", .commands = "analyze score",
     .has_zero = true,
     .help = "a score above it makes an anomaly, instead of the detector's own threshold"},
    {"incidents", 0, OPTION_FLAG, AT(is_incidents), NULL, .commands = "list provdb",
     .help = "incidents: executions that were strange together are one"},
    {"groups", 0, OPTION_FLAG, AT(is_groups), NULL, .commands = "list",
     .help = "anomalies that are strange in the same way, with a number for snag label"},
    {"executions", 0, OPTION_FLAG, AT(is_executions), NULL, .commands = "list",
     .help = "single executions, the strangest first"},
    {"false-alarms", 0, OPTION_ABOVE, AT(false_alarms), "N", .commands = "analyze score",
     .help = "expected number of executions that are called anomalies in a run in which "
             "nothing is wrong (default 1; score: 1 in a run like the model's)"},
    {"threshold", 0, OPTION_REAL, AT(threshold), "SCORE", .commands = "show", .has_zero = true,
     .help = "importance of the subtrees to print (default 0.69, twice or half as many as "
             "typical)"},
    {"method", 'm', OPTION_TEXT, AT(plane.method), "KIND", .commands = "project",
     .help = "how executions are put on a plane", .choice = project_name, .typical = "tsne"},
    {"perplexity", 0, OPTION_REAL, AT(plane.perplexity), "P", .commands = "project",
     .help = "about how many neighbours t-SNE keeps near each execution", .typical = "30"},
    {"iterations", 0, OPTION_NUMBER, AT(plane.iterations), "N", .commands = "project",
     .help = "steps of tsne (default 1000), or most of mds (default 300)"},
    {"per-call", 0, OPTION_FLAG, AT(is_per_call), NULL, .commands = "analyze list",
     .help = "the calls of all functions, each against the others of its function"},
    {"call-detector", 0, OPTION_TEXT, AT(call_detector), "KIND", .commands = "analyze ad watch",
     .help = "how strange calls are found, whatever --algo-file says "
             "(default " CALL_DETECTOR_TYPICAL ")",
     .choice = call_detector_name},
    {"short", 0, OPTION_TEXT, AT(takes_short), "WHICH", .commands = "record analyze ad watch",
     .help =
         "report calls that are too short (default with tails work: only of functions that do "
         "not wait for others; with sstd, hbos and copod all)",
     .choices = "none|work|all"},
    {"least", 0, OPTION_TIME, AT(least_lost_ns), "TIME", .commands = "record analyze ad watch",
     .has_zero = true,
     .help = "report only calls that lost (or saved) at least TIME, such as 10us; the others "
             "are counted (default with tails: from the clock's tick and the noise of quick "
             "calls; sstd, hbos, copod: 0)"},
    {"least", 0, OPTION_SHARE, AT(compare.least), "SHARE", .commands = "compare report serve",
     .has_zero = true,
     .help = "smaller changes count as none, such as 2% (default 1%; 5% if there is one run on "
             "each side)"},
    {"base", 'b', OPTION_LIST, AT(compare.base), "RUN", .commands = "compare report serve",
     .help =
         "a run to compare with; may be repeated. With --base all RUN arguments are new runs"},
    {"rename", 0, OPTION_LIST, AT(compare.rename), "A=B", .commands = "compare report serve",
     .help = "function A of the base is called B in the new runs; may be repeated"},
    {"tag", 0, OPTION_LIST, AT(history.tag), "KEY=VALUE",
     .commands = "compare report history model serve",
     .help = "history add: store this tag with the run. Elsewhere: use only runs that have "
             "this tag. May be repeated"},
    {"last", 0, OPTION_COUNT, AT(history.last), "N", .commands = "compare serve",
     .help = "use only the N newest runs of a history (default 10)"},
    {"last", 0, OPTION_COUNT, AT(history.last), "N", .commands = "report history model",
     .help = "use only the N newest runs of a history (default: all)"},
    {"keep", 0, OPTION_COUNT, AT(history.keep), "N", .commands = "history",
     .help = "forget all runs but the N newest"},
    {"keep-days", 0, OPTION_SPAN, AT(keep_days), "DAYS", .commands = "provdb", .has_zero = true,
     .help = "remove runs that ended longer ago and that a backup holds"},
    {"keep-mib", 0, OPTION_COUNT, AT(keep_mib), "N", .commands = "provdb",
     .help = "remove the oldest runs that a backup holds, until the store has N MiB"},
    {"levels-from", 0, OPTION_COUNT, AT(levels_from), "CALLS", .commands = "analyze",
     .help = "make what a timeline of all calls is drawn from now, and not when somebody looks "
             "first, for runs of so many calls or more (default 33554432)"},
    {"run-id", 0, OPTION_TEXT, AT(run_id), "ID", .commands = "analyze",
     .help = "what the run of the program was called, kept as run_id of its metadata "
             "(default: what the trace says)"},
    {"run-id", 0, OPTION_TEXT, AT(run_id), "ID", .commands = "record ad watch ps",
     .help =
         "what this run is called in the store, metrics and log (default: the job of Slurm, "
         "PBS or LSF, else made of the time)"},
    {"log", 0, OPTION_TEXT, AT(log), "FILE", .commands = "ad watch ps",
     .help = "append messages to FILE, with the time; at SIGHUP the file is opened again"},
    {"number", 0, OPTION_COUNT, AT(history.number), "N", .commands = "history",
     .help = "forget the run of this number"},
    {"path", 0, OPTION_TEXT, AT(history.path), "PATH", .commands = "report history",
     .help = "only this call path and those below it, such as 'step > solve'"},
    {"fail-on", 0, OPTION_SHARE, AT(most_anomalies), "SHARE", .commands = "score",
     .has_zero = true,
     .help = "exit status 4 when more than this share of the executions, such as 1%, are "
             "anomalies"},
    {"fail-on", 0, OPTION_LIST, AT(compare.limit), "LIMIT", .commands = "compare",
     .help = "exit status 4 when the new side is significantly slower by more than this: 5%, "
             "PATH:2ms, PATH:5%, or @FILE with one limit a line; may be repeated"},
    {"inclusive", 0, OPTION_FLAG, AT(is_inclusive), NULL, .commands = "analyze ad watch",
     .help = "judge calls by their inclusive time, not by their own"},
    {"seed", 0, OPTION_SEED, AT(seed), "N",
     .commands = "analyze compare report next retrain model score evaluate project sim",
     .help = "seed of everything random", .typical = "1"},
    {"top", 'n', OPTION_COUNT, AT(top), "N",
     .commands = "analyze list ranks compare report history what-if next score",
     .help = "how many to print", .typical = "10"},
    {"top", 'n', OPTION_COUNT, AT(top), "N", .commands = "info",
     .help = "how many regions to print", .typical = "20"},
    {"top", 'n', OPTION_COUNT, AT(top), "N", .commands = "provdb",
     .help = "how many to print (default: top 10, others all)"},
    {"all", 'a', OPTION_FLAG, AT(is_all), NULL,
     .commands = "info analyze list ranks compare history show what-if score provdb",
     .help = "print all rows, not only the first --top"},
    {"rank", 'r', OPTION_NUMBER, AT(rank), "R", .commands = "list export provdb",
     .has_zero = true, .help = "only executions on this rank"},
    {"rank", 'r', OPTION_NUMBER, AT(rank), "R", .commands = "ad watch", .has_zero = true,
     .help = "read only this rank"},
    {"verdict", 0, OPTION_TEXT, AT(verdict), "V", .commands = "list export",
     .help = "only executions with this verdict", .choices = "anomaly|normal"},
    {"label", 0, OPTION_TEXT, AT(label), "L", .commands = "list",
     .help = "only executions that people labelled so, or not at all (none)",
     .choices = "abnormal|normal|none"},
    {"depth", 'd', OPTION_COUNT, AT(depth), "N", .commands = "show",
     .help = "levels of the tree to draw; strange calls below them are drawn, too",
     .typical = "4"},
    {"subtrees", 0, OPTION_FLAG, AT(has_subtrees), NULL, .commands = "show",
     .help = "also print which subtrees make it different from executions like it"},
    {"labels", 'l', OPTION_TEXT, AT(learning.labels), "FILE", .commands = "evaluate",
     .help = "CSV with a column 'id' and a column 'label' (abnormal, normal)"},
    {"from", 0, OPTION_TEXT, AT(learning.from), "FILE", .commands = "label",
     .help = "CSV with a column 'id' and a column 'label' (abnormal, normal, clear)"},
    {"author", 0, OPTION_TEXT, AT(learning.author), "NAME", .commands = "label retrain serve",
     .help = "author of the labels (default: your login name)"},
    {"model", 0, OPTION_TEXT, AT(model), "FILE", .commands = "record score ad watch",
     .help = "model to judge executions by"},
    {"learner", 0, OPTION_TEXT, AT(learning.learner), "KIND",
     .commands = "next retrain model evaluate", .help = "how labels are learnt from",
     .choice = learner_name},
    {"undo", 0, OPTION_FLAG, AT(learning.is_undo), NULL, .commands = "retrain",
     .help = "take the newest retrain back"},
    {"history", 0, OPTION_FLAG, AT(learning.is_history), NULL, .commands = "retrain",
     .help = "list all retrains"},
    {"simulate", 0, OPTION_NUMBER, AT(learning.simulate), "N", .commands = "evaluate",
     .help = "play active learning with the labels until N are given"},
    {"supervised", 0, OPTION_FLAG, AT(learning.is_supervised), NULL, .commands = "evaluate",
     .help = "how well a supervised SVM would do that knows all labels: each tenth of the "
             "executions is judged by what was learnt from the others"},
    {"batch", 0, OPTION_NUMBER, AT(learning.batch), "N", .commands = "evaluate",
     .help = "labels given between two rankings", .typical = "10"},
    {"port", 'p', OPTION_PORT, AT(page.port), "P", .commands = "record serve watch",
     .help = "port to listen on (default: a free one)"},
    {"listen", 0, OPTION_TEXT, AT(listen), "ADDRESS", .commands = "record serve watch",
     .help = "numeric address to listen on (default: this machine only); beyond loopback a "
             "token is "
             "asked for"},
    {"listen", 0, OPTION_TEXT, AT(listen), "ADDRESS", .commands = "ps",
     .help = "where to listen: tcp://HOST:PORT, port * for any (default: this machine only)"},
    {"metrics", 0, OPTION_TEXT, AT(metrics), "[ADDRESS:]PORT", .commands = "ad ps",
     .help = "serve /metrics for Prometheus, and /healthz, there (port 0: a free one; address: "
             "numeric, default this machine only; beyond loopback a token is asked for)"},
    {"print-tunnel", 0, OPTION_FLAG, AT(page.is_tunnel), NULL, .commands = "record serve watch",
     .help = "also print the ssh command that brings the page to another machine"},
    {"watch", 0, OPTION_FLAG, AT(page.is_watched), NULL, .commands = "record",
     .help = "also show what is strange while the program runs, as snag watch does"},
    {"stacks", 0, OPTION_FLAG, AT(is_stacks), NULL, .commands = "record",
     .help = "record the functions that are on the stack when MPI is called (default without "
             "hooks)"},
    {"mpi", 0, OPTION_FLAG, AT(is_mpi_alone), NULL, .commands = "record",
     .help = "record MPI alone"},
    {"no-call-sites", 0, OPTION_FLAG, AT(has_no_call_sites), NULL, .commands = "record",
     .help = "name calls of MPI alone, not with where in the program they are called"},
    {"sample", 0, OPTION_TEXT, AT(sample), "RATE", .commands = "record",
     .help = "also look at the stacks of threads that compute, at a rate such as 200Hz: finds "
             "functions that call no MPI, too"},
    {"overhead", 0, OPTION_SHARE, AT(overhead), "SHARE", .commands = "record",
     .help = "what recording may cost, such as 2%: beyond that, short and frequent functions "
             "are no longer recorded, and named (default: all are recorded)"},
    {"finish", 0, OPTION_TEXT, AT(finish), "DIR", .commands = "record",
     .help = "make a trace of what an earlier snag record, or the tracer by hand, left in a "
             "directory; no program is run"},
    {"live", 0, OPTION_TEXT, AT(live_socket), "SOCKET", .commands = "record",
     .help = "write no trace: send the events to the snag ad or snag watch that reads "
             "tracer:SOCKET"},
    {"tracer", 0, OPTION_TEXT, AT(tracer), "KIND", .commands = "record",
     .help = "library to load (default: by what the program is linked with, or by what starts "
             "it, mpirun and its like)",
     .choices = "openmpi|mpich|mpich-abi|mpich-named|serial"},
    {"once", 0, OPTION_FLAG, AT(page.is_once), NULL, .commands = "record watch",
     .help = "end with the program; else the page stays until a signal"},
    {"what", 'w', OPTION_TEXT, AT(what), "KIND", .commands = "export",
     .help = "what of a run (default executions) or of a store (default anomalies)",
     .choices = "executions|calls|messages|anomalies|normalexecs"},
    {"what", 'w', OPTION_TEXT, AT(what), "KIND", .commands = "provdb",
     .help = "what of a store", .choices = "anomalies|normalexecs", .typical = "anomalies"},
    {"format", 0, OPTION_TEXT, AT(format), "KIND", .commands = "export",
     .help = "how to write it", .choices = "csv|json|chrome|parquet"},
    {"format", 0, OPTION_TEXT, AT(format), "KIND", .commands = "query provdb",
     .help = "how to print it (default: a table)", .choices = "csv|json"},
    {"format", 0, OPTION_TEXT, AT(format), "KIND", .commands = "compare",
     .help = "how to print it", .choices = "text|markdown|junit|json"},
    {"format", 0, OPTION_TEXT, AT(format), "KIND", .commands = "history",
     .help = "how to print what show shows", .choices = "text|csv|json"},
    {"by", 0, OPTION_TEXT, AT(by), "KIND", .commands = "list",
     .help = "what comes first: the strangest (score), what cost the run most, or what lost "
             "most time",
     .choices = "score|cost|lost"},
    {"by", 0, OPTION_TEXT, AT(by), "KIND", .commands = "ranks",
     .help =
         "what is compared: rank, thread, node, program, worker (a stage of a rank), stage, "
         "or stage=TEXT: the number behind TEXT in the names of threads (default: rank; "
         "thread where there are too few ranks)"},
    {"by", 0, OPTION_TEXT, AT(by), "KIND", .commands = "provdb",
     .help = "what comes first: the most time lost (severity), the strangest (score), or what "
             "cost the program most",
     .choices = "severity|score|cost", .typical = "severity"},
    {"verify", 0, OPTION_FLAG, AT(is_verified), NULL,
     .commands = "list ranks compare report show what-if evaluate serve query export",
     .help = "read the whole run and compare its checksums"},
    {"workers", 0, OPTION_COUNT, AT(server.workers), "N", .commands = "ps",
     .help = "threads that answer requests", .typical = "2"},
    {"snapshot", 0, OPTION_TEXT, AT(server.snapshot), "FILE", .commands = "ps",
     .help = "go on from this file if it is there, and keep it up to date"},
    {"upstream", 0, OPTION_TEXT, AT(server.upstream), "ADDRESS", .commands = "ps",
     .help = "join the server at ADDRESS as one of the servers below it: it gets the counts of "
             "this one, and its model is sent to the clients here; needs --snapshot"},
    {"dump", 0, OPTION_TEXT, AT(server.dump), "SERVER", .commands = "ps",
     .help = "print what a server knows, by its address or its snapshot, as JSON, and end"},
    {"load", 0, OPTION_TEXT, AT(server.load), "FILE", .commands = "ps",
     .help = "begin with the models of this snapshot of another run"},
    {"frozen", 0, OPTION_FLAG, AT(server.is_frozen), NULL, .commands = "ps",
     .help = "never change the models"},
    {"interval", 0, OPTION_REAL, AT(server.interval), "SECONDS", .commands = "ps",
     .help = "how often models are published and saved", .typical = "1"},
    {"deterministic", 0, OPTION_COUNT, AT(deterministic), "N", .commands = "ad ps",
     .help =
         "publish when N clients have pushed, whatever the time: results are the same on every "
         "run; the server and its clients are told the same N"},
    {"curve-key", 0, OPTION_TEXT, AT(curve_key), "FILE",
     .commands = "model serve query ad watch ps sim",
     .help =
         "key of the job: encrypt, and talk only to who has it; snag ps makes it if missing"},
    {"insecure", 0, OPTION_FLAG, AT(server.is_insecure), NULL, .commands = "ps",
     .help = "listen beyond this machine without a key"},
    {"ranks", 0, OPTION_COUNT, AT(sim.ranks), "N", .commands = "sim", .help = "ranks to play",
     .typical = "64"},
    {"tree", 0, OPTION_TEXT, AT(sim.tree), "LEVELSxFAN", .commands = "sim",
     .help = "play them to a tree of servers in this process, with LEVELS levels (the ranks "
             "are the last) and FAN below each server; prints what each level had to do"},
    {"rate", 0, OPTION_REAL, AT(sim.rate), "R", .commands = "sim",
     .help = "steps per second of each rank; 0: as fast as they are answered", .typical = "1"},
    {"seconds", 0, OPTION_REAL, AT(sim.seconds), "S", .commands = "sim",
     .help = "how long to play", .typical = "10"},
    {"functions", 0, OPTION_COUNT, AT(sim.functions), "N", .commands = "sim",
     .help = "functions that each rank calls", .typical = "36"},
    {"functions", 0, OPTION_FLAG, AT(is_functions), NULL, .commands = "record",
     .help = "record functions by the hooks that -finstrument-functions compiles in, and those "
             "of Python (default, where there are any)"},
    {"ps", 0, OPTION_TEXT, AT(live.ps), "ADDRESS", .commands = "ad",
     .help = "parameter server to share models with, as snag ps prints it"},
    {"server", 0, OPTION_TEXT, AT(live.server), "ADDRESS", .commands = "serve watch",
     .help = "parameter server of the job: the page shows what it knows of all instances"},
    {"algo-file", 0, OPTION_TEXT, AT(live.algo_file), "FILE", .commands = "analyze ad watch",
     .help = "Chimbuko's JSON that says how strange calls are found"},
    {"model-key", 0, OPTION_TEXT, AT(live.model_key), "KIND", .commands = "ad watch",
     .help = "what calls are compared with: those of their region, or only those with the same "
             "callers",
     .choices = "region|path", .typical = "region"},
    {"step", 0, OPTION_SPAN, AT(live.step), "SECONDS", .commands = "ad watch",
     .help = "trace time of a step when a trace is replayed; 0: all at once", .typical = "1"},
    {"speed", 0, OPTION_SPAN, AT(live.speed), "X", .commands = "ad",
     .help = "replay X seconds of the trace per second; 0: as fast as it goes", .typical = "0"},
    {"speed", 0, OPTION_SPAN, AT(live.speed), "X", .commands = "watch",
     .help = "replay X seconds of the trace per second; 0: as fast as it goes", .typical = "1"},
    {"min-count", 0, OPTION_NUMBER, AT(live.min_count), "N", .commands = "ad watch",
     .help = "calls of a region before any of them is judged", .typical = "100"},
    {"min-time", 0, OPTION_TIME, AT(live.min_time_ns), "TIME", .commands = "ad watch",
     .help = "calls that took less than TIME, such as 20us, are never strange", .typical = "0"},
    {"false-alarms", 0, OPTION_ABOVE, AT(live.false_alarms), "N", .commands = "record ad watch",
     .help = "tails: normal calls in a million of each region that may be called strange",
     .typical = "10"},
    {"ignore", 0, OPTION_TEXT, AT(live.ignore), "FILE", .commands = "ad watch",
     .help = "regions that are not judged: a name or /regex/ a line"},
    {"thresholds", 0, OPTION_TEXT, AT(live.thresholds), "FILE", .commands = "ad watch",
     .help = "thresholds of single regions: a name and p (sstd: sigmas; hbos, copod: share of "
             "the range of scores) a line"},
    {"window", 0, OPTION_NUMBER, AT(live.window), "N", .commands = "ad watch",
     .help = "calls before and after a strange one that are kept with it", .typical = "10"},
    {"store", 0, OPTION_TEXT, AT(live.store), "URL", .commands = "record ad watch",
     .help =
         "where strange calls and executions are kept: a directory, sqlite:DIRECTORY?shards=N "
         "or postgresql://...; or none (default: ad none, watch NAME.store)"},
    {"store-limit", 0, OPTION_COUNT, AT(live.store_mib), "MIB", .commands = "record ad watch",
     .help = "how much records of this run may take in the store: beyond it, those with the "
             "least lost time are removed (default: for a directory, a "
             "quarter of the free space of its disk; for a database, no limit)"},
    {"spool", 0, OPTION_TEXT, AT(live.spool), "DIRECTORY", .commands = "record ad watch",
     .help = "where rows for PostgreSQL wait while the database is away",
     .typical = "snag-spool"},
    {"spool-limit", 0, OPTION_COUNT, AT(live.spool_mib), "MIB", .commands = "record ad watch",
     .help = "how much may wait in the spool", .typical = "1024"},
    {"program", 0, OPTION_NUMBER, AT(live.program), "N", .commands = "ad watch",
     .help = "number of the program in a workflow of several", .typical = "0"},
    {"as-rank", 0, OPTION_NUMBER, AT(live.as_rank), "R", .commands = "ad watch",
     .has_zero = true, .help = "take all events for those of rank R, whatever rank they name"},
    {"watchlist", 0, OPTION_TEXT, AT(live.watchlist), "FILE", .commands = "ad watch",
     .help = "counters of the node's state: JSON [[counter, field], ...]"},
    {"counter-prefix", 0, OPTION_TEXT, AT(live.counter_prefix), "P", .commands = "ad watch",
     .help = "how the names of such counters begin", .typical = "monitoring: "},
    {"connect-timeout", 0, OPTION_SPAN, AT(live.connect_timeout), "SECONDS",
     .commands = "ad watch", .help = "how long to wait for a program that is not there yet",
     .typical = "60"},
    {"silence-timeout", 0, OPTION_SPAN, AT(live.silence_timeout), "SECONDS",
     .commands = "ad watch", .help = "how long a program may send nothing; 0: for ever",
     .typical = "0"},
    {"tree-window", 0, OPTION_COUNT, AT(live.tree_window), "SECONDS", .commands = "ad watch",
     .help = "how long executions are kept to compare others with", .typical = "3600"},
    {"tree-features", 0, OPTION_TEXT, AT(live.tree_features), "NAMES", .commands = "ad watch",
     .help = "what executions are compared by: some of "
             "duration,exclusive,exit,messages,rate,calls,depth",
     .typical = "duration"},
    {"tree-sigmas", 0, OPTION_ABOVE, AT(live.tree_sigmas), "X", .commands = "ad watch",
     .help = "an execution is strange beyond X standard deviations", .typical = "6"},
    {"threads", 't', OPTION_NUMBER, AT(threads), "N",
     .help = "threads to use (default: one per processor); results do not depend on it"},
    {"together", 0, OPTION_FLAG, AT(is_together), NULL, .commands = "info analyze score",
     .help =
         "under mpirun or srun: all processes read and analyse the trace together and make one "
         "run, the same as that of one"},
    {"together", 0, OPTION_FLAG, AT(is_together), NULL, .commands = "export",
     .help = "under mpirun or srun: each process writes a part of calls and messages"},
    {"together", 0, OPTION_FLAG, AT(is_together), NULL, .commands = "compare",
     .help =
         "under mpirun or srun: each process reads a part of the runs, or some of the traces"},
    {"json", 'j', OPTION_FLAG, AT(is_json), NULL, .help = "print JSON (snag man formats)"},
    {"quiet", 'q', OPTION_FLAG, AT(is_quiet), NULL, .help = "no progress, no notes on stderr"},
    {"verbose", 'v', OPTION_FLAG, AT(is_verbose), NULL,
     .help = "report what is done, on stderr"},
    {"help", 'h', OPTION_FLAG, AT(is_help), NULL, .help = "print this"},
    {0},
#undef AT
};

const char *settings_format(const struct settings *settings, const char *typical)
{
    return settings->format ? settings->format : settings->is_json ? "json" : typical;
}

const struct option_row *option_list(void)
{
    return rows;
}

static bool has_word(const char *words, const char *word)
{
    size_t length = strlen(word);

    if (length == 0 || word[strcspn(word, " |")] != '\0')
        return false;
    for (const char *at = words; (at = strstr(at, word)) != NULL; at += length)
        if ((at == words || at[-1] == ' ' || at[-1] == '|') &&
            (at[length] == '\0' || at[length] == ' ' || at[length] == '|'))
            return true;
    return false;
}

bool command_takes(const struct command *command, const struct option_row *option)
{
    return option->commands == NULL || has_word(option->commands, command->name);
}

const struct option_row *option_find(const char *name, const struct command *command)
{
    for (const struct option_row *row = rows; row->name; row++)
        if (strcmp(row->name, name) == 0 && command_takes(command, row))
            return row;
    return NULL;
}

/* The i-th of what an option takes, as n bytes; NULL after the last. */
static const char *choice_of(const struct option_row *row, size_t i, size_t *n)
{
    const char *at = row->choice ? row->choice(i) : row->choices;

    for (; row->choice == NULL && at && i > 0; i--)
        at = strchr(at, '|') ? strchr(at, '|') + 1 : NULL;
    *n = at ? strcspn(at, "|") : 0;
    return at;
}

bool option_choices(const struct option_row *row, const char *between, char *out, size_t size)
{
    const char *choice;
    size_t n, length = 0;

    *out = '\0';
    for (size_t i = 0; length < size && (choice = choice_of(row, i, &n)) != NULL; i++)
        length += (size_t)snprintf(out + length, size - length, "%s%.*s", i ? between : "",
                                   (int)n, choice);
    return *out != '\0';
}

const struct command *command_find(const char *name)
{
    for (const struct command *c = command_list(); c->name; c++)
        if (strcmp(c->name, name) == 0)
            return c;
    return NULL;
}

void option_describe(const struct option_row *row, char *text, size_t size)
{
    char choices[OPTION_CHOICES_SIZE];
    const char *colon = option_choices(row, ", ", choices, sizeof choices) ? ": " : "";

    if (row->typical)
        snprintf(text, size, "%s%s%s (default %s)", row->help, colon, choices, row->typical);
    else
        snprintf(text, size, "%s%s%s", row->help, colon, choices);
}

/* ------------------------------------------------------------------------- setting values */

static int set_number(const char *name, const char *value, uint64_t least, uint64_t most,
                      uint64_t *out)
{
    char *end;

    errno = 0;
    *out = strtoull(value, &end, 10);
    if (!isdigit((unsigned char)*value) || *end != '\0' || errno != 0 || *out < least ||
        *out > most)
        return err_set(ERR_USAGE, "--%s takes a whole number from %llu to %llu, not '%s'", name,
                       (unsigned long long)least, (unsigned long long)most, value);
    return 0;
}

static int set_real(const char *name, const char *value, double *out)
{
    char *end;

    *out = strtod(value, &end);
    if (end == value || *end != '\0' || !isfinite(*out))
        return err_set(ERR_USAGE, "--%s takes a number, not '%s'", name, value);
    return 0;
}

static int set_above(const char *name, const char *value, double *out)
{
    char *end;

    *out = strtod(value, &end);
    if (end == value || *end != '\0' || !isfinite(*out) || !(*out > 0))
        return err_set(ERR_USAGE, "--%s takes a number above 0, not '%s'", name, value);
    return 0;
}

bool option_share(const char *text, double *share)
{
    char *end;

    *share = strtod(text, &end) / 100;
    return end != text && strcmp(end, "%") == 0 && *share >= 0 && isfinite(*share);
}

static int set_share(const char *name, const char *value, double *out)
{
    if (!option_share(value, out))
        return err_set(ERR_USAGE, "--%s takes a share such as 2%%, not '%s'", name, value);
    return 0;
}

static int set_span(const char *name, const char *value, double *out)
{
    int rc = set_real(name, value, out);

    if (rc == 0 && !(*out >= 0 && *out <= 1e7))
        rc =
            err_set(ERR_USAGE, "--%s takes a number from 0 to 10000000, not '%s'", name, value);
    return rc;
}

static int set_time(const char *name, const char *value, uint64_t *out)
{
    if (!text_parse_duration(value, out))
        return err_set(ERR_USAGE, "--%s takes a time such as 20us, 2.5ms, 1s, not '%s'", name,
                       value);
    return 0;
}

static int add_word(const struct option_row *row, const char *value, struct word_list *list)
{
    if (list->is_inherited)
        list->n = 0;
    list->is_inherited = false;
    if (list->n == MAX_REPEATED)
        return err_set(ERR_USAGE, "--%s may be repeated %d times at most", row->name,
                       MAX_REPEATED);
    list->text[list->n++] = value;
    return 0;
}

static bool is_choice(const struct option_row *row, const char *value)
{
    const char *choice;
    size_t n;

    for (size_t i = 0; (choice = choice_of(row, i, &n)) != NULL; i++)
        if (strlen(value) == n && strncmp(choice, value, n) == 0)
            return true;
    return row->choices == NULL && row->choice == NULL;
}

static int complain_choice(const struct option_row *row, const char *value)
{
    char choices[OPTION_CHOICES_SIZE];

    option_choices(row, ", ", choices, sizeof choices);
    return err_set(ERR_USAGE, "--%s takes one of %s, not '%s'", row->name, choices, value);
}

static int set_value(const struct option_row *row, const char *value, struct settings *settings)
{
    void *at = (char *)settings + row->offset;
    uint64_t number = 0;
    int rc = 0;

    if (!is_choice(row, value))
        return complain_choice(row, value);
    switch (row->kind) {
    case OPTION_FLAG:
        *(bool *)at = true;
        return 0;
    case OPTION_TEXT:
        *(const char **)at = value;
        return 0;
    case OPTION_LIST:
        return add_word(row, value, at);
    case OPTION_REAL:
        return set_real(row->name, value, at);
    case OPTION_ABOVE:
        return set_above(row->name, value, at);
    case OPTION_SHARE:
        return set_share(row->name, value, at);
    case OPTION_SPAN:
        return set_span(row->name, value, at);
    case OPTION_TIME:
        return set_time(row->name, value, at);
    case OPTION_NUMBER:
    case OPTION_COUNT:
        rc = set_number(row->name, value, row->kind == OPTION_COUNT, 1000000000, &number);
        *(uint32_t *)at = (uint32_t)number;
        return rc;
    case OPTION_PORT:
        rc = set_number(row->name, value, 0, UINT16_MAX, &number);
        *(uint32_t *)at = (uint32_t)number;
        return rc;
    case OPTION_SEED:
        return set_number(row->name, value, 0, UINT64_MAX, at);
    }
    return rc;
}

/* What stands where nothing is said and 0 would be something. */
static void set_unsaid(const struct option_row *row, struct settings *settings)
{
    void *at = (char *)settings + row->offset;

    switch (row->kind) {
    case OPTION_NUMBER:
        *(uint32_t *)at = UINT32_MAX;
        break;
    case OPTION_TIME:
        *(uint64_t *)at = UINT64_MAX;
        break;
    case OPTION_REAL:
    case OPTION_SPAN:
    case OPTION_SHARE:
        *(double *)at = NAN;
        break;
    default:
        assert(!"of this kind 0 is nothing");
    }
}

int options_typical(const struct command *command, struct settings *settings)
{
    int rc = 0;

    *settings = (struct settings){0};
    for (const struct option_row *row = rows; row->name; row++)
        if (row->has_zero)
            set_unsaid(row, settings);
    for (const struct option_row *row = rows; row->name && rc == 0; row++)
        if (row->typical && command_takes(command, row))
            rc = set_value(row, row->typical, settings);
    return rc;
}

static int read_environment(const struct command *command, struct settings *settings)
{
    int rc = 0;

    for (const struct option_row *row = rows; row->name && rc == 0; row++) {
        char name[64] = "SNAG_";
        const char *value;
        size_t n = strlen(name);

        for (const char *at = row->name; *at && n + 1 < sizeof name; at++)
            name[n++] = *at == '-' ? '_' : (char)toupper((unsigned char)*at);
        name[n] = '\0';
        value = row->kind == OPTION_FLAG ? NULL : getenv(name);
        if (value == NULL || *value == '\0' || !command_takes(command, row))
            continue;
        rc = set_value(row, value, settings);
        if (rc < 0)
            rc = err_set(rc, "in the environment, %s: %s", name, err_message());
        else if (row->kind == OPTION_LIST)
            ((struct word_list *)((char *)settings + row->offset))->is_inherited = true;
    }
    return rc;
}

/* ----------------------------------------------------------------------------- parsing */

struct option_table {
    struct option option[MAX_OPTIONS + 1];
    const struct option_row *row[MAX_OPTIONS];
    char letters[2 * MAX_OPTIONS + 4];
    int n;
};

static void make_table(const struct command *command, struct option_table *table)
{
    char *letter = table->letters;

    if (strncmp(command->usage, "[options] ", 10) == 0)
        *letter++ = '+'; /* what follows the first argument is not for us */
    *letter++ = ':';     /* tell a missing value from an unknown option */
    for (const struct option_row *row = rows; row->name; row++) {
        if (!command_takes(command, row))
            continue;
        table->row[table->n] = row;
        table->option[table->n] = (struct option){
            row->name, row->kind == OPTION_FLAG ? no_argument : required_argument, NULL,
            FIRST_LONG + table->n};
        table->n++;
        if (row->letter) {
            *letter++ = row->letter;
            if (row->kind != OPTION_FLAG)
                *letter++ = ':';
        }
    }
    *letter = '\0';
}

static const struct option_row *row_of(const struct option_table *table, int code)
{
    if (code >= FIRST_LONG)
        return table->row[code - FIRST_LONG];
    for (int i = 0; i < table->n; i++)
        if (table->row[i]->letter == code)
            return table->row[i];
    return NULL;
}

static int complain_unknown(const struct command *command, const char *word)
{
    const char *name = word + strspn(word, "-");
    const struct option_row *near = NULL;
    size_t best = text_typos(name) + 1;

    for (const struct option_row *row = rows; row->name; row++) {
        size_t distance = text_distance(row->name, name, best - 1);

        if (command_takes(command, row) && distance < best) {
            best = distance;
            near = row;
        }
    }
    if (near)
        return err_set(ERR_USAGE, "snag %s has no option '%s'; near: --%s", command->name, word,
                       near->name);
    return err_set(ERR_USAGE, "snag %s has no option '%s' (snag help %s lists them)",
                   command->name, word, command->name);
}

/* A short option is named by getopt itself: it may be one of several behind one dash. */
static int complain_option(const struct command *command, const char *word)
{
    char letter[] = {'-', (char)optopt, '\0'};

    return complain_unknown(command, isgraph(optopt) && optopt < 128 ? letter : word);
}

/* What is missing is said as the help has it, where an example often is. */
static int complain_value(const struct option_row *row)
{
    return err_set(ERR_USAGE, "'--%s' needs a value: --%s %s, %s", row->name, row->name,
                   row->argument, row->help);
}

static int check_args(const struct command *command, const struct settings *settings)
{
    if (settings->is_help)
        return 0;
    if (settings->n_args < command->min_args)
        return err_set(ERR_USAGE, "something is missing: snag %s %s", command->name,
                       command->usage);
    if (settings->n_args > command->max_args)
        return err_set(ERR_USAGE, "one word too many: '%s'; expected: snag %s %s",
                       settings->args[command->max_args], command->name, command->usage);
    return 0;
}

/* Each once: there is room for all that there are. */
static void note_said(struct settings *settings, const char *name)
{
    for (int i = 0; i < settings->n_said; i++)
        if (strcmp(settings->said[i], name) == 0)
            return;
    if (settings->n_said < MAX_SAID_OPTIONS)
        settings->said[settings->n_said++] = name;
}

int options_refuse(const struct settings *settings, const char *names, const char *why)
{
    for (int i = 0; i < settings->n_said; i++)
        if (has_word(names, settings->said[i]))
            return err_set(ERR_USAGE, "--%s %s", settings->said[i], why);
    return 0;
}

int options_parse(const struct command *command, int argc, char **argv,
                  struct settings *settings)
{
    struct option_table table = {.n = 0};
    int rc, code;

    rc = options_typical(command, settings);
    if (rc == 0)
        rc = read_environment(command, settings);
    make_table(command, &table);
    optind = 1;
    opterr = 0;
    while (rc == 0 &&
           (code = getopt_long(argc, argv, table.letters, table.option, NULL)) != -1) {
        const struct option_row *row = row_of(&table, code == ':' ? optopt : code);
        bool has_value = code != ':' && (optarg == NULL || strcmp(optarg, "--") != 0);

        if (row && !has_value)
            rc = complain_value(row);
        else if (row == NULL)
            rc = complain_option(command, argv[optind - 1]);
        else
            rc = set_value(row, optarg, settings);
        if (row)
            note_said(settings, row->name);
    }
    settings->args = (const char *const *)(argv + optind);
    settings->n_args = argc - optind;
    settings->words = (const char *const *)argv;
    settings->n_words = argc;
    return rc < 0 ? rc : check_args(command, settings);
}
