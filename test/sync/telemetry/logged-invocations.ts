// A program whose standard output is the log of some invocations, as Lambda would pass it to CloudWatch.

import { cloudWatchMetrics, functionLog } from "../../../lambdas/sync/function-ports.ts";
import { customEvent } from "../../simulator/simulated-event.ts";
import { FunctionSandbox } from "../function-sandbox.ts";

const logger = functionLog();
const changes = { logger, metrics: cloudWatchMetrics("BrandEventsSync") };
const day = (number: number): object => ({ scheduledAt: `2026-01-0${number}T06:00:00.000Z` });
const named = (...names: readonly string[]) => names.map((name) => customEvent(name, `"name":"${name}"`));

await using sandbox = await FunctionSandbox.start({ events: named("a", "b", "c", "d") }, { nextPage: "all" });
const invoke = (event: object, more = {}): Promise<unknown> =>
  sandbox.invoke(event, { ...changes, ...more }).catch((error: unknown) => error);
// Published, with new fields, held, refused, and a dry run that is no end of a run.
await invoke(day(1));
sandbox.simulator.setEvents([...named("a", "b", "c"), customEvent("d", '"name":5,"brand":"x"')]);
await invoke(day(2));
sandbox.simulator.setEvents(named("a"));
await invoke(day(3), { sendEvent: () => Promise.reject(new Error("no bus")) });
sandbox.simulator.configure({ account: { disabled: true } });
sandbox.simulator.endSessions();
await invoke(day(4));
