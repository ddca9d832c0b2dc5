// The row that lets IAM simulate what the roles need: the permissions that the template gives them, which the tests hold
// against every call that the function makes.

import { z } from "zod";
import type { Deployed } from "./deployment.ts";
import { listed, must, type Row } from "./row.ts";

const strings = z.union([z.string().transform((one) => [one]), z.array(z.string())]);
const documentSchema = z.object({ Statement: z.array(z.unknown()) });
const statementSchema = z.object({
  Effect: z.literal("Allow"),
  Action: strings,
  Resource: strings,
  Condition: z.record(z.string(), z.record(z.string(), strings)).default({}),
});

export const RIGHTS: Row = {
  name: "rights",
  does: "lets IAM simulate, for each role of the template, the actions that it gives to it",
  expects:
    "each is allowed. It does not see the policies of keys and of the bucket: `check`, a run and a mail try those",
  remedy:
    'see the rows "policies" and "function"; where those are as stated, a boundary or a policy of your organization refuses the action: ask its owner',
  see: async ({ deployed }) => {
    const { calls, open } = await needed(deployed);
    const refused: string[] = [];
    for (const { role, actions, resource, context } of calls) {
      const { EvaluationResults = [] } = await deployed.clients.iam.simulatePrincipalPolicy({
        PolicySourceArn: role,
        ActionNames: [...actions],
        ResourceArns: [resource],
        ContextEntries: context.map(([ContextKeyName, value]) => ({
          ContextKeyName,
          ContextKeyValues: [value],
          ContextKeyType: "string",
        })),
      });
      const allowed = new Set(
        EvaluationResults.flatMap(({ EvalDecision, EvalActionName = "" }) =>
          EvalDecision === "allowed" ? [EvalActionName] : [],
        ),
      );
      const given = context.map(([key, value]) => ` with ${key} ${value}`).join("");
      for (const action of actions.filter((each) => !allowed.has(each)))
        refused.push(`${role.split("/").at(-1)} may not ${action} on ${resource}${given}`);
    }
    must(refused.length === 0, listed(refused));
    const roles = new Set(calls.map(({ role }) => role)).size;
    const skipped = open === 0 ? "" : `; ${open} statements name what is not known here`;
    return `${calls.length} simulations for ${roles} roles${skipped}; the policies of keys and of the bucket are not seen`;
  },
};

interface Needed {
  /** The ARN. */
  readonly role: string;
  readonly actions: readonly string[];
  readonly resource: string;
  readonly context: readonly (readonly [key: string, value: string])[];
}

/** One for each resource and each value of a condition. `open`: the statements that name what is not known here. */
async function needed({ clients, stated }: Deployed) {
  const calls: Needed[] = [];
  let open = 0;
  for (const { properties } of [...stated("AWS::IAM::Policy"), ...stated("AWS::IAM::ManagedPolicy")]) {
    for (const RoleName of z.array(z.string()).parse(properties["Roles"] ?? [])) {
      const { Role: { Arn: role = "" } = {} } = await clients.iam.getRole({ RoleName });
      for (const statement of documentSchema.parse(properties["PolicyDocument"]).Statement) {
        const {
          Action: actions,
          Resource = [],
          Condition = {},
        } = statementSchema.safeParse(statement).data ?? {};
        if (actions === undefined) open += 1;
        else
          for (const resource of Resource.map(instance))
            for (const context of contextsOf(Object.values(Condition)))
              calls.push({ role, actions, resource, context });
      }
    }
  }
  return { calls, open };
}

/** Each value of each key once. */
function contextsOf(
  conditions: readonly Readonly<Record<string, readonly string[]>>[],
): readonly Needed["context"][] {
  const keys = conditions.flatMap((each) => Object.entries(each));
  const most = Math.max(1, ...keys.map(([, values]) => values.length));
  return Array.from({ length: most }, (_, n) =>
    keys.map(([key, values]) => [key, instance(values[n % values.length] ?? "")] as const),
  );
}

/** One of those that a pattern stands for; IAM takes no wildcards in a simulation, except the one for everything. */
const instance = (pattern: string): string => (pattern === "*" ? pattern : pattern.replaceAll("*", "x"));
