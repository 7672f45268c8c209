# SPDX-License-Identifier: Apache-2.0
"""What a person does on the page: keys, clicks, a live calibration, recordings, a token, a proxy."""
import itertools
import json
import os
import pathlib
import re
import signal
import subprocess
import unittest

import numpy

from page import ActionChains, By, Keys, Page
from web import Prefix, SCREENSHOTS, kill, true_objects


class Controls(Page):
    def test_keys_open_every_view(self):
        self.open()
        for key, view in zip("87654321", ("wall", "calibrate", "cameras", "cloud", "top", "depth", "picture", "all")):
            self.press(key)
            self.assertTrue(self.browser.find_element(By.CSS_SELECTOR, f"nav [data-view={view}]").get_attribute("aria-pressed") == "true")
            self.wait_frames(3)
            if view != "all":
                shown = [each.get_attribute("id") for each in self.browser.find_elements(By.CSS_SELECTOR, "#views figure") if each.is_displayed()]
                self.assertEqual(shown, [view])
                self.browser.save_screenshot(str(SCREENSHOTS / f"{view}.png"))
        self.assertEqual(self.console(), [])

    def test_a_key_switches_the_arrows(self):
        self.open()
        caption = self.browser.find_element(By.CSS_SELECTOR, "#picture figcaption")
        button = self.browser.find_element(By.ID, "rows")
        self.assertEqual((button.get_attribute("aria-pressed"), "arrows" in caption.text), ("false", False))
        self.press("a")
        self.assertEqual(button.get_attribute("aria-pressed"), "true")
        self.until(lambda: "20 times" in caption.text)  # once there are enough matches
        self.browser.save_screenshot(str(SCREENSHOTS / "rows.png"))
        button.click()
        self.until(lambda: "arrows" not in caption.text)
        self.assertEqual(self.console(), [])

    def test_both_cameras_with_sharpness(self):
        self.open("publish.right=true")
        self.press("6")
        self.until(lambda: "sharpness left" in self.browser.find_element(By.CSS_SELECTOR, "#cameras figcaption").text)
        self.browser.find_element(By.CSS_SELECTOR, "#cameras").click()
        self.press(Keys.ARROW_RIGHT)
        self.assertEqual(self.console(), [])

    def test_a_live_calibration_is_shown(self):
        """The command opens its view; what it says comes from its file, here once with a board that a test holds."""
        self.open("calibration=none")
        command = self.start("parallax", "calibrate", "--live", "--board", "9x6", "--square", "0.03", "--socket", self.socket,
                             stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        words = self.browser.find_element(By.CSS_SELECTOR, "#calibrate .words")
        self.until(lambda: words.text == "show the whole board to both cameras")
        self.assertEqual(self.run_script("return parallax.view"), "calibrate")
        self.until(lambda: "0 pairs of 12" in self.browser.find_element(By.CSS_SELECTOR, "#calibrate figcaption").text)
        state_file = pathlib.Path(f"{self.socket}.calibrating")
        state = json.loads(state_file.read_text())
        command.send_signal(signal.SIGSTOP)  # from here on the test holds the board

        state["left"] |= {"parts": [[1, 0, 0, 0], [0] * 4, [0] * 4], "kept": [[[10, 10], [70, 10], [70, 70], [10, 70]]], "corners": [[40, 40]]}
        state |= {"state": "kept", "words": "tilt the board: its left side nearer to the cameras", "pairs": 1}
        fresh = pathlib.Path(f"{self.socket}.fresh")

        def holds(looked=itertools.count(1000)):
            fresh.write_text(json.dumps(state | {"looked": next(looked)}))
            fresh.replace(state_file)
            return words.text.startswith("tilt the board")

        self.until(holds)
        self.wait_frames(2)
        _, pixels = self.pixels("#calibrate .left")
        coloured = (pixels[:, :, :3].max(axis=2).astype(int) - pixels[:, :, :3].min(axis=2)) > 20
        self.assertFalse(coloured[15:30, 15:30].any())  # this part was seen ...
        self.assertTrue(coloured[100:150, 100:150].all())  # ... and these were not
        self.assertTrue((pixels[40, 39:42, 1] > pixels[40, 39:42, 0]).all())  # the corner is green
        self.assertTrue(coloured[40, 9:12].any())  # the board that was kept
        self.browser.save_screenshot(str(SCREENSHOTS / "calibrate.png"))

        state_file.unlink()
        self.until(lambda: words.text == "no calibration runs: parallax calibrate --live")
        command.send_signal(signal.SIGCONT)
        self.assertEqual(self.console(), [])

    def test_a_wall_is_measured(self):
        self.open("source.scene=wall")
        self.press("8")
        wall = self.browser.find_element(By.ID, "wall")

        def measure(distance):
            field = wall.find_element(By.CSS_SELECTOR, "input")
            field.clear()
            field.send_keys(distance)  # its digits open no view
            wall.find_element(By.CSS_SELECTOR, "button").click()

        measure("3 m")
        self.until(lambda: "expected metres" in wall.find_element(By.CSS_SELECTOR, ".progress").text)
        self.run_script("const progress = document.querySelector('#wall .progress'); parallax.told = []; "
                        "new MutationObserver(() => parallax.told.push(progress.textContent)).observe(progress, { childList: true });")
        measure("2.00")  # it stands 3 m away
        self.until(lambda: wall.find_element(By.CSS_SELECTOR, ".words").text == "calibrate again")
        told = self.run_script("return parallax.told")
        self.assertEqual((told[0], told[-1]), ("measuring", "30 of 30 frames"))
        self.assertTrue(any(re.fullmatch(r"[12]?\d of 30 frames", each) for each in told), told)
        self.assertIn("check the distance", wall.find_element(By.CSS_SELECTOR, ".advice").text)
        self.assertEqual(self.run_script("return parallax.view"), "wall")
        rows = self.run_script("return [...document.querySelectorAll('#wall tbody tr')].map(row => [...row.cells].map(cell => cell.innerText))")
        self.assertEqual([row[0] for row in rows], ["whole", "upper left", "upper", "upper right", "left", "centre", "right", "lower left", "lower", "lower right"])
        self.assertGreater(float(rows[0][1].removesuffix(" %")), 95)
        self.assertAlmostEqual(float(rows[0][4]), 10.2 * (1 - 3 / 2), delta=0.2)
        self.assertRegex(wall.find_element(By.CSS_SELECTOR, ".lines").text, r"wall (3\.0|2\.9)\d m away, turned by [\d.]+°.*; 30 frames")
        self.until(lambda: self.run_script("return document.querySelector('#wall .residual').naturalWidth") == 320)
        self.browser.save_screenshot(str(SCREENSHOTS / "wall.png"))
        measure("")
        self.until(lambda: wall.find_element(By.CSS_SELECTOR, ".words").text == "unproven: good as far as measured; not measured: bias")
        self.assertIn("by tape", wall.find_element(By.CSS_SELECTOR, ".advice").text)
        self.assertEqual([entry for entry in self.console() if "400" not in entry["message"]], [])  # the browser says what was refused

    def test_a_click_measures(self):
        self.open()
        picture = self.browser.find_element(By.CSS_SELECTOR, "#picture .overlay")
        picture.click()
        self.until(lambda: "ahead" in self.text("pixel") or "nothing is known" in self.text("pixel"))
        point = self.run_script("return parallax.frame && document.getElementById('pixel').textContent.match(/^(\\d+), (\\d+)/).slice(1)")
        self.assertAlmostEqual(int(point[0]), 160, delta=2)
        self.browser.find_element(By.ID, "picture").send_keys(Keys.ARROW_RIGHT)
        self.until(lambda: self.text("pixel").startswith(f"{int(point[0]) + 1}, "))

    def drag(self, picture, box):
        """Draws BOX, pixels of the picture, with the mouse."""
        share, (x, y, width, height) = picture.size["width"] / 320, box
        begin, end = ((round((column - 160) * share), round((row - 120) * share)) for column, row in ((x, y), (x + width, y + height)))
        chain = ActionChains(self.browser, duration=20).move_to_element_with_offset(picture, *begin).click_and_hold()
        chain.move_to_element_with_offset(picture, *end).release().perform()

    def place(self):
        """What the page says of the box, that box, and the frame that it draws."""
        return self.run_script("const { drawn } = parallax; return [document.getElementById('place').innerText, drawn.located?.boxes[0]?.box_px, "
                               "drawn.status.sequence];")

    def test_a_drawn_box_is_placed(self):
        self.open()
        collector, picture = self.collect(), self.browser.find_element(By.CSS_SELECTOR, "#picture .overlay")
        self.assertEqual(self.text("place"), "draw a box into the picture")
        frame = self.until(lambda: collector.frames.get(self.place()[2]))
        thing = next(each for each in true_objects("demo", frame, 10) if each["index"] == 2)  # a pole, which stays
        self.drag(picture, thing["box_px"])
        pattern = r"box ([\d, ]+): ([\d.]+) m ± ([\d.]+) m ahead, .* the camera; (.*)"
        text, box, sequence = self.until(lambda: (now := self.place())[1] and re.fullmatch(pattern, now[0]) and now[2] in collector.frames and now)
        words = re.fullmatch(pattern, text)
        self.assertEqual(box, [int(each) for each in words[1].split(", ")])
        numpy.testing.assert_allclose(box, thing["box_px"], atol=3)
        truth = collector.frames[sequence].locate([box])[0]
        self.assertAlmostEqual(float(words[2]), truth.distance_m, delta=0.006)
        self.assertAlmostEqual(float(words[3]), truth.sigma_m, delta=0.006)
        self.assertEqual(words[4], f"obstacle #{truth.track}" if truth.track else "no obstacle")
        self.browser.save_screenshot(str(SCREENSHOTS / "box.png"))
        _, pixels = self.pixels("#picture .overlay")
        self.assertGreater((pixels[box[1]:box[1] + box[3], box[0]] > 128).all(axis=1).sum(), box[3] / 3)  # its left side: white dashes
        self.drag(picture, (20, 225, 280, 12))
        self.until(lambda: re.fullmatch(r"box [\d, ]+: unknown: only ground is seen in the box", self.text("place")))
        kill(self.daemon)
        self.until(lambda: re.fullmatch(r"box [\d, ]+: unknown: the picture is old", self.text("place")))
        picture.click()
        self.assertEqual(self.text("place"), "draw a box into the picture")
        self.assertEqual(self.console(), [])

    def test_a_token_opens_the_page_once(self):
        token = pathlib.Path(self.directory, "token")
        token.write_text("a-token-of-some-length\n")
        token.chmod(0o600)
        self.start_daemon()
        self.start_web(f"web.token_file={token}")
        self.browser.get(f"http://127.0.0.1:{self.port}/")
        self.assertIn("a token is needed", self.browser.find_element(By.TAG_NAME, "body").text)
        self.browser.get(f"http://127.0.0.1:{self.port}/?token=a-token-of-some-length")
        self.wait_frames(2)
        self.assertEqual(self.browser.current_url, f"http://127.0.0.1:{self.port}/")

    def test_behind_a_proxy_with_a_prefix_it_works_the_same(self):
        token = pathlib.Path(self.directory, "token")
        token.write_text("a-token-of-some-length\n")
        token.chmod(0o600)
        self.start_daemon()
        self.start_web(f"web.token_file={token}")
        proxy = Prefix(self.port)
        self.addCleanup(proxy.server_close)
        self.addCleanup(proxy.shutdown)
        page = f"http://127.0.0.1:{proxy.server_address[1]}/robot/"
        self.browser.get("about:blank")  # as in open
        self.browser.get_log("browser")
        self.browser.get(f"{page}?token=a-token-of-some-length")
        self.wait_frames(3)
        self.assertEqual(self.browser.current_url, page)
        self.until(lambda: self.browser.find_elements(By.CSS_SELECTOR, "#files a[href^='blackbox/']"))
        self.assertEqual(self.console(), [])

    def test_recordings_can_be_kept_and_fetched(self):
        self.open()
        self.start_service("parallax-recorder", stderr=subprocess.DEVNULL)
        self.until(lambda: os.path.exists(f"{self.directory}/r"))
        for _ in range(6):  # what the recorder has by then depends on the machine
            self.press("r")
            self.wait_frames(10)
            self.press("r")
            self.until(lambda: not self.text("kept").startswith(("recording", "the flight recorder is writing")))
            if "pairs are in" in self.text("kept"):
                break
        self.assertIn("pairs are in", self.text("kept"))
        link = self.until(lambda: self.browser.find_elements(By.CSS_SELECTOR, "#files a[href^='recordings/']"))[0]
        self.assertEqual(self.run_script("return fetch(arguments[0]).then(answer => answer.arrayBuffer()).then(data => data.byteLength)",
                                         link.get_attribute("href")),
                         os.path.getsize(f"{self.directory}/recordings/{link.text}"))


if __name__ == "__main__":
    unittest.main()
