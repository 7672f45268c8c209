# SPDX-License-Identifier: Apache-2.0
"""Waiting for frames of a real service: in asyncio, over its restart, and until Ctrl-C."""
import asyncio
import os
import signal
import threading
import time
import unittest

import service
from parallax_stereo import Lost, Timeout


class Waiting(service.Service):
    def setUp(self):
        super().setUp()
        self.daemon = self.start_daemon("source.width=320")
        self.client = self.connect()

    def run_async(self, coroutine):
        return asyncio.run(asyncio.wait_for(coroutine, 4 * service.WAIT_S))

    async def collect(self, count):
        frames = []
        async for frame in self.client:
            frames.append(frame)
            if len(frames) == count:
                return frames

    def test_frames_come_in_order(self):
        frames = self.run_async(self.collect(5))
        sequences = [frame.sequence for frame in frames]
        self.assertEqual(sequences, sorted(set(sequences)))
        self.assertTrue(all(frame.left.any() for frame in frames))

    def test_other_tasks_run_meanwhile(self):
        async def main():
            ticks = 0
            reading = asyncio.ensure_future(self.collect(10))
            while not reading.done():
                await asyncio.sleep(0.001)
                ticks += 1
            return ticks

        self.assertGreater(self.run_async(main()), 20)

    def test_iteration_goes_on_after_a_restart(self):
        async def main():
            first, = await self.collect(1)
            self.daemon.terminate()
            self.daemon.wait()
            with self.assertRaises(Lost):
                while True:  # frames that were published before
                    await self.client.read_async()
            with self.assertRaises(Lost):
                await self.client.read_async(timeout=0.2)
            self.start_daemon("source.width=320")
            after, = await self.collect(1)
            return first, after

        before, after = self.run_async(main())
        self.assertGreater(after.epoch, before.epoch)
        self.assertTrue(before.left.any())

    def test_view_outlives_a_restart(self):
        with self.client.next(timeout=service.WAIT_S) as frame:
            left, epoch = frame.left, frame.epoch
        total = int(left.sum())
        self.daemon.kill()
        self.daemon.wait()
        self.assertGreater(int(left.sum()), 0)
        self.start_daemon("source.width=320")
        deadline = time.monotonic() + service.WAIT_S
        while True:
            try:
                with self.client.next(timeout=1) as frame:
                    if frame.epoch != epoch:
                        break
            except (Lost, Timeout):
                self.assertLess(time.monotonic(), deadline)
        self.assertGreater(int(left.sum()) + total, 0)

    def test_async_timeout(self):
        async def main():
            self.daemon.send_signal(signal.SIGSTOP)
            begin = time.monotonic()
            with self.assertRaises(TimeoutError):
                while True:  # frames that were published before; the engine may still make one
                    await self.client.read_async(timeout=1)
                    self.assertLess(time.monotonic() - begin, service.WAIT_S)

        self.engine_stops()
        self.run_async(main())
        self.daemon.send_signal(signal.SIGCONT)

    def engine_stops(self):
        """The engine is a child of the daemon; it would go on alone."""
        with open(f"/proc/{self.daemon.pid}/task/{self.daemon.pid}/children") as children:
            for child in children.read().split():
                os.kill(int(child), signal.SIGSTOP)

    def test_cancelled_wait_leaves_nothing(self):
        async def main():
            self.client.read(timeout=service.WAIT_S)
            self.engine_stops()
            reading = asyncio.ensure_future(self.collect(1000))
            await asyncio.sleep(0.3)
            reading.cancel()
            with self.assertRaises(asyncio.CancelledError):
                await reading
            self.assertFalse(asyncio.get_running_loop().remove_reader(self.client.fileno()))

        self.run_async(main())

    def test_signals_end_a_wait_for_ever(self):
        def interrupt(*_):
            raise KeyboardInterrupt

        old = signal.signal(signal.SIGUSR1, interrupt)
        self.addCleanup(signal.signal, signal.SIGUSR1, old)
        self.client.read(timeout=service.WAIT_S)
        self.daemon.send_signal(signal.SIGSTOP)
        self.engine_stops()
        timer = threading.Timer(0.3, os.kill, (os.getpid(), signal.SIGUSR1))
        timer.start()  # its thread takes the signal, so that no sleep in C is interrupted
        signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGUSR1])
        self.addCleanup(signal.pthread_sigmask, signal.SIG_UNBLOCK, [signal.SIGUSR1])
        begin = time.monotonic()
        with self.assertRaises(KeyboardInterrupt):
            while True:
                with self.client.next():
                    pass
        self.assertLess(time.monotonic() - begin, service.WAIT_S)
        timer.join()


if __name__ == "__main__":
    unittest.main()
