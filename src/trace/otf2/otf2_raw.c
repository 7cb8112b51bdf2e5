#include "trace/otf2/otf2_raw.h"

#include "base/fs.h"
#include "base/mem.h"
#include "base/order.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define BATCH 4096u  /* definitions between two reports of progress */
#define MIN_BYTES 2u /* of a definition in a file: its kind and its length */

static OTF2_CallbackCode on_clock(void *arg, uint64_t ticks_per_s, uint64_t origin,
                                  uint64_t length, uint64_t wall_time)
{
    struct otf2_raw *raw = arg;

    (void)length; /* may be too short */
    raw->has_clock = ticks_per_s > 0;
    raw->n_bad += ticks_per_s == 0;
    raw->ticks_per_s = ticks_per_s;
    raw->origin_ticks = origin;
    raw->wall_time_ns = wall_time;
    return OTF2_CALLBACK_SUCCESS;
}

static OTF2_CallbackCode on_string(void *arg, OTF2_StringRef self, const char *text)
{
    struct otf2_raw *raw = arg;
    uint32_t at = idmap_add(&raw->string_id, key_pair(0, self));

    if (at == raw->string.n)
        *RAW_PUSH(raw->string) = NULL;
    raw->string.at[at] = arena_string(&raw->arena, text ? text : "");
    return OTF2_CALLBACK_SUCCESS;
}

static OTF2_CallbackCode on_region(void *arg, OTF2_RegionRef self, OTF2_StringRef name,
                                   OTF2_StringRef canonical, OTF2_StringRef description,
                                   OTF2_RegionRole role, OTF2_Paradigm paradigm,
                                   OTF2_RegionFlag flags, OTF2_StringRef file, uint32_t begin,
                                   uint32_t end)
{
    struct otf2_raw *raw = arg;

    (void)description, (void)flags, (void)end;
    *RAW_PUSH(raw->region) =
        (struct raw_region){self, name, canonical, file, begin, role, paradigm};
    return OTF2_CALLBACK_SUCCESS;
}

static OTF2_CallbackCode on_node(void *arg, OTF2_SystemTreeNodeRef self, OTF2_StringRef name,
                                 OTF2_StringRef class, OTF2_SystemTreeNodeRef parent)
{
    struct otf2_raw *raw = arg;

    if (idmap_add(&raw->node_id, key_pair(0, self)) == raw->node.n)
        *RAW_PUSH(raw->node) = (struct raw_node){name, class, parent};
    return OTF2_CALLBACK_SUCCESS;
}

static OTF2_CallbackCode on_process(void *arg, OTF2_LocationGroupRef self, OTF2_StringRef name,
                                    OTF2_LocationGroupType type, OTF2_SystemTreeNodeRef parent,
                                    OTF2_LocationGroupRef creator)
{
    struct otf2_raw *raw = arg;
    uint32_t at = idmap_add(&raw->process_id, key_pair(0, self));

    (void)name, (void)type;
    if (at == raw->creator.n) {
        *RAW_PUSH(raw->creator) = creator;
        *RAW_PUSH(raw->parent) = parent;
    }
    return OTF2_CALLBACK_SUCCESS;
}

/* OTF2_LOCATION_TYPE_GPU before OTF2 3, which has a name of its own for it. */
enum { ACCELERATOR_STREAM = 2 };

static OTF2_CallbackCode on_location(void *arg, OTF2_LocationRef self, OTF2_StringRef name,
                                     OTF2_LocationType type, uint64_t n_events,
                                     OTF2_LocationGroupRef process)
{
    struct otf2_raw *raw = arg;

    if (self == OTF2_UNDEFINED_LOCATION ||
        idmap_find(&raw->seen_location, key_pair(0, self)) != IDMAP_NONE) {
        raw->n_bad++;
        return OTF2_CALLBACK_SUCCESS;
    }
    idmap_add(&raw->seen_location, key_pair(0, self));
    *RAW_PUSH(raw->location) =
        (struct raw_location){self, n_events, name, process, type == ACCELERATOR_STREAM};
    return OTF2_CALLBACK_SUCCESS;
}

static OTF2_CallbackCode on_group(void *arg, OTF2_GroupRef self, OTF2_StringRef name,
                                  OTF2_GroupType type, OTF2_Paradigm paradigm,
                                  OTF2_GroupFlag flags, uint32_t n_members,
                                  const uint64_t *members)
{
    struct otf2_raw *raw = arg;
    struct raw_group group = {self, type, paradigm, n_members, NULL, NULL, NULL};

    (void)name, (void)flags;
    if (type != OTF2_GROUP_TYPE_COMM_LOCATIONS && type != OTF2_GROUP_TYPE_COMM_GROUP &&
        type != OTF2_GROUP_TYPE_COMM_SELF)
        return OTF2_CALLBACK_SUCCESS;
    group.member = arena_array(&raw->arena, uint64_t, n_members);
    if (n_members > 0)
        memcpy(group.member, members, n_members * sizeof *members);
    *RAW_PUSH(raw->group) = group;
    return OTF2_CALLBACK_SUCCESS;
}

static OTF2_CallbackCode on_comm(void *arg, OTF2_CommRef self, OTF2_StringRef name,
                                 OTF2_GroupRef group, OTF2_CommRef parent, OTF2_CommFlag flags)
{
    struct otf2_raw *raw = arg;

    (void)parent, (void)flags;
    *RAW_PUSH(raw->comm) = (struct raw_comm){.id = self, .name = name, .group = group};
    return OTF2_CALLBACK_SUCCESS;
}

static OTF2_CallbackCode on_inter_comm(void *arg, OTF2_CommRef self, OTF2_StringRef name,
                                       OTF2_GroupRef group, OTF2_GroupRef remote,
                                       OTF2_CommRef common, OTF2_CommFlag flags)
{
    struct otf2_raw *raw = arg;

    (void)common, (void)flags;
    *RAW_PUSH(raw->comm) = (struct raw_comm){self, name, group, remote, true};
    return OTF2_CALLBACK_SUCCESS;
}

static OTF2_CallbackCode on_member(void *arg, OTF2_MetricMemberRef self, OTF2_StringRef name,
                                   OTF2_StringRef description, OTF2_MetricType type,
                                   OTF2_MetricMode mode, OTF2_Type value_type, OTF2_Base base,
                                   int64_t exponent, OTF2_StringRef unit)
{
    struct otf2_raw *raw = arg;

    (void)description, (void)type, (void)value_type;
    if (idmap_add(&raw->member_id, key_pair(0, self)) == raw->member.n)
        *RAW_PUSH(raw->member) = (struct raw_member){self, name, unit, mode, base, exponent};
    return OTF2_CALLBACK_SUCCESS;
}

static OTF2_CallbackCode on_metric_class(void *arg, OTF2_MetricRef self, uint8_t n_members,
                                         const OTF2_MetricMemberRef *members,
                                         OTF2_MetricOccurrence occurrence,
                                         OTF2_RecorderKind recorder)
{
    struct otf2_raw *raw = arg;
    struct raw_metric metric = {.id = self, .class = OTF2_UNDEFINED_METRIC};

    (void)occurrence, (void)recorder;
    metric.n_members = n_members;
    metric.member = arena_array(&raw->arena, uint32_t, n_members);
    if (n_members > 0)
        memcpy(metric.member, members, n_members * sizeof *members);
    *RAW_PUSH(raw->metric) = metric;
    return OTF2_CALLBACK_SUCCESS;
}

static OTF2_CallbackCode on_metric_instance(void *arg, OTF2_MetricRef self,
                                            OTF2_MetricRef class, OTF2_LocationRef recorder,
                                            OTF2_MetricScope scope_kind, uint64_t scope)
{
    struct otf2_raw *raw = arg;

    (void)recorder, (void)scope_kind, (void)scope;
    *RAW_PUSH(raw->metric) = (struct raw_metric){.id = self, .class = class};
    return OTF2_CALLBACK_SUCCESS;
}

static OTF2_CallbackCode on_attribute(void *arg, OTF2_AttributeRef self, OTF2_StringRef name,
                                      OTF2_StringRef description, OTF2_Type type)
{
    struct otf2_raw *raw = arg;

    (void)description;
    *RAW_PUSH(raw->attribute) = (struct raw_attribute){self, name, type};
    return OTF2_CALLBACK_SUCCESS;
}

static OTF2_CallbackCode on_parameter(void *arg, OTF2_ParameterRef self, OTF2_StringRef name,
                                      OTF2_ParameterType type)
{
    struct otf2_raw *raw = arg;

    *RAW_PUSH(raw->parameter) = (struct raw_attribute){
        self, name, type == OTF2_PARAMETER_TYPE_STRING ? OTF2_TYPE_STRING : OTF2_TYPE_UINT64};
    return OTF2_CALLBACK_SUCCESS;
}

/* Only numbers are of use here. */
static OTF2_CallbackCode on_location_property(void *arg, OTF2_LocationRef location,
                                              OTF2_StringRef name, OTF2_Type type,
                                              OTF2_AttributeValue value)
{
    struct otf2_raw *raw = arg;

    if (type == OTF2_TYPE_UINT64)
        *RAW_PUSH(raw->location_property) = (struct raw_property){location, name, value.uint64};
    return OTF2_CALLBACK_SUCCESS;
}

static OTF2_CallbackCode on_process_property(void *arg, OTF2_LocationGroupRef process,
                                             OTF2_StringRef name, OTF2_Type type,
                                             OTF2_AttributeValue value)
{
    struct otf2_raw *raw = arg;

    if (type == OTF2_TYPE_UINT64)
        *RAW_PUSH(raw->process_property) = (struct raw_property){process, name, value.uint64};
    else if (type == OTF2_TYPE_STRING)
        *RAW_PUSH(raw->text) = (struct raw_text){process, name, value.stringRef};
    return OTF2_CALLBACK_SUCCESS;
}

static OTF2_CallbackCode on_node_property(void *arg, OTF2_SystemTreeNodeRef node,
                                          OTF2_StringRef name, OTF2_Type type,
                                          OTF2_AttributeValue value)
{
    struct otf2_raw *raw = arg;

    (void)node;
    if (type == OTF2_TYPE_STRING)
        *RAW_PUSH(raw->text) = (struct raw_text){RAW_NO_PROCESS, name, value.stringRef};
    return OTF2_CALLBACK_SUCCESS;
}

const char *otf2_raw_string(const struct otf2_raw *raw, uint32_t id)
{
    uint32_t at = idmap_find(&raw->string_id, key_pair(0, id));

    return at == IDMAP_NONE ? "" : raw->string.at[at];
}

/* As many as can be in the file. */
static uint64_t most_definitions(const char *dir)
{
    char path[FS_PATH_SIZE];
    struct stat info;

    if (snprintf(path, sizeof path, "%s.def", dir) >= (int)sizeof path ||
        stat(path, &info) != 0)
        return UINT64_MAX; /* in a container: libotf2 finds it */
    return (uint64_t)info.st_size / MIN_BYTES;
}

/*
 * Some at a time, so that one sees that there is progress. Where a file was damaged, libotf2
 * may read the same part again and again.
 */
static OTF2_ErrorCode read_records(OTF2_Reader *reader, OTF2_GlobalDefReader *defs,
                                   const struct source *source, uint64_t most)
{
    OTF2_ErrorCode status = OTF2_SUCCESS;
    uint64_t n_read = 0, n = BATCH;

    while (status == OTF2_SUCCESS && n == BATCH && n_read <= most) {
        status = OTF2_Reader_ReadGlobalDefinitions(reader, defs, BATCH, &n);
        n_read += n;
        source_progress(source, n_read);
    }
    return n_read > most ? OTF2_ERROR_INTEGRITY_FAULT : status;
}

OTF2_ErrorCode otf2_raw_read(OTF2_Reader *reader, const char *dir, const struct source *source,
                             struct otf2_raw *raw)
{
    OTF2_GlobalDefReader *defs = OTF2_Reader_GetGlobalDefReader(reader);
    OTF2_GlobalDefReaderCallbacks *callbacks = OTF2_GlobalDefReaderCallbacks_New();
    OTF2_ErrorCode status = OTF2_ERROR_FILE_INTERACTION;

    if (defs && callbacks) {
        OTF2_GlobalDefReaderCallbacks_SetClockPropertiesCallback(callbacks, on_clock);
        OTF2_GlobalDefReaderCallbacks_SetStringCallback(callbacks, on_string);
        OTF2_GlobalDefReaderCallbacks_SetRegionCallback(callbacks, on_region);
        OTF2_GlobalDefReaderCallbacks_SetSystemTreeNodeCallback(callbacks, on_node);
        OTF2_GlobalDefReaderCallbacks_SetLocationGroupCallback(callbacks, on_process);
        OTF2_GlobalDefReaderCallbacks_SetLocationCallback(callbacks, on_location);
        OTF2_GlobalDefReaderCallbacks_SetGroupCallback(callbacks, on_group);
        OTF2_GlobalDefReaderCallbacks_SetCommCallback(callbacks, on_comm);
        OTF2_GlobalDefReaderCallbacks_SetInterCommCallback(callbacks, on_inter_comm);
        OTF2_GlobalDefReaderCallbacks_SetMetricMemberCallback(callbacks, on_member);
        OTF2_GlobalDefReaderCallbacks_SetMetricClassCallback(callbacks, on_metric_class);
        OTF2_GlobalDefReaderCallbacks_SetAttributeCallback(callbacks, on_attribute);
        OTF2_GlobalDefReaderCallbacks_SetParameterCallback(callbacks, on_parameter);
        OTF2_GlobalDefReaderCallbacks_SetMetricInstanceCallback(callbacks, on_metric_instance);
        OTF2_GlobalDefReaderCallbacks_SetLocationPropertyCallback(callbacks,
                                                                  on_location_property);
        OTF2_GlobalDefReaderCallbacks_SetLocationGroupPropertyCallback(callbacks,
                                                                       on_process_property);
        OTF2_GlobalDefReaderCallbacks_SetSystemTreeNodePropertyCallback(callbacks,
                                                                        on_node_property);
        OTF2_Reader_RegisterGlobalDefCallbacks(reader, defs, callbacks, raw);
        status = read_records(reader, defs, source, most_definitions(dir));
    }
    if (callbacks)
        OTF2_GlobalDefReaderCallbacks_Delete(callbacks);
    if (defs)
        OTF2_Reader_CloseGlobalDefReader(reader, defs);
    return status;
}

static int by_id(const void *a, const void *b)
{
    const struct raw_location *p = a, *q = b;

    return ORDER(p->id, q->id);
}
uint64_t otf2_raw_add_locations(struct otf2_raw *raw, const char *dir)
{
    DIR *files = opendir(dir);
    struct dirent *file;
    uint64_t n = 0;

    while (files && (file = readdir(files)) != NULL) {
        char *end;
        uint64_t id;

        errno = 0;
        id = strtoull(file->d_name, &end, 10);
        if (end == file->d_name || strcmp(end, ".evt") != 0 || errno != 0 ||
            idmap_find(&raw->seen_location, key_pair(0, id)) != IDMAP_NONE)
            continue;
        on_location(raw, id, OTF2_UNDEFINED_STRING, OTF2_LOCATION_TYPE_CPU_THREAD, 0,
                    (uint32_t)id);
        n++;
    }
    if (files)
        closedir(files);
    qsort(raw->location.at, raw->location.n, sizeof *raw->location.at, by_id);
    return n;
}

void otf2_raw_release(struct otf2_raw *raw)
{
    idmap_release(&raw->string_id);
    idmap_release(&raw->seen_location);
    idmap_release(&raw->process_id);
    idmap_release(&raw->group_id);
    idmap_release(&raw->node_id);
    free(raw->creator.at);
    free(raw->parent.at);
    free(raw->node.at);
    free(raw->text.at);
    free(raw->attribute.at);
    free(raw->parameter.at);
    free(raw->comm_group.at);
    free(raw->string.at);
    free(raw->region.at);
    free(raw->group.at);
    free(raw->comm.at);
    free(raw->location.at);
    idmap_release(&raw->member_id);
    free(raw->member.at);
    free(raw->metric.at);
    free(raw->location_property.at);
    free(raw->process_property.at);
    arena_release(&raw->arena);
}
