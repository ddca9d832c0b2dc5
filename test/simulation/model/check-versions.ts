// Two versions: what one has begun in a format that the other does not know is left alone by it.

import { gunzipSync } from "node:zlib";
import { z } from "zod";
import type { Model } from "./model.ts";

const HEADER = z.object({ version: z.number() });

/** A process has made a plan, or staged work of one. All those that its version works at have one format. */
export function checkFormat(model: Model, runId: string, process: string): void {
  const version = model.processes.get(process)?.version;
  const { objects, plan } = model.world;
  const stored = objects.asWritten(`runs/${model.account.name}/${runId}/plan.ndjson.gz`);
  if (version === undefined || stored === undefined || !plan.setting.hasTwoVersions) return;
  const [header = ""] = gunzipSync(stored.bytes).toString().split("\n", 1);
  const { version: format } = HEADER.parse(JSON.parse(header));
  const known = model.formats.get(version) ?? format;
  model.formats.set(version, known);
  if (known !== format)
    model.fail(
      `${process} works at a plan of the format ${format}, and its version, ${version}, at ${known} before`,
    );
}
