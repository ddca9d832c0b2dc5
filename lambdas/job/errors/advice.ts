// What a person can do, as data: words, and between them settings and commands, which `lambdas/words` spells for the place
// where they are read. It is stored as it is, so what was stored in AWS helps on a laptop, and the other way round.

import * as z from "zod";

/** Settings that advice names, by their key in settings files. */
const SETTINGS = [
  "authUrl",
  "baseUrl",
  "bytesPerMinute",
  "concurrency",
  "credentials",
  "detailPointer",
  "isListed",
  "lifted",
  "limitWindowSeconds",
  "listPointer",
  "maxDropPercent",
  "maxGrowthPercent",
  "maxMissingPercent",
  "nextPage",
  "requestsPerMinute",
  "require",
  "resumeWithinMinutes",
  "tokens",
  "warehouse",
] as const;

const COMMANDS = ["accept", "authorize", "check", "diff", "retire", "rollback", "run"] as const;
const DECISIONS = ["force", "fresh", "overDamaged"] as const;

const column = z.object({ name: z.string(), pointer: z.string() }).readonly();
/** A setting, and the value that it is to have, if one is known. */
const settingSchema = z
  .object({
    setting: z.enum(SETTINGS),
    value: z.union([z.string(), z.number(), z.array(column).readonly()]).optional(),
  })
  .readonly();
/** A command about the account, and what a person decides with it. */
const commandSchema = z
  .object({
    command: z.enum(COMMANDS),
    snapshotId: z.string().optional(),
    decision: z.enum(DECISIONS).optional(),
  })
  .readonly();

export const adviceSchema = z.array(z.union([z.string(), settingSchema, commandSchema])).readonly();

export type SettingRef = z.infer<typeof settingSchema>;
export type CommandRef = z.infer<typeof commandSchema>;
export type Advice = z.infer<typeof adviceSchema>;

type Inner = string | number | SettingRef | CommandRef | Advice;

/** Words with what stands between them: ``advise`Check ${setting("baseUrl")}.` ``. */
export function advise(texts: TemplateStringsArray, ...inner: readonly Inner[]): Advice {
  return texts.flatMap((text, index) => {
    const next = inner[index];
    const after = next === undefined ? [] : Array.isArray(next) ? next : [next];
    return [text, ...after]
      .filter((part) => part !== "")
      .map((part) => (typeof part === "number" ? String(part) : part));
  });
}

export function setting(name: SettingRef["setting"], value?: SettingRef["value"]): SettingRef {
  return value === undefined ? { setting: name } : { setting: name, value };
}

export function command(
  name: CommandRef["command"],
  { snapshotId, decision }: Omit<CommandRef, "command"> = {},
): CommandRef {
  return { command: name, ...(snapshotId && { snapshotId }), ...(decision && { decision }) };
}

/** One after the other, with a space between them. */
export function inOrder(...all: readonly (Advice | string | undefined)[]): Advice {
  const given = all.filter((each) => each !== undefined && each.length > 0);
  return given.flatMap((each, index) => [
    ...(index === 0 ? [] : [" "]),
    ...(typeof each === "string" ? [each] : (each ?? [])),
  ]);
}
