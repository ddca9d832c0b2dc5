// The statements of a policy, with lists where IAM accepts one string or several.

import { z } from "zod";
import type { Resource } from "./synthesized.ts";

const list = z.union([z.string().transform((one) => [one]), z.array(z.string())]);
const statementSchema = z.object({
  Effect: z.string(),
  Action: list,
  Resource: list,
  Principal: z.unknown().optional(),
  Condition: z.record(z.string(), z.unknown()).optional(),
});

export type Statement = z.output<typeof statementSchema>;

export function statements(resource: Resource, key = "PolicyDocument"): readonly Statement[] {
  return z.object({ Statement: z.array(statementSchema) }).parse(resource.properties[key]).Statement;
}
