/* A word at a time; a rule that is built in is text as one of a file is. */
#include "trace/chrome/link_rules.h"

#include "base/err.h"
#include "base/mem.h"

#include <assert.h>
#include <ctype.h>
#include <errno.h>
#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAX_WORDS 24
#define MAX_BYTES 1048576 /* of a file */

/* Timelines of pipeline-parallel training: https://github.com/ByteDance-Seed/StragglerAnalysis.
 * Embeddings are shared by the first and the last stage of a pipeline. A stage receives for its
 * next microbatch once it is done with the last one; each step begins with the parameters. */
#define STAGE "\"thread:PP rank\""
#define OF_WORKER "rank " STAGE " \"thread:TP rank\" step"
#define OF_STEP "\"thread:TP rank\" step seq_id"
static const char *const pipeline[] = {
    "forward send forward-send rank " STAGE "+1 " OF_STEP,
    "forward receive forward-recv rank " STAGE " " OF_STEP,
    "backward send backward-send rank " STAGE "-1 " OF_STEP,
    "backward receive backward-recv rank " STAGE " " OF_STEP,
    "params all-to-all params-all-gather " STAGE " " OF_STEP,
    "grads all-to-all grads-reduce-scatter " STAGE " " OF_STEP,
    "separate all-to-all separate-grads-all-reduce " STAGE " " OF_STEP,
    "embedding all-to-all embedding-grads-all-reduce rank " OF_STEP,
    "clip all-to-all optimizer-clip-main-grad step seq_id",
    "forward-in before forward-recv " OF_WORKER " seq_id",
    "forward-in after forward-compute " OF_WORKER " seq_id",
    "forward-next before forward-compute " OF_WORKER " seq_id+1",
    "forward-next after forward-recv " OF_WORKER " seq_id",
    "forward-out before forward-compute " OF_WORKER " seq_id",
    "forward-out after forward-send " OF_WORKER " seq_id",
    "backward-in before backward-recv " OF_WORKER " seq_id",
    "backward-in after backward-compute " OF_WORKER " seq_id",
    "backward-next before backward-compute " OF_WORKER " seq_id+1",
    "backward-next after backward-recv " OF_WORKER " seq_id",
    "backward-out before backward-compute " OF_WORKER " seq_id",
    "backward-out after backward-send " OF_WORKER " seq_id",
    "params-in before params-all-gather " OF_WORKER,
    "params-in after forward-compute " OF_WORKER,
    "grads-out before backward-compute " OF_WORKER,
    "grads-out after *grads-* " OF_WORKER,
    "clipped before optimizer-clip-main-grad " OF_WORKER,
    "clipped after optimizer " OF_WORKER,
    "next-step before optimizer rank " STAGE " \"thread:TP rank\"",
    "next-step after params-all-gather rank " STAGE " \"thread:TP rank\"",
    NULL,
};

/* Of JAX and TensorFlow: one operation of a program, on each device. A profile may call kernels by their operations. */
#define OPERATION "hlo_module hlo_op"
static const char *const xla[] = {
    "xla none nccl*Kernel*SendRecv* hlo_op",
    "xla one-to-all nccl*Kernel*Broadcast* " OPERATION,
    "xla all-to-all nccl*Kernel* " OPERATION,
    "xla all-to-all all-reduce* " OPERATION,
    "xla all-to-all all-gather* " OPERATION,
    "xla all-to-all reduce-scatter* " OPERATION,
    "xla all-to-all all-to-all* " OPERATION,
    NULL,
};

/* Kernels of NCCL and RCCL as PyTorch's profiler has them, and operations of Gloo. Kernels of
 * old versions do not say what they carry, the annotations of their launches do. One kernel is of
 * all-to-alls and of messages, which two ranks know of: where it does not say what it is, it is
 * an all-to-all if a trace has such annotations, and none of messages. */
#define GROUP                                                                                  \
    "\"Process Group Name\"? \"Process Group Ranks\"? members:\"Group size\" each:rank "
#define SAID "sent:\"In msg nelems\"*dtype received:\"Out msg nelems\"*dtype"
#define ALL_TO_ALLS                                                                            \
    "with:nccl:all_to_all* without:nccl:send* without:nccl:recv* without:nccl:coalesced* "
#define INPUT "bytes:\"Input Dims\"*\"Input type\""
static const char *const collectives[] = {
    "nccl none nccl*Kernel* \"Collective name\"=send",
    "nccl none nccl*Kernel* \"Collective name\"=recv",
    "nccl one-to-all nccl*Kernel*Broadcast* " GROUP SAID,
    "nccl all-to-all nccl*Kernel*ReduceScatter* " GROUP SAID,
    "nccl all-to-all nccl*Kernel*AllReduce* " GROUP SAID,
    "nccl all-to-one nccl*Kernel*_Reduce_* " GROUP SAID,
    "nccl all-to-all nccl*Kernel*SendRecv* \"Collective name\"=* " GROUP SAID,
    "nccl all-to-all nccl*Kernel*SendRecv* " ALL_TO_ALLS GROUP SAID,
    "nccl all-to-all nccl*Kernel* " GROUP SAID,
    "nccl none nccl:send*",
    "nccl none nccl:recv*",
    "nccl none nccl:coalesced*",
    "nccl sizes nccl:* " GROUP INPUT,
    "gloo none gloo:send*",
    "gloo none gloo:recv*",
    "gloo one-to-all gloo:broadcast " GROUP INPUT,
    "gloo all-to-one gloo:reduce " GROUP INPUT,
    "gloo all-to-all gloo:* " GROUP INPUT,
    NULL,
};

void link_rules_release(struct link_rules *rules)
{
    free(rules->rule);
    free(rules->arg);
    arena_release(&rules->arena);
    *rules = (struct link_rules){0};
}

uint32_t link_rules_arg(struct link_rules *rules, const char *name)
{
    for (uint32_t i = 0; i < rules->n_args; i++)
        if (strcmp(rules->arg[i], name) == 0)
            return i;
    if (rules->n_args == rules->most_args)
        return LINK_NO_ARG;
    mem_grow(&rules->arg, &rules->arg_cap, (size_t)rules->n_args + 1);
    rules->arg[rules->n_args] = arena_string(&rules->arena, name);
    return rules->n_args++;
}

/* ---------------------------------------------------------------------------- parsing */

/* Where a rule stands, for messages. */
struct rule_line {
    struct link_rules *rules;
    const char *from;
    unsigned line;
};

static int complain(const struct rule_line *at, const char *what, const char *word)
{
    return err_set(ERR_FORMAT, "%s, line %u: %s '%s'", at->from, at->line, what, word);
}

/* Cuts a line into words, taking quotes off. Returns how many, MAX_WORDS + 1 for too many. */
static size_t cut(char *line, char *word[MAX_WORDS])
{
    size_t n = 0;
    char *out = line;

    for (char *at = line; *at && *at != '#';) {
        bool is_quoted = false;

        if (isspace((unsigned char)*at)) {
            at++;
            continue;
        }
        if (n == MAX_WORDS)
            return n + 1;
        word[n++] = out;
        while (*at && (is_quoted || !isspace((unsigned char)*at))) {
            if (*at == '"')
                is_quoted = !is_quoted;
            else
                *out++ = *at;
            at++;
        }
        at += *at != '\0';
        *out++ = '\0';
    }
    return n;
}

static int set_what(const struct rule_line *at, const char *word, struct link_rule *rule)
{
    static const struct {
        const char *name;
        enum link_what what;
        enum collective_kind kind;
    } known[] = {
        {"none", LINK_NONE, COLLECTIVE_OTHER},
        {"send", LINK_SEND, COLLECTIVE_OTHER},
        {"receive", LINK_RECEIVE, COLLECTIVE_OTHER},
        {"sizes", LINK_SIZES, COLLECTIVE_OTHER},
        {"before", LINK_BEFORE, COLLECTIVE_OTHER},
        {"after", LINK_AFTER, COLLECTIVE_OTHER},
        {"barrier", LINK_COLLECTIVE, COLLECTIVE_BARRIER},
        {"all-to-all", LINK_COLLECTIVE, COLLECTIVE_ALL_TO_ALL},
        {"one-to-all", LINK_COLLECTIVE, COLLECTIVE_ONE_TO_ALL},
        {"all-to-one", LINK_COLLECTIVE, COLLECTIVE_ALL_TO_ONE},
    };

    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (strcmp(known[i].name, word) == 0) {
            rule->what = known[i].what;
            rule->collective = known[i].kind;
            return 0;
        }
    return complain(at,
                    "one of send, receive, barrier, all-to-all, one-to-all, all-to-one, sizes, "
                    "before, after, none is wanted, not",
                    word);
}

static int set_arg(const struct rule_line *at, const char *name, uint32_t *arg)
{
    *arg = link_rules_arg(at->rules, name);
    if (*name == '\0')
        return complain(at, "the name of an argument is missing in", name);
    return *arg == LINK_NO_ARG ? complain(at, "too many different arguments, with", name) : 0;
}

/* "ARG" or "ARG*TYPE". */
static int set_bytes(const struct rule_line *at, char *text, struct link_bytes *bytes)
{
    char *type = strchr(text, '*');
    int rc = 0;

    if (type) {
        *type++ = '\0';
        rc = set_arg(at, type, &bytes->type);
    }
    return rc < 0 ? rc : set_arg(at, text, &bytes->arg);
}

/* A number with its sign at the end of a word is taken off. */
static int64_t cut_plus(char *word)
{
    char *sign = strpbrk(word, "+-") ? word + strlen(word) : NULL, *end;
    long value;

    if (sign == NULL)
        return 0;
    while (sign > word && isdigit((unsigned char)sign[-1]))
        sign--;
    if (sign - word < 2 || *sign == '\0' || (sign[-1] != '+' && sign[-1] != '-'))
        return 0;
    value = strtol(--sign, &end, 10);
    *sign = '\0';
    return value;
}

static int set_key(const struct rule_line *at, char *word, struct link_key *key)
{
    static const struct {
        const char *name;
        enum link_key_kind kind;
    } known[] = {{"pid", LINK_PID}, {"tid", LINK_TID}, {"rank", LINK_RANK}};
    size_t length = strlen(word);
    char *wanted = strchr(word, '=');

    if (wanted) {
        *wanted++ = '\0';
        key->wanted = arena_string(&at->rules->arena, wanted);
        return set_arg(at, word, &key->arg);
    }
    if (length > 1 && word[length - 1] == '?') {
        key->may_be_missing = true;
        word[length - 1] = '\0';
    }
    key->plus = cut_plus(word);
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (strcmp(known[i].name, word) == 0) {
            key->kind = known[i].kind;
            return 0;
        }
    if (strncmp(word, "thread:", 7) == 0 || strncmp(word, "process:", 8) == 0) {
        key->kind = *word == 't' ? LINK_THREAD : LINK_PROCESS;
        key->text = arena_string(&at->rules->arena, strchr(word, ':') + 1);
        return 0;
    }
    key->kind = LINK_ARG;
    return set_arg(at, word, &key->arg);
}

/* "with:NAME" or "without:NAME". */
static int set_condition(const struct rule_line *at, char *word, struct link_rule *rule)
{
    const char *name = strchr(word, ':') + 1;

    if (rule->n_conditions == LINK_MAX_CONDITIONS)
        return complain(at, "too many conditions, with", word);
    rule->condition[rule->n_conditions++] = (struct link_condition){
        .pattern = arena_string(&at->rules->arena, name), .is_wanted = name - word == 5};
    return 0;
}

static int set_word(const struct rule_line *at, char *word, struct link_rule *rule)
{
    int rc;

    if (strcmp(word, "each:rank") == 0) {
        rule->is_each_rank = true;
        return 0;
    }
    if (strncmp(word, "with:", 5) == 0 || strncmp(word, "without:", 8) == 0)
        return set_condition(at, word, rule);
    if (strncmp(word, "sent:", 5) == 0)
        return set_bytes(at, word + 5, &rule->sent);
    if (strncmp(word, "received:", 9) == 0)
        return set_bytes(at, word + 9, &rule->received);
    if (strncmp(word, "members:", 8) == 0)
        return set_bytes(at, word + 8, &rule->members);
    if (strncmp(word, "bytes:", 6) == 0) {
        rc = set_bytes(at, word + 6, &rule->sent);
        rule->received = rule->sent;
        return rc;
    }
    if (rule->n_keys == LINK_MAX_KEYS)
        return complain(at, "too many keys, with", word);
    return set_key(at, word, &rule->key[rule->n_keys++]);
}

static int add_line(const struct rule_line *at, char *line)
{
    struct link_rules *rules = at->rules;
    struct link_rule rule = {.from = at->from,
                             .sent = {LINK_NO_ARG, LINK_NO_ARG},
                             .received = {LINK_NO_ARG, LINK_NO_ARG},
                             .members = {LINK_NO_ARG, LINK_NO_ARG}};
    char *word[MAX_WORDS];
    size_t n = cut(line, word);
    int rc;

    if (n == 0)
        return 0;
    if (n < 3 || n > MAX_WORDS)
        return complain(at, n < 3 ? "a rule is LABEL WHAT NAME KEYS, not" : "too many words",
                        word[0]);
    rule.label = arena_string(&rules->arena, word[0]);
    rule.pattern = arena_string(&rules->arena, word[2]);
    rc = set_what(at, word[1], &rule);
    for (size_t i = 3; rc == 0 && i < n; i++)
        rc = set_word(at, word[i], &rule);
    for (uint32_t i = 0, next = 0; i < rule.n_keys; i++)
        rule.key[i].place = rule.key[i].wanted ? 0 : next++;
    if (rc < 0)
        return rc;
    *mem_push(&rules->rule, &rules->n, &rules->cap) = rule;
    return 0;
}

int link_rules_add(struct link_rules *rules, const char *text, const char *from)
{
    struct rule_line at = {.rules = rules, .from = arena_string(&rules->arena, from)};
    char *copy = mem_copy_string(text), *next = copy;
    int rc = 0;

    while (rc == 0 && next) {
        char *line = strsep(&next, "\n");

        at.line++;
        rc = add_line(&at, line);
    }
    free(copy);
    return rc;
}

int link_rules_read(struct link_rules *rules, const char *path)
{
    FILE *file = fopen(path, "r");
    char *text;
    size_t n;
    int rc;

    if (file == NULL)
        return err_set(ERR_IO, "cannot open '%s': %s", path, strerror(errno));
    text = mem_alloc(MAX_BYTES + 1, 1);
    n = fread(text, 1, MAX_BYTES, file);
    if (ferror(file))
        rc = err_set(ERR_IO, "cannot read '%s': %s", path, strerror(errno));
    else if (n == MAX_BYTES || memchr(text, '\0', n))
        rc = err_set(ERR_FORMAT, "'%s' is no file of rules", path);
    else
        rc = link_rules_add(rules, text, path);
    fclose(file);
    free(text);
    return rc;
}

static void add_set(struct link_rules *rules, const char *const *line, const char *from)
{
    for (; *line; line++) {
        int rc = link_rules_add(rules, *line, from);

        assert(rc == 0);
        (void)rc;
    }
}

void link_rules_built_in(struct link_rules *rules)
{
    add_set(rules, pipeline, "pipeline-parallel training");
    add_set(rules, xla, "XLA's collectives");
    add_set(rules, collectives, "PyTorch's collectives");
}

size_t link_rules_find(const struct link_rules *rules, size_t at, const char *name)
{
    while (at < rules->n && fnmatch(rules->rule[at].pattern, name, 0) != 0)
        at++;
    return at;
}
