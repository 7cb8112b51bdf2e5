/*
 * Long and short options are parsed by getopt_long from an array made of the table; values are
 * checked here, so that every message names the option and what it would take.
 */
#include "cmd/options.h"

#include "base/err.h"
#include "base/text.h"
#include "trace/definitions.h"

#include <ctype.h>
#include <errno.h>
#include <getopt.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MOST_OPTIONS 64
#define FIRST_LONG 1000 /* what getopt returns for row i is FIRST_LONG + i */

static const char common[] = "help json quiet verbose threads";

static const struct option_row rows[] = {
#define AT(member) offsetof(struct settings, member)
    {"foi", 'f', OPTION_LIST, AT(foi), "FUNCTION", NULL,
     "function of interest: its name, a part of it, or /regex/; may be repeated"},
    {"output", 'o', OPTION_TEXT, AT(output), "PATH", NULL,
     "where to write: the directory of a run (snag record: of a trace), or a file (snag "
     "export)"},
    {"force", 0, OPTION_FLAG, AT(is_forced), NULL, NULL, "replace an existing run"},
    {"features", 0, OPTION_TEXT, AT(features), "KIND", "residual|time|subtrees|stack2vec",
     "what an execution is described by, for the detectors that compare vectors"},
    {"detector", 0, OPTION_TEXT, AT(detector), "KIND", "residual|ocsvm|lof|knn|iforest",
     "how strange executions are found"},
    {"dimensions", 0, OPTION_COUNT, AT(dimensions), "N", NULL,
     "numbers that stack2vec describes an execution by (default 128)"},
    {"epochs", 0, OPTION_COUNT, AT(epochs), "N", NULL,
     "how often stack2vec goes through all executions to learn (default 20)"},
    {"learning-rate", 0, OPTION_ABOVE, AT(learning_rate), "X", NULL,
     "length of the steps in which stack2vec learns, up to 1 (default 0.02)"},
    {"negatives", 0, OPTION_ABOVE, AT(negatives), "X", NULL,
     "subtrees that stack2vec tells each subtree of an execution from (default 5)"},
    {"gamma", 0, OPTION_ABOVE, AT(gamma), "X", NULL,
     "of the one-class SVM's kernel exp(-X d^2) (default: taken from the data)"},
    {"neighbours", 'k', OPTION_COUNT, AT(neighbours), "K", NULL,
     "neighbours that lof (default 20) and knn (default 10) look at"},
    {"threshold", 0, OPTION_REAL, AT(threshold), "SCORE", NULL,
     "a score above it makes an anomaly, instead of the detector's own threshold; snag show: "
     "importance of the subtrees to print (default 0.69: twice or half of the usual)"},
    {"method", 'm', OPTION_TEXT, AT(method), "KIND", "tsne|pca|mds",
     "how executions are put on a plane (default tsne)"},
    {"perplexity", 0, OPTION_REAL, AT(perplexity), "P", NULL,
     "about how many neighbours t-SNE keeps near each execution (default 30)"},
    {"iterations", 0, OPTION_NUMBER, AT(iterations), "N", NULL,
     "steps of tsne (default 1000), or most of mds (default 300)"},
    {"per-call", 0, OPTION_FLAG, AT(is_per_call), NULL, NULL,
     "the calls of all functions, each against the others of its function"},
    {"call-detector", 0, OPTION_TEXT, AT(call_detector), "KIND", "hbos|sstd|copod",
     "how strange calls are found (default hbos)"},
    {"inclusive", 0, OPTION_FLAG, AT(is_inclusive), NULL, NULL,
     "judge calls by their inclusive time, not by their own"},
    {"seed", 0, OPTION_SEED, AT(seed), "N", NULL, "seed of everything random (default 1)"},
    {"top", 'n', OPTION_COUNT, AT(top), "N", NULL,
     "how many to print (default 10; snag info: 20 regions)"},
    {"all", 'a', OPTION_FLAG, AT(is_all), NULL, NULL,
     "print all there is: executions, regions, the whole tree"},
    {"rank", 'r', OPTION_NUMBER, AT(rank), "R", NULL,
     "only executions on this rank; snag ad: read only this rank"},
    {"verdict", 0, OPTION_TEXT, AT(verdict), "V", "anomaly|normal",
     "only executions with this verdict"},
    {"depth", 'd', OPTION_COUNT, AT(depth), "N", NULL,
     "levels of the tree to draw; strange calls below are drawn all the same (default 4)"},
    {"subtrees", 0, OPTION_FLAG, AT(has_subtrees), NULL, NULL,
     "also print which subtrees make it different from executions like it"},
    {"labels", 'l', OPTION_TEXT, AT(labels), "FILE", NULL,
     "CSV with a column 'id' and a column 'label' (abnormal, normal)"},
    {"from", 0, OPTION_TEXT, AT(from), "FILE", NULL,
     "CSV with a column 'id' and a column 'label' (abnormal, normal, clear)"},
    {"author", 0, OPTION_TEXT, AT(author), "NAME", NULL,
     "who says so (default: the user's login name)"},
    {"model", 0, OPTION_TEXT, AT(model), "FILE", NULL, "model to judge executions by"},
    {"learner", 0, OPTION_TEXT, AT(learner), "KIND", "gp|ocsvm", "how labels are learnt from"},
    {"n", 0, OPTION_NUMBER, AT(questions), "N", NULL,
     "how many executions to ask about (default 10)"},
    {"undo", 0, OPTION_FLAG, AT(is_undo), NULL, NULL, "take the newest retrain back"},
    {"history", 0, OPTION_FLAG, AT(is_history), NULL, NULL, "list all retrains"},
    {"simulate", 0, OPTION_NUMBER, AT(simulate), "N", NULL,
     "play active learning with the labels until N are given"},
    {"batch", 0, OPTION_NUMBER, AT(batch), "N", NULL,
     "labels given between two rankings (default 10)"},
    {"port", 'p', OPTION_PORT, AT(port), "P", NULL, "port to listen on (default: a free one)"},
    {"listen", 0, OPTION_TEXT, AT(listen), "ADDRESS", NULL,
     "where to listen (default this machine only); snag serve: a numeric address, beyond "
     "loopback a token is asked for; snag ps: tcp://HOST:PORT, port * for any"},
    {"print-tunnel", 0, OPTION_FLAG, AT(is_tunnel), NULL, NULL,
     "also print the ssh command that brings the page to another machine"},
    {"watch", 0, OPTION_FLAG, AT(is_watched), NULL, NULL,
     "also show what is strange while the program runs, as snag watch does"},
    {"tracer", 0, OPTION_TEXT, AT(tracer), "KIND", "mpi|serial",
     "library to load (default: mpi for what mpirun and its like start, and what is linked "
     "with MPI)"},
    {"once", 0, OPTION_FLAG, AT(is_once), NULL, NULL,
     "end with the program; else the page stays until a signal"},
    {"what", 'w', OPTION_TEXT, AT(what), "KIND", "executions|calls|anomalies|normalexecs",
     "what of a run (default executions) or of a store (default anomalies)"},
    {"format", 0, OPTION_TEXT, AT(format), "KIND", "csv|json|chrome", "how to write it"},
    {"by", 0, OPTION_TEXT, AT(by), "KIND", "severity|score",
     "what comes first: the time lost (default), or the strangest"},
    {"verify", 0, OPTION_FLAG, AT(is_verified), NULL, NULL,
     "read the whole run and compare its checksums"},
    {"workers", 0, OPTION_COUNT, AT(workers), "N", NULL,
     "threads that answer requests (default 2)"},
    {"snapshot", 0, OPTION_TEXT, AT(snapshot), "FILE", NULL,
     "go on from this file if it is there, and keep it up to date"},
    {"load", 0, OPTION_TEXT, AT(load), "FILE", NULL,
     "begin with the models of this snapshot of another run"},
    {"frozen", 0, OPTION_FLAG, AT(is_frozen), NULL, NULL, "never change the models"},
    {"interval", 0, OPTION_REAL, AT(interval), "SECONDS", NULL,
     "how often models are published and saved (default 1)"},
    {"deterministic", 0, OPTION_COUNT, AT(deterministic), "N", NULL,
     "publish when N clients have pushed, whatever the time: results are the same on every "
     "run; the server and its clients are told the same N"},
    {"curve-key", 0, OPTION_TEXT, AT(curve_key), "FILE", NULL,
     "key of the job: encrypt, and talk only to who has it; snag ps makes it if missing"},
    {"insecure", 0, OPTION_FLAG, AT(is_insecure), NULL, NULL,
     "listen beyond this machine without a key"},
    {"ranks", 0, OPTION_COUNT, AT(ranks), "N", NULL, "ranks to play (default 64)"},
    {"rate", 0, OPTION_REAL, AT(rate), "R", NULL,
     "steps per second of each rank (default 1); 0: as fast as they are answered"},
    {"seconds", 0, OPTION_REAL, AT(seconds), "S", NULL, "how long to play (default 10)"},
    {"functions", 0, OPTION_COUNT, AT(functions), "N", NULL,
     "functions that each rank calls (default 36)"},
    {"ps", 0, OPTION_TEXT, AT(ps), "ADDRESS", NULL,
     "parameter server to share models with, as snag ps prints it"},
    {"algo-file", 0, OPTION_TEXT, AT(algo_file), "FILE", NULL,
     "Chimbuko's JSON that says how strange calls are found"},
    {"model-key", 0, OPTION_TEXT, AT(model_key), "KIND", "region|path",
     "what calls are compared with: those of their region (default), or only those with the "
     "same callers"},
    {"step", 0, OPTION_SPAN, AT(step), "SECONDS", NULL,
     "trace time of a step when a trace is replayed (default 1); 0: all at once"},
    {"speed", 0, OPTION_SPAN, AT(speed), "X", NULL,
     "replay so many seconds of a trace in a second; 0: as fast as it goes (default; snag "
     "watch: 1)"},
    {"min-count", 0, OPTION_NUMBER, AT(min_count), "N", NULL,
     "calls of a region before any of them is judged (default 100)"},
    {"min-time", 0, OPTION_TIME, AT(min_time_ns), "TIME", NULL,
     "calls that took less, say 20us, are never strange (default 0)"},
    {"ignore", 0, OPTION_TEXT, AT(ignore), "FILE", NULL,
     "regions that are not judged: a name or /regex/ a line"},
    {"thresholds", 0, OPTION_TEXT, AT(thresholds), "FILE", NULL,
     "thresholds of single regions: a name and p (sstd: sigmas) a line"},
    {"window", 0, OPTION_NUMBER, AT(window), "N", NULL,
     "calls before and after a strange one that are kept with it (default 10)"},
    {"store", 0, OPTION_TEXT, AT(store), "URL", NULL,
     "where what is strange is kept: a directory, or sqlite:DIRECTORY?shards=N; watch: none "
     "(default NAME.store)"},
    {"program", 0, OPTION_NUMBER, AT(program), "N", NULL,
     "number of the program in a workflow of several (default 0)"},
    {"as-rank", 0, OPTION_NUMBER, AT(as_rank), "R", NULL,
     "take what is read for rank R, whatever it says of itself"},
    {"watchlist", 0, OPTION_TEXT, AT(watchlist), "FILE", NULL,
     "counters of the node's state: JSON [[counter, field], ...]"},
    {"counter-prefix", 0, OPTION_TEXT, AT(counter_prefix), "P", NULL,
     "how the names of such counters begin (default: the word monitoring, a colon, a space)"},
    {"connect-timeout", 0, OPTION_SPAN, AT(connect_timeout), "SECONDS", NULL,
     "how long to wait for a program that is not there yet (default 60)"},
    {"silence-timeout", 0, OPTION_SPAN, AT(silence_timeout), "SECONDS", NULL,
     "how long a program may say nothing (default 0: for ever)"},
    {"tree-window", 0, OPTION_COUNT, AT(tree_window), "SECONDS", NULL,
     "how long executions are kept to compare others with (default 3600)"},
    {"tree-features", 0, OPTION_TEXT, AT(tree_features), "NAMES", NULL,
     "what executions are compared by: some of duration,exclusive,exit,messages,rate,calls,"
     "depth (default duration)"},
    {"tree-sigmas", 0, OPTION_ABOVE, AT(tree_sigmas), "X", NULL,
     "an execution is strange beyond so many standard deviations (default 6)"},
    {"threads", 't', OPTION_NUMBER, AT(threads), "N", NULL,
     "threads to use (default: one per processor); results do not depend on it"},
    {"json", 'j', OPTION_FLAG, AT(is_json), NULL, NULL, "print JSON, see snag-formats"},
    {"quiet", 'q', OPTION_FLAG, AT(is_quiet), NULL, NULL, "no progress, no notes on stderr"},
    {"verbose", 'v', OPTION_FLAG, AT(is_verbose), NULL, NULL, "say what is done, on stderr"},
    {"help", 'h', OPTION_FLAG, AT(is_help), NULL, NULL, "print this"},
    {0},
#undef AT
};

struct settings settings_default(void)
{
    return (struct settings){.rank = NO_RANK,
                             .seed = 1,
                             .threshold = NAN,
                             .interval = NAN,
                             .rate = NAN,
                             .seconds = NAN,
                             .counter_prefix = "monitoring: ",
                             .step = 1,
                             .speed = NAN,
                             .connect_timeout = 60,
                             .min_count = 100,
                             .window = 10,
                             .as_rank = NO_RANK,
                             .tree_window = 3600};
}

const char *settings_format(const struct settings *settings, const char *usual)
{
    return settings->format ? settings->format : settings->is_json ? "json" : usual;
}

const struct option_row *option_list(void)
{
    return rows;
}

const struct option_row *option_find(const char *name)
{
    for (const struct option_row *row = rows; row->name; row++)
        if (strcmp(row->name, name) == 0)
            return row;
    return NULL;
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
    return has_word(common, option->name) || has_word(command->options, option->name);
}

const struct command *command_find(const char *name)
{
    for (const struct command *c = command_list(); c->name; c++)
        if (strcmp(c->name, name) == 0)
            return c;
    return NULL;
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

static int set_list(const struct option_row *row, const char *value, struct settings *settings)
{
    if (settings->n_foi == FOI_MOST)
        return err_set(ERR_USAGE, "--%s may be repeated %d times at most", row->name, FOI_MOST);
    settings->foi[settings->n_foi++] = value;
    return 0;
}

static int set_value(const struct option_row *row, const char *value, struct settings *settings)
{
    void *at = (char *)settings + row->offset;
    uint64_t number = 0;
    int rc = 0;

    if (row->choices && !has_word(row->choices, value))
        return err_set(ERR_USAGE, "--%s takes %s, not '%s'", row->name, row->choices, value);
    switch (row->kind) {
    case OPTION_FLAG:
        *(bool *)at = true;
        return 0;
    case OPTION_TEXT:
        *(const char **)at = value;
        return 0;
    case OPTION_LIST:
        return set_list(row, value, settings);
    case OPTION_REAL:
        return set_real(row->name, value, at);
    case OPTION_ABOVE:
        return set_above(row->name, value, at);
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
    }
    return rc;
}

/* ----------------------------------------------------------------------------- parsing */

struct table {
    struct option option[MOST_OPTIONS + 1];
    const struct option_row *row[MOST_OPTIONS];
    char letters[2 * MOST_OPTIONS + 4];
    int n;
};

static void make_table(const struct command *command, struct table *table)
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

static const struct option_row *row_of(const struct table *table, int code)
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
    const struct option_row *near = NULL;
    size_t best = 4;

    for (const struct option_row *row = rows; row->name; row++) {
        size_t distance = text_distance(row->name, word + strspn(word, "-"), best - 1);

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

static int check_args(const struct command *command, const struct settings *settings)
{
    if (settings->is_help)
        return 0;
    if (settings->n_args < command->min_args)
        return err_set(ERR_USAGE, "something is missing: snag %s %s", command->name,
                       command->usage);
    if (settings->n_args > command->max_args)
        return err_set(ERR_USAGE, "too much: '%s'; expected: snag %s %s",
                       settings->args[command->max_args], command->name, command->usage);
    return 0;
}

int options_parse(const struct command *command, int argc, char **argv,
                  struct settings *settings)
{
    struct table table = {.n = 0};
    bool has_list = false;
    int rc, code;

    *settings = settings_default();
    rc = read_environment(command, settings);
    make_table(command, &table);
    optind = 1;
    opterr = 0;
    while (rc == 0 &&
           (code = getopt_long(argc, argv, table.letters, table.option, NULL)) != -1) {
        const struct option_row *row = row_of(&table, code);

        if (row && row->kind == OPTION_LIST && !has_list) {
            settings->n_foi = 0; /* what is said here replaces the environment */
            has_list = true;
        }
        if (code == ':')
            rc = err_set(ERR_USAGE, "'%s' needs a value", argv[optind - 1]);
        else if (row == NULL)
            rc = complain_option(command, argv[optind - 1]);
        else
            rc = set_value(row, optarg, settings);
    }
    settings->args = (const char *const *)(argv + optind);
    settings->n_args = argc - optind;
    return rc < 0 ? rc : check_args(command, settings);
}
