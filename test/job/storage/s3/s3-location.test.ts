import { expect, it } from "vitest";
import { isS3, parseS3Location } from "../../../../lambdas/job/storage/s3/s3-location.ts";

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
