// Rows that hold what is deployed against the deployed template: every resource, and every property of it. What they cannot
// compare is a row of its own.

import type { Deployed, Stated } from "./deployment.ts";
import { BUCKET } from "./described-bucket.ts";
import { FUNCTION, QUEUE, RULES, SCHEDULES, STATE_MACHINE } from "./described-compute.ts";
import { GLUE_TABLES, SECRETS, WORKGROUP } from "./described-data.ts";
import { ALARMS, DASHBOARD, LOG, SUBSCRIPTION, TOPIC } from "./described-monitoring.ts";
import { KEY, POLICIES } from "./described-rights.ts";
import { compare, UNKNOWN } from "./differences.ts";
import type { Kind } from "./kind.ts";
import { type At, listed, must, type Row, Skipped, UNDO } from "./row.ts";

/** By the name of their row. */
export const KINDS: Readonly<Record<string, readonly Kind[]>> = {
  function: FUNCTION,
  schedules: SCHEDULES,
  "state machine": STATE_MACHINE,
  rules: RULES,
  queue: QUEUE,
  alarms: ALARMS,
  dashboard: DASHBOARD,
  tables: GLUE_TABLES,
  workgroup: WORKGROUP,
  "own bucket": BUCKET,
  secrets: SECRETS,
  log: LOG,
  topic: TOPIC,
  key: KEY,
  policies: POLICIES,
};

/** By type. The row "subscriptions" looks at more than what the template says. */
export const KIND_OF: ReadonlyMap<string, Kind> = new Map(
  [...Object.values(KINDS).flat(), SUBSCRIPTION].map((kind) => [kind.type, kind]),
);

/** Types that no row reads, each with the reason why that hides no defect. */
const NOT_READ: Readonly<Record<string, string>> = {
  "AWS::EC2::SecurityGroup": "the runs show that the function reaches the service; the row drift compares it",
  "AWS::CDK::Metadata": "it is no resource of AWS",
};

export const AS_STATED: readonly Row[] = [
  ...Object.entries(KINDS).map(([name, kinds]) => ({
    name,
    does: `reads ${kinds.map(({ type }) => type.replace("AWS::", "").replace("::", " ")).join(", ")}`,
    expects: "each is there, as the deployed template says, with nothing else",
    remedy: UNDO,
    see: async ({ deployed }: At) => {
      const stated = kinds.flatMap(({ type }) => deployed.stated(type));
      if (stated.length === 0) throw new Skipped("the template has none: the app has brought its own");
      await mustBeAsStated(deployed, stated);
      return `${stated.length} as the template says`;
    },
  })),
  {
    name: "not compared",
    does: "looks for resources and properties of the template that the rows above cannot compare",
    expects: "none",
    remedy:
      "compare it by hand, then run the acceptance with --except '<name>=<the reason why it is right>'; a name is what stands before the colon",
    see: async ({ deployed, exceptions = new Map() }) => {
      const all = deployed.types.flatMap(deployed.stated).flatMap(notCompared);
      const open = all.filter((name) => !exceptions.has(name));
      must(open.length === 0, listed(open.map((name) => `${name}: not compared`)));
      return exceptions.size === 0 ? "none" : listed([...exceptions].map(([name, why]) => `${name}: ${why}`));
    },
  },
];

export async function mustBeAsStated(deployed: Deployed, stated: readonly Stated[]): Promise<void> {
  const all = stated.map(async (each) => {
    const wrong = await wrongIn(deployed, each);
    return wrong.length === 0 ? [] : [`${titleOf(each)}: ${wrong.join("; ")}`];
  });
  const wrong = (await Promise.all(all)).flat();
  must(wrong.length === 0, listed(wrong));
}

function titleOf({ id, type, properties }: Stated): string {
  const { Name } = properties;
  return `${type.split("::").at(-1)} ${typeof Name === "string" ? Name : nameIn(id)}`;
}

const nameIn = (id: string): string => id.split(/[:/|]/).at(-1) ?? id;

/** The resource, or those of its properties whose stated values are not known. */
function notCompared(resource: Stated): readonly string[] {
  const { type, properties } = resource;
  if (type in NOT_READ) return [];
  const { unknown } = compare(properties, properties);
  return KIND_OF.has(type) ? unknown.map((path) => `${titleOf(resource)} ${path}`) : [titleOf(resource)];
}

/** A property that reading the resource needs. */
class NotKnown extends Error {}

async function wrongIn(deployed: Deployed, resource: Stated): Promise<readonly string[]> {
  const kind = KIND_OF.get(resource.type);
  if (kind === undefined) return [];
  try {
    const { found } = await read(deployed, kind, resource);
    return found === undefined
      ? ["expected to be there, found nothing"]
      : compare(resource.properties, found, kind.filledIn).differences;
  } catch (error) {
    // The row "not compared" names it.
    if (error instanceof NotKnown) return [];
    return [
      `expected to be there, found ${error instanceof Error ? `${error.name}: ${error.message}` : error}`,
    ];
  }
}

export interface Read {
  /** What AWS says of it; undefined where it is not there. */
  readonly found: object | undefined;
  /** The properties that it is read by, or that no call returns: they are in `found` as the template states them. */
  readonly assumed: readonly string[];
}

export async function read(
  { clients, stackTags, arn }: Pick<Deployed, "arn" | "clients" | "stackTags">,
  { read: ask, notReturned = {} }: Kind,
  { id, properties }: Stated,
): Promise<Read> {
  const assumed = new Set(Object.keys(notReturned));
  const text = (property: string): string => {
    const value = [properties[property]].flat()[0];
    if (value === UNKNOWN) throw new NotKnown(property);
    if (typeof value !== "string") throw new Error(`${property} is ${String(value)}`);
    assumed.add(property);
    return value;
  };
  const answer = await ask(clients, { name: nameIn(id), id, text, arn });
  const asStated = Object.fromEntries([...assumed].map((property) => [property, properties[property]]));
  const found = answer && { ...withoutTagsOf(stackTags, properties, answer), ...asStated };
  return { found, assumed: [...assumed].filter((property) => property in properties) };
}

/** CloudFormation gives resources the tags of the stack, and some of its own, which begin with `aws:`. */
function withoutTagsOf(stackTags: Tags, { Tags: stated = [] }: Stated["properties"], found: object): object {
  if (!("Tags" in found) || !Array.isArray(found.Tags)) return found;
  const names = new Set([stated].flat().map((tag) => Object(tag).Key));
  const Tags = found.Tags.filter(
    ({ Key, Value }) => !String(Key).startsWith("aws:") && (names.has(Key) || stackTags.get(Key) !== Value),
  );
  return { ...found, Tags };
}

type Tags = Deployed["stackTags"];
