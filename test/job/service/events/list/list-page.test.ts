import { describe, expect, it } from "vitest";
import { SyncError } from "../../../../../lambdas/job/errors/sync-error.ts";
import { parsePointer } from "../../../../../lambdas/job/json/json-pointers.ts";
import { OversizeJson } from "../../../../../lambdas/job/json/json-scanner.ts";
import { readListPage } from "../../../../../lambdas/job/service/events/list/list-page.ts";
import { shownNames } from "../../../../../lambdas/job/service/events/shape.ts";
import { UnusableBody } from "../../../../../lambdas/job/service/requests/failure.ts";
import { told } from "../../../../words/said.ts";

const A = "aaaaaaaa-0000-4000-8000-00000000000a";
const B = "bbbbbbbb-0000-4000-8000-00000000000b";
const a = `{"uuid":"${A}","n":1.10}`;
const b = `{"uuid":"${B}"}`;

const readPage = (bytes: Buffer, pointer?: string) => {
  const { events, ...page } = readListPage(
    bytes,
    pointer === undefined ? undefined : parsePointer(pointer),
    shownNames(() => []),
  );
  return { ...page, events: [...events] };
};
const read = (text: string, pointer?: string) => readPage(Buffer.from(text), pointer);
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

  it("has the shape of the first entry without a valid uuid", () => {
    expect(read(`[${b},{"id":"secret"},7]`)).toMatchObject({ rejected: 2, rejectedShape: "{id: string}" });
  });

  it("takes a key whose value is no object for an entry without a valid uuid", () => {
    expect(read(`{"data":{"${A}":1,"${B}":{}}}`)).toMatchObject({ events: [{ uuid: B }], rejected: 1 });
  });

  it.each([
    ["{}", undefined, "{}", undefined],
    ["7", undefined, "number", undefined],
    ['{"data":null}', undefined, "{data: null}", undefined],
    ['{"data":"secret"}', undefined, "{data: string}", undefined],
    [`{"events":[${b}]}`, undefined, "{events: [{uuid: string}]}", "/events"],
    [`{"pages":[{"rows":[${b}]}]}`, undefined, "{pages: [{rows: […]}]}", "/pages/0/rows"],
    [
      `{"new":[${a}],"old":[${a},${b}]}`,
      undefined,
      "{new: [{uuid: string, n: number}], old: [{uuid: string, n: number}, … 2 in all]}",
      "/old",
    ],
    [`{"data":{"${A}":{},"total":1}}`, undefined, "{data: {<uuid>: {}, total: number}}", undefined],
    [`{"data":{"events":{"${A}":{}}}}`, undefined, "{data: {events: {<uuid>: {…}}}}", "/data/events"],
    [`{"data":{"events":[],"${A}":{}}}`, undefined, "{data: {events: [], <uuid>: {}}}", undefined],
    [`{"${A}":{}}`, undefined, "{<uuid>: {}}", "''"],
    ['{"result":{"items":[]}}', undefined, "{result: {items: []}}", undefined],
    ['{"result":{"items":[]}}', "/result", "{result: {items: []}}", undefined],
    ['{"data":[]}', "/items", "{data: []}", undefined],
    ["{}", "/a/b", "{}", undefined],
    [' {"ж":7} ', undefined, "{ж: number}", undefined],
    ['{"data":"secret"}', "/data", "{data: string}", undefined],
  ])(
    "%s is no list (pointer %s): the error shows the shape %s and the pointer %s",
    (text, pointer, shape, found) => {
      const error = errorOf(text, pointer);

      const advice = found === undefined ? {} : { listPointer: found.replaceAll("'", "") };
      const place =
        found === undefined
          ? "--list-pointer to the place of the list"
          : `the place of the list: --list-pointer ${found}`;
      expect(error).toMatchObject({ code: "UNEXPECTED_RESPONSE", fields: { shape, ...advice } });
      expect(error).not.toHaveProperty(found === undefined ? "fields.listPointer" : "cause");
      expect(told(error)).toHaveProperty("message", expect.stringContaining(`set ${place}; it must`));
      expect(String(error)).not.toContain("secret");
    },
  );

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

      expect(() => readPage(bytes)).toThrow(new UnusableBody("a body that is not UTF-8"));
    }
  });

  it("may have text of any script, a byte order mark, and its list behind a key of any script", () => {
    const entry = `{"uuid":"${A}","t":"ж\ud83d\udc4dé"}`;

    expect(read(`\ufeff{"ж":"é","данные":[${entry}],"total":1}`, "/данные")).toMatchObject({
      events: [{ uuid: A, listing: entry }],
      beside: '{"ж":"é","данные":[],"total":1}',
      path: ["данные"],
    });
  });

  it.each([
    [`[${a},${b}]`, undefined, "[]", []],
    [
      `\ufeff {"data":{"events":[ ${a} ],"next":"x"}, "n":1.10}\n`,
      undefined,
      ' {"data":{"events":[],"next":"x"}, "n":1.10}\n',
      ["data", "events"],
    ],
    [`{"data":{"${A}":{}},"x":"ж"}`, undefined, '{"data":{},"x":"ж"}', ["data"]],
    [`[{"x/y":[${a}]},2]`, "/0/x~1y", '[{"x/y":[]},2]', ["0", "x/y"]],
  ])("keeps what is beside the list of %s (pointer %s)", (text, pointer, beside, path) => {
    expect(read(text, pointer)).toMatchObject({ beside, path });
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

  it.each([
    [
      "an entry of more than 4 MiB",
      `[{"uuid":"${A}","t":"${"x".repeat(4 * 1_048_576)}"}]`,
      "has an entry of more than 4 MiB",
    ],
    [
      "more than 4 MiB beside its entries",
      `{"data":[],"x":"${"x".repeat(4 * 1_048_576)}"}`,
      "has more than 4 MiB beside its entries",
    ],
    [
      "more than 1,000 levels",
      `[${"[".repeat(1_001)}${"]".repeat(1_001)}]`,
      "is nested more than 1,000 levels deep",
    ],
  ])("with %s is refused", (_, text, problem) => {
    expect(() => read(text)).toThrow(new OversizeJson(problem));
  });

  it.each([
    ["an entry of 4 MiB", `[{"uuid":"${A}","t":"${"x".repeat(4 * 1_048_576 - 54)}"}]`],
    ["4 MiB beside its entries", `{"data":[${a}],"x":"${"x".repeat(4 * 1_048_576 - 16)}"}`],
    ["1,000 levels", `[{"uuid":"${A}","t":${"[".repeat(998)}${"]".repeat(998)}}]`],
  ])("may have %s", (_, text) => {
    expect(uuids(text)).toEqual([A]);
  });

  it("with more entries than are left is refused", () => {
    expect(() => readListPage(Buffer.from(`[${a},1,${b}]`), undefined, (name) => name, 2)).toThrow(
      new OversizeJson("has more than 1,000,000 entries"),
    );
    expect(readListPage(Buffer.from(`[${a},1]`), undefined, (name) => name, 2)).toMatchObject({
      rejected: 1,
    });
  });

  it.each([
    ['{"data":null,"total":2}', ["data"], '{"data":[],"total":2}'],
    ['{"data":{"events":null}}', ["data", "events"], '{"data":{"events":[]}}'],
    ["null", [], "[]"],
  ])("as %s has no entries where the list before was at %j", (text, listBefore, beside) => {
    const page = readListPage(Buffer.from(text), undefined, (name) => name, 9, listBefore);

    expect(page).toMatchObject({ events: { length: 0 }, rejected: 0, beside, path: listBefore });
    expect(() => read(text)).toThrow(SyncError);
  });

  it.each([
    ["{}", ["data", "events"]],
    ['{"data":"busy"}', ["data"]],
    ['{"data":[],"list":null}', ["list", "0", "1"]],
  ])("as %s is none where the list before was at %j", (text, listBefore) => {
    const pointer = ["list"];

    expect(() => readListPage(Buffer.from(text), pointer, (name) => name, 9, listBefore)).toThrow(SyncError);
  });

  it.each([
    [4 * 1_048_576, "/ж"],
    [4 * 1_048_576 + 1, undefined],
  ])("of %i bytes without a list names the place of one that is elsewhere: %s", (length, listPointer) => {
    const begin = `{"ж":[${a}],"x":"`;
    const text = `\ufeff${begin}${"x".repeat(length - Buffer.byteLength(begin) - 2)}"}`;

    expect(() => readListPage(Buffer.from(text), undefined, (name) => name)).toThrow(
      expect.objectContaining({
        fields: { ...(listPointer && { listPointer }), shape: expect.stringContaining("string") },
      }),
    );
  });

  it("counts an entry's contradiction only if no later list replaces it", () => {
    expect(uuids(`{"data":{"${A}":{"uuid":"${B}"}},"data":[${a}]}`)).toEqual([A]);
  });
});
