import { describe, expect, it, test } from "vitest";
import { check } from "../../../../../lambdas/job/commands/check.ts";
import { discover } from "../../../../../lambdas/job/commands/discover.ts";
import { SyncError } from "../../../../../lambdas/job/errors/sync-error.ts";
import type { Clock } from "../../../../../lambdas/job/runtime/clock.ts";
import { readManifest } from "../../../../../lambdas/job/snapshot/files/manifest.ts";
import { layout } from "../../../../../lambdas/job/storage/layout.ts";
import { readHead } from "../../../../../lambdas/job/storage/publication-log.ts";
import { accountStore } from "../../../../../lambdas/job/storage/store.ts";
import { explained } from "../../../../../lambdas/words/ends.ts";
import { ANY_SHELL } from "../../../../../lambdas/words/style.ts";
import { acceleratedClock } from "../../../../simulator/clocks.ts";
import type { Fault, FaultMatch, FaultRule } from "../../../../simulator/faults.ts";
import { makeEvents } from "../../../../simulator/simulated-event.ts";
import { said, saidChecks } from "../../../../words/said.ts";
import { interposedOnce } from "../../interposed-store.ts";
import { serviceWith } from "../../run-defaults.ts";
import { Sandbox } from "../../sandbox.ts";
import { ACCOUNT, SmallWorld } from "../../small-world.ts";

describe("a listed event without details", () => {
  test("is left out and counted: forbidden, gone twice, oversize, too deep [D10]", async () => {
    await using sandbox = await Sandbox.start({ events: makeEvents(100) });
    const [forbidden, gone404, gone410, oversize, deep] = sandbox.simulator.listed().map(({ uuid }) => uuid);
    if (!forbidden || !gone404 || !gone410 || !oversize || !deep) throw new Error("too few events");
    sandbox.simulator.restrict(forbidden);
    sandbox.simulator.vanish(gone404);
    sandbox.simulator.vanish(gone410, 410);
    sandbox.simulator.change(oversize, {
      source: `{"uuid":"${oversize}","text":"${"x".repeat(4 * 1024 * 1024)}"}`,
    });

    sandbox.simulator.change(deep, {
      source: `{"uuid":"${deep}","x":${"[".repeat(1_000)}${"]".repeat(1_000)}}`,
    });

    const { row } = await sandbox.run();

    expect(row).toMatchObject({
      outcome: "PUBLISHED",
      listed: 100,
      events: 95,
      forbidden: 1,
      gone: 2,
      rejected: 2,
    });
    const { counts } = JSON.parse(sandbox.store.text(layout(ACCOUNT).manifest(row.run_id)) ?? "");
    expect(counts).toMatchObject({ rejected: 2, oversize: 1, too_deep: 1 });
    const expected = new Map(sandbox.truth());
    for (const uuid of [forbidden, gone404, gone410, oversize, deep]) expected.delete(uuid);
    expect(await sandbox.events()).toEqual(expected);
    const leftOut = sandbox.store.text(layout(ACCOUNT).leftOut(row.run_id))?.trimEnd().split("\n");
    expect(leftOut?.map((line) => JSON.parse(line)).toSorted((a, b) => (a.uuid < b.uuid ? -1 : 1))).toEqual(
      [
        { uuid: forbidden, reason: "forbidden" },
        { uuid: gone404, reason: "gone" },
        { uuid: gone410, reason: "gone" },
        { uuid: oversize, reason: "oversize" },
        { uuid: deep, reason: "too_deep" },
      ].toSorted((a, b) => (a.uuid < b.uuid ? -1 : 1)),
    );
  });
});

describe("a gateway that refuses details which the service has", () => {
  const EVENTS = 100;
  /** Requests beside those for details. */
  const LOGIN_AND_LIST = 2;

  function gateway(fault: Partial<Extract<Fault, { kind: "status" }>>, match: FaultMatch = {}): FaultRule {
    return {
      match: { path: "detail", share: 0.2, each: true, ...match },
      fault: { kind: "status", status: 404, ...fault },
    };
  }

  /** Of the events that were refused and asked for again, the time between the questions. */
  function waitsMs({ simulator }: Sandbox): readonly number[] {
    const byEvent = Object.values(Object.groupBy(detailsOf(simulator), ({ uuid }) => uuid ?? ""));
    return byEvent.flatMap(([one, two] = []) =>
      one && two && one.status !== 200 ? [two.arrivedAtMs - one.arrivedAtMs] : [],
    );
  }

  /** Events that were read before. */
  function controls({ simulator }: Sandbox): number {
    const read = detailsOf(simulator).filter(({ status }) => status === 200);
    return read.length - new Set(read.map(({ uuid }) => uuid)).size;
  }

  const detailsOf = ({ requests }: Sandbox["simulator"]) =>
    requests.filter(({ endpoint }) => endpoint === "detail");

  test.each([
    { why: "404 once", rule: gateway({}), leastMs: 5_000 },
    { why: "403 once", rule: gateway({ status: 403 }), leastMs: 5_000 },
    { why: "410 once", rule: gateway({ status: 410 }), leastMs: 5_000 },
    { why: "a Retry-After", rule: gateway({ headers: { "retry-after": "20" } }), leastMs: 20_000 },
  ])("takes no event from readers: $why [D28]", async ({ rule, leastMs }) => {
    await using sandbox = await Sandbox.start({ events: makeEvents(EVENTS) });
    await sandbox.run();
    sandbox.simulator.reset();
    sandbox.simulator.configure({ faults: [rule] });

    const { row } = await sandbox.run();

    const refused = waitsMs(sandbox);
    expect(refused.length).toBeGreaterThan(10);
    expect(Math.min(...refused)).toBeGreaterThanOrEqual(leastMs);
    expect(row).toMatchObject({ outcome: "PUBLISHED", events: EVENTS, removed: 0, gone: 0, forbidden: 0 });
    // A second question is no retry: it follows no failure.
    const again = refused.length + controls(sandbox);
    expect(row).toMatchObject({ requests: LOGIN_AND_LIST + EVENTS + again, retries: 0 });
    expect(await sandbox.events()).toEqual(sandbox.truth());
  });

  test("is asked once for what the head leaves out, and twice for anything else", async () => {
    const persistent = gateway({}, { share: 0.03, times: Infinity });
    await using sandbox = await Sandbox.start(
      { events: makeEvents(EVENTS), faults: [persistent] },
      { maxMissingPercent: 15 },
    );
    const first = await sandbox.run();
    const known = waitsMs(sandbox).length;
    sandbox.simulator.reset();
    sandbox.simulator.configure({ faults: [gateway({ status: 403 }, { share: 0.08, times: Infinity })] });

    const second = await sandbox.run();

    expect(first.row).toMatchObject({ outcome: "PUBLISHED", gone: known, forbidden: 0 });
    expect(second.row).toMatchObject({ outcome: "PUBLISHED", gone: 0 });
    expect(waitsMs(sandbox)).toHaveLength((second.row.forbidden ?? 0) - known);
    expect(known).toBeGreaterThan(0);
    expect(second.row.forbidden).toBeGreaterThan(known);
  });

  test.each([{ endsOf: "the same process" }, { endsOf: "another one, which continues the run" }])(
    "takes no event from readers because of first answers that a person accepts meanwhile: $endsOf",
    async ({ endsOf }) => {
      await using sandbox = await Sandbox.start({ events: makeEvents(200) });
      await sandbox.run();
      sandbox.simulator.configure({ faults: [gateway({ status: 403 }, { share: 0.3, times: Infinity })] });
      const held = (await sandbox.run()).row.run_id;
      const stop = new AbortController();
      const store = interposedOnce(sandbox.store, "/_manifest.json", async () => {
        await sandbox.decide({ action: "accept", snapshotId: held, force: false });
        stop.abort(new SyncError("INTERRUPTED", "Seen."));
      });

      const own = await sandbox.run(
        {},
        endsOf === "the same process" ? { store } : { store, signal: stop.signal },
      );
      const { row, explanation } = endsOf === "the same process" ? own : await sandbox.run();

      expect(row).toMatchObject({ outcome: "HELD", reason: "MISSING", run_id: own.row.run_id });
      expect(explanation).toContain("Some were asked for once only");
      sandbox.simulator.configure({ faults: [] });
      expect((await sandbox.run()).row).toMatchObject({ outcome: "PUBLISHED", events: 200 });
    },
  );

  test("is asked twice by a dry run, which says what a run would do", async () => {
    await using sandbox = await Sandbox.start({ events: makeEvents(EVENTS) });
    await sandbox.run();
    sandbox.simulator.configure({ faults: [gateway({})] });

    const { row } = await sandbox.run({ dryRun: { limit: undefined } });

    expect(row).toMatchObject({ outcome: "DRY_RUN", events: EVENTS, removed: 0 });
  });

  test("is no unreadable one to a dry run where it is gone", async () => {
    await using sandbox = await Sandbox.start({ events: makeEvents(EVENTS) });
    await sandbox.run();
    sandbox.simulator.vanish(sandbox.simulator.listed()[0]?.uuid ?? "");

    const { row } = await sandbox.run({ dryRun: { limit: undefined } });

    expect(row).toMatchObject({ outcome: "DRY_RUN", reason: null, gone: 1, removed: 1 });
  });

  test.each([
    ["check", (sandbox: Sandbox) => check(sandbox.ports(), sandbox.settings, { deep: false })],
    ["discover", (sandbox: Sandbox) => discover(sandbox.ports(), sandbox.settings, EVENTS)],
  ])("is asked once by %s", async (_, command) => {
    await using sandbox = await Sandbox.start({ events: makeEvents(EVENTS) });
    await sandbox.run();
    sandbox.simulator.reset();
    sandbox.simulator.configure({ faults: [gateway({})] });

    await command(sandbox);

    expect(sandbox.simulator.requests.some(({ status }) => status === 404)).toBe(true);
    expect(waitsMs(sandbox)).toEqual([]);
  });
});

describe("an event that cannot be read while others can", () => {
  const MINUTE_MS = 60_000;
  /** What the clock shows beside the time that has passed. */
  let aheadMs = 0;
  const accelerated = acceleratedClock(100);
  const clock: Clock = {
    now: () => accelerated.now() + aheadMs,
    monotonicMs: () => accelerated.monotonicMs(),
    sleep: (ms, signal) => accelerated.sleep(ms, signal),
  };

  /** Of 100 events the 50th is answered so for ever. */
  async function withOdd(fault: Fault): Promise<{ readonly sandbox: Sandbox; readonly odd: string }> {
    const sandbox = await Sandbox.start({ events: makeEvents(100) }, {}, clock);
    const odd =
      sandbox.simulator
        .listed()
        .map(({ uuid }) => uuid)
        .toSorted()[49] ?? "";
    sandbox.simulator.configure({ faults: [{ match: { uuid: odd, times: Infinity }, fault }] });
    return { sandbox, odd };
  }

  const REDIRECT: Fault = { kind: "redirect", location: "https://elsewhere.example/v1/events/x" };
  test.each<[string, Fault]>([
    ["405", { kind: "status", status: 405 }],
    ["a redirect", REDIRECT],
    ["NaN", { kind: "body", text: '{"spend":NaN}' }],
    ["bad UTF-8", { kind: "body", text: Buffer.from([0x22, 0xff, 0x22]) }],
    ["a web page", { kind: "html" }],
    ["no event", { kind: "body", text: "{}" }],
  ])(
    "holds the snapshot without it, and no later one once a person has accepted that: %s [D31]",
    async (_, fault) => {
      const { sandbox, odd } = await withOdd(fault);
      await using _all = sandbox;

      const result = await sandbox.run();
      const { row, preview } = result;
      const dry = await sandbox.run({ dryRun: { limit: undefined } });
      await sandbox.decide({ action: "accept", snapshotId: row.run_id, force: false });
      const dryAgain = await sandbox.run({ dryRun: { limit: undefined } });
      const next = await sandbox.run();

      expect([dry.row.reason, dryAgain.row.reason]).toEqual(["UNREADABLE", null]);
      expect(row).toMatchObject({
        outcome: "HELD",
        reason: "UNREADABLE",
        listed: 100,
        events: 99,
        rejected: 1,
      });
      expect(explained(result, ANY_SHELL)).toContain(
        `1 of 100 listed events cannot be read, while others can: ${odd}. Ask the service's operator`,
      );
      expect(preview).toMatchObject({ rejected: 1, unreadable: 1, uuids: { unreadable: [odd] } });
      expect(next.row).toMatchObject({
        outcome: "PUBLISHED",
        events: 99,
        rejected: 1,
        changed: 0,
        removed: 0,
      });
      expect((await readHead(accountStore(sandbox.store, ACCOUNT)))?.accepted).toEqual({
        listed: 100,
        gone: 0,
        forbidden: 0,
        rejected: 0,
      });
    },
  );

  test.each<[string, Fault]>([
    ["500", { kind: "status", status: 500 }],
    ["429", { kind: "status", status: 429 }],
    ["no response", { kind: "reset" }],
    ["half a body", { kind: "truncate" }],
  ])(
    "for a reason that may pass is left out by a start ten minutes later, which fetches the rest only: %s [D31]",
    async (_, fault) => {
      const { sandbox } = await withOdd(fault);
      await using _all = sandbox;

      const first = await sandbox.run();
      const soon = await sandbox.run();
      aheadMs += 10 * MINUTE_MS;
      const before = sandbox.simulator.requests.length;
      const later = await sandbox.run();

      expect(
        [first, soon].map(({ error }) => [
          error?.isRetryable,
          said(error).includes("10 minutes from now or later"),
        ]),
      ).toEqual([
        [true, true],
        [true, true],
      ]);
      expect(later.row).toMatchObject({
        run_id: first.row.run_id,
        outcome: "HELD",
        reason: "UNREADABLE",
        events: 99,
      });
      const fetched = new Set(sandbox.simulator.requests.slice(before).map(({ uuid }) => uuid));
      expect(fetched.size).toBeLessThan(60);
    },
  );

  test("is passed over and named by check and by discover", async () => {
    const { sandbox, odd } = await withOdd({ kind: "status", status: 405 });
    await using _all = sandbox;
    const tried = { ...sandbox.settings };

    const found = await discover(sandbox.ports(), tried, 100);
    sandbox.simulator.configure({
      faults: [{ match: { path: "detail", nth: 2 }, fault: { kind: "status", status: 405 } }],
    });
    const checks = saidChecks(await check(sandbox.ports(), tried, { deep: false }));

    expect(found).toMatchObject({ listed: 100, events: 99, leftOut: { unreadable: 1 } });
    expect(sandbox.log.text).toContain(`An event cannot be read, while others can: GET /v1/events/${odd}`);
    expect(checks.find(({ name }) => name === "detail")).toMatchObject({
      ok: true,
      remedy: expect.stringMatching(
        /^An event cannot be read, while others can: GET \/v1\/events\/.* status 405/,
      ),
    });
  });

  test("is an error of check and of discover where no other is read, or answered in the end", async () => {
    await using sandbox = await Sandbox.start({ events: makeEvents(3) });
    sandbox.simulator.configure({
      faults: [
        { match: { path: "detail", nth: 3, times: Infinity }, fault: { kind: "status", status: 405 } },
      ],
    });

    const checks = saidChecks(await check(sandbox.ports(), sandbox.settings, { deep: false }));

    expect(checks.find(({ name }) => name === "detail")).toMatchObject({
      ok: false,
      code: "UNEXPECTED_RESPONSE",
    });
  });
});

describe("a service that refuses all details for a while", () => {
  test.each([403, 404, 405, 302])("in the middle of a run loses no event: %i [D28]", async (status) => {
    await using sandbox = await Sandbox.start({ events: makeEvents(300), latencyMs: 50 });
    const fault: Fault = { kind: "status", status, headers: { location: "/login" }, body: "<html>" };
    sandbox.simulator.configure({
      faults: [{ match: { path: "detail", nth: 100, times: Infinity, forMs: 12_000 }, fault }],
    });

    const { row } = await sandbox.run();

    expect(row).toMatchObject({ outcome: "PUBLISHED", events: 300, gone: 0, forbidden: 0, rejected: 0 });
  });
});

const MIB = 1024 * 1024;
const NOTE = `["${'\\"'.repeat(1.95 * MIB)}"]`; // 3.9 MiB of a detail, 7.8 MiB of each column that has it

/** One event of the service with a text of its own beside the others. */
async function runWith(changes: { readonly listing?: string; readonly note?: string }, columns: number) {
  const world = new SmallWorld({
    lifted: Array.from({ length: columns }, (_, n) => ({ name: `c${n}`, pointer: "/note" })),
  });
  world.show(10);
  const [chosen] = world.truth().keys();
  const changed = serviceWith(world.ports(), (service) => ({
    list: async () => {
      const list = await service.list();
      const events = [...list.events].map((event) =>
        event.uuid === chosen ? { ...event, listing: changes.listing ?? event.listing } : event,
      );
      return { ...list, events };
    },
    detail: async (requestAs) => {
      const detail = await service.detail(requestAs);
      if (detail.kind !== "event" || requestAs !== chosen || changes.note === undefined) return detail;
      return { ...detail, event: detail.event.replace("}", `,"note":${changes.note}}`) };
    },
  }));
  const { row, error } = await world.run({}, changed);
  return { world, row, error };
}

describe("an event whose row would be longer than readers take", () => {
  it("is left out as oversize when lifted columns repeat it too often", async () => {
    const { world, row } = await runWith({ note: NOTE }, 8);

    expect(row).toMatchObject({ outcome: "PUBLISHED", listed: 10, events: 9, rejected: 1 });
    expect((await world.seen()).size).toBe(9);
    const { counts } = await readManifest(world.own, row.snapshot_id ?? "");
    expect(counts).toMatchObject({ rejected: 1, oversize: 1 });
    const leftOut = await world.store.read(layout(ACCOUNT).leftOut(row.snapshot_id ?? ""));
    expect(Buffer.from(leftOut?.bytes ?? []).toString()).toMatch(
      /^\{"uuid":"[^"]+","reason":"oversize"\}\n$/,
    );
  });

  it("is left out without a request when no string could hold its list entry as JSON", async () => {
    const listing = `["${'\\"'.repeat(120 * MIB)}"]`;

    const { world, row, error } = await runWith({ listing }, 0);

    expect(error).toBeUndefined();
    expect(row).toMatchObject({ outcome: "PUBLISHED", listed: 10, events: 9, rejected: 1 });
    expect(world.details).toBe(9);
  });
});
