import { expect, test } from "vitest";
import { progressLog } from "../../../lambdas/sync/telemetry/function-log.ts";
import { LogLines } from "../../job/runtime/log-lines.ts";
import { ManualClock } from "../../simulator/manual-clock.ts";

test("progress is logged once a minute", () => {
  const clock = new ManualClock(0);
  const log = new LogLines();
  const onProgress = progressLog(log, clock);

  for (let done = 0; done <= 300; done += 1) {
    onProgress({ done, total: 300, retries: 2 });
    clock.advance(500);
  }

  expect(log.lines).toEqual([
    'info 120 of 300 events are done {"done":120,"total":300,"retries":2}',
    'info 240 of 300 events are done {"done":240,"total":300,"retries":2}',
  ]);
});
