import { setImmediate as nextTurn } from "node:timers/promises";
import { describe, expect, it } from "vitest";
import { acceleratedClock } from "../../../simulator/clocks.ts";
import { type Fault, status } from "../../../simulator/faults.ts";
import { ManualClock } from "../../../simulator/manual-clock.ts";
import { makeEvents } from "../../../simulator/simulated-event.ts";
import { connect, errorOf, fetchAll, said, secrets, texts, truth } from "../connection.ts";
import { scriptedTransport } from "../http/scripted-transport.ts";

const EVENTS = makeEvents(3, { length: 400 });
const TEMPORARY: readonly Fault[] = [
  ...[408, 425, 429, 500, 502, 503, 504].map((code) => status(code)),
  { kind: "reset" },
  { kind: "reset-mid-body" },
  { kind: "truncate" },
  { kind: "cut" },
  { kind: "hang" },
  { kind: "hang-mid-body" },
  { kind: "html" },
  { kind: "body", text: "" },
  { kind: "body", text: '{"data":' },
  { kind: "body", text: Buffer.from([0x7b, 0x22, 0xff, 0x22, 0x3a, 0x31, 0x7d]) },
];
/** A list that is not ready is waited for; of details `read-detail.test.ts` tells. */
const temporary = (path: "list" | "detail"): readonly Fault[] =>
  path === "list" ? [...TEMPORARY, status(202)] : TEMPORARY;
const named = (faults: readonly Fault[]) => faults.map((fault) => [describeFault(fault), fault] as const);
const describeFault = (fault: Fault): string =>
  "status" in fault
    ? `${fault.kind} ${fault.status}`
    : `${fault.kind} ${"text" in fault ? JSON.stringify(fault.text) : ""}`;

describe.each(["list", "detail"] as const)("a response to a %s request that a retry may fix", (path) => {
  it.each(named(temporary(path)))("is retried: %s", async (_, fault) => {
    const isLate = fault.kind.startsWith("hang");
    // A page of the list has ten times as long as other responses, and ends the run when it is late twice.
    const times = isLate && path === "list" ? 1 : 2;
    await using connection = await connect(
      { events: EVENTS, faults: [{ match: { path, times }, fault }] },
      isLate ? { timeoutMs: 300 } : {},
    );
    const { service, simulator } = connection;

    const fetched = await fetchAll(service, 1);

    expect(texts(fetched)).toEqual(truth(simulator));
    expect(simulator.counts).toMatchObject({ faults: times, logins: 1 });
    expect(service.counts).toMatchObject({ requests: 1 + 1 + EVENTS.length + times, retries: times });
    expect(service.counts.bytes).toBeLessThanOrEqual(simulator.counts.bytes);
  });

  it.each(named(temporary(path).filter(({ kind }) => !kind.startsWith("hang"))))(
    "ends the run when it comes six times: %s",
    async (_, fault) => {
      await using connection = await connect({
        events: EVENTS,
        faults: [{ match: { path, times: Infinity }, fault }],
      });
      const { service, simulator, log } = connection;

      const error = await errorOf(fetchAll(service, 1));

      const throttled = fault.kind === "status" && fault.status === 429;
      expect(error).toMatchObject({
        code: throttled ? "THROTTLED" : "SERVICE_UNAVAILABLE",
        message: expect.stringMatching(/^GET \/v1\/events.* failed 6 times, the last time with .+\.$/),
        next: expect.arrayContaining([expect.stringMatching(/\S/)]),
        fields: { attempts: 6 },
        isRetryable: true,
      });
      expect(simulator.counts.faults).toBe(6);
      for (const secret of secrets) expect(said(error, log)).not.toContain(secret);
    },
  );
});

const MANY = makeEvents(100, { length: 300 });
/** A window lasts 0.3 s of real time: long enough to be filled by a machine that is busy with other things. */
const limited = () => ({ events: MANY, latencyMs: 200, clock: acceleratedClock(200) });

describe("a service that limits", () => {
  it("is obeyed where it does not say for how long", async () => {
    await using connection = await connect({
      ...limited(),
      limits: { requestsPerWindow: 30, retryAfter: "none" },
    });

    const { service, simulator } = connection;

    const fetched = await fetchAll(service, 16);

    expect(texts(fetched)).toEqual(truth(simulator));
    expect(service.counts.throttled).toBe(simulator.counts.statuses.get(429));
    expect(service.counts.throttled).toBeGreaterThan(0);
    expect(service.counts.throttled).toBeLessThanOrEqual(service.counts.retries);
  });

  it("is never exceeded if it is configured, in bytes", async () => {
    const bytesPerWindow = 12_000; // the list alone is 10,000
    await using connection = await connect(
      { ...limited(), limits: { bytesPerWindow } },
      { limits: { bytesPerMinute: bytesPerWindow } },
    );
    const { service, simulator } = connection;

    const fetched = await fetchAll(service, 16);

    expect(texts(fetched)).toEqual(truth(simulator));
    expect(service.counts.throttled).toBe(0);
    expect(service.counts.bytes).toBe(simulator.counts.bytes);
    expect(simulator.counts.fullestWindow.bytes).toBeLessThanOrEqual(bytesPerWindow);
  });

  it("is used as fast as it allows, and the wait for the budget is shown", async () => {
    const clock = new ManualClock(1_000_000);
    await using connection = await connect(
      { clock },
      { limits: { requestsPerMinute: 10 }, transport: scriptedTransport() },
    );
    const { service, waits } = connection;
    await service.logIn();

    const answered: number[] = [];
    const details = MANY.slice(0, 20).map(async ({ uuid }) => {
      await service.detail(uuid);
      answered.push(clock.now());
    });
    for (let n = 0; n < 3; n += 1) {
      await turnsOfTheLoop(5);
      clock.advance(60_001);
    }
    await Promise.all(details);

    // Nine a window: one was the login.
    const [first, second, third] = [1_000_000, 1_060_001, 1_120_002];
    expect(answered).toEqual([...Array(8).fill(first), ...Array(9).fill(second), ...Array(3).fill(third)]);
    expect(waits.map(({ kind }) => kind)).not.toContain("retry");
    expect(new Set(waits.map(({ untilMs }) => untilMs))).toEqual(new Set([second, third]));
  });
});

const turnsOfTheLoop = async (turns: number): Promise<void> => {
  for (let turn = 0; turn < turns; turn += 1) await nextTurn();
};
