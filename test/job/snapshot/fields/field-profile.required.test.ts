import { describe, expect, test } from "vitest";
import { RequiredFields } from "../../../../lambdas/job/snapshot/fields/field-profile.ts";

describe("a required field", () => {
  test.each([
    ["/date", '{"date":"2026-01-01"}', 0],
    ["/date", '{"date":null}', 1],
    ["/date", "{}", 1],
    ["/date", '{"a":{"date":1}}', 1],
    ["/date", '{"date":""}', 0],
    ["/date", '{"date":0}', 0],
    ["/date", '{"date":false}', 0],
    ["/date", '{"date":{}}', 0],
    ["/date", '{"date":"null"}', 0],
    ["/d\u00e4te", '{"d\\u00e4te":1}', 0],
    ["/date", '{"date":1,"date":null}', 1],
    ["/date", '{"date":null,"date":1}', 0],
    ["/brand/name", '{"brand":{"name":"x"}}', 0],
    ["/brand/name", '{"brand":null}', 1],
    ["/brand/name", '{"brand":"name"}', 1],
    ["/brands/0/name", '{"brands":[{"name":"x"},{}]}', 0],
    ["/brands/1/name", '{"brands":[{"name":"x"},{}]}', 1],
    ["/brands/2", '{"brands":[1,2]}', 1],
    ["/a~1b/~0", '{"a/b":{"~":1}}', 0],
  ])("%s in %s is lacking in %i events", (pointer, event, lacking) => {
    const required = new RequiredFields([pointer]);

    required.add(event);

    expect(required.incomplete).toEqual({ events: lacking, fields: [{ pointer, events: lacking }] });
  });

  test("is counted for itself, and an event that lacks several is one incomplete event", () => {
    const required = new RequiredFields(["/a", "/b", "/a"]);

    for (const event of ["{}", '{"a":1}', '{"a":1,"b":2}', '{"b":1}']) required.add(event);

    expect(required.incomplete).toEqual({
      events: 3,
      fields: [
        { pointer: "/a", events: 2 },
        { pointer: "/b", events: 2 },
      ],
    });
  });
});
