import { describe, expect, it } from "vitest";
import {
  eventColumns,
  parseLiftedColumns,
  RESERVED_NAMES,
} from "../../../../lambdas/job/snapshot/rows/lifted-column.ts";

describe("a lifted column", () => {
  it.each([
    ["brand=/brand/name", "brand", "/brand/name"],
    ["_1=/", "_1", "/"],
    ["a=/x=y=z", "a", "/x=y=z"],
    ["a=/a~1b~0c", "a", "/a~1b~0c"],
    ["__proto__=/0", "__proto__", "/0"],
  ])("%s is %s from %s", (text, name, pointer) => {
    expect(parseLiftedColumns([text])).toEqual([{ name, pointer }]);
  });

  it.each([
    ["brand", "NAME=POINTER"],
    ["", "NAME=POINTER"],
    ["=/brand", "letter or _"],
    ["Brand=/brand", "letter or _"],
    ["1st=/first", "letter or _"],
    ["bränd=/brand", "letter or _"],
    ["a b=/brand", "letter or _"],
    ['a"=/brand', "letter or _"],
    [`${"a".repeat(256)}=/brand`, "letter or _"],
    ["uuid=/id", "reserved"],
    ["publication=/id", "reserved"],
    ["brand=", "part of the detail"],
    ["brand=brand", 'begin with "/"'],
    ["brand=/a~2", '"~" must be followed'],
  ])("%s is refused with: %s", (text, says) => {
    expect(() => parseLiftedColumns([text])).toThrow(
      expect.objectContaining({ code: "CONFIG_INVALID", message: expect.stringContaining(says) }),
    );
  });

  it.each(["brand", "Brand=/x", "uuid=/id", "brand="])("%s is repeated in the message", (text) => {
    expect(() => parseLiftedColumns(["ok=/ok", text])).toThrow(`got ${JSON.stringify(text)}`);
  });

  it("is refused under a name that is given twice, with both pointers", () => {
    expect(() => parseLiftedColumns(["a=/x", "b=/x", "a=/y"])).toThrow(/got a twice, for \/x and for \/y/);
  });

  it("keeps its place in the order given, after the columns of every row", () => {
    const columns = parseLiftedColumns(["z=/z", "a=/a"]);

    expect(eventColumns(columns)).toEqual(["uuid", "event_date", "scope", "event", "listing", "z", "a"]);
  });
});

it("the reserved names are those of the contract", () => {
  expect([...RESERVED_NAMES].sort()).toEqual(
    ["uuid", "event_date", "scope", "event", "listing", "account", "snapshot_id", "publication"].sort(),
  );
});
