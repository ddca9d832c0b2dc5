// The JSON Schema of the settings, and their type, written out from it key by key: who uses the package has no zod.

import * as z from "zod";
import {
  ACCOUNT_SETTINGS,
  plainText,
  type Setting,
  SHARED_SETTINGS,
} from "../../lambdas/job/settings-file/settings.ts";

const SETTINGS: ReadonlyMap<unknown, Setting> = new Map(
  Object.entries({ ...SHARED_SETTINGS, ...ACCOUNT_SETTINGS }),
);

/** Of what a person writes: defaults and descriptions are those of the table of settings. */
export function settingsJsonSchema(schema: z.ZodType): Schema {
  return z.toJSONSchema(schema, {
    io: "input",
    target: "draft-7",
    override: ({ jsonSchema, path }) => {
      delete jsonSchema.readOnly;
      const setting = path.at(-2) === "properties" ? SETTINGS.get(path.at(-1)) : undefined;
      if (setting) Object.assign(jsonSchema, { description: setting.help, default: setting.default });
      if (jsonSchema.description !== undefined) jsonSchema.description = plainText(jsonSchema.description);
      if (jsonSchema.default === undefined) delete jsonSchema.default;
    },
  });
}

type Schema = z.core.JSONSchema.JSONSchema;

export function settingsDeclaration(schema: z.ZodType): string {
  const title = "The settings of a deployment, as in cdk.json under context.eventSync.";
  return `/** ${title} */\nexport type EventSyncSettings = ${typeOf(settingsJsonSchema(schema), "")};\n`;
}

/** Throws for what it does not know: a type that accepts anything would check nothing. */
function typeOf(schema: Schema["items"], indent: string): string {
  const found: Schema = typeof schema === "object" && !Array.isArray(schema) ? schema : {};
  if (found.const !== undefined) return JSON.stringify(found.const);
  if (found.enum !== undefined) return found.enum.map((one) => JSON.stringify(one)).join(" | ");
  if (found.anyOf !== undefined) return found.anyOf.map((one) => typeOf(one, indent)).join(" | ");
  switch (found.type) {
    case "string":
    case "boolean":
    case "number":
      return found.type;
    case "integer":
      return "number";
    case "array":
      return `readonly (${typeOf(found.items, indent)})[]`;
    case "object":
      return objectType(found, indent);
    default:
      throw new Error(
        `the settings have a kind of value that their declaration does not know: ${JSON.stringify(schema)}`,
      );
  }
}

function objectType({ properties, required = [], additionalProperties }: Schema, indent: string): string {
  const inner = `${indent}  `;
  if (properties === undefined)
    return `{\n${inner}readonly [name: string]: ${typeOf(additionalProperties, inner)};\n${indent}}`;
  const keys = Object.entries(properties).map(([key, schema]) => {
    const optional = required.includes(key) ? "" : "?";
    return `${comment(schema, inner)}${inner}readonly ${/^\w+$/.test(key) ? key : JSON.stringify(key)}${optional}: ${typeOf(schema, inner)};\n`;
  });
  return `{\n${keys.join("")}${indent}}`;
}

function comment(schema: boolean | Schema, indent: string): string {
  if (typeof schema === "boolean" || schema.description === undefined) return "";
  const { description, default: fallback } = schema;
  const text =
    fallback === undefined
      ? description
      : `${description.replace(/\.$/, "")}. Default: ${JSON.stringify(fallback)}`;
  return `${indent}/** ${text.replaceAll("*/", "*\\/")} */\n`;
}
