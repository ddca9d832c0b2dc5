// The result of an invocation, as a test reads it.

import { z } from "zod";
import type { InvocationResult } from "./execution-environment.ts";

const payloadSchema = z.record(z.string(), z.unknown());

/** Throws the error of a failed invocation. */
export function payload(result: InvocationResult): Readonly<Record<string, unknown>> {
  if (result.ok) return payloadSchema.parse(result.payload);
  throw new Error(`the invocation failed: ${result.errorType}: ${result.errorMessage}`);
}

const metricsSchema = z.object({
  _aws: z.object({
    CloudWatchMetrics: z.tuple([
      z.object({ Namespace: z.string(), Dimensions: z.array(z.array(z.string())) }),
    ]),
  }),
  account: z.string(),
});

export interface MetricLine {
  readonly namespace: string;
  readonly dimensions: readonly (readonly string[])[];
  readonly values: Readonly<Record<string, unknown>>;
}

/** The log lines with an account's metrics. */
export function metricLines(lines: readonly string[], account: string): readonly MetricLine[] {
  return jsonLines(lines).flatMap((values) => {
    const parsed = metricsSchema.safeParse(values);
    if (!parsed.success || parsed.data.account !== account) return [];
    const [{ Namespace, Dimensions }] = parsed.data._aws.CloudWatchMetrics;
    return [{ namespace: Namespace, dimensions: Dimensions, values }];
  });
}

/** The lines that are a JSON object. */
export function jsonLines(lines: readonly string[]): readonly Readonly<Record<string, unknown>>[] {
  return lines.flatMap((line) => {
    try {
      const parsed = payloadSchema.safeParse(JSON.parse(line));
      return parsed.success ? [parsed.data] : [];
    } catch {
      return [];
    }
  });
}
