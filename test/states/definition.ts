// The part of the Amazon States Language that the interpreter runs, in JSONPath: anything else is refused.
// https://states-language.net/spec.html

import { z } from "zod";

const seconds = z.number().int().min(1).max(99_999_999);

/** These stand for many errors; a definition that is run here names each. */
const WILDCARDS: ReadonlySet<string> = new Set(["States.ALL", "States.TaskFailed"]);

const retrierSchema = z.strictObject({
  ErrorEquals: z
    .array(
      z.string().refine((name) => !WILDCARDS.has(name), "a name that stands for many errors is not run here"),
    )
    .min(1),
  IntervalSeconds: seconds.default(1),
  BackoffRate: z.number().min(1).default(2),
  MaxAttempts: z.number().int().min(0).max(99_999_999).default(3),
  MaxDelaySeconds: seconds.optional(),
  JitterStrategy: z.enum(["FULL", "NONE"]).default("NONE"),
});

const about = { Comment: z.string().optional() };
/** Where the execution goes from a state. */
const onwards = { Next: z.string().optional(), End: z.literal(true).optional() };

const stateSchema = z.discriminatedUnion("Type", [
  z.strictObject({
    ...about,
    ...onwards,
    Type: z.literal("Task"),
    /** The function's ARN itself: the state's result is what the function returns. */
    Resource: z
      .string()
      .regex(/^arn:aws[a-z-]*:lambda:[^:]*:[^:]*:function:/, "expected the ARN of a function"),
    Parameters: z.record(z.string(), z.json()).optional(),
    /** The language's default is a minute; the engine has none, so a definition names its own. */
    TimeoutSeconds: seconds,
    Retry: z.array(retrierSchema).default([]),
  }),
  z.strictObject({
    ...about,
    Type: z.literal("Choice"),
    Choices: z
      .array(z.strictObject({ Variable: z.string(), BooleanEquals: z.boolean(), Next: z.string() }))
      .min(1),
    Default: z.string().optional(),
  }),
  z.strictObject({ ...about, ...onwards, Type: z.literal("Wait"), SecondsPath: z.string() }),
  z.strictObject({ ...about, Type: z.literal("Succeed") }),
  z.strictObject({ ...about, Type: z.literal("Fail"), Error: z.string(), Cause: z.string().default("") }),
]);

const definitionSchema = z
  .strictObject({
    ...about,
    StartAt: z.string(),
    TimeoutSeconds: seconds.optional(),
    States: z.record(z.string(), stateSchema),
  })
  .superRefine(({ StartAt, States }, context) => {
    const refuse = (message: string): void => context.addIssue({ code: "custom", message });
    const named = [StartAt, ...Object.values(States).flatMap(nextOf)];
    for (const name of named) if (!(name in States)) refuse(`there is no state ${name}`);
    for (const [name, state] of Object.entries(States)) {
      if ("TimeoutSeconds" in state || state.Type === "Wait") {
        if ((state.Next === undefined) !== (state.End === true))
          refuse(`${name}: expected either Next or End`);
      }
    }
  });

export type Definition = z.output<typeof definitionSchema>;
export type State = Definition["States"][string];
export type TaskState = Extract<State, { readonly Type: "Task" }>;
export type Retrier = z.output<typeof retrierSchema>;

/** Throws an `Error` that names everything in `definition` that is not run here. */
export function parseDefinition(definition: unknown): Definition {
  const parsed = definitionSchema.safeParse(definition);
  if (parsed.success) return parsed.data;
  throw new Error(`This state machine is not run here.\n${z.prettifyError(parsed.error)}`);
}

function nextOf(state: State): readonly string[] {
  switch (state.Type) {
    case "Task":
    case "Wait":
      return state.Next === undefined ? [] : [state.Next];
    case "Choice":
      return [
        ...state.Choices.map(({ Next }) => Next),
        ...(state.Default === undefined ? [] : [state.Default]),
      ];
    case "Succeed":
    case "Fail":
      return [];
  }
}
