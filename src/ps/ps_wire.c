/*
 * A reader and a writer of MessagePack of our own: few kinds of elements are used, and the reader
 * makes no room for as many elements as a frame of five bytes says to hold. It walks over the
 * bytes, and each function takes the one element that must come next; anything else, or more
 * than is allowed, marks the reader bad, and it yields zeros from then on, so that only the
 * end needs to be looked at. The first byte of an element says what it is; its width and the
 * value follow, big-endian. Numbers that count are written in as few bytes as they need; any
 * width is read.
 *
 * The bins of a sketch are one binary element, because there are many of them: pairs of how
 * many empty bins are skipped and the count of the next, each a little-endian base 128 number
 * whose last byte has no high bit, as in DWARF and protocol buffers.
 */
#include "ps/ps_wire.h"

#include "base/err.h"
#include "base/mem.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ------------------------------------------------- reading MessagePack that may be anything */

struct ps_reader {
    const unsigned char *at, *end;
    bool is_bad;
};

static struct ps_reader ps_reader_of(const void *data, size_t bytes)
{
    const unsigned char *at = data;

    return (struct ps_reader){.at = at, .end = at + bytes};
}

enum {
    NIL = 0xc0,
    BIN_8 = 0xc4, /* and 16, 32 bits of length */
    FLOAT_64 = 0xcb,
    UINT_8 = 0xcc, /* and 16, 32, 64 */
    INT_8 = 0xd0,  /* and 16, 32, 64 */
    STR_8 = 0xd9,  /* and 16, 32 */
    ARRAY_16 = 0xdc,
    ARRAY_32 = 0xdd,
};

static size_t left(const struct ps_reader *r)
{
    return (size_t)(r->end - r->at);
}

/* The next byte, without moving; 0xc1, which MessagePack does not use, when there is none. */
static unsigned peek(const struct ps_reader *r)
{
    return r->is_bad || r->at == r->end ? 0xc1 : *r->at;
}

/* A big-endian number of `width` bytes after the first byte of the element. */
static uint64_t take(struct ps_reader *r, size_t width)
{
    uint64_t value = 0;

    if (r->is_bad || left(r) < width + 1) {
        r->is_bad = true;
        return 0;
    }
    for (size_t i = 1; i <= width; i++)
        value = value << 8 | r->at[i];
    r->at += width + 1;
    return value;
}

static uint64_t bad(struct ps_reader *r)
{
    r->is_bad = true;
    return 0;
}

/* ps_read_count, ps_read_number, ps_read_real -- an unsigned, a signed, a finite number. */
static uint64_t ps_read_count(struct ps_reader *r)
{
    unsigned kind = peek(r);

    if (kind < 0x80)
        return r->at++, kind;
    return kind - UINT_8 < 4 ? take(r, (size_t)1 << (kind - UINT_8)) : bad(r);
}

static int64_t ps_read_number(struct ps_reader *r)
{
    unsigned kind = peek(r);
    uint64_t value;

    if (kind >= 0xe0)
        return r->at++, (int8_t)kind;
    if (kind - INT_8 < 4) {
        unsigned shift = 64 - (8u << (kind - INT_8));

        value = take(r, (size_t)1 << (kind - INT_8));
        return (int64_t)(value << shift) >> shift;
    }
    value = ps_read_count(r);
    return value > INT64_MAX ? (int64_t)bad(r) : (int64_t)value;
}

static bool ps_next_is_real(const struct ps_reader *r)
{
    return peek(r) == FLOAT_64;
}

static double ps_read_real(struct ps_reader *r)
{
    uint64_t bits = ps_next_is_real(r) ? take(r, 8) : bad(r);
    double value;

    memcpy(&value, &bits, sizeof value);
    if (!isfinite(value))
        value = (double)bad(r);
    return value;
}

/*
 * The head of an array of least..most elements. Each takes a byte or more, so
 * a count above the bytes that are left is bad too. Returns the count.
 */
static uint32_t ps_read_array(struct ps_reader *r, uint32_t least, uint32_t most)
{
    unsigned kind = peek(r);
    uint64_t n;

    if (kind >= 0x90 && kind < 0xa0)
        n = take(r, 0), n = kind - 0x90;
    else if (kind == ARRAY_16 || kind == ARRAY_32)
        n = take(r, kind == ARRAY_16 ? 2 : 4);
    else
        n = bad(r);
    if (n < least || n > most || n > left(r))
        n = bad(r);
    return (uint32_t)n;
}

/* The n bytes that come next. */
static struct ps_span span(struct ps_reader *r, uint64_t n, uint32_t most)
{
    struct ps_span s = {.data = r->at};

    if (r->is_bad || n > most || n > left(r)) {
        r->is_bad = true;
        return s;
    }
    s.n = (uint32_t)n;
    r->at += n;
    return s;
}

/* Binary of at most so many bytes. */
static struct ps_span ps_read_bytes(struct ps_reader *r, uint32_t most)
{
    unsigned kind = peek(r);
    uint64_t n = kind - BIN_8 < 3 ? take(r, (size_t)1 << (kind - BIN_8)) : bad(r);

    return span(r, n, most);
}

/* Text of at most PS_MAX_TEXT_BYTES without control characters (below 0x20). */
static struct ps_span ps_read_text(struct ps_reader *r)
{
    unsigned kind = peek(r);
    struct ps_span s;
    uint64_t n;

    if (kind >= 0xa0 && kind < 0xc0)
        n = take(r, 0), n = kind - 0xa0;
    else
        n = kind - STR_8 < 3 ? take(r, (size_t)1 << (kind - STR_8)) : bad(r);
    s = span(r, n, PS_MAX_TEXT_BYTES);
    for (uint32_t i = 0; i < s.n; i++)
        r->is_bad |= s.data[i] < 0x20;
    return s;
}

/* 128 bits: binary of 16 bytes, the lowest first. */
static unsigned __int128 ps_read_wide(struct ps_reader *r)
{
    struct ps_span s = ps_read_bytes(r, 16);
    unsigned __int128 value = 0;

    if (s.n != 16)
        return bad(r);
    for (int i = 15; i >= 0; i--)
        value = value << 8 | s.data[i];
    return value;
}

/* True, and moves, if nil comes next. */
static bool ps_read_nil(struct ps_reader *r)
{
    bool is_nil = peek(r) == NIL;

    r->at += is_nil;
    return is_nil;
}

/* ps_next_is_array, ps_next_is_real -- what comes next, without moving. */
static bool ps_next_is_array(const struct ps_reader *r)
{
    unsigned kind = peek(r);

    return (kind >= 0x90 && kind < 0xa0) || kind == ARRAY_16 || kind == ARRAY_32;
}

/* True if all was good and nothing is left. */
static bool ps_read_end(const struct ps_reader *r)
{
    return !r->is_bad && r->at == r->end;
}

/* -------------------------------------------------------------------------------- writing */

/* The first byte of an element, and `width` bytes of a value, big-endian. */
static void element(struct pack *out, unsigned first, uint64_t value, unsigned width)
{
    unsigned char bytes[9] = {(unsigned char)first};

    for (unsigned i = 0; i < width; i++)
        bytes[1 + i] = (unsigned char)(value >> (8 * (width - 1 - i)));
    pack_bytes(out, bytes, 1 + width);
}

/* ... in as few bytes as it needs: the kinds that follow `first` are of twice the width each. */
static void shortest(struct pack *out, unsigned first, uint64_t value, unsigned width)
{
    while (width < 8 && value >> (8 * width) != 0) {
        width *= 2;
        first++;
    }
    element(out, first, value, width);
}

void ps_write_count(struct pack *out, uint64_t value)
{
    if (value < 0x80)
        element(out, (unsigned)value, 0, 0);
    else
        shortest(out, UINT_8, value, 1);
}

static void ps_write_number(struct pack *out, int64_t value)
{
    unsigned width = 1, kind = INT_8;

    if (value >= 0) {
        ps_write_count(out, (uint64_t)value);
    } else if (value >= -32) {
        element(out, (unsigned char)value, 0, 0);
    } else {
        for (; width < 8 && value < -((int64_t)1 << (8 * width - 1)); kind++)
            width *= 2;
        element(out, kind, (uint64_t)value, width);
    }
}

static void ps_write_real(struct pack *out, double value)
{
    uint64_t bits;

    memcpy(&bits, &value, sizeof bits);
    element(out, FLOAT_64, bits, sizeof bits);
}

void ps_write_array(struct pack *out, uint32_t n)
{
    if (n < 16)
        element(out, 0x90 | n, 0, 0);
    else
        shortest(out, ARRAY_16, n, 2);
}

void ps_write_bytes(struct pack *out, const void *data, uint32_t bytes)
{
    shortest(out, BIN_8, bytes, 1);
    pack_bytes(out, data, bytes);
}

void ps_write_text(struct pack *out, const char *text, size_t length)
{
    if (length < 32)
        element(out, 0xa0 | (unsigned)length, 0, 0);
    else
        shortest(out, STR_8, length, 1);
    pack_bytes(out, text, length);
}

void ps_write_wide(struct pack *out, unsigned __int128 value)
{
    unsigned char bytes[16];

    for (int i = 0; i < 16; i++)
        bytes[i] = (unsigned char)(value >> (8 * i));
    ps_write_bytes(out, bytes, sizeof bytes);
}

void ps_write_nil(struct pack *out)
{
    element(out, NIL, 0, 0);
}

void ps_write_raw(struct pack *out, const void *data, size_t bytes)
{
    pack_bytes(out, data, bytes);
}

/* ----------------------------------------------------------------------------------- frames */

#define MAX_VARINT_BYTES 10                                     /* bytes of 64 bits */
#define MAX_BINS_BYTES (SKETCH_MAX_BINS * MAX_VARINT_BYTES * 2) /* bytes */

void ps_frame_release(struct ps_frame *f)
{
    free(f->push.entry);
    free(f->push.stat);
    free(f->reply.index);
    free(f->reply.model);
    free(f->letters.place);
    free(f->letters.question);
    free(f->letters.answer);
    *f = (struct ps_frame){0};
}

/* ------------------------------------------------------------------------------- sketches */

/* Returns false at the end of the bytes or of 64 bits. */
static bool get_long_varint(const unsigned char **at, const unsigned char *end, uint64_t *value)
{
    *value = 0;
    for (unsigned shift = 0; shift < 64 && *at < end; shift += 7) {
        uint64_t byte = *(*at)++;

        if (shift == 63 && byte > 1)
            return false;
        *value |= (byte & 0x7f) << shift;
        if (byte < 0x80)
            return true;
    }
    return false;
}

/* Nearly all take one byte. */
static inline bool get_varint(const unsigned char **at, const unsigned char *end,
                              uint64_t *value)
{
    if (*at < end && **at < 0x80) {
        *value = *(*at)++;
        return true;
    }
    return get_long_varint(at, end, value);
}

static unsigned char *put_varint(unsigned char *at, uint64_t value)
{
    for (; value >= 0x80; value >>= 7)
        *at++ = (unsigned char)(value | 0x80);
    *at++ = (unsigned char)value;
    return at;
}

/* Walks over all bins. Fills in first_bin, n_bins and n; false if they are not bins. */
static bool check_bins(struct ps_packed_sketch *s)
{
    const unsigned char *at = s->bins.data, *end = at + s->bins.n;
    uint64_t next = 0, gap, count; /* next: first bin that was not spoken of yet */

    for (bool is_first = true; at < end; is_first = false) {
        if (!get_varint(&at, end, &gap) || gap >= SKETCH_MAX_BINS - next ||
            !get_varint(&at, end, &count) || count == 0 || count > PS_MAX_CALLS - s->n)
            return false;
        if (is_first)
            s->first_bin = (uint32_t)gap;
        next += gap + 1;
        s->n += count;
        if (next == SKETCH_MAX_BINS && at < end)
            return false;
    }
    s->n_bins = (uint32_t)next - s->first_bin;
    return s->n > 0;
}

/* Could there be n values in these bins, with this least, largest and sum? */
static bool is_possible(const struct ps_packed_sketch *s)
{
    return s->min <= s->max && sketch_bin(s->min) == s->first_bin &&
           sketch_bin(s->max) == s->first_bin + s->n_bins - 1 &&
           s->sums.sum >= (unsigned __int128)s->n * s->min &&
           s->sums.sum <= (unsigned __int128)s->n * s->max;
}

static void read_sketch(struct ps_reader *r, struct ps_packed_sketch *s)
{
    *s = (struct ps_packed_sketch){0};
    ps_read_array(r, 5, 5);
    s->min = ps_read_count(r);
    s->max = ps_read_count(r);
    s->sums.sum = ps_read_wide(r);
    s->sums.square_sum = ps_read_wide(r);
    s->bins = ps_read_bytes(r, MAX_BINS_BYTES);
    if (!r->is_bad)
        r->is_bad = !check_bins(s) || !is_possible(s);
}

struct sketch ps_sketch_view(const struct ps_packed_sketch *s, uint64_t *bin)
{
    const unsigned char *at = s->bins.data, *end = at + s->bins.n;
    uint64_t b = s->first_bin, gap, count;
    struct sketch view = {.n = s->n,
                          .min = s->min,
                          .max = s->max,
                          .sums = s->sums,
                          .first_bin = s->first_bin,
                          .n_bins = s->n_bins,
                          .count = bin};

    memset(bin, 0, s->n_bins * sizeof *bin);
    for (b = 0; at < end && get_varint(&at, end, &gap) && get_varint(&at, end, &count); b++) {
        b += gap;
        bin[b - s->first_bin] = count;
    }
    return view;
}

void ps_write_sketch(struct pack *out, const struct sketch *s)
{
    unsigned char bytes[MAX_BINS_BYTES], *at = bytes;
    uint64_t next = 0;

    assert(s->n > 0);
    for (uint32_t b = 0; b < s->n_bins; b++) {
        if (s->count[b] == 0)
            continue;
        at = put_varint(at, s->first_bin + b - next);
        at = put_varint(at, s->count[b]);
        next = (uint64_t)s->first_bin + b + 1;
    }
    ps_write_array(out, 5);
    ps_write_count(out, s->min);
    ps_write_count(out, s->max);
    ps_write_wide(out, s->sums.sum);
    ps_write_wide(out, s->sums.square_sum);
    ps_write_bytes(out, bytes, (uint32_t)(at - bytes));
}

/* -------------------------------------------------------------------------------- reading */

static uint32_t read_u32(struct ps_reader *r)
{
    uint64_t value = ps_read_count(r);

    r->is_bad |= value > UINT32_MAX;
    return (uint32_t)value;
}

static bool read_truth(struct ps_reader *r)
{
    uint64_t value = ps_read_count(r);

    r->is_bad |= value > 1;
    return value == 1;
}

static void read_entry(struct ps_reader *r, struct ps_entry *e)
{
    *e = (struct ps_entry){.index = PS_NO_INDEX};
    ps_read_array(r, 2, 2);
    if (ps_next_is_array(r)) {
        ps_read_array(r, 2, 2);
        e->program = ps_read_text(r);
        e->name = ps_read_text(r);
    } else {
        e->index = read_u32(r);
        r->is_bad |= e->index >= PS_MAX_FUNCTIONS;
    }
    e->has_sketch = !ps_read_nil(r);
    if (e->has_sketch)
        read_sketch(r, &e->sketch);
}

static void read_numbers(struct ps_reader *r, struct ps_stat *s)
{
    s->n = ps_read_count(r);
    s->is_real = ps_next_is_real(r);
    if (s->is_real) {
        s->real.min = ps_read_real(r);
        s->real.max = ps_read_real(r);
        s->real.sum = ps_read_real(r);
        s->real.square_sum = ps_read_real(r);
        r->is_bad |= s->real.min > s->real.max;
    } else {
        s->whole.min = ps_read_number(r);
        s->whole.max = ps_read_number(r);
        s->whole.sum = (__int128)ps_read_wide(r);
        s->whole.square_sum = ps_read_wide(r);
        r->is_bad |= s->whole.min > s->whole.max;
    }
    r->is_bad |= s->n == 0 || s->n > PS_MAX_CALLS;
}

static void read_stat(struct ps_reader *r, struct ps_stat_entry *e)
{
    *e = (struct ps_stat_entry){0};
    ps_read_array(r, 9, 9);
    e->program = ps_read_text(r);
    e->rank = read_u32(r);
    e->region = ps_read_text(r);
    e->name = ps_read_text(r);
    read_numbers(r, &e->stat);
}

static void read_stats(struct ps_reader *r, struct ps_stat_entry **stat, size_t *cap,
                       uint32_t *n)
{
    uint32_t count = ps_read_array(r, 0, PS_MAX_STATS);

    *n = 0;
    for (uint32_t i = 0; i < count && !r->is_bad; i++) {
        mem_grow(stat, cap, (size_t)i + 1);
        read_stat(r, &(*stat)[i]);
        *n = i + 1;
    }
}

static void read_entries(struct ps_reader *r, struct ps_push *p)
{
    uint32_t n = ps_read_array(r, 0, PS_MAX_FUNCTIONS);

    p->n_entries = 0;
    for (uint32_t i = 0; i < n && !r->is_bad; i++) {
        mem_grow(&p->entry, &p->entry_cap, (size_t)i + 1);
        read_entry(r, &p->entry[i]);
        p->n_entries = i + 1;
    }
    read_stats(r, &p->stat, &p->stat_cap, &p->n_stats);
}

static void read_push(struct ps_reader *r, struct ps_push *p)
{
    p->client = ps_read_count(r);
    p->epoch = ps_read_count(r);
    p->sequence = ps_read_count(r);
    p->round = ps_read_count(r);
    p->have = ps_read_count(r);
    read_entries(r, p);
}

static void read_state(struct ps_reader *r, struct ps_push *p)
{
    p->have = ps_read_count(r);
    p->round = ps_read_count(r);
    p->client = ps_read_count(r);
    read_entries(r, p);
    r->is_bad |= p->client > UINT32_MAX;
    for (uint32_t i = 0; i < p->n_entries; i++)
        r->is_bad |= p->entry[i].index != PS_NO_INDEX;
}

static void read_reply(struct ps_reader *r, struct ps_reply *p)
{
    uint32_t n;

    p->epoch = ps_read_count(r);
    p->sequence = ps_read_count(r);
    p->received = ps_read_count(r);
    p->saved = ps_read_count(r);
    p->version = ps_read_count(r);
    p->round = ps_read_count(r);
    p->is_frozen = read_truth(r);
    p->n_indices = ps_read_array(r, 0, PS_MAX_FUNCTIONS);
    mem_grow(&p->index, &p->index_cap, p->n_indices);
    for (uint32_t i = 0; i < p->n_indices; i++) {
        p->index[i] = ps_read_nil(r) ? PS_NO_INDEX : read_u32(r);
        r->is_bad |= p->index[i] != PS_NO_INDEX && p->index[i] >= PS_MAX_FUNCTIONS;
    }
    n = ps_read_array(r, 0, PS_MAX_FUNCTIONS);
    p->n_models = 0;
    for (uint32_t i = 0; i < n && !r->is_bad; i++) {
        mem_grow(&p->model, &p->model_cap, (size_t)i + 1);
        ps_read_array(r, 2, 2);
        p->model[i].index = read_u32(r);
        r->is_bad |= p->model[i].index >= PS_MAX_FUNCTIONS;
        read_sketch(r, &p->model[i].sketch);
        p->n_models = i + 1;
    }
}

static void read_refusal(struct ps_reader *r, struct ps_refusal *p)
{
    uint64_t code = ps_read_count(r);

    r->is_bad |= code < PS_BAD_FRAME || code > PS_LARGE;
    p->code = r->is_bad ? PS_BAD_FRAME : (enum ps_refusal_code)code;
    p->epoch = ps_read_count(r);
    p->sequence = ps_read_count(r);
    p->received = ps_read_count(r);
}

static void read_places(struct ps_reader *r, struct ps_letters *l)
{
    uint32_t n = ps_read_array(r, 0, PS_MAX_PLACES);

    l->n_places = 0;
    for (uint32_t i = 0; i < n && !r->is_bad; i++) {
        mem_grow(&l->place, &l->place_cap, (size_t)i + 1);
        ps_read_array(r, 2, 2);
        l->place[i].program = read_u32(r);
        l->place[i].rank = read_u32(r);
        l->n_places = i + 1;
    }
}

static void read_question(struct ps_reader *r, struct ps_letter *q)
{
    *q = (struct ps_letter){0};
    ps_read_array(r, 5, 5);
    q->client = ps_read_count(r);
    q->number = ps_read_count(r);
    q->place.program = read_u32(r);
    q->place.rank = read_u32(r);
    q->body = ps_read_bytes(r, PS_MAX_LETTER_BYTES);
}

static void read_answer(struct ps_reader *r, struct ps_letter *a)
{
    uint64_t state;

    *a = (struct ps_letter){0};
    ps_read_array(r, 4, 4);
    a->client = ps_read_count(r);
    a->number = ps_read_count(r);
    state = ps_read_count(r);
    r->is_bad |= state > PS_OVERFULL;
    a->state = r->is_bad ? PS_ANSWERED : (enum ps_letter_state)state;
    a->body = ps_read_bytes(r, PS_MAX_LETTER_BYTES);
}

static void read_letters(struct ps_reader *r, struct ps_letters *l)
{
    uint32_t n = ps_read_array(r, 0, PS_MAX_LETTERS);

    l->n_questions = l->n_answers = 0;
    for (uint32_t i = 0; i < n && !r->is_bad; i++) {
        mem_grow(&l->question, &l->question_cap, (size_t)i + 1);
        read_question(r, &l->question[i]);
        l->n_questions = i + 1;
    }
    n = ps_read_array(r, 0, PS_MAX_LETTERS);
    for (uint32_t i = 0; i < n && !r->is_bad; i++) {
        mem_grow(&l->answer, &l->answer_cap, (size_t)i + 1);
        read_answer(r, &l->answer[i]);
        l->n_answers = i + 1;
    }
}

static void read_said(struct ps_reader *r, struct ps_letters *l)
{
    l->client = ps_read_count(r);
    l->number = ps_read_count(r);
    l->job = ps_read_text(r);
    l->is_over = read_truth(r);
    read_places(r, l);
    read_letters(r, l);
}

static void read_delivery(struct ps_reader *r, struct ps_letters *l)
{
    l->number = ps_read_count(r);
    l->epoch = ps_read_count(r);
    l->n_going_on = read_u32(r);
    l->is_successor = read_truth(r);
    read_letters(r, l);
}

/* How many elements a frame of each kind has, version and kind among them. */
static const uint32_t n_elements[] = {
    [PS_PUSH] = 9,  [PS_REPLY] = 11,  [PS_REFUSAL] = 6, [PS_ASK] = 2,
    [PS_STATE] = 7, [PS_LETTERS] = 9, [PS_DELIVERY] = 8};

static void read_body(struct ps_reader *r, struct ps_frame *f)
{
    switch (f->kind) {
    case PS_PUSH:
        read_push(r, &f->push);
        break;
    case PS_REPLY:
        read_reply(r, &f->reply);
        break;
    case PS_REFUSAL:
        read_refusal(r, &f->refusal);
        break;
    case PS_STATE:
        read_state(r, &f->push);
        break;
    case PS_ASK:
        break;
    case PS_LETTERS:
        read_said(r, &f->letters);
        break;
    case PS_DELIVERY:
        read_delivery(r, &f->letters);
        break;
    }
}

int ps_frame_read(struct ps_frame *f, const void *data, size_t bytes)
{
    struct ps_reader r = ps_reader_of(data, bytes);
    uint32_t n = ps_read_array(&r, 2, 16);
    uint64_t version = ps_read_count(&r), kind = ps_read_count(&r);

    if (!r.is_bad && version != PS_WIRE_VERSION)
        return err_set(ERR_UNSUPPORTED, "a frame of version %llu of the protocol, not %u",
                       (unsigned long long)version, PS_WIRE_VERSION);
    if (r.is_bad || bytes > PS_MAX_FRAME_BYTES || kind < PS_PUSH || kind > PS_DELIVERY ||
        n != n_elements[kind])
        return err_set(ERR_FORMAT, "not a frame of a parameter server");
    f->kind = (enum ps_kind)kind;
    read_body(&r, f);
    return ps_read_end(&r) ? 0 : err_set(ERR_FORMAT, "a damaged frame");
}

/* -------------------------------------------------------------------------------- writing */

static void write_head(struct pack *out, enum ps_kind kind)
{
    ps_write_array(out, n_elements[kind]);
    ps_write_count(out, PS_WIRE_VERSION);
    ps_write_count(out, kind);
}

void ps_write_push(struct pack *out, const struct ps_push *p)
{
    write_head(out, PS_PUSH);
    ps_write_count(out, p->client);
    ps_write_count(out, p->epoch);
    ps_write_count(out, p->sequence);
    ps_write_count(out, p->round);
    ps_write_count(out, p->have);
    ps_write_array(out, p->n_entries);
}

static void write_delta(struct pack *out, const struct sketch *sketch)
{
    if (sketch)
        ps_write_sketch(out, sketch);
    else
        ps_write_nil(out);
}

void ps_write_entry(struct pack *out, uint32_t index, const struct sketch *sketch)
{
    ps_write_array(out, 2);
    ps_write_count(out, index);
    write_delta(out, sketch);
}

void ps_write_named(struct pack *out, const char *program, const char *name,
                    const struct sketch *sketch)
{
    ps_write_array(out, 2);
    ps_write_array(out, 2);
    ps_write_text(out, program, strlen(program));
    ps_write_text(out, name, strlen(name));
    write_delta(out, sketch);
}

void ps_write_stat(struct pack *out, const struct ps_stat_key *key, const struct ps_stat *stat)
{
    ps_write_array(out, 9);
    ps_write_text(out, key->program, strlen(key->program));
    ps_write_count(out, key->rank);
    ps_write_text(out, key->region, strlen(key->region));
    ps_write_text(out, key->name, strlen(key->name));
    ps_write_count(out, stat->n);
    if (stat->is_real) {
        ps_write_real(out, stat->real.min);
        ps_write_real(out, stat->real.max);
        ps_write_real(out, stat->real.sum);
        ps_write_real(out, stat->real.square_sum);
    } else {
        ps_write_number(out, stat->whole.min);
        ps_write_number(out, stat->whole.max);
        ps_write_wide(out, (unsigned __int128)stat->whole.sum);
        ps_write_wide(out, stat->whole.square_sum);
    }
}

void ps_write_reply(struct pack *out, const struct ps_reply *p)
{
    write_head(out, PS_REPLY);
    ps_write_count(out, p->epoch);
    ps_write_count(out, p->sequence);
    ps_write_count(out, p->received);
    ps_write_count(out, p->saved);
    ps_write_count(out, p->version);
    ps_write_count(out, p->round);
    ps_write_count(out, p->is_frozen);
    ps_write_array(out, p->n_indices);
    for (uint32_t i = 0; i < p->n_indices; i++)
        if (p->index[i] == PS_NO_INDEX)
            ps_write_nil(out);
        else
            ps_write_count(out, p->index[i]);
    ps_write_array(out, p->n_models);
}

void ps_write_ask(struct pack *out)
{
    write_head(out, PS_ASK);
}

void ps_write_state(struct pack *out, const struct ps_push *p)
{
    write_head(out, PS_STATE);
    ps_write_count(out, p->have);
    ps_write_count(out, p->round);
    ps_write_count(out, p->client);
    ps_write_array(out, p->n_entries);
}

void ps_write_refusal(struct pack *out, const struct ps_refusal *p)
{
    write_head(out, PS_REFUSAL);
    ps_write_count(out, p->code);
    ps_write_count(out, p->epoch);
    ps_write_count(out, p->sequence);
    ps_write_count(out, p->received);
}

static void write_question(struct pack *out, const struct ps_letter *q)
{
    ps_write_array(out, 5);
    ps_write_count(out, q->client);
    ps_write_count(out, q->number);
    ps_write_count(out, q->place.program);
    ps_write_count(out, q->place.rank);
    ps_write_bytes(out, q->body.data, q->body.n);
}

static void write_answer(struct pack *out, const struct ps_letter *a)
{
    ps_write_array(out, 4);
    ps_write_count(out, a->client);
    ps_write_count(out, a->number);
    ps_write_count(out, a->state);
    ps_write_bytes(out, a->body.data, a->body.n);
}

void ps_write_letters(struct pack *out, enum ps_kind kind, const struct ps_letters *l)
{
    write_head(out, kind);
    if (kind == PS_LETTERS) {
        ps_write_count(out, l->client);
        ps_write_count(out, l->number);
        ps_write_text(out, (const char *)l->job.data, l->job.n);
        ps_write_count(out, l->is_over);
        ps_write_array(out, l->n_places);
        for (uint32_t i = 0; i < l->n_places; i++) {
            ps_write_array(out, 2);
            ps_write_count(out, l->place[i].program);
            ps_write_count(out, l->place[i].rank);
        }
    } else {
        ps_write_count(out, l->number);
        ps_write_count(out, l->epoch);
        ps_write_count(out, l->n_going_on);
        ps_write_count(out, l->is_successor);
    }
    ps_write_array(out, l->n_questions);
    for (uint32_t i = 0; i < l->n_questions; i++)
        write_question(out, &l->question[i]);
    ps_write_array(out, l->n_answers);
    for (uint32_t i = 0; i < l->n_answers; i++)
        write_answer(out, &l->answer[i]);
}
