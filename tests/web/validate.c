/*
 * validate OPENAPI METHOD PATH STATUS TYPE < BODY -- a response is as the description of the
 * API says: the path, the status and the media type are there, and the body fits the schema.
 *
 * PATH is as it stands in the description: /fois/{foi}/columns. Of a bundle the header is
 * checked, and that the columns lie within the bytes. What is known of JSON Schema is what the
 * description uses: $ref, type, enum, properties, required, additionalProperties, items,
 * minItems, maxItems, minimum, anyOf.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <jansson.h>

static const json_t *root;

static int complain(const char *where, const char *what)
{
    fprintf(stderr, "%s: %s\n", where, what);
    return 0;
}

static const json_t *resolve(const json_t *schema)
{
    const char *ref = json_string_value(json_object_get(schema, "$ref"));

    if (ref == NULL)
        return schema;
    schema = json_object_get(json_object_get(root, "components"), "schemas");
    schema = json_object_get(schema, ref + strlen("#/components/schemas/"));
    if (schema == NULL) {
        fprintf(stderr, "no schema '%s'\n", ref);
        exit(1);
    }
    return schema;
}

static int is_of_type(const char *type, const json_t *value)
{
    return (strcmp(type, "object") == 0 && json_is_object(value)) ||
           (strcmp(type, "array") == 0 && json_is_array(value)) ||
           (strcmp(type, "string") == 0 && json_is_string(value)) ||
           (strcmp(type, "integer") == 0 && json_is_integer(value)) ||
           (strcmp(type, "number") == 0 && json_is_number(value)) ||
           (strcmp(type, "boolean") == 0 && json_is_boolean(value)) ||
           (strcmp(type, "null") == 0 && json_is_null(value));
}

static int fits_type(const json_t *type, const json_t *value)
{
    const json_t *one;
    size_t i;

    if (type == NULL)
        return 1;
    if (json_is_string(type))
        return is_of_type(json_string_value(type), value);
    json_array_foreach(type, i, one)
    {
        if (is_of_type(json_string_value(one), value))
            return 1;
    }
    return 0;
}

static int fits_enum(const json_t *list, const json_t *value)
{
    const json_t *one;
    size_t i;

    json_array_foreach(list, i, one)
    {
        if (json_equal(one, value))
            return 1;
    }
    return list == NULL;
}

static int fits(const json_t *schema, const json_t *value, const char *where);

static int fits_object(const json_t *schema, const json_t *value, const char *where)
{
    const json_t *properties = json_object_get(schema, "properties"), *name, *member;
    const char *key;
    char inner[512];
    size_t i;

    json_array_foreach(json_object_get(schema, "required"), i, name)
    {
        if (json_object_get(value, json_string_value(name)) == NULL) {
            fprintf(stderr, "%s: '%s' is missing\n", where, json_string_value(name));
            return 0;
        }
    }
    json_object_foreach((json_t *)(uintptr_t)value, key, member)
    {
        const json_t *property = json_object_get(properties, key);

        snprintf(inner, sizeof inner, "%.400s.%.100s", where, key);
        if (property == NULL && json_is_false(json_object_get(schema, "additionalProperties")))
            return complain(inner, "is not in the description");
        if (property && !fits(property, member, inner))
            return 0;
    }
    return 1;
}

static int fits_array(const json_t *schema, const json_t *value, const char *where)
{
    const json_t *items = json_object_get(schema, "items"), *item;
    const json_t *least = json_object_get(schema, "minItems");
    const json_t *most = json_object_get(schema, "maxItems");
    size_t n = json_array_size(value), i;

    if ((least && n < (size_t)json_integer_value(least)) ||
        (most && n > (size_t)json_integer_value(most)))
        return complain(where, "has too few or too many items");
    json_array_foreach(value, i, item)
    {
        char inner[512];

        snprintf(inner, sizeof inner, "%.400s[%zu]", where, i);
        if (items && !fits(items, item, inner))
            return 0;
    }
    return 1;
}

static int fits(const json_t *schema, const json_t *value, const char *where)
{
    const json_t *any, *one, *least;
    size_t i;

    schema = resolve(schema);
    any = json_object_get(schema, "anyOf");
    json_array_foreach(any, i, one)
    {
        if (fits(one, value, where))
            return 1;
    }
    least = json_object_get(schema, "minimum");
    if (any)
        return complain(where, "fits none of anyOf");
    if (!fits_type(json_object_get(schema, "type"), value))
        return complain(where, "is of another type");
    if (!fits_enum(json_object_get(schema, "enum"), value))
        return complain(where, "is none of the values there may be");
    if (least && json_number_value(value) < json_number_value(least))
        return complain(where, "is too small");
    if (json_is_object(value))
        return fits_object(schema, value, where);
    return json_is_array(value) ? fits_array(schema, value, where) : 1;
}

/* The header of a bundle, whose columns must be where it says. */
static json_t *read_bundle(const char *bytes, size_t size)
{
    static const char *const types[] = {"u8", "i8", "u16", "u32", "f32", "f64"};
    static const size_t width[] = {1, 1, 2, 4, 4, 8};
    uint32_t length = 0;
    json_t *header, *column;
    size_t i;

    if (size < 8 || memcmp(bytes, "SNGC", 4) != 0)
        return NULL;
    memcpy(&length, bytes + 4, 4);
    if (length % 8 != 0 || length > size - 8)
        return NULL;
    header = json_loadb(bytes + 8, length, 0, NULL);
    json_array_foreach(json_object_get(header, "columns"), i, column)
    {
        const char *type = json_string_value(json_object_get(column, "type"));
        size_t offset = (size_t)json_integer_value(json_object_get(column, "offset"));
        size_t n = (size_t)json_integer_value(json_object_get(column, "n")), t = 0;

        while (t < 6 && (type == NULL || strcmp(types[t], type) != 0))
            t++;
        if (t == 6 || offset % 8 != 0 || 8 + length + offset + n * width[t] > size) {
            fprintf(stderr, "a column lies outside the bundle\n");
            exit(1);
        }
    }
    return header;
}

static size_t read_all(char **out)
{
    size_t n = 0, cap = 1 << 16, got;
    char *data = malloc(cap);

    while ((got = fread(data + n, 1, cap - n, stdin)) > 0) {
        n += got;
        if (n == cap)
            data = realloc(data, cap *= 2);
    }
    *out = data;
    return n;
}

/* The media type of a status of an operation; "default" stands for any other status. */
static const json_t *find_content(char **argv)
{
    const json_t *operation = json_object_get(json_object_get(root, "paths"), argv[3]);
    const json_t *responses, *response;
    char type[128];

    operation = json_object_get(operation, argv[2]);
    responses = json_object_get(operation, "responses");
    response = json_object_get(responses, argv[4]);
    if (response == NULL)
        response = json_object_get(responses, "default");
    snprintf(type, sizeof type, "%.*s", (int)strcspn(argv[5], ";"), argv[5]);
    return json_object_get(json_object_get(response, "content"), type);
}

int main(int argc, char **argv)
{
    const json_t *content, *schema;
    char *body = NULL;
    size_t size;
    json_t *value;
    int is_good;

    if (argc != 6) {
        fprintf(stderr, "usage: validate OPENAPI METHOD PATH STATUS TYPE < BODY\n");
        return 2;
    }
    root = json_load_file(argv[1], 0, NULL);
    content = find_content(argv);
    if (content == NULL)
        return complain(argv[3], "no such operation, status or media type"), 1;
    schema = json_object_get(content, "schema");
    if (schema == NULL)
        return 0;
    size = read_all(&body);
    value = strncmp(argv[5], "application/vnd.snag.columns", 28) == 0
                ? read_bundle(body, size)
                : json_loadb(body, size, 0, NULL);
    is_good =
        value ? fits(schema, value, "body") : complain(argv[3], "the body cannot be read");
    json_decref(value);
    json_decref((json_t *)(uintptr_t)root);
    free(body);
    return !is_good;
}
