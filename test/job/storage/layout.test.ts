// Which keys are of the layout, which instant a run's id names, and which texts are places in S3.

import { expect, it, test } from "vitest";
import { formatRunId, isOfLayout, layout, runInstant } from "../../../lambdas/job/storage/layout.ts";
import { isS3, parseS3Location } from "../../../lambdas/job/storage/s3/s3-location.ts";

const RUN = "2026-11-21T06-00-00.000Z";

test.each([
  layout("uk").part(RUN, 7),
  layout("uk").manifest(RUN),
  layout("uk").leftOut(RUN),
  layout("uk").held(RUN),
  layout("uk").retired(RUN),
  layout("uk").changesPart("0000000012", RUN, 0),
  layout("uk").publication("0000000012"),
  layout("uk").runLog(RUN, 10),
  layout("uk").plan(RUN),
  layout("uk").record(RUN, 99_999),
  `${layout("uk").snapshot(RUN)}_digests.bin`, // of earlier versions
  layout("uk").rows(RUN, 1, "0b9e-4c"),
  `${layout("uk").changes("0000000001", RUN)}_lost.json`, // of an earlier version
  layout("uk").outcome(RUN),
  layout("uk").writeCheck("5e0b63b6-4b0a-4f3c-9a86-0f3d63a1f0f5"),
  layout("a-b_c").lease,
  layout("uk").loginRefused,
])("%s is of the layout", (key) => {
  expect(isOfLayout(key)).toBe(true);
});

test.each([
  "snapshots/uk/2026-11-21T06-00-00.000Z/part-00000 (1).ndjson.gz",
  "snapshots/uk/2026-11-21T06-00-00.000Z/part-00000.ndjson.gz.bak",
  "snapshots/uk/2026-11-21T06-00-00.000Z/z/part-00000.ndjson.gz",
  "snapshots/uk/2026-11-21T06-00-00.000Z/_notes.json",
  "snapshots/uk/part-00000.ndjson.gz",
  "snapshots/Uk/2026-11-21T06-00-00.000Z/part-00000.ndjson.gz",
  "changes/uk/1/2026-11-21T06-00-00.000Z/part-00000.ndjson.gz",
  "publications/uk/1.ndjson",
  "publications/0000000001.ndjson",
  "copy/publications/uk/0000000001.ndjson",
  "run-log/uk/a copy (1).json",
  "runs/uk/2026-11-21T06-00-00.000Z/a copy (1).json",
  "runs/uk/2026-11-21T06-00-00.000Z/id_rsa",
  "accounts/uk/credentials.json",
  "credentials.json",
  "views.sql",
  "",
])("%j is not", (key) => {
  expect(isOfLayout(key)).toBe(false);
});

test("a run id is the start instant in UTC", () => {
  expect(formatRunId(Date.UTC(2026, 10, 21, 6, 0, 0, 0))).toBe("2026-11-21T06-00-00.000Z");
});

test.each([
  { id: "2026-11-21T06-00-00.000Z", instant: Date.UTC(2026, 10, 21, 6) },
  { id: "2026-11-21T06:00:00.000Z", instant: undefined },
  { id: "2026-13-45T06-00-00.000Z", instant: undefined },
  { id: "../../etc", instant: undefined },
])("$id names the instant $instant", ({ id, instant }) => {
  expect(runInstant(id)).toBe(instant);
});

it.each([
  ["s3://my-bucket", { bucket: "my-bucket", prefix: "" }],
  ["s3://my-bucket/", { bucket: "my-bucket", prefix: "" }],
  ["s3://my.bucket/a", { bucket: "my.bucket", prefix: "a/" }],
  ["s3://my-bucket/a/b_c/", { bucket: "my-bucket", prefix: "a/b_c/" }],
])("%s is a warehouse in S3", (text, expected) => {
  expect(isS3(text)).toBe(true);
  expect(parseS3Location(text)).toEqual(expected);
});

it.each(["./warehouse", "/s3:/x", "s3", "warehouse/s3://x"])("%s is a directory", (text) => {
  expect(isS3(text)).toBe(false);
});

it.each([
  "s3:",
  "s3://",
  "s3:///a",
  "S3://bucket",
  "s3://ab",
  "s3://a_b",
  "s3://-bucket",
  "s3://bucket/a b",
  "s3://bucket/../x",
])("%s is neither", (text) => {
  expect(isS3(text)).toBe(true);
  expect(() => parseS3Location(text)).toThrow(/expected s3:\/\/bucket/);
});
