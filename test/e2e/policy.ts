// Evaluates whether the policies of a role and of a bucket allow a call: allow and deny, wildcards, and the conditions
// that the stack uses. Anything else throws.

import { z } from "zod";
import type { AwsCall } from "./aws-call.ts";

const strings = z.union([z.string().transform((one) => [one]), z.array(z.string())]);

const statementSchema = z.strictObject({
  Sid: z.string().optional(),
  Effect: z.enum(["Allow", "Deny"]),
  /** In a resource's policy, where the stack uses `*` only. */
  Principal: z.strictObject({ AWS: z.literal("*") }).optional(),
  Action: strings,
  Resource: strings,
  Condition: z
    .partialRecord(z.enum(["StringEquals", "StringLike", "Bool", "Null"]), z.record(z.string(), strings))
    .optional(),
});
export type Statement = z.output<typeof statementSchema>;

export function parseStatements(statements: unknown): readonly Statement[] {
  return z.array(statementSchema).parse(statements);
}

/** Every resource of the call is allowed by a statement, and none is denied. */
export function isAllowed(statements: readonly Statement[], call: AwsCall): boolean {
  return call.resources.every((resource) => {
    const matching = statements.filter((statement) => applies(statement, call, resource));
    return (
      matching.some(({ Effect }) => Effect === "Allow") && !matching.some(({ Effect }) => Effect === "Deny")
    );
  });
}

/** Each action, resource and condition's value of an Allow statement that none of the calls needs. */
export function unused(statements: readonly Statement[], calls: readonly AwsCall[]): readonly string[] {
  return statements
    .filter(({ Effect }) => Effect === "Allow")
    .flatMap((statement) => {
      const name = statement.Sid ?? "(no Sid)";
      const isUsed = (part: Partial<Statement>): boolean =>
        calls.some((call) =>
          call.resources.some((resource) => applies({ ...statement, ...part }, call, resource)),
        );
      const actions = statement.Action.filter((action) => !isUsed({ Action: [action] }));
      const resources = statement.Resource.filter((resource) => !isUsed({ Resource: [resource] }));
      const values = conditionValues(statement).filter(({ Condition }) => !isUsed({ Condition }));
      return [
        ...actions.map((action) => `${name}: action ${action}`),
        ...resources.map((resource) => `${name}: resource ${resource}`),
        ...values.map(({ value }) => `${name}: condition ${value}`),
      ];
    });
}

/** The statement's condition with one of its values alone, for each of them. */
function conditionValues({ Condition = {} }: Statement) {
  return Object.entries(Condition).flatMap(([operator, keys]) =>
    Object.entries(keys).flatMap(([key, values]) =>
      values.map((value) => ({
        value,
        Condition: { ...Condition, [operator]: { ...keys, [key]: [value] } },
      })),
    ),
  );
}

function applies({ Action, Resource, Condition }: Statement, call: AwsCall, resource: string): boolean {
  return (
    Action.some((pattern) => isLike(pattern.toLowerCase(), call.action.toLowerCase())) &&
    Resource.some((pattern) => isLike(pattern, resource)) &&
    Object.entries(Condition ?? {}).every(([operator, keys]) =>
      Object.entries(keys).every(([key, values]) => holds(operator, call.conditions[key], values)),
    )
  );
}

function holds(operator: string, actual: string | undefined, values: readonly string[]): boolean {
  if (operator === "Null") return values.includes(String(actual === undefined));
  // IAM guide: a key that the request does not have makes the other operators false.
  if (actual === undefined) return false;
  return values.some((value) => (operator === "StringLike" ? isLike(value, actual) : value === actual));
}

/** IAM's wildcards: `*` for any text, `?` for one character. */
function isLike(pattern: string, text: string): boolean {
  const parts = pattern
    .split(/([*?])/)
    .map((part) => (part === "*" ? ".*" : part === "?" ? "." : part.replaceAll(/[\\^$+.()|[\]{}]/g, "\\$&")));
  return new RegExp(`^${parts.join("")}$`, "s").test(text);
}
