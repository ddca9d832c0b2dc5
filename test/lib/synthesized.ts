// The stack's template as tests read it: without a bundle, with references as text.

import { readFileSync } from "node:fs";
import { App, Stack } from "aws-cdk-lib";
import { Template } from "aws-cdk-lib/assertions";
import { z } from "zod";
import { EventSync } from "../../lib/event-sync.ts";
import { DEFAULT_ID, parseSettings } from "../../lib/settings.ts";

const resourceSchema = z.object({
  Type: z.string(),
  Properties: z.record(z.string(), z.unknown()).default({}),
  DeletionPolicy: z.string().optional(),
  UpdateReplacePolicy: z.string().optional(),
});
const templateSchema = z.object({
  Resources: z.record(z.string(), resourceSchema),
  Outputs: z.record(z.string(), z.object({ Description: z.string(), Value: z.unknown() })),
});
const list = z.union([z.string().transform((one) => [one]), z.array(z.string())]);
const statementSchema = z.object({
  Effect: z.string(),
  Action: list,
  Resource: list,
  Principal: z.unknown().optional(),
  Condition: z.record(z.string(), z.unknown()).optional(),
});
const contextSchema = z.object({ context: z.record(z.string(), z.unknown()) });

export interface Resource {
  readonly name: string;
  readonly properties: Readonly<Record<string, unknown>>;
  readonly deletionPolicy: string | undefined;
  readonly updateReplacePolicy: string | undefined;
}

export interface Synthesized {
  /** The whole template, as text. */
  readonly text: string;
  /** The resources of a type, with references as text: `<Name>`, `<Name.Attribute>`. */
  readonly all: (type: string) => readonly Resource[];
  /** The only one of its type. */
  readonly only: (type: string) => Resource;
  readonly types: ReadonlySet<string>;
  readonly outputs: ReadonlyMap<string, string>;
}

export type Statement = z.output<typeof statementSchema>;

/** The context of `cdk.json`, which the CDK passes to the app and tests pass themselves. */
export const CONTEXT = contextSchema.parse(json("../../cdk.json")).context;
export const WITHOUT_BUNDLE = { "aws:cdk:bundling-stacks": [] };

/** The rules of CloudFormation take a second for each template; examples.long.test.ts checks them. */
export const WITHOUT_RULES = { builtinCloudFormationValidation: false };

/** The template for these settings, by default those of `cdk.json`. */
export function synthesized(eventSync: unknown = CONTEXT["eventSync"]): Synthesized {
  return templateOf(stackIn(newApp(), eventSync));
}

/** The stack of a deployment that is an app of its own. */
export function stackIn(app: App, eventSync: unknown): Stack {
  const stack = new Stack(app, "Stack");
  new EventSync(stack, DEFAULT_ID, { settings: parseSettings(eventSync) });
  return stack;
}

/** For stacks without a bundle. */
export function newApp(): App {
  return new App({ ...WITHOUT_RULES, context: { ...CONTEXT, ...WITHOUT_BUNDLE } });
}

export function templateOf(stack: Stack): Synthesized {
  const template: unknown = Template.fromStack(stack).toJSON();
  const { Resources, Outputs } = templateSchema.parse(template);
  const resources = Object.entries(Resources);
  const all = (type: string): readonly Resource[] =>
    resources
      .filter(([, { Type }]) => Type === type)
      .map(([name, { Properties, DeletionPolicy, UpdateReplacePolicy }]) => ({
        name,
        properties: z.record(z.string(), z.unknown()).parse(asText(Properties)),
        deletionPolicy: DeletionPolicy,
        updateReplacePolicy: UpdateReplacePolicy,
      }));
  const only = (type: string): Resource => {
    const [found, ...others] = all(type);
    if (found === undefined || others.length > 0) throw new Error(`expected exactly one ${type}`);
    return found;
  };
  const outputs = Object.entries(Outputs).map(([name, { Value }]) => [name, String(asText(Value))] as const);
  return {
    text: JSON.stringify(template),
    all,
    only,
    types: new Set(resources.map(([, { Type }]) => Type)),
    outputs: new Map(outputs),
  };
}

export function json(path: string): unknown {
  return JSON.parse(readFileSync(new URL(path, import.meta.url), "utf8"));
}

/** The statements of a policy, with lists where IAM accepts one string or several. */
export function statements(resource: Resource, key = "PolicyDocument"): readonly Statement[] {
  return z.object({ Statement: z.array(statementSchema) }).parse(resource.properties[key]).Statement;
}

function asText(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(asText);
  if (typeof value !== "object" || value === null) return value;
  const entries = Object.entries(value);
  const [key, inner]: readonly [string?, unknown?] = entries.length === 1 ? (entries[0] ?? []) : [];
  if (key === "Ref") return `<${String(inner)}>`;
  if (key === "Fn::GetAtt" && Array.isArray(inner)) return `<${inner.join(".")}>`;
  if (key === "Fn::Join" && Array.isArray(inner) && Array.isArray(inner[1])) {
    return inner[1]
      .map(asText)
      .map((part) => (typeof part === "string" ? part : JSON.stringify(part)))
      .join(String(inner[0]));
  }
  return Object.fromEntries(entries.map(([name, each]) => [name, asText(each)]));
}
