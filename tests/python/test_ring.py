# SPDX-License-Identifier: Apache-2.0
"""What the service does to a frame while it is read: overwrites it, ends, comes back. Memory that was seen stays mapped, and no longer."""
import gc
import pickle
import queue
import select
import threading
import time
import unittest

import service
import numpy
import parallax_stereo
from parallax_stereo import ArgumentError, Blind, Blindness, Client, Lost, NotFound, Overwritten, Timeout

SLOTS = 4


class Ring(service.Service):
    def setUp(self):
        super().setUp()
        self.mappings = service.mappings()
        self.start_peer(epoch=5, slots=SLOTS)
        self.client = self.connect()

    def assert_shows(self, plane, sequence):
        words = service.words_of(plane)
        numpy.testing.assert_array_equal(words, service.pattern(sequence, words.size))

    def test_overwritten_frame_is_an_error_at_the_end(self):
        self.publish()
        with self.client.next(timeout=service.WAIT_S) as frame:
            self.publish(SLOTS - 1)
            self.assert_shows(frame.left, 1)
        with self.assertRaises(Overwritten) as caught, self.client.next(timeout=service.WAIT_S) as frame:
            self.publish(SLOTS)
            copy = frame.copy()
        self.assertEqual(caught.exception.code, -14)
        self.assert_shows(copy.left, SLOTS + SLOTS)  # not whole: the error says so
        with self.client.next(timeout=service.WAIT_S) as frame:
            self.assertEqual((frame.sequence, frame.missed), (2 * SLOTS, SLOTS - 1))

    def test_leaving_by_break_tells_too(self):
        self.publish()
        with self.assertRaises(Overwritten):
            while True:
                with self.client.next(timeout=service.WAIT_S):
                    self.publish(SLOTS)
                    break

    def test_exception_of_the_program_is_not_replaced(self):
        self.publish()
        with self.assertRaises(KeyError), self.client.next(timeout=service.WAIT_S):
            self.publish(SLOTS)
            raise KeyError
        with self.client.next(timeout=service.WAIT_S) as frame:  # it was released
            self.assertEqual(frame.sequence, 1 + SLOTS)

    def test_one_view_at_a_time(self):
        self.publish()
        with self.client.next(timeout=service.WAIT_S) as frame:
            for call in (self.client.read, lambda: self.client.next(0).__enter__()):
                self.assertRaises(parallax_stereo.ArgumentError, call)
            self.assert_shows(frame.left, 1)

    def test_frame_that_nobody_closed_is_released(self):
        self.publish()
        view = self.client.next(timeout=service.WAIT_S)
        view.__enter__()
        self.publish()
        self.assertRaises(parallax_stereo.ArgumentError, self.client.read)
        del view
        gc.collect()
        self.assertEqual(self.client.read(timeout=service.WAIT_S).sequence, 2)

    def test_slices_outlive_client_and_service(self):
        self.publish()
        with self.client.next(timeout=service.WAIT_S) as frame:
            some_rows, obstacles = frame.left[10:20, ::2], frame.obstacle_array[3:]
            seen = some_rows.copy(), obstacles.tobytes()
        self.client.close()
        self.end_peer()
        del frame
        gc.collect()
        numpy.testing.assert_array_equal(some_rows, seen[0])
        self.assertEqual(obstacles.tobytes(), seen[1])
        self.assertEqual(service.mappings(), self.mappings + 1)
        del some_rows
        self.assertEqual(service.mappings(), self.mappings + 1)
        del obstacles
        self.assertEqual(service.mappings(), self.mappings)

    def test_slices_outlive_a_restart(self):
        self.publish()
        with self.client.next(timeout=service.WAIT_S) as frame:
            old = frame.left[:]
        self.end_peer()
        begin = time.monotonic()
        self.assertRaises(Lost, self.client.read)  # at once, without a timeout
        self.assertRaises(ConnectionError, self.client.read, timeout=0.3)  # later in place of Timeout
        self.assertLess(time.monotonic() - begin, service.WAIT_S)
        self.start_peer(epoch=6, slots=SLOTS)
        self.publish(2)
        with self.client.next(timeout=service.WAIT_S) as frame:
            self.assertEqual((frame.epoch, frame.sequence), (6, 2))
            self.assert_shows(frame.left, 2)
            self.assert_shows(old, 1)
            self.assertEqual(service.mappings(), self.mappings + 3)  # the old frames, the new ones, and the header, which has a mapping of its own
        self.assert_shows(old, 1)
        del old
        self.assertEqual(service.mappings(), self.mappings + 2)

    def test_restart_that_no_read_noticed(self):
        self.publish(3)
        with self.client.next(timeout=service.WAIT_S):
            pass
        self.end_peer()
        self.assertRaises(Lost, self.client.motion_hint, 1, 2, numpy.eye(3), numpy.zeros(3))
        self.start_peer(epoch=6, slots=SLOTS)
        self.publish(2)
        with self.client.next(timeout=service.WAIT_S) as frame:
            left = frame.left
            self.assertEqual((frame.epoch, frame.sequence, frame.missed), (6, 2, 1))
        self.client.close()
        self.assertEqual(service.mappings(), self.mappings + 1)
        self.assert_shows(left, 2)

    def test_copies_count_what_was_missed_over_a_restart(self):
        self.publish(3)
        self.assertEqual(self.client.read(timeout=service.WAIT_S).missed, 0)
        self.end_peer()
        self.assertRaises(Lost, self.client.read)
        self.start_peer(epoch=6, slots=SLOTS)
        self.publish(2)
        self.assertEqual(self.client.read(timeout=service.WAIT_S).missed, 1)

    def test_mapping_ends_with_the_service(self):
        self.publish()
        with self.client.next(timeout=service.WAIT_S):
            pass
        self.end_peer()
        self.assertRaises(Lost, self.client.read)
        self.assertEqual(service.mappings(), self.mappings)

    def test_client_closed_in_a_view(self):
        self.publish()
        with self.assertRaises(parallax_stereo.ArgumentError), self.client.next(timeout=service.WAIT_S) as frame:
            left = frame.left
            self.client.close()
        self.assert_shows(left, 1)
        self.client.close()
        self.assertRaises(parallax_stereo.ArgumentError, self.client.read)
        self.assertEqual(repr(self.client), "<Client: closed>")

    def test_timeouts(self):
        begin = time.monotonic()
        with self.assertRaises(TimeoutError) as caught:
            self.client.read(timeout=0.25)
        self.assertGreaterEqual(time.monotonic() - begin, 0.25)
        self.assertIsInstance(caught.exception, Timeout)
        with self.assertRaises(Timeout), self.client.next(timeout=0):
            self.fail("a frame of nobody")
        self.ask("fresh 1")
        self.publish()
        time.sleep(0.02)
        self.assertRaises(Timeout, self.client.read, timeout=0)  # it is no news any more
        self.assertEqual(self.client.last_header().sequence, 1)
        self.assertFalse(self.client.last_header().fresh)

    def test_blind_is_not_empty(self):
        self.ask("blind 4")
        self.publish()
        frame = self.client.read(timeout=service.WAIT_S)
        self.assertEqual(frame.blind, Blindness.NO_GROUND)
        with self.assertRaises(Blind) as caught:
            len(frame.obstacles)
        self.assertEqual(caught.exception.code, -15)
        self.assertIn("no_ground", str(caught.exception))
        self.ask("blind 0")
        self.publish()
        frame = self.client.read(timeout=service.WAIT_S)
        self.assertFalse(frame.blind)
        self.assertEqual(len(frame.obstacles), 256)

    def test_close_while_another_thread_reads(self):
        ended = queue.Queue()

        def read():
            try:
                ended.put(self.client.read())
            except Exception as error:  # pylint: disable=broad-exception-caught
                ended.put(error)

        for _ in range(20):  # at another moment of the wait each time; a client that is freed under a call ends this process
            reader = threading.Thread(target=read)
            reader.start()
            time.sleep(0.01)
            self.client.close()
            self.assertIsInstance(ended.get(timeout=service.WAIT_S), ArgumentError)
            reader.join()
            self.client = Client(self.socket)

    def test_reason_of_a_service_that_is_gone(self):
        self.assertEqual(self.client.reason, "")
        self.end_peer()
        self.assertIn(self.socket, self.client.reason)

    def test_pickled_frames_are_whole(self):
        self.publish(3)
        with self.client.next(timeout=service.WAIT_S) as frame:
            in_place = pickle.dumps(frame)
            copy = frame.copy()
        self.assertRaises(ValueError, pickle.dumps, frame)  # released
        for again in (pickle.loads(in_place), pickle.loads(pickle.dumps(copy))):
            self.assertEqual((again.sequence, again.epoch, again.missed), (copy.sequence, copy.epoch, copy.missed))
            self.assert_shows(again.left, 3)
            self.assertEqual(again.obstacles, copy.obstacles)
            self.assertFalse(again.left.flags.writeable)

    def test_time_by_the_wall_clock(self):
        self.publish()
        frame = self.client.read(timeout=service.WAIT_S)
        self.assertLess(abs(frame.realtime_ns / 1e9 + frame.age - time.time()), 1)
        frame._head["capture"]["capture_ns"][0, 0] = 0  # nobody knows when
        self.assertIsNone(frame.realtime_ns)

    def test_a_service_is_waited_for(self):
        with self.assertRaises(NotFound) as caught:
            Client("/nowhere/at/all.sock", wait=0.15)
        self.assertIn("/nowhere/at/all.sock", str(caught.exception))

    def test_whole_copies_are_polled(self):
        self.ask("go 200 2000")
        last = missed = seen = 0
        while last < 200:
            self.assertTrue(select.select([self.client], [], [], service.WAIT_S)[0])
            try:
                frame = self.client.read(timeout=0)
            except Timeout:
                continue
            self.assertEqual(frame.missed, frame.sequence - last - 1 if last else 0)
            self.assert_shows(frame.left, frame.sequence)
            self.assertEqual((len(frame.obstacle_array), frame.dense, frame.depth(), frame.motion), (256, None, None, None))
            self.assertTrue(0 <= frame.age < service.WAIT_S and not frame.simulated)
            last, missed, seen = frame.sequence, missed + frame.missed, seen + 1
        self.assertGreater(seen, 1)
        self.ask("wait")

    def test_obstacles_with_numbers_of_nobody(self):
        self.publish()
        with self.client.next(timeout=service.WAIT_S) as frame:
            self.assertEqual(len(frame.obstacles), 256)  # a test pattern
            repr(frame.obstacles)


class NoService(service.Service):
    def test_missing_service_is_not_found(self):
        with self.assertRaises(parallax_stereo.NotFound) as caught:
            parallax_stereo.Client(self.socket)
        self.assertIsInstance(caught.exception, FileNotFoundError)
        self.assertEqual((str(caught.exception), caught.exception.code), (f"not found: {self.socket}", -4))
        self.assertRaises(parallax_stereo.RangeError, parallax_stereo.Client, "x" * 300)
        self.assertRaises(parallax_stereo.NotFound, parallax_stereo.config, self.socket)


if __name__ == "__main__":
    unittest.main()
