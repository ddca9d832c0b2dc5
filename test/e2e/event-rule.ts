// A rule of EventBridge from the template: which events it matches, and what its target is called with.

import { z } from "zod";

/** Lists of exact values, at any depth: each names what one field may be. Other comparisons are refused. */
type Pattern = { readonly [key: string]: readonly string[] | Pattern };
const patternSchema: z.ZodType<Pattern> = z.lazy(() =>
  z.record(z.string(), z.union([z.array(z.string()).min(1), patternSchema])),
);

const ruleSchema = z.strictObject({
  Description: z.string().optional(),
  EventPattern: patternSchema,
  State: z.literal("ENABLED"),
  Targets: z.tuple([
    z.strictObject({
      Id: z.string(),
      Arn: z.string(),
      DeadLetterConfig: z.strictObject({ Arn: z.string() }),
      InputTransformer: z.strictObject({
        InputPathsMap: z.record(z.string(), z.string().regex(/^\$(\.\w+)+$/)),
        InputTemplate: z.string(),
      }),
      RetryPolicy: z.strictObject({ MaximumEventAgeInSeconds: z.number() }),
    }),
  ]),
});

export class EventRule {
  readonly #rule: z.output<typeof ruleSchema>;

  /** @param properties resolved. Throws for what is not evaluated here. */
  constructor(properties: unknown) {
    this.#rule = ruleSchema.parse(properties);
  }

  get target(): string {
    return this.#rule.Targets[0].Arn;
  }

  matches(event: unknown): boolean {
    return isMatch(this.#rule.EventPattern, event);
  }

  /** What the target gets for an event. */
  inputFor(event: unknown): unknown {
    const { InputPathsMap, InputTemplate } = this.#rule.Targets[0].InputTransformer;
    // EventBridge guide, "Input transformation": outside of quotes a variable becomes JSON.
    const text = InputTemplate.replaceAll(/<([\w-]+)>/g, (_, name: string) => {
      const path = InputPathsMap[name];
      if (path === undefined) throw new Error(`the template names ${name}, which has no path`);
      return JSON.stringify(valueAt(event, path.split(".").slice(1)) ?? null);
    });
    return JSON.parse(text);
  }
}

function isMatch(pattern: Pattern, event: unknown): boolean {
  return Object.entries(pattern).every(([key, wanted]) => {
    const value = valueAt(event, [key]);
    return isList(wanted) ? wanted.some((each) => each === value) : isMatch(wanted, value);
  });
}

function isList(wanted: readonly string[] | Pattern): wanted is readonly string[] {
  return Array.isArray(wanted);
}

function valueAt(value: unknown, [key, ...keys]: readonly string[]): unknown {
  if (key === undefined) return value;
  if (typeof value !== "object" || value === null) return undefined;
  return valueAt(new Map(Object.entries(value)).get(key), keys);
}
