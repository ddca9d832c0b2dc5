// A rule of EventBridge from the template: which events it matches, and what its target is called with.

import { z } from "zod";

/** Lists of exact values, at any depth: each names what one field may be. Other comparisons are refused. */
type Pattern = { readonly [key: string]: readonly string[] | Pattern };
const patternSchema: z.ZodType<Pattern> = z.lazy(() =>
  z.record(z.string(), z.union([z.array(z.string()).min(1), patternSchema])),
);

const ruleSchema = z.strictObject({
  Tags: z.unknown().optional(),
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

  /** What the target gets for an event, where the template is JSON. */
  inputFor(event: unknown): unknown {
    // EventBridge guide, "Input transformation": outside of quotes a variable becomes JSON.
    return JSON.parse(this.#filled((path) => JSON.stringify(valueAt(event, path) ?? null)));
  }

  /**
   * What the target gets for an event, where each line of the template is a text in quotes. In quotes a value stands as
   * it is ("EventBridge doesn't escape values"), and nothing stands for a value that the event does not have.
   */
  textFor(event: unknown): string {
    const { InputTemplate } = this.#rule.Targets[0].InputTransformer;
    for (const line of InputTemplate.split("\n")) z.string().parse(JSON.parse(line));
    const text = this.#filled((path) => String(valueAt(event, path) ?? ""));
    // What a value does to the line around it: a quote, a backslash or a line break would make it another one.
    for (const line of text.split("\n")) z.string().parse(JSON.parse(line));
    return text;
  }

  #filled(shown: (path: readonly string[]) => string): string {
    const { InputPathsMap, InputTemplate } = this.#rule.Targets[0].InputTransformer;
    return InputTemplate.replaceAll(/<([\w-]+)>/g, (_, name: string) => {
      const path = InputPathsMap[name];
      if (path === undefined) throw new Error(`the template names ${name}, which has no path`);
      return shown(path.split(".").slice(1));
    });
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
