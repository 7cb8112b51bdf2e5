/*
 * The head is cut into lines in place: each ends by a zero where its CR was. A body in chunks
 * is taken as it comes in, piece by piece:
 *
 *     5;name=value CRLF hello CRLF 0 CRLF Trailer: x CRLF CRLF
 */
#include "http/request.h"

#include "base/err.h"
#include "base/mem.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* --------------------------------------------------------------------------------- the head */

#define MAX_DIGITS 18 /* of a length: more is too large for anybody */

static const struct http_refusal fine;

static struct http_refusal refuse(unsigned status, const char *why)
{
    return (struct http_refusal){status, why};
}

size_t request_head_length(const char *bytes, size_t n, size_t *seen)
{
    const char *at = n > *seen ? memchr(bytes + *seen, '\n', n - *seen) : NULL;

    while (at) {
        size_t i = (size_t)(at - bytes);

        if (i == 0 || bytes[i - 1] != '\r')
            return SIZE_MAX;
        if (i >= 3 && bytes[i - 2] == '\n')
            return i + 1;
        at = memchr(at + 1, '\n', n - i - 1);
    }
    *seen = n;
    return 0;
}

/* A line without its end, or NULL after the last; *rest is what follows it. */
static char *next_line(char **rest)
{
    char *line = *rest, *end = strchr(line, '\r');

    if (end == NULL || end[1] != '\n')
        return NULL;
    *end = '\0';
    *rest = end + 2;
    return line;
}

static bool is_control(char c)
{
    return (unsigned char)c < ' ' || c == 0x7f;
}

/* What methods and names of fields consist of. */
static bool is_token(const char *text)
{
    for (const char *at = text; *at; at++)
        if (!isalnum((unsigned char)*at) && strchr("!#$%&'*+-.^_`|~", *at) == NULL)
            return false;
    return *text != '\0';
}

/* ------------------------------------------------------------------------- the first line */

static struct http_refusal take_version(const char *version, struct request_head *head)
{
    bool is_http = strncmp(version, "HTTP/", 5) == 0 && isdigit((unsigned char)version[5]) &&
                   version[6] == '.' && isdigit((unsigned char)version[7]) &&
                   version[8] == '\0';

    if (!is_http)
        return refuse(400, "the first line is not of HTTP");
    if (version[5] != '1')
        return refuse(505, "this server speaks HTTP/1.1");
    head->minor = (unsigned)(version[7] - '0');
    return fine;
}

static struct http_refusal take_method(const char *method, struct request_head *head)
{
    static const char *const known[] = {"GET",     "HEAD",    "POST",  "PUT",  "DELETE",
                                        "CONNECT", "OPTIONS", "TRACE", "PATCH"};

    if (!is_token(method))
        return refuse(400, "the first line does not begin with a method");
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (strcmp(method, known[i]) == 0) {
            head->method = method;
            head->is_head = strcmp(method, "HEAD") == 0;
            return fine;
        }
    return refuse(501, "no such method");
}

static int digit_of(char c)
{
    return isdigit((unsigned char)c)    ? c - '0'
           : isxdigit((unsigned char)c) ? tolower((unsigned char)c) - 'a' + 10
                                        : -1;
}

/* Removes the escapes of a part of an address. Returns false for one that is none, or a NUL. */
static bool unescape(char *text, bool is_form)
{
    char *out = text;

    for (const char *at = text; *at; at++) {
        if (*at == '%') {
            int high = digit_of(at[1]), low = high < 0 ? -1 : digit_of(at[2]);

            if (low < 0 || high + low == 0)
                return false;
            *out++ = (char)(16 * high + low);
            at += 2;
        } else {
            *out++ = is_form && *at == '+' ? ' ' : *at;
        }
    }
    *out = '\0';
    return true;
}

static struct http_refusal take_parameters(char *query, struct request_head *head)
{
    char *save, *part = strtok_r(query, "&", &save);

    for (; part; part = strtok_r(NULL, "&", &save)) {
        struct request_parameter *p = &head->parameter[head->n_parameters];
        char *value = strchr(part, '=');

        if (head->n_parameters == REQUEST_HEAD_MAX_PARAMETERS)
            return refuse(400, "an address has 16 parameters at most");
        if (value)
            *value++ = '\0';
        if (!unescape(part, true) || (value && !unescape(value, true)))
            return refuse(400, "a parameter has a % without two hexadecimal digits");
        p->name = part;
        p->value = value ? value : "";
        head->n_parameters++;
    }
    return fine;
}

/* http://HOST/PATH: what counts is this host, and the path. */
static struct http_refusal take_whole_address(char *address, struct request_head *head,
                                              char **path)
{
    static const char scheme[] = "http://";
    size_t skipped = sizeof scheme - 1;
    size_t n = strcspn(address + skipped, "/");

    if (strncasecmp(address, scheme, skipped) != 0 || n == 0 || address[skipped + n] != '/')
        return refuse(400, "the address is not a path");
    *path = address + skipped + n;
    memmove(address, address + skipped, n);
    address[n] = '\0';
    head->host = address;
    return fine;
}

static struct http_refusal take_address(char *address, struct request_head *head)
{
    struct http_refusal refusal = fine;
    char *path = address, *query;

    if (strlen(address) > REQUEST_HEAD_MAX_ADDRESS_BYTES)
        return refuse(414, "an address has 8 KiB at most");
    for (const char *at = address; *at; at++)
        if (is_control(*at) || *at == '#')
            return refuse(400, "the address has a character that no address has");
    head->path = address;
    if (strcmp(address, "*") == 0 && strcmp(head->method, "OPTIONS") == 0)
        return fine;
    if (*address != '/')
        refusal = take_whole_address(address, head, &path);
    if (refusal.status)
        return refusal;
    query = strchr(path, '?');
    if (query)
        *query++ = '\0';
    if (!unescape(path, false))
        return refuse(400, "the path has a % without two hexadecimal digits");
    head->path = path;
    return query ? take_parameters(query, head) : fine;
}

static struct http_refusal take_first_line(char *line, struct request_head *head)
{
    char *address = strchr(line, ' '), *version = address ? strchr(address + 1, ' ') : NULL;
    struct http_refusal refusal;

    if (version == NULL)
        return refuse(400, "the first line is not a method, an address and a version");
    *address++ = *version++ = '\0';
    refusal = take_version(version, head);
    if (refusal.status == 0)
        refusal = take_method(line, head);
    return refusal.status ? refusal : take_address(address, head);
}

/* ----------------------------------------------------------------------------- the fields */

/* The value without what is around it, or NULL when it has control characters. */
static char *take_value(char *value)
{
    char *end;

    value += strspn(value, " \t");
    end = value + strlen(value);
    while (end > value && (end[-1] == ' ' || end[-1] == '\t'))
        end--;
    *end = '\0';
    for (const char *at = value; *at; at++)
        if (is_control(*at) && *at != '\t')
            return NULL;
    return value;
}

/* A word of a list with commas, in any case. */
static bool has_word(const char *list, const char *word)
{
    size_t n = strlen(word);

    while (*list) {
        size_t length = strcspn(list, " \t,");

        if (length == n && strncasecmp(list, word, n) == 0)
            return true;
        list += length + (list[length] != '\0');
    }
    return false;
}

static struct http_refusal keep_field(const char *name, const char *value,
                                      struct request_head *head)
{
    static const struct {
        const char *name, *twice;
    } known[REQUEST_FIELDS] = {
        [FIELD_HOST] = {"Host", "Host is there twice"},
        [FIELD_ACCEPT] = {"Accept", NULL},
        [FIELD_ORIGIN] = {"Origin", "Origin is there twice"},
        [FIELD_CONTENT_LENGTH] = {"Content-Length", "Content-Length is there twice"},
        [FIELD_TRANSFER_ENCODING] = {"Transfer-Encoding", "Transfer-Encoding is there twice"},
        [FIELD_CONTENT_TYPE] = {"Content-Type", "Content-Type is there twice"},
        [FIELD_AUTHORIZATION] = {"Authorization", "Authorization is there twice"},
        [FIELD_COOKIE] = {"Cookie", "Cookie is there twice"},
        [FIELD_EXPECT] = {"Expect", "Expect is there twice"},
        [FIELD_CONNECTION] = {"Connection", NULL},
        [FIELD_IF_NONE_MATCH] = {"If-None-Match", NULL},
    };

    for (int k = 0; k < REQUEST_FIELDS; k++) {
        if (strcasecmp(name, known[k].name) != 0)
            continue;
        if (head->field[k] && known[k].twice)
            return refuse(400, known[k].twice);
        if (k == FIELD_CONNECTION && has_word(value, "close"))
            head->stays_open = false;
        if (head->field[k] == NULL)
            head->field[k] = value;
        break;
    }
    return fine;
}

static struct http_refusal take_field(char *line, struct request_head *head)
{
    char *colon = strchr(line, ':');
    const char *value;

    if (*line == ' ' || *line == '\t')
        return refuse(400, "a header field goes on in the next line");
    if (colon == NULL)
        return refuse(400, "a header field has no colon");
    *colon = '\0';
    if (!is_token(line))
        return refuse(400, "the name of a header field has a character that none may have");
    value = take_value(colon + 1);
    if (value == NULL)
        return refuse(400, "a header field has a control character");
    if (++head->n_fields > REQUEST_HEAD_MAX_FIELDS)
        return refuse(431, "a request has 100 header fields at most");
    return keep_field(line, value, head);
}

/* Where the body ends. */
static struct http_refusal check_body(struct request_head *head)
{
    const char *length = head->field[FIELD_CONTENT_LENGTH];
    const char *coding = head->field[FIELD_TRANSFER_ENCODING];

    if (coding && length)
        return refuse(400, "there are a Content-Length and a Transfer-Encoding");
    if (coding && head->minor == 0)
        return refuse(400, "HTTP/1.0 has no Transfer-Encoding");
    if (coding && strcasecmp(coding, "chunked") != 0)
        return refuse(501, "a body is sent as it is, or in chunks");
    head->is_chunked = coding != NULL;
    if (length && (*length == '\0' || strspn(length, "0123456789") != strlen(length)))
        return refuse(400, "Content-Length is not a number");
    if (length && strlen(length) > MAX_DIGITS)
        return refuse(413, "a body is too large");
    head->body_bytes = length ? strtoull(length, NULL, 10) : 0;
    return fine;
}

static struct http_refusal check_fields(struct request_head *head)
{
    const char *expected = head->field[FIELD_EXPECT];

    if (head->host == NULL)
        head->host = head->field[FIELD_HOST];
    if (head->minor > 0 && head->field[FIELD_HOST] == NULL)
        return refuse(400, "Host is missing");
    if (expected && head->minor > 0 && strcasecmp(expected, "100-continue") != 0)
        return refuse(417, "Expect is not 100-continue");
    head->awaits_continue = expected && head->minor > 0;
    return check_body(head);
}

struct http_refusal request_head_parse(char *bytes, size_t length, struct request_head *head)
{
    bool has_empty_line = bytes[0] == '\r' && bytes[1] == '\n';
    char *rest = bytes + 2 * has_empty_line, *line;
    struct http_refusal refusal;

    *head = (struct request_head){.stays_open = true};
    if (memchr(bytes, '\0', length))
        return refuse(400, "the head has a NUL in it");
    bytes[length - 1] = '\0'; /* of the last empty line: its CR stays, nothing follows it */
    line = next_line(&rest);
    if (line == NULL)
        return refuse(400, "there is no first line");
    refusal = take_first_line(line, head);
    while (refusal.status == 0 && (line = next_line(&rest)) != NULL)
        refusal = take_field(line, head);
    if (refusal.status == 0 && strcmp(rest, "\r") != 0)
        refusal = refuse(400, "the head has a carriage return in it");
    if (head->minor == 0)
        head->stays_open = false;
    return refusal.status ? refusal : check_fields(head);
}

bool request_head_cookie(const struct request_head *head, const char *name, char *out,
                         size_t size)
{
    const char *at = head->field[FIELD_COOKIE];
    size_t n = strlen(name);

    while (at && *at) {
        size_t length;

        at += strspn(at, "; ");
        length = strcspn(at, ";");
        if (length > n && strncmp(at, name, n) == 0 && at[n] == '=') {
            if (length - n - 1 >= size)
                return false;
            memcpy(out, at + n + 1, length - n - 1);
            out[length - n - 1] = '\0';
            return true;
        }
        at += length;
    }
    return false;
}

/* ------------------------------------------------------------------------- a body in chunks */

#define MAX_CHUNK_DIGITS 15 /* so that a length fits */

static const struct http_refusal fine;

static struct http_refusal take_digit(struct chunks *c, char byte)
{
    int digit =
        isdigit((unsigned char)byte) ? byte - '0' : tolower((unsigned char)byte) - 'a' + 10;

    if (++c->n_digits > MAX_CHUNK_DIGITS)
        return refuse(413, "a chunk is too large");
    c->n_left = 16 * c->n_left + (unsigned)digit;
    return fine;
}

/* A byte of the line with the length; "most" is checked when it is over. */
static struct http_refusal take_length(struct chunks *c, char byte, uint64_t most)
{
    if (c->state == CHUNKS_LENGTH && isxdigit((unsigned char)byte))
        return take_digit(c, byte);
    if (c->n_digits == 0)
        return refuse(400, "a chunk does not begin with its length");
    if (c->state == CHUNKS_LENGTH_END) {
        if (byte != '\n')
            return refuse(400, "the length of a chunk does not end by CR LF");
        if (c->n_left > most)
            return refuse(413, "a body is too large");
        c->state = c->n_left > 0 ? CHUNKS_DATA : CHUNKS_TRAILER;
        c->n_line = c->n_digits = 0;
        c->is_empty = true;
        return fine;
    }
    if (byte == '\r') {
        c->state = CHUNKS_LENGTH_END;
        return fine;
    }
    if (c->state == CHUNKS_LENGTH && byte != ';')
        return refuse(400, "the length of a chunk is not a number");
    c->state = CHUNKS_EXTENSION;
    if (((unsigned char)byte < ' ' && byte != '\t') || ++c->n_line > CHUNKS_MAX_LINE_BYTES)
        return refuse(400, "what follows the length of a chunk is too long, or no text");
    return fine;
}

static struct http_refusal take_trailer(struct chunks *c, char byte)
{
    if (++c->n_line > CHUNKS_MAX_TRAILER_BYTES)
        return refuse(400, "what follows a body is too long");
    if (c->state == CHUNKS_TRAILER_LF) {
        if (byte != '\n')
            return refuse(400, "what follows a body has a line that does not end by CR LF");
        c->state = c->is_empty ? CHUNKS_DONE : CHUNKS_TRAILER;
        c->is_empty = true;
    } else if (byte == '\r') {
        c->state = CHUNKS_TRAILER_LF;
    } else if ((unsigned char)byte < ' ' && byte != '\t') {
        return refuse(400, "what follows a body has a control character");
    } else {
        c->is_empty = false;
    }
    return fine;
}

static struct http_refusal take_byte(struct chunks *c, char byte, uint64_t most)
{
    switch (c->state) {
    case CHUNKS_DATA_CR:
    case CHUNKS_DATA_LF:
        if (byte != (c->state == CHUNKS_DATA_CR ? '\r' : '\n'))
            return refuse(400, "a chunk is not followed by CR LF");
        c->state = c->state == CHUNKS_DATA_CR ? CHUNKS_DATA_LF : CHUNKS_LENGTH;
        return fine;
    case CHUNKS_TRAILER:
    case CHUNKS_TRAILER_LF:
        return take_trailer(c, byte);
    default:
        return take_length(c, byte, most);
    }
}

struct http_refusal chunks_take(struct chunks *c, char *bytes, size_t n, uint64_t most,
                                size_t *n_data)
{
    struct http_refusal refusal = fine;
    size_t i = 0;

    *n_data = 0;
    while (i < n && c->state != CHUNKS_DONE && refusal.status == 0) {
        size_t run = n - i < c->n_left ? n - i : (size_t)c->n_left;

        if (c->state != CHUNKS_DATA) {
            refusal = take_byte(c, bytes[i++], most - *n_data);
            continue;
        }
        memmove(bytes + *n_data, bytes + i, run);
        *n_data += run;
        i += run;
        c->n_left -= run;
        if (c->n_left == 0)
            c->state = CHUNKS_DATA_CR;
    }
    return refusal;
}

/* ------------------------------------------------------------------------- what was checked */

const char *request_text(const struct request *request, const char *name, const char *fallback)
{
    for (size_t i = 0; i < request->n_parameters; i++)
        if (strcmp(request->parameter[i].name, name) == 0 && *request->parameter[i].value)
            return request->parameter[i].value;
    return fallback;
}

int request_real(const struct request *request, const char *name, double least, double most,
                 double fallback, double *out)
{
    const char *text = request_text(request, name, NULL);
    char *end;

    *out = fallback;
    if (text == NULL)
        return 0;
    *out = strtod(text, &end);
    if (!isdigit((unsigned char)*text) || *end != '\0' || !isfinite(*out) || *out < least ||
        *out > most)
        return err_set(ERR_USAGE, "'%s' takes a number from %.0f to %.0f, not '%.40s'", name,
                       least, most, text);
    return 0;
}

int request_number(const struct request *request, const char *name, double least, double most,
                   double fallback, double *out)
{
    int rc = request_real(request, name, least, most, fallback, out);

    if (rc == 0)
        *out = floor(*out);
    return rc;
}

static int complain_list(const char *name, uint32_t below, const char *text)
{
    return err_set(ERR_USAGE, "'%s' takes different numbers below %u, as in 0,1, not '%.40s'",
                   name, below, text);
}

int request_list(const struct request *request, const char *name, uint32_t below, uint32_t *out,
                 uint32_t *n)
{
    const char *text = request_text(request, name, NULL), *at = text;
    bool *is_there;
    int rc = 0;

    *n = 0;
    if (text == NULL) {
        for (; *n < below; (*n)++)
            out[*n] = *n;
        return 0;
    }
    is_there = mem_alloc(below, sizeof *is_there);
    while (rc == 0 && *at) {
        char *end;
        unsigned long value = strtoul(at, &end, 10);
        bool is_number = isdigit((unsigned char)*at) && (*end == ',' || *end == '\0');

        if (!is_number || value >= below || is_there[value] ||
            (*end == ',' && end[1] == '\0')) {
            rc = complain_list(name, below, text);
            break;
        }
        is_there[value] = true;
        out[(*n)++] = (uint32_t)value;
        at = *end ? end + 1 : end;
    }
    free(is_there);
    return rc;
}
