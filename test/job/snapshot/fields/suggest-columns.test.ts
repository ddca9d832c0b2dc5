import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { FieldProfiler } from "../../../../lambdas/job/snapshot/fields/field-profile.ts";
import { suggestColumns } from "../../../../lambdas/job/snapshot/fields/suggest-columns.ts";
import { parseLiftedColumns } from "../../../../lambdas/job/snapshot/rows/lifted-column.ts";
import { jsonText } from "../../json/json-texts.ts";

const suggested = (...events: readonly string[]): readonly string[] => {
  const profiler = new FieldProfiler();
  for (const event of events) profiler.add(JSON.parse(event));
  return suggestColumns(profiler.profile().fields, events.length).map(
    ({ name, pointer }) => `${name}=${pointer}`,
  );
};

describe("suggested columns", () => {
  it.each<[string, readonly string[]]>([
    ['{"name":"x","n":1,"on":true}', ["n=/n", "name=/name", "on=/on"]],
    ['{"uuid":"x","date":"x","scope":"x"}', []],
    ['{"brand":{"uuid":"x","date":"x"}}', ["date=/brand/date", "brand_uuid=/brand/uuid"]],
    ['{"always_null":null,"tags":["x"],"items":[{"a":1}],"empty":{}}', []],
    [
      '{"updatedAt":"x","sourceURL":"x","HTTPStatus":1}',
      ["http_status=/HTTPStatus", "source_url=/sourceURL", "updated_at=/updatedAt"],
    ],
    [
      '{"Länge (cm)":1,"2nd":1,"日本":1,"a/b~c":1}',
      ["_2nd=/2nd", "lange_cm=/Länge (cm)", "a_b_c=/a~1b~0c", "field=/日本"],
    ],
    ['{"account":"x","event":"x"}', ["account_2=/account", "event_2=/event"]],
    ['{"name":"x","sector":{"name":"x"}}', ["name=/name", "sector_name=/sector/name"]],
    ['{"a":{"id":1},"b":{"id":1}}', ["a_id=/a/id", "b_id=/b/id"]],
    ['{"a":{"x":{"id":1}},"b":{"x":{"id":1}}}', ["a_x_id=/a/x/id", "b_x_id=/b/x/id"]],
    ['{"a-b":1,"a_b":1,"a_b_2":1}', ["a_b=/a-b", "a_b_2=/a_b", "a_b_2_2=/a_b_2"]],
    ['{"x\\u001b[31m":1,"y\\u202e":1,"z\\ud800":1,"line\\nbreak":1}', []],
  ])("of %s are %j", (event, expected) => {
    expect(suggested(event)).toEqual(expected);
  });

  it("are of fields that at least half of the events have, null or not", () => {
    expect(suggested('{"a":1,"b":1,"c":null}', '{"b":1,"c":null}', '{"c":1}', "{}")).toEqual([
      "b=/b",
      "c=/c",
    ]);
  });

  it("are not of fields that are sometimes more than a scalar", () => {
    expect(suggested('{"a":1,"b":null}', '{"a":[],"b":"x"}')).toEqual(["b=/b"]);
  });

  it("can always be given to --lift as they are", () => {
    fc.assert(
      fc.property(fc.array(jsonText, { minLength: 1, maxLength: 4 }), (texts) => {
        const options = suggested(...texts.map(({ tight }) => tight));

        expect(parseLiftedColumns(options)).toHaveLength(options.length);
      }),
      { numRuns: 500 },
    );
  });
});
