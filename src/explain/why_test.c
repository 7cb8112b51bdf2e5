#include "explain/why.h"

#include "sample_model.h"
#include "test.h"

struct fixture {
    struct sample_model m;
    struct why why;
};

static void begin(struct fixture *f, int n, const char *typical, const char *odd)
{
    char *text = calloc((size_t)n + 2, strlen(typical) + strlen(odd) + 2), *at = text;

    for (int i = 0; i < n; i++)
        at += sprintf(at, "%s ", typical);
    strcpy(at, odd);
    sample_model_init(&f->m, text);
    free(text);
    why_init(&f->why, &f->m.model, &f->m.place, &f->m.forest, &f->m.defs);
}

static void end(struct fixture *f)
{
    why_release(&f->why);
    sample_model_release(&f->m);
}

static void time_names_the_paths_that_lost_it(void **state)
{
    static const double value[5] = {5, 4, 0, 0};
    struct fixture f;
    char out[WHY_SIZE];

    (void)state;
    begin(&f, 40, "step:1000(wait:5000 calc:9000)", "step:1000(wait:95000 calc:9000)");
    why_sentence(&f.why, 40, &f.m.measure[40],
                 &(struct why_verdict){.value = value, .is_anomaly = true, .expected = NAN},
                 out);
    assert_string_equal(out, "90.0 us longer than a typical execution with the same calls "
                             "(15.0 us): step > wait +90.0 us (typical: 5.00 us)");
    end(&f);
}

/* It had not ended when the events of its rank did: how much it lost nobody knows. */
static void of_what_is_still_open_it_is_not_said_that_it_varies(void **state)
{
    static const double value[5] = {5, 4, 0, 0};
    struct fixture f;
    char out[WHY_SIZE];

    (void)state;
    begin(&f, 40, "step:1000(wait:5000 calc:9000)", "step:1000(wait:95000 calc:9000)");
    f.m.measure[40].open_ns = 1;
    f.m.measure[40].loss.ns = 0;
    why_sentence(&f.why, 40, &f.m.measure[40],
                 &(struct why_verdict){.value = value, .is_anomaly = true, .expected = NAN},
                 out);
    assert_string_equal(
        out, "90.0 us longer than a typical execution with the same calls (15.0 us), and still "
             "open when the events of its rank ended: step > wait +90.0 us (typical: 5.00 us)");
    end(&f);
}

/* Others that flush, too, are not what it is compared with: hardly any does. */
static void what_lacks_the_rare_calls_is_said_to_lack_them(void **state)
{
    static const double value[5] = {5, 4, 3, 0};
    struct fixture f;
    char out[WHY_SIZE];

    (void)state;
    begin(&f, 60, "step:1000(calc:9000)", "step:1000(calc:9000 flush:90000)");
    why_sentence(&f.why, 60, &f.m.measure[60],
                 &(struct why_verdict){.value = value, .is_anomaly = true, .expected = NAN},
                 out);
    assert_non_null(
        strstr(out, "90.0 us longer than a typical execution that does not make the rare calls "
                    "of this one (10.0 us): step > flush +90.0 us (typical: none)"));
    end(&f);
}

/* The same, with its begin known to within 50 us, and that of wait to within 40. */
static void what_is_lost_is_said_no_more_exactly_than_it_is_known(void **state)
{
    static const double value[5] = {5, 4, 0, 0};
    struct why_verdict verdict = {
        .value = value, .is_unknown = true, .min_lost = 0.05, .expected = NAN};
    struct fixture f;
    char out[WHY_SIZE];

    (void)state;
    begin(&f, 40, "step:1000(wait:5000 calc:9000)", "step:1000(wait:95000 calc:9000)");
    f.m.forest.off_ns = calloc(f.m.forest.n, sizeof *f.m.forest.off_ns);
    f.m.forest.root_off_ns = calloc(f.m.forest.n_trees, sizeof *f.m.forest.root_off_ns);
    f.m.forest.off_ns[f.m.forest.first[40] + 1] = 40000;
    f.m.forest.root_off_ns[40] = 50000;
    residual_measures(
        &f.m.model, &f.m.place,
        &(struct residual_input){.forest = &f.m.forest, .wl = &f.m.wl, .defs = &f.m.defs},
        f.m.measure);
    assert_true(f.m.measure[40].sure * f.m.model.root_ns > 89000);
    /* 50 of 90 us are surely wait's own */
    assert_true(fabs(f.m.measure[40].sure_off * f.m.model.root_ns - 40000) < 100);
    assert_true(fabs(f.m.measure[40].gross_off * f.m.model.root_ns - 50000) < 100);
    assert_true(f.m.measure[39].sure_off == 0 && f.m.measure[39].gross_off == 0);
    why_sentence(&f.why, 40, &f.m.measure[40], &verdict, out);
    assert_string_equal(
        out,
        "rare, but no anomaly: without the error bounds of begins and ends, the significant "
        "part of the difference is below 5 % of a typical execution; 90.0 us longer than a "
        "typical execution with the same calls (15.0 us): step > wait +90.0 us (typical: 5.00 "
        "us; known to within 40.0 us); its begin and end are known to within 50.0 us");
    verdict.is_unknown = false;
    f.m.forest.off_ns[f.m.forest.first[40] + 1] = f.m.forest.root_off_ns[40] = 8000;
    why_sentence(&f.why, 40, &f.m.measure[40], &verdict, out);
    assert_string_equal(out, "90.0 us longer than a typical execution with the same calls "
                             "(15.0 us): step > wait +90.0 us (typical: 5.00 us)");
    end(&f);
}

/* The same of step itself, which began 80 us before the first call in it: wait may have begun
 * by then, or step later. */
static void what_may_be_of_others_is_said(void **state)
{
    static const double value[5] = {5, 4, 0, 0};
    struct why_verdict verdict = {.value = value, .is_anomaly = true, .expected = NAN};
    struct fixture f;
    char out[WHY_SIZE], cause[WHY_CAUSE_SIZE];
    uint32_t root;

    (void)state;
    begin(&f, 40, "step:5000(wait:1000 calc:9000)", "step:95000(wait:1000 calc:9000)");
    root = f.m.forest.first[40];
    f.m.forest.doubt = calloc(f.m.forest.n, sizeof *f.m.forest.doubt);
    f.m.forest.doubt[root].own_ns = 80000;
    f.m.forest.doubt[root + 1].others_ns = 80000;
    f.m.forest.doubt[root + 2].others_ns = 40000; /* less than half of it */
    why_sentence(&f.why, 40, &f.m.measure[40], &verdict, out);
    assert_string_equal(
        out,
        "90.0 us longer than a typical execution with the same calls (15.0 us): step itself or "
        "wait +90.0 us (typical: 5.00 us); all or part of the time of step itself may belong "
        "to what came before or after it, as its begin and end are estimates");
    why_cause(&f.why, 40, &f.m.measure[40], &verdict, cause);
    assert_string_equal(cause, "step itself or beside it +90.0 us");
    f.m.forest.doubt[root].own_ns = f.m.forest.doubt[root + 1].others_ns = 5000;
    why_sentence(&f.why, 40, &f.m.measure[40], &verdict, out);
    assert_string_equal(out, "90.0 us longer than a typical execution with the same calls "
                             "(15.0 us): step itself +90.0 us (typical: 5.00 us)");
    end(&f);
}

static void structure_names_what_is_too_many_or_missing(void **state)
{
    static const double value[5] = {0, 0, 5, 3};
    struct fixture f;
    char out[WHY_SIZE];

    (void)state;
    begin(&f, 39, "step(send recv recv)", "step(send tally tally tally tally tally)");
    why_sentence(&f.why, 39, &f.m.measure[39],
                 &(struct why_verdict){.value = value, .is_anomaly = true, .expected = NAN},
                 out);
    assert_string_equal(
        out, "step makes 5 calls of tally (typical: none), no calls of recv (typical: 2), as "
             "rare as 1 in 40 of its calls; 7 calls in all (typical: 4)");
    end(&f);
}

/* Who was late prints a message, which takes no time: the loss is said first. Where the calls that
 * are too many took it, they are. */
static void what_was_lost_elsewhere_comes_before_rare_calls(void **state)
{
    static const double value[5] = {3, 2, 7, 0};
    const struct why_verdict verdict = {.value = value, .is_anomaly = true, .expected = NAN};
    static const char *const odd[] = {"step:1000(calc:99000 print:10)",
                                      "step:1000(calc:9000 print:90000)"};
    static const char *const cause[] = {"step > calc +90.0 us",
                                        "1 call of print (typical: none)"};

    (void)state;
    for (int i = 0; i < 2; i++) {
        struct fixture f;
        char out[WHY_CAUSE_SIZE];

        begin(&f, 60, "step:1000(calc:9000)", odd[i]);
        why_cause(&f.why, 60, &f.m.measure[60], &verdict, out);
        assert_string_equal(out, cause[i]);
        assert_int_equal(way_of(&f.why, 60, &f.m.measure[60], &verdict).kind,
                         i == 0 ? WAY_LONGER : WAY_MORE_CALLS);
        end(&f);
    }
}

/* In every 25th execution there are six calls more, by plan: they are no part of what is compared. */
static void what_comes_by_plan_is_no_part_of_the_number_of_calls(void **state)
{
    static const double value[5] = {0, 0, 0, 5};
    const struct why_verdict verdict = {.value = value, .is_anomaly = true, .expected = NAN};
    struct fixture f;
    char out[WHY_SIZE], plain[400] = "", block[500], odd[500];

    (void)state;
    for (int i = 0; i < 24; i++)
        strcat(plain, "step(a a) ");
    snprintf(block, sizeof block, "%sstep(a a out(w w w w w))", plain);
    snprintf(odd, sizeof odd, "%sstep(a a a a out(w w w w w))", plain);
    begin(&f, 6, block, odd);
    why_sentence(&f.why, 174, &f.m.measure[174], &verdict, out);
    assert_string_equal(out, "5 calls (typical: 3), and 6 that are not compared");
    assert_string_equal(
        way_function(&f.why, way_of(&f.why, 174, &f.m.measure[174], &verdict))->short_name,
        "a");
    end(&f);
}

/* One of 40 lacks recv, another one makes more calls of it: each is as rare as 2 in 40. */
static void of_several_rare_ones_each_is_as_rare_as_all_together(void **state)
{
    static const double value[5] = {0, 0, 5, 0};
    struct fixture f;
    char out[WHY_SIZE];

    (void)state;
    begin(&f, 38, "step(send recv)", "step(send) step(send recv recv)");
    why_sentence(&f.why, 38, &f.m.measure[38],
                 &(struct why_verdict){.value = value, .is_anomaly = true, .expected = NAN},
                 out);
    assert_string_equal(out, "step makes no calls of recv (typical: 1), as rare as 1 in 20 of "
                             "its calls");
    end(&f);
}

static void nothing_to_say_is_said(void **state)
{
    static const double value[5] = {0.3, 1.2, 0.1, 0};
    struct fixture f;
    char out[WHY_SIZE];

    (void)state;
    begin(&f, 30, "step", "step");
    why_sentence(&f.why, 0, &f.m.measure[0],
                 &(struct why_verdict){.value = value, .expected = 2}, out);
    assert_string_equal(out, "nothing stands out");
    end(&f);
}

/* Each call is what it sometimes is, as the last ten show; but never all of them together. */
/* Sentence, cause and way agree on whether there is something to say, whatever the parts say. */
static void what_took_longer_is_as_usual_nowhere(void **state)
{
    static const double nothing[5] = {0}, time[5] = {5, 4, 0, 0};
    struct fixture f;
    char out[WHY_SIZE], cause[WHY_CAUSE_SIZE], way[WAY_SIZE];

    (void)state;
    begin(&f, 40, "step:1000(a:1000 b:9000)", "step:1000(a:6000 b:9000)");
    for (int is_late = 0; is_late < 2; is_late++)
        for (int says_time = 0; says_time < 2; says_time++) {
            struct why_verdict verdict = {.value = says_time ? time : nothing, .expected = NAN};
            uint32_t t = is_late ? 40 : 0;

            why_sentence(&f.why, t, &f.m.measure[t], &verdict, out);
            why_cause(&f.why, t, &f.m.measure[t], &verdict, cause);
            way_say(&f.why, way_of(&f.why, t, &f.m.measure[t], &verdict), way);
            assert_string_equal(cause, is_late ? "step > a +5.00 us" : "nothing stands out");
            assert_string_equal(way, is_late ? "step > a takes longer" : "");
            assert_int_equal(strcmp(out, "nothing stands out") == 0, !is_late);
        }
    end(&f);
}

static void an_anomaly_is_never_as_usual(void **state)
{
    static const double value[5] = {0.5, 5, 0, 0}, none[5] = {0};
    static const char typical[] = "step:10(a:1000 b:1000 c:1000)";
    char cause[WHY_CAUSE_SIZE];
    char odd[600] = "";
    struct fixture f;
    char out[WHY_SIZE];

    (void)state;
    for (int i = 0; i < 3; i++)
        strcat(odd, "step:10(a:1900 b:1000 c:1000) step:10(a:1000 b:1900 c:1000) "
                    "step:10(a:1000 b:1000 c:1900) ");
    strcat(odd, "step:10(a:1900 b:1900 c:1900)");
    begin(&f, 30, typical, odd);
    f.m.measure[39].loss.ns = f.m.measure[39].loss.more_ns; /* as of an anomaly */
    why_sentence(&f.why, 39, &f.m.measure[39],
                 &(struct why_verdict){.value = value, .is_anomaly = true, .expected = 0.002},
                 out);
    assert_string_equal(out,
                        "2.70 us longer than a typical execution with the same calls (3.01 "
                        "us); no single call is strange, but together they take too long: step "
                        "> a +900 ns (typical: 1.00 us), step > b +900 ns (typical: 1.00 us), "
                        "step > c +900 ns (typical: 1.00 us); by chance in 1 of 500 runs");
    why_sentence(&f.why, 0, &f.m.measure[0],
                 &(struct why_verdict){.value = value, .is_anomaly = true, .expected = NAN},
                 out);
    assert_string_equal(
        out, "rare in all of its calls together, though none of them stands out by itself");
    why_cause(&f.why, 0, &f.m.measure[0],
              &(struct why_verdict){.value = value, .is_anomaly = true, .expected = NAN},
              cause);
    assert_null(strstr(cause, "nothing stands out"));
    /* it is no anomaly itself, but others waited for it */
    why_sentence(&f.why, 0, &f.m.measure[0],
                 &(struct why_verdict){.value = none, .is_of_anomaly = true, .expected = NAN},
                 out);
    assert_string_equal(out, "nothing of its own: others lost time because of it");
    why_sentence(&f.why, 0, &f.m.measure[0],
                 &(struct why_verdict){.value = none, .expected = NAN}, out);
    assert_string_equal(out, "nothing stands out");
    end(&f);
}

/* What is listed sums to what is said: 40 + 30 + 20 and twice 10. */
static void what_is_listed_is_what_was_lost(void **state)
{
    static const double value[5] = {5, 4, 0, 0};
    struct fixture f;
    char out[WHY_SIZE];

    (void)state;
    begin(&f, 40, "step:1000(a:1000 b:1000 c:1000 d:1000 e:1000)",
          "step:1000(a:41000 b:31000 c:21000 d:11000 e:11000)");
    why_sentence(&f.why, 40, &f.m.measure[40],
                 &(struct why_verdict){.value = value, .is_anomaly = true, .expected = 3}, out);
    assert_string_equal(
        out,
        "110 us longer than a typical execution with the same calls (6.00 us): step > a +40.0 "
        "us (typical: 1.00 us), step > b +30.0 us (typical: 1.00 us), step > c +20.0 us "
        "(typical: 1.00 us), all other call paths together: 20.0 us more than typical");
    assert_int_equal(f.m.measure[40].loss.ns, 110000);
    assert_int_equal(f.m.measure[40].loss.typical_ns, 6000);
    end(&f);
}

static void the_tracers_time_is_said_as_such(void **state)
{
    static const double value[5] = {0, 0, 0, 0};
    struct fixture f;
    char out[WHY_SIZE], cause[WHY_CAUSE_SIZE];

    (void)state;
    begin(&f, 40, "step:1000(a:1000)", "step:1000(a:1000(FLUSH:24000))");
    why_sentence(&f.why, 40, &f.m.measure[40],
                 &(struct why_verdict){.value = value, .expected = NAN}, out);
    assert_string_equal(out, "the tracer wrote its buffer for 24.0 us");
    why_cause(&f.why, 40, &f.m.measure[40],
              &(struct why_verdict){.value = value, .expected = NAN}, cause);
    assert_string_equal(cause, "the tracer wrote its buffer for 24.0 us");
    assert_true(f.m.measure[40].loss.ns < 1 && f.m.measure[40].gross == 0 &&
                f.m.measure[40].time == 0);
    assert_true(f.m.measure[40].structure == 0 && f.m.measure[40].size == 0);
    end(&f);
}

static void long_names_are_cut_not_overrun(void **state)
{
    static const double value[5] = {5, 5, 5, 5};
    char name[64], odd[1024], out[WHY_SIZE];
    struct fixture f;
    int n;

    (void)state;
    memset(name, 'x', 60);
    name[60] = '\0';
    n = sprintf(odd, "step:1(");
    for (int i = 0; i < 9; i++)
        n += sprintf(odd + n, "%s%d:90000 ", name, i);
    sprintf(odd + n, ")");
    begin(&f, 20, "step:1(a:1000)", odd);
    why_sentence(&f.why, 20, &f.m.measure[20],
                 &(struct why_verdict){.value = value, .is_anomaly = true, .expected = 1e-9},
                 out);
    assert_true(strlen(out) < WHY_SIZE);
    end(&f);
}

/* In which way tree n is strange, of n typical ones and that, by these parts. */
static const char *way(const char *typical, const char *odd, const double value[5])
{
    static char out[WAY_SIZE];
    struct why_verdict verdict = {.value = value, .is_anomaly = true, .expected = NAN};
    struct fixture f;

    begin(&f, 60, typical, odd);
    way_say(&f.why, way_of(&f.why, 60, &f.m.measure[60], &verdict), out);
    end(&f);
    return out;
}

static void a_way_is_what_without_how_much(void **state)
{
    static const double time[5] = {5, 4, 0, 0}, structure[5] = {0, 0, 5, 0},
                        size[5] = {0, 0, 0, 5};
    static const char typical[] = "step:1000(a:5000(b:50) c:900 MPI_Wait:700)";

    (void)state;
    assert_string_equal(way(typical, "step:1000(a:95000(b:50) c:900 MPI_Wait:700)", time),
                        "step > a takes longer");
    assert_string_equal(way(typical, "step:1000(a:500(b:50) c:900 MPI_Wait:700)", time),
                        "step > a takes less");
    assert_string_equal(way(typical, "step:1000(a:5000(b:50) c:900 MPI_Wait:7000)", time),
                        "calls of MPI take longer");
    assert_string_equal(
        way(typical, "step:1000(a:5000(b:50 d:9) c:900 MPI_Wait:700)", structure),
        "more calls of d");
    assert_string_equal(way(typical, "step:1000(a:5000(b:50) MPI_Wait:700)", structure),
                        "fewer calls of c");
    assert_string_equal(way(typical, "step:1000(c:900 a:5000(b:50) MPI_Wait:700)", structure),
                        "another order of the calls in step");
    assert_string_equal(
        way(typical, "step:1000(a:5000(b:50 b:50 b:50) c:900 MPI_Wait:700)", size),
        "more calls of b");
    assert_string_equal(way(typical, "step:1000(a:5000 c:900 MPI_Wait:700)", size),
                        "fewer calls of b");
}

static void the_kind_of_a_way_is_read_off_its_words(void **state)
{
    static const struct {
        const char *what;
        enum way_kind kind;
    } said[] = {
        {"step > a takes longer", WAY_LONGER},
        {"step > a takes less", WAY_SHORTER},
        {"calls of MPI take longer", WAY_WAIT},
        {"waits for threads take longer", WAY_BARRIER},
        {"all calls together take longer", WAY_LONGER_IN_ALL},
        {"all calls together take less", WAY_SHORTER_IN_ALL},
        {"more calls of d", WAY_MORE_CALLS},
        {"fewer calls of it takes longer", WAY_FEWER_CALLS}, /* a name of somebody's */
        {"rare calls in step", WAY_COMBINATION},
        {"another order of the calls in step", WAY_ORDER},
        {"does not end", WAY_OPEN},
        {"", WAY_NONE},
        {" takes longer", WAY_NONE},
        {"something else", WAY_NONE},
    };

    (void)state;
    for (size_t i = 0; i < sizeof said / sizeof *said; i++)
        assert_int_equal(way_read(said[i].what), said[i].kind);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(time_names_the_paths_that_lost_it),
        cmocka_unit_test(of_what_is_still_open_it_is_not_said_that_it_varies),
        cmocka_unit_test(what_lacks_the_rare_calls_is_said_to_lack_them),
        cmocka_unit_test(what_is_lost_is_said_no_more_exactly_than_it_is_known),
        cmocka_unit_test(what_may_be_of_others_is_said),
        cmocka_unit_test(what_was_lost_elsewhere_comes_before_rare_calls),
        cmocka_unit_test(structure_names_what_is_too_many_or_missing),
        cmocka_unit_test(what_comes_by_plan_is_no_part_of_the_number_of_calls),
        cmocka_unit_test(of_several_rare_ones_each_is_as_rare_as_all_together),
        cmocka_unit_test(nothing_to_say_is_said),
        cmocka_unit_test(what_took_longer_is_as_usual_nowhere),
        cmocka_unit_test(an_anomaly_is_never_as_usual),
        cmocka_unit_test(what_is_listed_is_what_was_lost),
        cmocka_unit_test(the_tracers_time_is_said_as_such),
        cmocka_unit_test(long_names_are_cut_not_overrun),
        cmocka_unit_test(a_way_is_what_without_how_much),
        cmocka_unit_test(the_kind_of_a_way_is_read_off_its_words),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
