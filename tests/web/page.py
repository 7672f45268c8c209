# SPDX-License-Identifier: Apache-2.0
"""Fixture of the tests of the page: Debian's headless Chromium beside a real service. Screenshots are left in build/screenshots."""
import base64
import pathlib
import re
import shutil
import sys

import numpy

from web import SCREENSHOTS, Web

try:
    from selenium import webdriver
    from selenium.webdriver import ActionChains  # for the tests
    from selenium.webdriver.chrome.options import Options
    from selenium.webdriver.chrome.service import Service
    from selenium.webdriver.common.by import By
    from selenium.webdriver.common.keys import Keys  # for the tests
except ImportError as missing:
    print(f"skipped: {missing}; ./dev setup --all installs it")
    sys.exit(77)

DRIVER = shutil.which("chromedriver")
if not DRIVER:
    print("skipped: no chromium-driver; ./dev setup --all installs it")
    sys.exit(77)

# Without a graphics card; WebGL by SwiftShader.
FLAGS = ["--headless=new", "--no-sandbox", "--disable-dev-shm-usage", "--disable-gpu", "--enable-unsafe-swiftshader", "--hide-scrollbars",
         "--force-color-profile=srgb", "--window-size=1400,980"]
PROBE = pathlib.Path(__file__).with_name("page_probe.js").read_text()


class Page(Web):
    @classmethod
    def setUpClass(cls):
        options = Options()
        for flag in FLAGS:
            options.add_argument(flag)
        options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
        options.binary_location = shutil.which("chromium") or shutil.which("chromium-browser") or ""
        cls.browser = webdriver.Chrome(options=options, service=Service(DRIVER))
        cls.addClassCleanup(cls.browser.quit)
        SCREENSHOTS.mkdir(parents=True, exist_ok=True)

    def open(self, *settings, web_settings=()):
        self.daemon = self.start_daemon("source.rate_hz=10", *settings)
        self.web = self.start_web(*web_settings)
        self.browser.get("about:blank")  # the page of the test before asks a server that is gone
        self.browser.get_log("browser")
        self.browser.get(f"http://127.0.0.1:{self.port}/")
        self.wait_frames(3)

    def run_script(self, script, *arguments):
        return self.browser.execute_script(script, *arguments)

    def probe(self, function, *arguments):
        """What FUNCTION of page_probe.js returns in the page."""
        return self.run_script(f"{PROBE}\nreturn {function}(...arguments);", *arguments)

    def text(self, name):
        return self.browser.find_element(By.ID, name).text

    def wait_frames(self, count):
        before = self.run_script("return parallax.frames")
        self.until(lambda: self.run_script("return parallax.frames") >= before + count)

    def press(self, key):
        self.browser.find_element(By.TAG_NAME, "body").send_keys(key)

    def pixels(self, selector):
        sequence, width, height, text = self.probe("canvasPixels", selector)
        return sequence, numpy.frombuffer(base64.b64decode(text), numpy.uint8).reshape(height, width, 4)

    def console(self):
        # WebGL by SwiftShader copies each frame back, and Chromium says that this is slow.
        return [entry for entry in self.browser.get_log("browser")
                if entry["level"] in ("SEVERE", "WARNING") and "GPU stall due to ReadPixels" not in entry["message"]]

    def wait_full_charts(self):
        """Until the charts have some seconds of data."""
        self.until(lambda: any(re.fullmatch("−\\d+ s", label) and int(label[1:-2]) >= 8 for chart in self.probe("readCharts") for label in chart["labels"]))
