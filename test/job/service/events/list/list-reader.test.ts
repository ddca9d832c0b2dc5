import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { SyncError } from "../../../../../lambdas/job/errors/sync-error.ts";
import { parsePointer } from "../../../../../lambdas/job/json/json-pointers.ts";
import { JsonWindow, ListReader } from "../../../../../lambdas/job/service/events/list/list-reader.ts";
import { UnusableBody } from "../../../../../lambdas/job/service/requests/failure.ts";
import { uuidOf } from "../../../../simulator/simulated-event.ts";
import { readPage } from "./read-page.ts";

const A = "aaaaaaaa-0000-4000-8000-00000000000a";
const B = "bbbbbbbb-0000-4000-8000-00000000000b";
const a = `{"uuid":"${A}","n":1.10}`;
const b = `{"uuid":"${B}"}`;

const read = (text: string, pointer?: string) =>
  readPage(Buffer.from(text), pointer === undefined ? undefined : parsePointer(pointer));
const uuids = (text: string, pointer?: string): readonly string[] =>
  read(text, pointer).events.map(({ uuid }) => uuid);
const errorOf = (text: string, pointer?: string): unknown => {
  try {
    read(text, pointer);
  } catch (error) {
    return error;
  }
  return undefined;
};
/** What was read, or why it was not. */
const outcome = (act: () => unknown): unknown => {
  try {
    return act();
  } catch (error) {
    return String(error);
  }
};

describe("a page of the list", () => {
  it.each([
    ["a top-level array", `[${a},${b}]`, undefined],
    ["data as an array", `{"meta":{},"data":[${a},${b}]}`, undefined],
    ["data keyed by uuid", `{"data":{"${A}":${a},"${B}":${b}}}`, undefined],
    ["data keyed by uuid, the uuid nowhere else", `{"data":{"${A}":{"n":1},"${B}":{}}}`, undefined],
    ["data keyed by uuid, a null uuid inside", `{"data":{"${A}":{"uuid":null},"${B}":{}}}`, undefined],
    ["data.events", `{"data":{"total":2,"events":[${a},${b}]}}`, undefined],
    ["the last of two data members", `{"data":[],"data":[${a},${b}]}`, undefined],
    ["white space everywhere", ` \n{ "data" :\t[ ${a} ,\r\n${b} ] } `, undefined],
    ["a pointer to an array", `{"result":{"items":[${a},${b}]}}`, "/result/items"],
    ["a pointer to a keyed object", `{"result":{"${A}":{},"${B}":{}}}`, "/result"],
    ["a pointer to the whole body", `{"${A}":{},"${B}":{}}`, ""],
    ["a pointer through an array", `[{"x/y":[${a},${b}]}]`, "/0/x~1y"],
  ])("is found in %s", (_, text, pointer) => {
    expect(uuids(text, pointer)).toEqual([A, B]);
  });

  it.each([
    ["[]", undefined],
    ['{"data":[]}', undefined],
    ['{"data":{}}', undefined],
    ['{"data":{"events":[]}}', undefined],
    ['{"items":[]}', "/items"],
    ["{}", ""],
  ])("%s has no events (pointer %s)", (text, pointer) => {
    expect(uuids(text, pointer)).toEqual([]);
  });

  it("keeps an entry's text as it came, without the white space between tokens [D3]", () => {
    const text = `{"data":[ { "b" : 9007199254740993 , "a":1e400,"a":1.10, "uuid":"${A}","t":"a  b\\u0041" } ]}`;

    expect(read(text).events).toEqual([
      {
        uuid: A,
        requestAs: A,
        listing: `{"b":9007199254740993,"a":1e400,"a":1.10,"uuid":"${A}","t":"a  b\\u0041"}`,
      },
    ]);
  });

  it("compares uuids in lower case and requests them as listed", () => {
    const upper = A.toUpperCase();

    expect(read(`[{"uuid":"${upper}"}]`).events).toMatchObject([{ uuid: A, requestAs: upper }]);
    expect(read(`{"data":{"${upper}":{}}}`).events).toMatchObject([{ uuid: A, requestAs: upper }]);
    expect(read(`{"data":{"${A}":{"uuid":"${upper}"}}}`).events).toMatchObject([
      { uuid: A, requestAs: upper },
    ]);
  });

  it.each([
    ["{}"],
    ["null"],
    ["1"],
    [`"${A}"`],
    [`["${A}"]`],
    ['{"uuid":null}'],
    ['{"uuid":7}'],
    ['{"uuid":""}'],
    [`{"uuid":"${A}0"}`],
    [`{"uuid":"${A.replaceAll("-", "")}"}`],
    [`{"uuid":"{${A}}"}`],
    [`{"uuid":" ${A}"}`],
    [`{"uuid":"${A.replace("a", "g")}"}`],
    [`{"Uuid":"${A}"}`],
    [`{"uuid":"${A}","uuid":1}`],
  ])("takes %s for an entry without a valid uuid", (entry) => {
    expect(read(`[${entry},${b}]`)).toMatchObject({ events: [{ uuid: B }], rejected: 1 });
  });

  it("takes a key whose value is no object for an entry without a valid uuid", () => {
    expect(read(`{"data":{"${A}":1,"${B}":{}}}`)).toMatchObject({ events: [{ uuid: B }], rejected: 1 });
  });

  it.each([
    ["{}", undefined, "{}"],
    ["7", undefined, "number"],
    ['{"data":null}', undefined, "{data: null}"],
    ['{"data":"secret"}', undefined, "{data: string}"],
    [`{"events":[${b}]}`, undefined, "{events: [{uuid: string}]}"],
    [`{"data":{"${A}":{},"total":1}}`, undefined, "{data: {<uuid>: {}, total: number}}"],
    [`{"data":{"events":{"${A}":{}}}}`, undefined, "{data: {events: {<uuid>: {…}}}}"],
    [`{"data":{"events":[],"${A}":{}}}`, undefined, "{data: {events: [], <uuid>: {}}}"],
    ['{"result":{"items":[]}}', undefined, "{result: {items: []}}"],
    ['{"result":{"items":[]}}', "/result", "{result: {items: []}}"],
    ['{"data":[]}', "/items", "{data: []}"],
    ['{"data":"secret"}', "/data", "{data: string}"],
  ])("%s is no list (pointer %s): the error shows the shape %s", (text, pointer, shape) => {
    const error = errorOf(text, pointer);

    expect(error).toMatchObject({ code: "UNEXPECTED_RESPONSE", fields: { shape } });
    expect(error).toHaveProperty("message", expect.stringContaining("--list-pointer"));
    expect(String(error)).not.toContain("secret");
  });

  it.each([`"${B}"`, "7", `["${A}"]`])(
    "ends the run where an entry's own uuid %s differs from its key",
    (own) => {
      expect(errorOf(`{"data":{"${A}":{"uuid":${own}}}}`)).toMatchObject({ code: "UNEXPECTED_RESPONSE" });
    },
  );

  it.each([
    "",
    "<!doctype html>",
    "[",
    `[${a}`,
    `[${a},]`,
    `[${a}]]`,
    `[${a} ${b}]`,
    `{"data":[${a}]`,
    `{"data":[${a}],}`,
    `{"data":[${a}],"x":flase}`,
    `{"data":[${a}],"x":"\t"}`,
    `{"data":[{"uuid":"${A}","n":01}]}`,
    `{"data":[{"uuid":"${A}","t":"\\x"}]}`,
    `{"data":{"${A}":{"n":+1}}}`,
    `{"result":nul}`,
    `{'data':[]}`,
  ])("%s is not JSON: unusable, and a retry may succeed", (text) => {
    const error = errorOf(text);

    expect(error).toBeInstanceOf(UnusableBody);
    expect(error).toHaveProperty("message", "a body that is not JSON");
    expect(error).not.toBeInstanceOf(SyncError);
  });

  it.each([
    ["a byte that continues nothing", [0x80]],
    ["a surrogate", [0xed, 0xa0, 0x80]],
    ["an overlong form", [0xc0, 0xaf]],
    ["a character that breaks off inside", [0xe2, 0x82, 0x61]],
    ["what no character begins with", [0xff, 0x61]],
    ["a character that is cut off", [0xc3]],
  ])("that is not UTF-8 is unusable: %s", (_, malformed) => {
    const pages = [
      [`[{"uuid":"${A}","t":"`, '"}]'],
      ['{"data":{"', '":{}}}'],
      ['{"data":[],"x":"', '"}'],
    ] as const;
    for (const [before, after] of pages) {
      const bytes = Buffer.concat([Buffer.from(before), Buffer.from([...malformed]), Buffer.from(after)]);

      expect(() => readPage(bytes, undefined, 1)).toThrow(new UnusableBody("a body that is not UTF-8"));
    }
  });

  it("may have text of any script, a byte order mark, and its list behind a key of any script", () => {
    const entry = `{"uuid":"${A}","t":"ж\ud83d\udc4dé"}`;

    expect(read(`\ufeff{"ж":"é","данные":[${entry}],"total":1}`, "/данные")).toMatchObject({
      events: [{ uuid: A, listing: entry }],
      hints: { total: { count: 1 } },
    });
  });

  it("says what the rest of the page hints", () => {
    expect(read(`{"data":{"events":[${a}],"next":"x"},"meta":{"total":7}}`).hints).toEqual({
      total: { pointer: "/meta/total", count: 7 },
      next: "/data/next",
    });
    expect(read(`{"result":{"items":[],"total":7}}`, "/result/items").hints.total?.pointer).toBe(
      "/result/total",
    );
  });

  it("is the same in pieces of any size", () => {
    const entry = fc.oneof(
      fc.record({ uuid: fc.uuid(), text: fc.string({ unit: "binary" }), n: fc.double() }),
      fc.jsonValue(),
    );
    const pages = fc
      .record({
        entries: fc.array(entry),
        shape: fc.nat(3),
        indent: fc.nat(2),
        pieceBytes: fc.integer({ min: 1, max: 40 }),
      })
      .map(({ entries, shape, indent, pieceBytes }) => {
        const keyed = {
          data: Object.fromEntries(entries.map((each) => [uuidOf(JSON.stringify(each)), each])),
        };
        const shapes = [entries, { total: 0, data: entries }, keyed, { data: { events: entries, x: [1] } }];
        return { text: `\ufeff${JSON.stringify(shapes[shape], null, indent)}`, pieceBytes };
      });
    fc.assert(
      fc.property(pages, ({ text, pieceBytes }) => {
        expect(outcome(() => readPage(Buffer.from(text), undefined, pieceBytes))).toEqual(
          outcome(() => read(text)),
        );
      }),
      { numRuns: 200 },
    );
  });

  it.each([A, `{"uuid":"${A}","t":"${"\u0436".repeat(100_000)}"}`])(
    "cut off at any byte is unusable",
    (end) => {
      const bytes = Buffer.from(`\ufeff{"data":[${a},${b},${end}`);
      for (const length of [0, 1, 2, 3, 4, 11, 12, bytes.length - 1, bytes.length]) {
        expect(() => readPage(bytes.subarray(0, length))).toThrow(UnusableBody);
      }
    },
  );

  it("is not held: of its text there are never more than a few MiB in memory", () => {
    const reader = new ListReader(undefined);
    const entry = Buffer.from(`{"text":"${"x".repeat(1_000_000)}"},`);
    reader.add(Buffer.from('{"data":['));
    const before = process.memoryUsage().arrayBuffers;

    for (let n = 0; n < 64; n += 1) reader.add(entry);

    expect(process.memoryUsage().arrayBuffers - before).toBeLessThan(8 * 1_048_576);
    reader.add(Buffer.from(`${b}]}`));
    expect(reader.end()).toMatchObject({ entries: { events: { length: 1 }, rejected: 64 } });
  });

  it("with much before its list is refused as soon as that is known, with the shape so far", () => {
    const reader = new ListReader(undefined);
    const act = () => {
      for (let n = 0; n < 100; n += 1) reader.add(Buffer.from(`${"0,".repeat(64_000)}`));
    };
    reader.add(Buffer.from('{"meta":{"a":1},"items":['));

    expect(act).toThrow(
      "has more than 4 MiB before any list of events (its shape so far is {meta: {a: number}, items: [number, … more than 100000 in all]})",
    );
  });

  it("counts an entry's contradiction only if no later list replaces it", () => {
    expect(uuids(`{"data":{"${A}":{"uuid":"${B}"}},"data":[${a}]}`)).toEqual([A]);
  });
});

const windowOf = (...pieces: readonly string[]): JsonWindow => {
  const window = new JsonWindow();
  for (const piece of pieces) window.add(Buffer.from(piece));
  return window;
};
const textOf = (window: JsonWindow): string => window.view().bytes.toString();

describe("the window on a text that arrives", () => {
  it("shows what has arrived and is not released", () => {
    const window = windowOf("[1,", "2,3");
    window.release(3);

    expect(textOf(window)).toBe("2,3");
    expect(window.length).toBe(3);
  });

  it("keeps its bytes when it grows and when it moves them", () => {
    const window = windowOf("a".repeat(16_000));
    window.release(15_999);
    for (let n = 0; n < 40_000; n += 1) window.add(Buffer.from("b"));

    expect(textOf(window)).toBe(`a${"b".repeat(40_000)}`);
  });
});
