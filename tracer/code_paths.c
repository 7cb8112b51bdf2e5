/*
 * An instruction of an x86-64 is
 *
 *     prefixes  [REX]  opcode of 1 to 3 bytes  [ModRM [SIB] [displacement]]  [immediate]
 *
 * or has VEX or EVEX in place of the prefixes and the begin of the opcode (Intel's manual,
 * volume 2, chapter 2 and appendix A).
 */
#include "code_paths.h"

#include <stdlib.h>
#include <string.h>

#define LONGEST 15
#define MAX_BYTES ((size_t)1 << 18) /* of a function */

/* ---------------------------------------------------------------------------------- decoding
 */

/* What follows an opcode. */
enum {
    NONE = 0,
    MODRM = 1,
    IMM8 = 2,
    IMM16 = 4,
    IMM_FULL = 8,    /* 4 bytes, 2 with an operand of 16 bits */
    IMM_WIDE = 16,   /* likewise, 8 with one of 64 */
    ADDRESS = 32,    /* 8 bytes, 4 with short addresses */
    TEST_ALONE = 64, /* an immediate as well, if the register's number is 0 or 1 */
    BAD = 128
};

struct decoding {
    const uint8_t *at, *end;
    bool has_short_operand, has_short_address, has_wide_operand, is_bad;
};

static uint8_t next(struct decoding *d)
{
    if (d->at < d->end)
        return *d->at++;
    d->is_bad = true;
    return 0;
}

/* Of opcodes of one byte, 16 in a line. */
static const char of_one_byte[257] = "mmmmbzxxmmmmbzxx"
                                     "mmmmbzxxmmmmbzxx"
                                     "mmmmbzxxmmmmbzxx"
                                     "mmmmbzxxmmmmbzxx"
                                     "................"
                                     "................"
                                     "xxxm....zZbB...."
                                     "bbbbbbbbbbbbbbbb"
                                     "BZxBmmmmmmmmmmmm"
                                     "..........x....."
                                     "aaaa....bz......"
                                     "bbbbbbbbqqqqqqqq"
                                     "BBw.xxBZe.w..bx."
                                     "mmmmxxx.mmmmmmmm"
                                     "bbbbbbbbzzxb...."
                                     "......tT......mm";

static unsigned meaning_of(char letter)
{
    static const uint16_t meaning[128] = {
        ['.'] = NONE,
        ['m'] = MODRM,
        ['b'] = IMM8,
        ['B'] = MODRM | IMM8,
        ['z'] = IMM_FULL,
        ['Z'] = MODRM | IMM_FULL,
        ['w'] = IMM16,
        ['e'] = IMM16 | IMM8,
        ['q'] = IMM_WIDE,
        ['a'] = ADDRESS,
        ['t'] = MODRM | TEST_ALONE | IMM8,
        ['T'] = MODRM | TEST_ALONE | IMM_FULL,
        ['x'] = BAD,
    };

    return meaning[(unsigned char)letter];
}

/* Behind 0f. */
static unsigned of_two_bytes(uint8_t op)
{
    if (op >= 0x80 && op <= 0x8f)
        return IMM_FULL;
    if (op == 0x05 || op == 0x06 || op == 0x07 || op == 0x08 || op == 0x09 || op == 0x0b ||
        op == 0x0e || (op >= 0x30 && op <= 0x37) || op == 0x77 || (op >= 0xa0 && op <= 0xa2) ||
        (op >= 0xa8 && op <= 0xaa) || op >> 3 == 0xc8 >> 3)
        return NONE;
    if (op == 0x04 || op == 0x0a || op == 0x0c)
        return BAD;
    if (op == 0x0f || (op >= 0x70 && op <= 0x73) || op == 0xa4 || op == 0xac || op == 0xba ||
        op == 0xc2 || (op >= 0xc4 && op <= 0xc6))
        return MODRM | IMM8;
    return MODRM;
}

/* Of the maps that VEX and EVEX name. */
static unsigned of_map(unsigned map, uint8_t op)
{
    return map == 0   ? BAD
           : map == 1 ? of_two_bytes(op)
           : map == 3 ? MODRM | IMM8
           : map < 7  ? MODRM
                      : BAD;
}

/* Returns the register's number in it. */
static unsigned skip_modrm(struct decoding *d)
{
    uint8_t modrm = next(d), mod = modrm >> 6, base = modrm & 7;
    size_t displacement = mod == 1 ? 1 : mod == 2 ? 4 : 0;

    if (mod != 3 && base == 4)
        base = next(d) & 7;
    if (mod == 0 && base == 5)
        displacement = 4;
    if ((size_t)(d->end - d->at) < displacement)
        d->is_bad = true;
    else
        d->at += displacement;
    return modrm >> 3 & 7;
}

static int64_t take_immediate(struct decoding *d, unsigned what)
{
    size_t full = d->has_short_operand && !d->has_wide_operand ? 2 : 4;
    size_t bytes = (what & IMM8 ? 1 : 0) + (what & IMM16 ? 2 : 0) +
                   (what & IMM_FULL ? full : 0) +
                   (what & IMM_WIDE ? (d->has_wide_operand ? 8 : full) : 0) +
                   (what & ADDRESS ? (d->has_short_address ? 4 : 8) : 0);
    int32_t value = 0;
    int8_t small = 0;

    if ((size_t)(d->end - d->at) < bytes) {
        d->is_bad = true;
        return 0;
    }
    memcpy(&value, d->at, bytes < sizeof value ? bytes : sizeof value);
    memcpy(&small, d->at, bytes > 0);
    d->at += bytes;
    return bytes == 1 ? small : value;
}

static uint8_t skip_prefixes(struct decoding *d)
{
    for (;;) {
        uint8_t op = next(d);

        d->has_short_operand |= op == 0x66;
        d->has_short_address |= op == 0x67;
        if (op >> 4 == 4) { /* REX is the last */
            d->has_wide_operand = op & 8;
            return next(d);
        }
        if (op != 0x66 && op != 0x67 && op != 0xf2 && op != 0xf3 && op != 0xf0 && op != 0x2e &&
            op != 0x36 && op != 0x3e && op != 0x26 && op != 0x64 && op != 0x65)
            return op;
    }
}

static enum code_flow flow_of(unsigned map, uint8_t op, unsigned number)
{
    if (map > 1)
        return CODE_GOES_ON;
    if (map == 1)
        return op == 0x0b ? CODE_ENDS : op >> 4 == 8 ? CODE_BRANCHES : CODE_GOES_ON;
    if (op >> 4 == 7 || (op >= 0xe0 && op <= 0xe3))
        return CODE_BRANCHES;
    switch (op) {
    case 0xe8:
        return CODE_CALLS;
    case 0xe9:
    case 0xeb:
        return CODE_JUMPS;
    case 0xc2:
    case 0xc3:
    case 0xca:
    case 0xcb:
    case 0xcf:
    case 0xcc:
    case 0xf4:
        return CODE_ENDS;
    case 0xff:
        return number == 2 || number == 3   ? CODE_CALLS
               : number == 4 || number == 5 ? CODE_UNKNOWN
                                            : CODE_GOES_ON;
    default:
        return CODE_GOES_ON;
    }
}

/* The rest of the opcode, behind its first byte: what follows it, and which map it is of, of
 * one byte 0. */
static unsigned take_opcode(struct decoding *d, uint8_t *op, unsigned *map)
{
    *map = *op == 0x0f || *op == 0xc5;
    switch (*op) {
    case 0x0f:
        *op = next(d);
        if (*op != 0x38 && *op != 0x3a)
            break;
        *map = *op == 0x38 ? 2 : 3;
        *op = next(d);
        break;
    case 0x62: /* EVEX */
        *map = next(d) & 7;
        next(d);
        next(d);
        *op = next(d);
        break;
    case 0xc4: /* VEX */
        *map = next(d) & 31;
        /* fall through */
    case 0xc5:
        next(d);
        *op = next(d);
        break;
    default:
        return meaning_of(of_one_byte[*op]);
    }
    return of_map(*map, *op);
}

struct code_instruction code_decode(uintptr_t at, size_t most)
{
    const uint8_t *begin = (const uint8_t *)at;
    struct decoding d = {.at = begin, .end = begin + (most < LONGEST ? most : LONGEST)};
    struct code_instruction i = {.flow = CODE_UNKNOWN};
    uint8_t op = skip_prefixes(&d);
    bool is_vector = op == 0x62 || op == 0xc4 || op == 0xc5;
    unsigned map, what = take_opcode(&d, &op, &map), number = 0;
    int64_t immediate;

    if (what & MODRM)
        number = skip_modrm(&d);
    if (what & TEST_ALONE && number > 1)
        what = MODRM;
    immediate = take_immediate(&d, what);
    if (d.is_bad || what & BAD)
        return i;
    i.flow = is_vector ? CODE_GOES_ON : flow_of(map, op, number);
    i.length = (unsigned)(d.at - begin);
    if (i.flow == CODE_BRANCHES || i.flow == CODE_JUMPS)
        i.target = at + i.length + (uintptr_t)immediate;
    return i;
}

/* ------------------------------------------------------------------------------------- paths
 */

struct path_search {
    const struct code_paths *paths;
    uint8_t *is_seen; /* two bits for each byte of the ranges, one after the other */
    uintptr_t *open;  /* [n] where to go on, and in its last bit whether the way has passed */
    size_t n;         /* one that it must */
};

/* Takes down that code goes on there, if that is new. */
static void go_to(struct path_search *s, uintptr_t code, bool has_passed)
{
    size_t at = has_passed;

    for (size_t i = 0; i < s->paths->n_ranges; i++) {
        const struct code_range *r = &s->paths->range[i];

        if (code >= r->begin && code < r->end) {
            at += 2 * (code - r->begin);
            if (!(s->is_seen[at / 8] >> at % 8 & 1))
                s->open[s->n++] = code << 1 | has_passed;
            s->is_seen[at / 8] |= (uint8_t)(1 << at % 8);
            return;
        }
        at += 2 * (r->end - r->begin);
    }
}

static size_t bytes_behind(const struct code_paths *p, uintptr_t code)
{
    for (size_t i = 0; i < p->n_ranges; i++)
        if (code >= p->range[i].begin && code < p->range[i].end)
            return p->range[i].end - code;
    return 0;
}

/* Goes on from one instruction; whether that is the call that is looked for. */
static bool visit(struct path_search *s, uintptr_t code, bool has_passed)
{
    const struct code_paths *p = s->paths;
    struct code_instruction i;

    if (p->may_pass && !p->may_pass(p->ctx, code))
        return false;
    has_passed = has_passed || p->must_pass == NULL || p->must_pass(p->ctx, code);
    i = code_decode(code, bytes_behind(p, code));
    if (i.flow == CODE_UNKNOWN)
        return true;
    if (i.flow == CODE_CALLS && code + i.length == p->to)
        return has_passed;
    if (i.flow == CODE_CALLS && code + i.length == p->from)
        return false;
    if (i.flow == CODE_BRANCHES || i.flow == CODE_JUMPS)
        go_to(s, i.target, has_passed);
    if (i.flow != CODE_JUMPS && i.flow != CODE_ENDS)
        go_to(s, code + i.length, has_passed);
    return false;
}

bool code_paths_reach(const struct code_paths *paths)
{
    struct path_search s = {.paths = paths};
    size_t bytes = 0;
    bool is_found = false;

    for (size_t i = 0; i < paths->n_ranges; i++)
        bytes += paths->range[i].end - paths->range[i].begin;
    if (bytes == 0 || bytes > MAX_BYTES)
        return true;
    s.is_seen = calloc(bytes / 4 + 1, 1);
    s.open = malloc(2 * bytes * sizeof *s.open);
    if (s.is_seen && s.open)
        go_to(&s, paths->from, false);
    else
        is_found = true;
    while (s.n > 0 && !is_found) {
        uintptr_t next_one = s.open[--s.n];

        is_found = visit(&s, next_one >> 1, next_one & 1);
    }
    free(s.open);
    free(s.is_seen);
    return is_found;
}
