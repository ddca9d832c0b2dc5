// A type of resource: the calls that read everything that AWS says of one, in the words of the template.

import type { Clients } from "./deployment.ts";
import type { FilledIn } from "./differences.ts";

export interface Kind {
  readonly type: string;
  /**
   * All that AWS says of it, so that new properties are seen too: what is there and not stated is a difference, unless
   * it is `filledIn`. Undefined where it is not there.
   */
  readonly read: (clients: Clients, resource: Named) => Promise<object | undefined>;
  readonly filledIn?: FilledIn;
  /** Properties that no call returns, each with the reason why that hides no defect. */
  readonly notReturned?: Readonly<Record<string, string>>;
}

/** A resource with the names that reading it needs. */
interface Named {
  /** The last part of its name or ARN. */
  readonly name: string;
  /** The name or ARN. */
  readonly id: string;
  /**
   * The text of a property that the template states, or the only one of its list. It is read by this name, so it is as
   * stated if it is there.
   */
  readonly text: (property: string) => string;
  /** In the stack's region and AWS account. */
  readonly arn: (service: string, resource: string) => string;
}

/** An answer without what is no property: what AWS says of itself, such as ARNs and dates. */
export function without(answer: object | undefined, names: string): Record<string, unknown> {
  const left = new Map(Object.entries(answer ?? {}));
  for (const name of ["$metadata", ...names.split(" ")]) left.delete(name);
  return Object.fromEntries([...left].filter(([, value]) => value !== undefined));
}

/** Of the services that begin their names with a small letter. */
export function capitalized(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(capitalized);
  if (typeof value !== "object" || value === null || value instanceof Date) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, each]) => [
      `${key[0]?.toUpperCase()}${key.slice(1)}`,
      capitalized(each),
    ]),
  );
}

/** Tags of all forms in that of CloudFormation. */
export function tagsOf(tags: unknown): { readonly Tags: readonly object[] } {
  if (Array.isArray(tags)) {
    const all = tags.map((tag) => ({
      Key: tag.Key ?? tag.TagKey ?? tag.key,
      Value: tag.Value ?? tag.TagValue ?? tag.value,
    }));
    return { Tags: all };
  }
  return { Tags: Object.entries(tags ?? {}).map(([Key, Value]) => ({ Key, Value })) };
}

/** The document of a policy, which IAM returns as a part of an address. */
export const decoded = (document: string | undefined): string => decodeURIComponent(document ?? "");

/** Undefined in place of the error that says that it is not there, or that the region does not have such a thing. */
export function unlessMissing(error: unknown): undefined {
  const isMissing =
    error instanceof Error &&
    /^(?:NoSuch\w*|ResourceNotFoundException|\w*NotFoundError|MethodNotAllowed)$/.test(error.name);
  if (!isMissing) throw error;
}
