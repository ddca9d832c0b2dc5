import { describe, expect, it } from "vitest";
import { type Fault, status } from "../../../simulator/faults.ts";
import { makeEvents } from "../../../simulator/simulated-event.ts";
import { connect, errorOf, fetchAll, said, secrets, texts, truth } from "../connection.ts";

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
        message: expect.stringMatching(/^GET \/v1\/events.* failed 6 times, the last time with .+\. .+\.$/),
        fields: { attempts: 6 },
        isRetryable: true,
      });
      expect(simulator.counts.faults).toBe(6);
      for (const secret of secrets) expect(said(error, log)).not.toContain(secret);
    },
  );
});
