#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compares the MCAP writer and reader with those of the Python package mcap, which is the format's own.

usage: mcap.py PROBE        (PROBE: the program made of mcap_probe.c)
Exit status: 0 all equal, 1 a difference, 77 skipped because the package mcap is missing (./dev setup --all installs it).
"""
import os
import pathlib
import random
import shlex
import subprocess
import sys
import tempfile
import zlib

sys.path.pop(0)  # this folder, where a module named mcap is this file
try:
    from mcap.reader import NonSeekingReader, make_reader
    from mcap.records import ChunkIndex, MessageIndex
    from mcap.stream_reader import StreamReader
    from mcap.writer import CompressionType, IndexType, Writer
except ImportError as missing:
    print(f"skipped: {missing}; ./dev setup --all installs it")
    sys.exit(77)

PROBE = [*shlex.split(os.environ.get("PLX_EMULATOR", "")), sys.argv[1]]
failures = 0


def check(good, text):
    global failures
    failures += not good
    print(("ok    " if good else "WRONG ") + text)


def ask(*request):
    return subprocess.run([*PROBE, *map(str, request)], capture_output=True, text=True, check=False)


def line(schema, channel, message):
    crc = zlib.crc32(message.data)
    return (f"{channel.topic} {schema.name if schema else '-'} {message.sequence} {message.log_time} {message.publish_time} "
            f"{len(message.data)} {crc:08x}")


def lines(reader, **options):
    return [line(*found) for found in reader.iter_messages(**options)]


def check_indexes(path, summary):
    """Every chunk and message index leads to the records that it states."""
    data = path.read_bytes()
    stated = {index.chunk_start_offset: index for index in summary.chunk_indexes}
    found, indexed, wrong = [], 0, 0
    with path.open("rb") as file:
        for record in StreamReader(file, emit_chunks=True, validate_crcs=True).records:
            if isinstance(record, MessageIndex):
                indexed += len(record.records)
            if isinstance(record, ChunkIndex):
                found.append(record.chunk_start_offset)
    for offset, index in stated.items():
        wrong += data[offset] != 0x06 or index.chunk_length != 9 + int.from_bytes(data[offset + 1:offset + 9], "little")
        place = offset + index.chunk_length
        for channel, at in index.message_index_offsets.items():
            wrong += data[at] != 0x07 or int.from_bytes(data[at + 9:at + 11], "little") != channel or at < place
            wrong += at >= place + index.message_index_length
    check(wrong == 0 and len(found) == len(stated) > 2, f"{len(stated)} chunk indexes lead to chunks and message indexes")
    check(indexed == summary.statistics.message_count, f"message indexes name {indexed} messages")


def their_reader(folder):
    path = folder / "ours.mcap"
    done = ask("write", path)
    ours = done.stdout.splitlines()
    check(done.returncode == 0 and len(ours) == 400, f"Parallax writes {len(ours)} messages {done.stderr}")
    in_time = sorted(ours, key=lambda text: int(text.split()[3]))
    with path.open("rb") as file:
        reader = make_reader(file, validate_crcs=True)
        check(lines(reader) == in_time != ours, "mcap reads them, in log order")
        summary = reader.get_summary()
        check(reader.get_header().profile == "ros2" and reader.get_header().library == "parallax test", "header")
        check([m.name for m in reader.iter_metadata()] == ["parallax", "end"], "metadata")
        counts = {topic: sum(text.startswith(topic + " ") for text in ours) for topic in {text.split()[0] for text in ours}}
        stated = {summary.channels[i].topic: n for i, n in summary.statistics.channel_message_counts.items()}
        times = [int(text.split()[3]) for text in ours]
        s = summary.statistics
        check(stated == counts and s.message_count == 400, "statistics: messages")
        check((s.message_start_time, s.message_end_time) == (min(times), max(times)), "statistics: times")
        check((s.schema_count, s.channel_count, s.metadata_count, s.attachment_count) == (4, 5, 2, 0), "statistics: others")
        check(s.chunk_count == len(summary.chunk_indexes), "statistics: chunks")
        check(summary.channels[3].metadata == {"offered_qos_profiles": "- history: 3", "note": ""}, "channel metadata")
    with path.open("rb") as file:
        reader = NonSeekingReader(file, validate_crcs=True)
        check(lines(reader, log_time_order=False) == ours, "mcap reads them as a stream, with the data's CRC")
    check_indexes(path, summary)
    check_summary(path)
    for order, expected in (("file", ours), ("log", in_time)):
        check(ask("read", path, order).stdout.splitlines() == [*expected, f"whole {order}"], f"Parallax reads them, in {order} order")


def check_summary(path):
    """The summary's CRC and its offsets, which mcap does not check itself."""
    data = path.read_bytes()
    start, offsets, crc = (int.from_bytes(data[-28 + a:-28 + b], "little") for a, b in ((0, 8), (8, 16), (16, 20)))
    check(zlib.crc32(data[start:-12]) == crc, "summary: CRC")
    groups, at = [], offsets
    while data[at] == 0x0E:
        groups.append((data[at + 9], *(int.from_bytes(data[at + n:at + n + 8], "little") for n in (10, 18))))
        at += 9 + 17
    whole = [group[0] for group in groups] == [3, 4, 0x0B, 8, 0x0D] and groups[0][1] == start
    for (opcode, begin, length), after in zip(groups, [*(group[1] for group in groups[1:]), offsets]):
        whole = whole and data[begin] == opcode and begin + length == after
    check(whole, "summary: offsets of its groups")


def write_theirs(path, rng, **options):
    expected = []
    with path.open("wb") as file:
        writer = Writer(file, chunk_size=20000, **options)
        writer.start(profile="ros2", library="theirs")
        schema = writer.register_schema("std_msgs/msg/String", "ros2msg", b"string data")
        channels = [writer.register_channel(f"/c{i}", "cdr", schema * (i % 2), {"a": "b"}) for i in range(7)]
        for n in range(500):
            i, data = rng.randrange(7), bytes(rng.choices(range(20), k=rng.choice((0, 1, 300, 25000 if n % 50 == 0 else 10))))
            time = n * 1000 + rng.randrange(20000)
            writer.add_message(channels[i], time, data, n, n)
            crc = zlib.crc32(data)
            expected.append((time, f"/c{i} {'std_msgs/msg/String' if i % 2 else '-'} {n} {time} {n} {len(data)} {crc:08x}"))
            if n == 250:
                writer.add_attachment(1, 2, "picture", "image/png", bytes(100000))
                writer.add_metadata("note", {"a": "b"})
        writer.finish()
    return [text for _, text in expected], [text for _, text in sorted(expected, key=lambda entry: entry[0])]


def our_reader(folder):
    path = folder / "theirs.mcap"
    none = {"index_types": IndexType.NONE, "repeat_channels": False, "repeat_schemas": False, "use_statistics": False,
            "use_summary_offsets": False}
    kinds = {
        "zstd": {"compression": CompressionType.ZSTD},
        "zstd, with the data's CRC": {"compression": CompressionType.ZSTD, "enable_data_crcs": True},
        "lz4": {"compression": CompressionType.LZ4},
        "uncompressed": {"compression": CompressionType.NONE},
        "without CRCs": {"compression": CompressionType.ZSTD, "enable_crcs": False},
        "without summary": {"compression": CompressionType.ZSTD, **none},
        "without channels in the summary": {"compression": CompressionType.ZSTD, "repeat_channels": False},
        "without chunks": {"compression": CompressionType.NONE, "use_chunking": False},
        "without chunks and summary": {"compression": CompressionType.NONE, "use_chunking": False, **none},
    }
    for kind, options in kinds.items():
        in_file, in_time = write_theirs(path, random.Random(1), **options)
        sortable = not kind.startswith("without") or kind == "without CRCs"
        for order, expected in (("file", in_file), ("log", in_time if sortable else in_file)):
            done = ask("read", path, order)
            last = f"whole {order if sortable else 'file'}"
            check(done.stdout.splitlines() == [*expected, last], f"Parallax reads mcap's, {kind}, in {order} order {done.stderr}")


def main():
    with tempfile.TemporaryDirectory() as name:
        their_reader(pathlib.Path(name))
        our_reader(pathlib.Path(name))
    print(f"{failures} differences" if failures else "all equal")
    return 1 if failures else 0


sys.exit(main())
