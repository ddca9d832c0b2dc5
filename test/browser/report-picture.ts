// Makes the picture of the README: `npm run picture`. Six weeks of the simulated service, a run a day, and the page of
// `report` about them in a browser.

import { join } from "node:path";
import { makeReport } from "../../bin/cli/report/report-page.ts";
import type { Clock } from "../../lambdas/job/runtime/clock.ts";
import { asOption } from "../../lambdas/words/style.ts";
import { Sandbox } from "../job/run/sandbox.ts";
import { acceleratedClock } from "../simulator/clocks.ts";
import { evolve } from "../simulator/evolve.ts";
import { seededRandom } from "../simulator/seeded-random.ts";
import { makeEvents } from "../simulator/simulated-event.ts";
import { startBrowser } from "./browser.ts";

const HOUR_MS = 60 * 60 * 1000;
const DAYS = 42;
const EVENTS = 500;
const SPEED = 200;
const WIDTH = 1_280;
const PICTURE = join(import.meta.dirname, "../../docs/report.png");

const fast = acceleratedClock(SPEED);
let offsetMs = Date.parse("2026-10-10T06:00:00.000Z") - fast.now();
const clock: Clock = {
  now: () => fast.now() + offsetMs,
  monotonicMs: () => fast.monotonicMs() + offsetMs,
  sleep: (ms, signal) => fast.sleep(ms, signal),
};

const random = seededRandom(7);
const limit = { requestsPerMinute: 600, limitWindowSeconds: 60 };
await using sandbox = await Sandbox.start(
  { events: makeEvents(EVENTS) },
  { requestsPerMinute: limit.requestsPerMinute },
  clock,
);
sandbox.account = "demo";
const start = clock.now();
for (let day = 0; day < DAYS; day += 1) {
  offsetMs += start + day * 24 * HOUR_MS - clock.now();
  const all = sandbox.simulator.listed();
  if (day === 17) sandbox.simulator.setEvents(all.slice(0, EVENTS / 2));
  await sandbox.run();
  if (day === 17) sandbox.simulator.setEvents(all);
  const many = Math.floor(random() * 5);
  for (let times = 0; times < many; times += 1) evolve(sandbox.simulator);
}

const { page: html } = await makeReport({
  store: sandbox.store,
  accounts: ["demo"],
  limitOf: () => limit,
  warehouse: "./warehouse",
  nowMs: clock.now() + 3 * HOUR_MS,
  styleFor: (account) => ({
    setting: asOption,
    command: ({ command, snapshotId }) => `${command} ${snapshotId} --account ${account}`,
  }),
  doubtFor: () => undefined,
});
const browser = await startBrowser();
const page = await browser.newPage({ viewport: { width: WIDTH, height: 1_000 }, colorScheme: "light" });
await page.setContent(html);
const last = await page.locator(".figures").boundingBox();
if (last === null) throw new Error("the page has no figures");
const height = Math.ceil(last.y + last.height + 24);
await page.screenshot({ path: PICTURE, clip: { x: 0, y: 0, width: WIDTH, height }, fullPage: true });
await browser.close();
process.stdout.write(`made ${PICTURE}\n`);
