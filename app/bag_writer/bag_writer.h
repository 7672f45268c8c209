/* SPDX-License-Identifier: Apache-2.0 */
/* Writes frames of the service into a bag: an MCAP file of ROS 2 messages, one topic for each kind of message. */
#ifndef PLX_APP_BAG_WRITER_BAG_WRITER_H
#define PLX_APP_BAG_WRITER_BAG_WRITER_H

#include <parallax/frame.h>

#include "bridge/diagnostics_message.h"
#include "core/base/text.h"
#include "formats/mcap/write.h"

struct plx_bag_writer;

#define PLX_BAG_DEFAULT_TOPICS "left,right,colour,obstacles,odom,frame_info,tf,diagnostics"

/* What a bag holds: bit 1 << enum plx_topic_id. NAMES are words of plx_topics, separated by commas; NULL: the default.
 * ARG: there is no such name; the message lists them. */
int plx_bag_topics(const char *names, uint32_t *ret_topics, struct plx_error_message *message);

/* How a bag is written. Compressing costs more time than a fault leaves. */
enum plx_bag_packing { PLX_BAG_COMPRESSED, PLX_BAG_PLAIN_PICTURES };

/* Creates the file PATH, which must not exist, for TOPICS of frames like FRAME. IO, NOMEM. */
int plx_bag_writer_create(const char *path, uint32_t topics, enum plx_bag_packing packing, const struct plx_frame *frame,
                          struct plx_bag_writer **ret_writer, struct plx_error_message *message);

/* Adds the messages of FRAME, a whole copy, and DIAGNOSTICS, unless that is NULL. IO (the disk is full), NOMEM, RANGE (the
 * frame is larger than the first one). */
int plx_bag_writer_add(struct plx_bag_writer *writer, const struct plx_frame *frame, struct plx_diagnostics *diagnostics,
                       struct plx_error_message *message);

/* Adds a metadata record. IO, NOMEM, ARG. */
int plx_bag_writer_note(struct plx_bag_writer *writer, const char *name, const struct plx_mcap_pair *pair, size_t count,
                        struct plx_error_message *message);

/* Writes the end of the file, also after an error, and closes it. IO: the file lacks its end; its whole chunks can be read. */
int plx_bag_writer_finish(struct plx_bag_writer *writer, struct plx_error_message *message);

#endif
