/* SPDX-License-Identifier: Apache-2.0 */
#include "app/web/foxglove.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <parallax/error.h>

#include "app/service_config.h"
#include "app/version.h"
#include "app/view/frame_text.h"
#include "bridge/diagnostics_message.h"
#include "config/schema.h"
#include "core/base/clock.h"
#include "formats/cdr/schema.h"

#define MAX_ASKED 32 /* requests for parameters of one client, without an answer */
#define HEAD 13      /* bytes before the message: opcode 1, subscription, time */

struct foxglove {
    struct plx_web_peer peer;
    int advertised;                    /* -1: no channels yet; 0: those of rectified frames; 1: of raw ones */
    bool subscribed[PLX_TOPICS];       /* a channel has one subscription of each client */
    uint32_t subscription[PLX_TOPICS]; /* its number, the client's choice */
    cJSON *asked;                      /* requests for parameters that have no answer yet, an array; NULL: none */
};

static cJSON *operation(const char *word)
{
    cJSON *item = cJSON_CreateObject();
    cJSON_AddStringToObject(item, "op", word);
    return item;
}

/* --- channels --------------------------------------------------------------------------------------------------------- */

static bool has_topic(int topic, int raw)
{
    return !raw || plx_topics[topic].raw_name;
}

static cJSON *channel_json(int topic, int raw)
{
    const struct plx_cdr_type *type = plx_topics[topic].type;
    char name[PLX_TOPIC_NAME], schema[PLX_SCHEMA_BYTES];
    if (plx_schema_text(type, schema, sizeof schema) < 0)
        return NULL;
    plx_topic_name((enum plx_topic_id)topic, raw, name);
    cJSON *item = cJSON_CreateObject();
    cJSON_AddNumberToObject(item, "id", topic + 1);
    cJSON_AddStringToObject(item, "topic", name);
    cJSON_AddStringToObject(item, "encoding", "cdr");
    cJSON_AddStringToObject(item, "schemaName", type->name);
    cJSON_AddStringToObject(item, "schemaEncoding", "ros2msg");
    cJSON_AddStringToObject(item, "schema", schema);
    return item;
}

static void unadvertise(struct foxglove *foxglove)
{
    cJSON *item = operation("unadvertise"), *ids = cJSON_AddArrayToObject(item, "channelIds");
    for (int topic = 0; topic < PLX_TOPICS; topic++) {
        if (has_topic(topic, foxglove->advertised))
            cJSON_AddItemToArray(ids, cJSON_CreateNumber(topic + 1));
        foxglove->subscribed[topic] = false;
    }
    plx_web_send_json(foxglove->peer.connection, item);
}

/* Raw frames have other topics than rectified ones. */
static void advertise(struct foxglove *foxglove, const struct plx_web_feed *feed)
{
    const int raw = feed->status.any && plx_frame_is_raw(&feed->status.frame);
    if (foxglove->advertised == raw)
        return;
    if (foxglove->advertised >= 0)
        unadvertise(foxglove);
    foxglove->advertised = raw;
    cJSON *item = operation("advertise"), *channels = cJSON_AddArrayToObject(item, "channels");
    for (int topic = 0; topic < PLX_TOPICS; topic++)
        if (has_topic(topic, raw))
            cJSON_AddItemToArray(channels, channel_json(topic, raw));
    plx_web_send_json(foxglove->peer.connection, item);
}

static void greet(struct plx_web_peer *peer, struct plx_web_hub *hub)
{
    struct foxglove *foxglove = (struct foxglove *)peer;
    foxglove->advertised = -1;
    cJSON *item = operation("serverInfo"), *capabilities, *metadata;
    cJSON_AddStringToObject(item, "name", "Parallax");
    capabilities = cJSON_AddArrayToObject(item, "capabilities");
    cJSON_AddItemToArray(capabilities, cJSON_CreateString("parameters"));
    cJSON_AddItemToArray(cJSON_AddArrayToObject(item, "supportedEncodings"), cJSON_CreateString("cdr"));
    metadata = cJSON_AddObjectToObject(item, "metadata");
    cJSON_AddStringToObject(metadata, "version", plx_version);
    plx_web_send_json(peer->connection, item);
    advertise(foxglove, &hub->feed);
}

/* --- what clients say ------------------------------------------------------------------------------------------------- */

static void complain(struct plx_web_connection *connection, const char *sentence)
{
    cJSON *item = operation("status");
    cJSON_AddNumberToObject(item, "level", 2); /* an error */
    cJSON_AddStringToObject(item, "message", sentence);
    plx_web_send_json(connection, item);
}

static void subscribe(struct foxglove *foxglove, const cJSON *item)
{
    const cJSON *each;
    cJSON_ArrayForEach (each, cJSON_GetObjectItemCaseSensitive(item, "subscriptions")) {
        const cJSON *id = cJSON_GetObjectItemCaseSensitive(each, "id"),
                    *channel = cJSON_GetObjectItemCaseSensitive(each, "channelId");
        const int topic = cJSON_IsNumber(channel) ? channel->valueint - 1 : -1;
        if (!cJSON_IsNumber(id) || id->valuedouble < 0 || id->valuedouble > UINT32_MAX || topic < 0 || topic >= PLX_TOPICS ||
            !has_topic(topic, foxglove->advertised)) {
            complain(foxglove->peer.connection, "subscribe: there is no such channel");
            continue;
        }
        foxglove->subscribed[topic] = true;
        foxglove->subscription[topic] = (uint32_t)id->valuedouble;
    }
}

static void unsubscribe(struct foxglove *foxglove, const cJSON *item)
{
    const cJSON *id;
    cJSON_ArrayForEach (id, cJSON_GetObjectItemCaseSensitive(item, "subscriptionIds"))
        for (int topic = 0; topic < PLX_TOPICS; topic++)
            if (cJSON_IsNumber(id) && (double)foxglove->subscription[topic] == id->valuedouble)
                foxglove->subscribed[topic] = false;
}

/* A key's value as JSON has it. */
static cJSON *value_json(const struct plx_key *key, const struct plx_config *config)
{
    char text[PLX_VALUE_TEXT];
    if (key->type == PLX_KEY_TEXT)
        return cJSON_CreateString((const char *)config + key->offset);
    plx_value_print(key, config, text);
    if (key->type == PLX_KEY_INT || key->type == PLX_KEY_PX || key->type == PLX_KEY_REAL)
        return cJSON_CreateNumber(strtod(text, NULL));
    if (key->type == PLX_KEY_BOOL)
        return cJSON_CreateBool(strcmp(text, "true") == 0);
    return cJSON_CreateString(text);
}

static bool is_asked(const cJSON *names, const char *key)
{
    const cJSON *name;
    cJSON_ArrayForEach (name, names)
        if (cJSON_IsString(name) && strcmp(name->valuestring, key) == 0)
            return true;
    return !names || cJSON_GetArraySize(names) == 0; /* no names: all of them */
}

static void answer_parameters(struct plx_web_connection *connection, const struct plx_config *config, const cJSON *request)
{
    const cJSON *names = cJSON_GetObjectItemCaseSensitive(request, "parameterNames");
    const cJSON *id = cJSON_GetObjectItemCaseSensitive(request, "id");
    cJSON *item = operation("parameterValues"), *parameters = cJSON_AddArrayToObject(item, "parameters");
    if (cJSON_IsString(id))
        cJSON_AddItemToObject(item, "id", cJSON_Duplicate(id, false));
    for (int i = 0; config && i < plx_key_count; i++)
        if (is_asked(names, plx_keys[i].name)) {
            cJSON *each = cJSON_CreateObject();
            cJSON_AddStringToObject(each, "name", plx_keys[i].name);
            cJSON_AddItemToObject(each, "value", value_json(&plx_keys[i], config));
            cJSON_AddItemToArray(parameters, each);
        }
    plx_web_send_json(connection, item);
}

static void forget_requests(struct foxglove *foxglove)
{
    cJSON_Delete(foxglove->asked);
    foxglove->asked = NULL;
}

static void tell_parameters(struct plx_web_peer *peer, const struct plx_config *config)
{
    struct foxglove *foxglove = (struct foxglove *)peer;
    const cJSON *request;
    cJSON_ArrayForEach (request, foxglove->asked)
        answer_parameters(peer->connection, config, request);
    forget_requests(foxglove);
}

/* The request ITEM for the parameters NAMES (NULL: all) waits for its answer; NAMES is taken. */
static void ask_parameters(struct foxglove *foxglove, const cJSON *item, cJSON *names)
{
    if (cJSON_GetArraySize(foxglove->asked) >= MAX_ASKED) {
        cJSON_Delete(names);
        complain(foxglove->peer.connection, "too many requests for parameters wait for their answer");
        return;
    }
    cJSON *request = cJSON_CreateObject();
    cJSON_AddItemToObject(request, "parameterNames", names ? names : cJSON_CreateArray());
    cJSON_AddItemToObject(request, "id", cJSON_Duplicate(cJSON_GetObjectItemCaseSensitive(item, "id"), false));
    if (!foxglove->asked)
        foxglove->asked = cJSON_CreateArray();
    cJSON_AddItemToArray(foxglove->asked, request);
}

static void refuse_parameters(struct foxglove *foxglove, const cJSON *item)
{
    const cJSON *each;
    cJSON *names = cJSON_CreateArray();
    cJSON_ArrayForEach (each, cJSON_GetObjectItemCaseSensitive(item, "parameters")) {
        const cJSON *name = cJSON_GetObjectItemCaseSensitive(each, "name");
        if (cJSON_IsString(name))
            cJSON_AddItemToArray(names, cJSON_Duplicate(name, false));
    }
    complain(foxglove->peer.connection, "parameters are read only: change the service's configuration file and reload it");
    if (cJSON_GetArraySize(names) > 0) /* the client shows what it has set until it hears the values */
        ask_parameters(foxglove, item, names);
    else
        cJSON_Delete(names);
}

static void handle_operation(struct foxglove *foxglove, const char *word, const cJSON *item)
{
    if (strcmp(word, "subscribe") == 0)
        subscribe(foxglove, item);
    else if (strcmp(word, "unsubscribe") == 0)
        unsubscribe(foxglove, item);
    else if (strcmp(word, "getParameters") == 0)
        ask_parameters(foxglove, item, cJSON_Duplicate(cJSON_GetObjectItemCaseSensitive(item, "parameterNames"), true));
    else if (strcmp(word, "setParameters") == 0)
        refuse_parameters(foxglove, item);
    else
        complain(foxglove->peer.connection, "this operation is not one of the capabilities in serverInfo");
}

static bool handle(struct plx_web_peer *peer, struct plx_web_hub *hub, const char *text)
{
    struct foxglove *foxglove = (struct foxglove *)peer;
    cJSON *item = cJSON_Parse(text);
    const cJSON *op = cJSON_GetObjectItemCaseSensitive(item, "op");
    const bool is_object = cJSON_IsObject(item);
    if (is_object)
        handle_operation(foxglove, cJSON_IsString(op) ? op->valuestring : "", item);
    cJSON_Delete(item);
    if (foxglove->asked)
        plx_web_parameters_ask(&hub->parameters);
    return is_object;
}

/* --- frames ----------------------------------------------------------------------------------------------------------- */

static bool wants_frame(const struct plx_web_peer *peer)
{
    const struct foxglove *foxglove = (const struct foxglove *)peer;
    if (!plx_web_is_behind(peer->connection))
        for (int topic = 0; topic < PLX_TOPIC_DIAGNOSTICS; topic++) /* those come every second */
            if (foxglove->subscribed[topic])
                return true;
    return false;
}

void plx_foxglove_frame_close(struct plx_foxglove_frame *frame)
{
    for (int topic = 0; topic < PLX_TOPICS; topic++)
        plx_web_buffer_unref(frame->message[topic]);
    free(frame->scratch);
    *frame = (struct plx_foxglove_frame){.sequence = 0};
}

/* Forgets the messages of the last frame. */
static bool begin(struct plx_foxglove_frame *messages, const struct plx_frame *frame)
{
    if (messages->epoch == frame->epoch && messages->sequence == frame->sequence)
        return true;
    const size_t needed = plx_frame_messages_scratch(frame);
    void *scratch = messages->scratch;
    if (messages->scratch_bytes < needed) {
        scratch = realloc(messages->scratch, needed);
        if (!scratch)
            return false;
        messages->scratch = scratch;
        messages->scratch_bytes = needed;
    }
    messages->scratch = NULL;
    const size_t bytes = messages->scratch_bytes;
    const struct plx_confirmed before = messages->confirmed;
    plx_foxglove_frame_close(messages);
    *messages = (struct plx_foxglove_frame){
        .epoch = frame->epoch, .sequence = frame->sequence, .before = before, .scratch = scratch, .scratch_bytes = bytes};
    plx_confirmed_keep(&messages->confirmed, frame->obstacle, frame->obstacle_count);
    return plx_realtime_ns(frame, &messages->realtime_ns) == 0;
}

/* CONTENT of TYPE, encoded behind its head. NULL: out of memory. */
static struct plx_web_buffer *packed(const struct plx_cdr_type *type, const void *content, int64_t realtime_ns)
{
    size_t bytes = plx_cdr_size(type, content);
    struct plx_web_buffer *buffer = plx_web_buffer_create(HEAD + bytes);
    if (!buffer)
        return NULL;
    const uint64_t time_ns = (uint64_t)realtime_ns;
    buffer->data[0] = 1; /* message data */
    memcpy(buffer->data + 5, &time_ns, sizeof time_ns);
    if (plx_cdr_encode(type, content, buffer->data + HEAD, bytes, &bytes) == 0)
        return buffer;
    plx_web_buffer_unref(buffer);
    return NULL;
}

/* The message of TOPIC. NULL: the frame has none. */
static struct plx_web_buffer *encoded(struct plx_foxglove_frame *messages, const struct plx_frame *frame, int topic)
{
    const struct plx_frame_messages source = {.frame = frame,
                                              .realtime_ns = messages->realtime_ns,
                                              .names = &plx_frame_names,
                                              .scratch = messages->scratch,
                                              .confirmed = &messages->before};
    union plx_topic_message content;
    if (messages->message[topic] || messages->missing[topic])
        return messages->message[topic];
    messages->missing[topic] = true;
    if (plx_topic_fill((enum plx_topic_id)topic, &source, &content) == 0)
        messages->message[topic] = packed(plx_topics[topic].type, &content, messages->realtime_ns);
    return messages->message[topic];
}

/* BUFFER with the number of the subscription in it: the same memory where nobody else sends it yet. */
static struct plx_web_buffer *addressed(struct plx_web_buffer *buffer, uint32_t subscription)
{
    uint32_t present;
    memcpy(&present, buffer->data + 1, sizeof present);
    if (buffer->references == 1 || present == subscription) {
        memcpy(buffer->data + 1, &subscription, sizeof subscription);
        return plx_web_buffer_ref(buffer);
    }
    struct plx_web_buffer *copy = plx_web_buffer_create(buffer->bytes);
    if (copy) {
        memcpy(copy->data, buffer->data, buffer->bytes);
        memcpy(copy->data + 1, &subscription, sizeof subscription);
    }
    return copy;
}

static void send_frame(struct plx_web_peer *peer, struct plx_web_hub *hub)
{
    struct foxglove *foxglove = (struct foxglove *)peer;
    advertise(foxglove, &hub->feed);
    if (!begin(hub->foxglove, hub->feed.frame))
        return;
    for (int topic = 0; topic < PLX_TOPICS; topic++) {
        struct plx_web_buffer *message = foxglove->subscribed[topic] ? encoded(hub->foxglove, hub->feed.frame, topic) : NULL;
        struct plx_web_buffer *mine = message ? addressed(message, foxglove->subscription[topic]) : NULL;
        if (mine)
            plx_web_send(peer->connection, PLX_WS_BINARY, mine);
    }
}

/* The diagnostics come every second, with a service or without. */
static void tell_state(struct plx_web_peer *peer, struct plx_web_hub *hub, bool is_second)
{
    const struct foxglove *foxglove = (const struct foxglove *)peer;
    const struct plx_web_feed *feed = &hub->feed;
    struct plx_diagnostics d = {.frames_per_s = plx_frame_stats_rate_hz(&feed->status.stats)};
    struct ros_diagnostic_array array;
    struct timespec now;
    if (!is_second || !foxglove->subscribed[PLX_TOPIC_DIAGNOSTICS] || plx_web_is_behind(peer->connection))
        return;
    clock_gettime(CLOCK_REALTIME, &now);
    const int64_t now_ns = (int64_t)now.tv_sec * PLX_NS_PER_S + now.tv_nsec;
    plx_diagnostics_read(feed->client, &d);
    d.age_ms = d.any ? (double)feed->status.age_ns / (double)PLX_NS_PER_MS : (double)NAN;
    d.frames_per_s = isnan(d.frames_per_s) ? 0 : d.frames_per_s;
    plx_message_diagnostics(&d, now_ns, &array);
    struct plx_web_buffer *buffer = packed(&ros_diagnostic_array_type, &array, now_ns);
    if (!buffer)
        return;
    memcpy(buffer->data + 1, &foxglove->subscription[PLX_TOPIC_DIAGNOSTICS], sizeof(uint32_t));
    plx_web_send(peer->connection, PLX_WS_BINARY, buffer);
}

static void close_foxglove(struct plx_web_peer *peer, struct plx_web_hub *hub)
{
    (void)hub;
    forget_requests((struct foxglove *)peer);
}

const struct plx_web_peer_ops plx_foxglove_ops = {
    .protocol = {"foxglove.websocket.v1", "foxglove.sdk.v1"}, /* older and newer libraries: the names are the only difference */
    .bytes = sizeof(struct foxglove),
    .open = greet,
    .close = close_foxglove,
    .message = handle,
    .wants_frame = wants_frame,
    .send_frame = send_frame,
    .tell_state = tell_state,
    .tell_parameters = tell_parameters,
};
