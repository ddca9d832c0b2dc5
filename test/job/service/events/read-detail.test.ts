import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { parsePointer } from "../../../../lambdas/job/json/json-pointers.ts";
import { detailRequests, readDetail } from "../../../../lambdas/job/service/events/read-detail.ts";
import { shownNames } from "../../../../lambdas/job/service/events/shape.ts";
import { endpoint } from "../../../../lambdas/job/service/requests/api-client.ts";
import { UnusableBody } from "../../../../lambdas/job/service/requests/failure.ts";
import type { Fault } from "../../../simulator/faults.ts";
import { hostileEvents } from "../../../simulator/hostile-events.ts";
import { makeEvents } from "../../../simulator/simulated-event.ts";
import { told } from "../../../words/said.ts";
import { connect, errorOf, fetchAll, said, texts, truth } from "../connection.ts";

const A = "aaaaaaaa-0000-4000-8000-00000000000a";
const B = "bbbbbbbb-0000-4000-8000-00000000000b";

const shownName = shownNames(() => []);

const read = (text: string, pointer?: string) =>
  readDetail(text, A, pointer === undefined ? undefined : parsePointer(pointer), shownName);
const failureOfRead = (text: string, pointer?: string): unknown => {
  try {
    read(text, pointer);
  } catch (error) {
    return error;
  }
  return undefined;
};

describe("a detail", () => {
  const event = `{"uuid":"${A}","n":1}`;
  it.each([
    ["the body", event, undefined],
    ["data", `{"meta":{},"data":${event}}`, undefined],
    ["data.event", `{"data":{"event":${event}}}`, undefined],
    ["data.event where data's uuid is no text", `{"data":{"uuid":7,"event":${event}}}`, undefined],
    ["the last of two data members", `{"data":{"uuid":"${B}"},"data":${event}}`, undefined],
    ["where a pointer says", `{"result":[{"item":${event}}]}`, "/result/0/item"],
    ["the whole body, by pointer", event, ""],
    ["a member named as in every object", `{"__proto__":{"toString":${event}}}`, "/__proto__/toString"],
  ])("is found in %s", (_, text, pointer) => {
    expect(read(text, pointer)).toMatchObject({ kind: "event", event });
  });

  it("is the outermost object with a uuid", () => {
    const text = `{"uuid":"${A}","data":{"uuid":"${B}","event":{"uuid":"${B}"}}}`;

    expect(read(text)).toMatchObject({ event: text });
  });

  it("is found whatever the case of its uuid", () => {
    expect(read(`{"uuid":"${A.toUpperCase()}"}`)).toMatchObject({ kind: "event" });
  });

  it.each(['{"n":1}', '{"uuid":null}'])(
    "%s is an event without a uuid where a pointer leads there",
    (text) => {
      expect(read(text, "")).toMatchObject({ event: text });
    },
  );

  it.each([
    ['"2026-01-01"', "2026-01-01"],
    [String.raw`"caf\u00e9 \n \ud83d\ude00"`, "café \n 😀"],
    ['""', ""],
    ["null", null],
    [String.raw`"\ud83d"`, String.raw`"\ud83d"`],
    [String.raw`"a\udc00b"`, String.raw`"a\udc00b"`],
    ["1.10", "1.10"],
    ["1e400", "1e400"],
    ["false", "false"],
    ['{ "to" : "x  y" , "from" : [ 1 , 2.0 ] }', '{"to":"x  y","from":[1,2.0]}'],
    ['"first","date":"last"', "last"],
  ])("with the date %s has the event_date %j", (date, expected) => {
    expect(read(`{"uuid":"${A}","date":${date}}`)).toMatchObject({ eventDate: expected, scope: null });
    expect(read(`{"uuid":"${A}","scope":${date.replace('"date"', '"scope"')}}`)).toMatchObject({
      eventDate: null,
      scope: expected,
    });
  });

  // The others have white space between their tokens; the next test is about that.
  const spaced = /indented body|object as date|nested scope|array as scope/;
  const unspaced = hostileEvents().filter(({ name }) => !spaced.test(name));
  it.each(unspaced)("keeps $name byte for byte [D3]", ({ uuid, source }) => {
    expect(readDetail(`{"data":${source}}`, uuid, undefined, shownName)).toMatchObject({ event: source });
  });

  describe("of many levels", () => {
    const inside = (open: string, close: string, levels: number): string =>
      `{"uuid":"${A}","x":${open.repeat(levels - 1)}${close.repeat(levels - 1)}}`;

    it.each([
      ["arrays", "[", "]"],
      ["objects", '{"x":[', "]}"],
    ])("is read up to 1,000 of %s", (_, open, close) => {
      const text = inside(open, close, open === "[" ? 1_000 : 500);

      expect(read(text)).toMatchObject({ kind: "event", event: text });
    });

    it.each([
      ["by one", inside("[", "]", 1_001)],
      ["by millions", inside("[", "]", 2_000_000)],
      ["without an end", "[".repeat(4 * 1024 * 1024)],
      ["beside the event", `{"data":{"uuid":"${A}"},"more":${inside("[", "]", 1_001)}}`],
    ])("is left out where it is deeper %s", (_, text) => {
      expect(read(text)).toEqual({ kind: "left-out", reason: "too_deep" });
      expect(read(text, "/data")).toEqual({ kind: "left-out", reason: "too_deep" });
    });

    it("is not deep for the brackets in its strings", () => {
      const text = `{"uuid":"${A}","x":"${'[\\"{'.repeat(2_000)}"}`;

      expect(read(text)).toMatchObject({ kind: "event", event: text });
    });

    it("is no JSON where a string has no end", () => {
      expect(failureOfRead(`{"uuid":"${A}`)).toEqual(new UnusableBody("a body that is not JSON"));
    });
  });

  it("keeps no white space between tokens", () => {
    expect(read(`{ "uuid" : "${A}" ,\r\n\t"list" : [ 1 , { } ] , "t" : " a  b " }`)).toMatchObject({
      event: `{"uuid":"${A}","list":[1,{}],"t":" a  b "}`,
    });
  });

  it.each([
    [`{"data":{"uuid":"${A}"},"errors":[{"message":"busy"}]}`, undefined, "/errors"],
    [`{"success":false,"data":{"event":{"uuid":"${A}"}}}`, undefined, "/success"],
    [`{"status":"error","item":{"date":"d","scope":"s"}}`, "/item", "/status"],
  ])(
    "beside which an error is named (%s, pointer %s) is none: it may lack a part",
    (text, pointer, place) => {
      expect(failureOfRead(text, pointer)).toMatchObject({
        name: "UnusableBody",
        message: `an event with an error beside it at ${place}`,
        code: "UNEXPECTED_RESPONSE",
      });
    },
  );

  it.each([
    `{"uuid":"${A}","status":"failed","errors":["of its own"]}`,
    `{"data":{"uuid":"${A}","success":false},"success":true,"errors":[],"error":null,"status":"ok"}`,
  ])("may itself have members named so: %s", (text) => {
    expect(read(text)).toMatchObject({ kind: "event" });
  });

  it.each([
    [`{"uuid":"${B}"}`, undefined],
    [`{"data":{"uuid":"${B}"}}`, undefined],
    [`{"item":{"uuid":"${B}"}}`, "/item"],
    ['{"item":{"uuid":7}}', "/item"],
    [`{"uuid":"${A}","uuid":"${B}"}`, undefined],
    [`{"id":"${B}","attributes":{"date":"d"}}`, "/attributes"],
    [`{"data":[{"Id":"${B}","event":{"uuid":null}}]}`, "/data/0/event"],
    [`{"data":{"event_uuid":"${B}","event":{"date":"d"}}}`, "/data/event"],
    [`{"@id":"${B}","data":{"id":"${A}","body":{}}}`, "/data/body"],
    [`{"eventId":"${B}","event":{"uuid":"${A}"}}`, "/event"],
  ])("%s is another event (pointer %s): unusable, and a retry may succeed", (text, pointer) => {
    const error = failureOfRead(text, pointer);

    expect(error).toBeInstanceOf(UnusableBody);
    expect(error).toMatchObject({
      message: "an event with another uuid",
      remedy: expect.arrayContaining([{ setting: "detailPointer" }]),
    });
  });

  it.each([
    ["its own id, in another case", `{"id":"${A.toUpperCase()}","attributes":{"date":"d"}}`, "/attributes"],
    ["an id that is no uuid", '{"id":7,"uuid":"x","attributes":{"date":"d"}}', "/attributes"],
    ["the id of something else", `{"requestId":"${B}","trace_id":"${B}","data":{"date":"d"}}`, "/data"],
    ["the id of what is beside it", `{"data":{"date":"d"},"owner":{"id":"${B}"}}`, "/data"],
    ["an id of its parts", `{"data":{"date":"d","brand":{"id":"${B}"},"id":"${B}"}}`, "/data"],
  ])("that a pointer leads to is the one that was asked for beside %s", (_, text, pointer) => {
    expect(read(text, pointer)).toMatchObject({ kind: "event", eventDate: "d" });
  });

  it.each([
    "",
    "<p>secret</p>",
    '{"uuid"',
    `{"uuid":"${A}"}{}`,
    `{"uuid":"${A}",}`,
    `{"uuid":"${A}","n":.5}`,
    `{"uuid":"${A}","n":1 2}`,
    `{"uuid":"${A}","n":fal se}`,
  ])("%s is not JSON: unusable, and a retry may succeed", (text) => {
    const error = failureOfRead(text);

    expect(error).toBeInstanceOf(UnusableBody);
    expect(error).toMatchObject({ message: "a body that is not JSON" });
    expect(error).not.toHaveProperty("cause");
  });

  it.each([
    ["{}", undefined, "{}", undefined],
    ["null", undefined, "null", undefined],
    [`["${A}"]`, undefined, "[string]", undefined],
    ['{"data":[{"uuid":"secret"}]}', undefined, "{data: [{uuid: string}]}", undefined],
    ['{"error":"secret"}', undefined, "{error: string}", undefined],
    ['{"uuid":7}', undefined, "{uuid: number}", undefined],
    [`{"result":{"item":{"uuid":"${A}"}}}`, undefined, "{result: {item: {uuid: string}}}", "/result/item"],
    ['{"date":1,"scope":null}', undefined, "{date: number, scope: null}", "''"],
    [
      '{"data":{"x y":{"date":1,"scope":2}}}',
      undefined,
      "{data: {<key>: {date: number, scope: number}}}",
      undefined,
    ],
    [`{"uuid":"${A}"}`, "/item", "{uuid: string}", "''"],
    [`{"data":[{"uuid":"${A}"}]}`, undefined, "{data: [{uuid: string}]}", "/data/0"],
    [
      `{"x":{"y":{"uuid":"${B}"}},"z":{"uuid":"${A}"}}`,
      undefined,
      "{x: {y: {uuid: string}}, z: {uuid: string}}",
      "/z",
    ],
    [`{"x":{"y":{"uuid":"${B}"}}}`, undefined, "{x: {y: {uuid: string}}}", undefined],
    ['{"item":[]}', "/item", "{item: []}", undefined],
    ["{}", "/__proto__", "{}", undefined],
    ["[{}]", "/00", "[{}]", undefined],
    ['{"item":null}', "/item/x", "{item: null}", undefined],
  ])(
    "%s holds no event (pointer %s): the error shows the shape %s and the pointer %s",
    (text, pointer, shape, found) => {
      const error = failureOfRead(text, pointer);

      const advice = found === undefined ? {} : { detailPointer: found.replaceAll("'", "") };
      const next =
        found === undefined
          ? "If the event is in it, set --detail-pointer to its place; else ask the service's operator."
          : `Set the place of the event: --detail-pointer ${found}.`;
      expect(error).toMatchObject({ code: "UNEXPECTED_RESPONSE", fields: { shape, ...advice } });
      expect(error).not.toHaveProperty(found === undefined ? "fields.detailPointer" : "cause");
      expect(told(error)).toHaveProperty("message", expect.stringContaining(next));
      expect(String(error)).not.toContain("secret");
    },
  );
});

const EVENTS = makeEvents(3, { length: 400 });

describe("a detail", () => {
  it.each([
    [403, "forbidden"],
    [404, "gone"],
    [410, "gone"],
  ])("that is answered with %i is left out as %s, after one request", async (code, reason) => {
    const uuid = EVENTS[1]?.uuid ?? "";
    await using connection = await connect({
      events: EVENTS,
      faults: [{ match: { uuid }, fault: { kind: "status", status: code } }],
    });

    const { details } = await fetchAll(connection.service, 1);

    expect(details.get(uuid)).toEqual({ kind: "left-out", reason });
    expect(connection.service.counts).toMatchObject({ retries: 0, requests: 5 });
  });

  it("over the cap is left out, after one request", async () => {
    await using connection = await connect({ events: makeEvents(2, { length: 4_200_000 }) });

    const { details } = await fetchAll(connection.service, 1);

    expect([...details.values()]).toEqual([
      { kind: "left-out", reason: "oversize" },
      { kind: "left-out", reason: "oversize" },
    ]);
    expect(connection.simulator.counts.details).toBe(2);
  });

  it("is read from where the pointer says", async () => {
    await using connection = await connect(
      { events: EVENTS, detail: { shape: "result-item" } },
      { detailPointer: "/result/item" },
    );

    expect(texts(await fetchAll(connection.service, 1))).toEqual(truth(connection.simulator));
  });
});

/** Asked for after the others. */
const LAST =
  EVENTS.map(({ uuid }) => uuid)
    .toSorted()
    .at(-1) ?? "";

const ODD = [
  ["{}", { kind: "body", text: "{}" }],
  ["null", { kind: "body", text: "null" }],
  ["an error with status 200", { kind: "body", text: '{"error":{"code":"canary-body"}}' }],
  ["202", { kind: "status", status: 202 }],
  ["202 with an event", { kind: "status", status: 202, body: `{"uuid":"${LAST}"}` }],
  ["another event", { kind: "wrong-uuid" }],
] as const satisfies readonly (readonly [string, Fault])[];

describe("an odd response among details that are read well", () => {
  it.each(ODD)("is asked for again: %s", async (_, fault) => {
    const faults = [{ match: { uuid: LAST, times: 5 }, fault }] as const;
    await using connection = await connect({ events: EVENTS, faults });
    const { service, simulator } = connection;

    const fetched = await fetchAll(service, 1);

    expect(texts(fetched)).toEqual(truth(simulator));
    expect(service.counts).toMatchObject({ retries: 5, logins: 1 });
  });

  it.each([
    ...ODD.slice(0, 5).map(([name, fault]) => [name, fault, "UNEXPECTED_RESPONSE"] as const),
    ["another event", { kind: "wrong-uuid" }, "SERVICE_UNAVAILABLE"] as const,
  ])(
    "that comes six times ends the run, and the error names the event and how many were read: %s",
    async (_, fault, code) => {
      const faults = [{ match: { uuid: LAST, times: Infinity }, fault }] as const;
      await using connection = await connect({ events: EVENTS, faults });
      const { service, simulator, log } = connection;

      const error = await errorOf(fetchAll(service, 1));

      expect(error).toMatchObject({ code, fields: { attempts: 6, request: `GET /v1/events/${LAST}` } });
      expect(error).toHaveProperty(
        "message",
        expect.stringContaining(`GET /v1/events/${LAST} failed 6 times`),
      );
      expect(told(error)).toHaveProperty(
        "message",
        expect.stringContaining("2 other events were read in the same way"),
      );
      expect(String(error)).not.toContain("--detail-pointer");
      expect(simulator.counts.detailsByUuid.get(LAST)).toBe(6);
      expect(said(error, log)).not.toContain("canary-body");
    },
  );

  it.each([202, 503])("is asked for after what its Retry-After says (%i)", async (status) => {
    const fault = { kind: "status", status, headers: { "retry-after": "100" } } as const;
    await using connection = await connect({ events: EVENTS, faults: [{ match: { uuid: LAST }, fault }] });

    await fetchAll(connection.service, 1);

    expect(connection.log.text).toContain(`status ${status}; next attempt in 100 s`);
  });
});

describe("an odd response before any detail was read", () => {
  it("is one after details that were left out, too", async () => {
    const deep = `{"uuid":"${LAST}","a":${"[".repeat(1_001)}${"]".repeat(1_001)}}`;
    await using connection = await connect({
      events: EVENTS,
      faults: [
        { match: { path: "detail", times: 2 }, fault: { kind: "body", text: deep } },
        { match: { uuid: LAST }, fault: { kind: "body", text: "{}" } },
      ],
    });

    const error = await errorOf(fetchAll(connection.service, 1));

    expect(told(error)).toHaveProperty("message", expect.stringContaining("set --detail-pointer"));
    expect(connection.simulator.counts.details).toBe(3);
  });

  it.each(ODD.slice(0, 3))("ends the run at once, with advice about the pointer: %s", async (_, fault) => {
    await using connection = await connect({
      events: EVENTS,
      faults: [{ match: { path: "detail" }, fault }],
    });

    const error = await errorOf(fetchAll(connection.service, 1));

    expect(told(error)).toMatchObject({
      code: "UNEXPECTED_RESPONSE",
      message: expect.stringContaining("set --detail-pointer"),
    });
    expect(connection.simulator.counts.details).toBe(1);
  });

  it.each([
    ["202", ODD[3][1], "UNEXPECTED_RESPONSE", "why it has no answer"],
    ["another event", ODD[5][1], "SERVICE_UNAVAILABLE", "set --detail-pointer to its place"],
  ] as const)("is asked for again, six times in all: %s", async (_, fault, code, advice) => {
    await using connection = await connect({
      events: EVENTS,
      faults: [{ match: { path: "detail", times: Infinity }, fault }],
    });

    const error = await errorOf(fetchAll(connection.service, 1));

    expect(told(error)).toMatchObject({
      code,
      message: expect.stringContaining(advice),
      fields: { attempts: 6 },
    });
  });
});

describe("the address of a detail", () => {
  const addressBelow = (base: string, requestAs: string) =>
    detailRequests(new URL(base), undefined, shownName)(requestAs).url;

  it("is the one that a parser of URLs makes", () => {
    const bases = [
      "https://service.test",
      "http://127.0.0.1:8080/",
      "https://[::1]:8443/api",
      "https://ä.test/a%20b/c",
    ];
    // A parser resolves a name that is "." or "..". No event has such a name.
    const name = fc.string({ unit: "grapheme" }).filter((text) => text !== "." && text !== "..");
    fc.assert(
      fc.property(fc.constantFrom(...bases), fc.oneof(fc.uuid(), name), (base, each) => {
        const url = endpoint(new URL(base), `/v1/events/${encodeURIComponent(each)}`);

        const address = addressBelow(base, each);

        const { href, origin, pathname, search } = url;
        expect(address).toEqual({ href, origin, pathname, search });
      }),
    );
  });

  it.each([
    ["https://service.test/", "https://service.test/v1/events/a"],
    ["https://service.test:8443/api/", "https://service.test:8443/api/v1/events/a"],
  ])("below %s is %s", (base, expected) => {
    expect(addressBelow(base, "a").href).toBe(expected);
  });
});
