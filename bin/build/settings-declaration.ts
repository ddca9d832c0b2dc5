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
export function settingsJsonSchema(schema: z.ZodType): object {
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

/** The part of JSON Schema (draft 7) that the settings need. */
const schemaShape = z.object({
  description: z.string().optional(),
  default: z.unknown().optional(),
  type: z.string().optional(),
  const: z.string().optional(),
  enum: z.array(z.union([z.string(), z.number()])).optional(),
  get anyOf() {
    return z.array(schemaShape).optional();
  },
  get items() {
    return schemaShape.optional();
  },
  get properties() {
    return z.record(z.string(), schemaShape).optional();
  },
  required: z.array(z.string()).optional(),
  get additionalProperties() {
    return z.union([z.literal(false), schemaShape]).optional();
  },
});

type Schema = z.output<typeof schemaShape>;

const UNKNOWN: Schema = {};

/** @param name of the type @param title the sentence above it */
export function settingsDeclaration(name: string, title: string, schema: unknown): string {
  return `/** ${title} */\nexport type ${name} = ${typeOf(schemaShape.parse(schema), "")};\n`;
}

/** Throws for what it does not know: a type that accepts anything would check nothing. */
function typeOf(schema: Schema, indent: string): string {
  if (schema.const !== undefined) return JSON.stringify(schema.const);
  if (schema.enum !== undefined) return schema.enum.map((one) => JSON.stringify(one)).join(" | ");
  if (schema.anyOf !== undefined) return schema.anyOf.map((one) => typeOf(one, indent)).join(" | ");
  switch (schema.type) {
    case "string":
    case "boolean":
    case "number":
      return schema.type;
    case "integer":
      return "number";
    case "array":
      return `readonly (${typeOf(schema.items ?? UNKNOWN, indent)})[]`;
    case "object":
      return objectType(schema, indent);
  }
  throw new Error(
    `the settings have a kind of value that their declaration does not know: ${JSON.stringify(schema)}`,
  );
}

function objectType({ properties, required = [], additionalProperties }: Schema, indent: string): string {
  const inner = `${indent}  `;
  if (properties === undefined) {
    const value = typeof additionalProperties === "object" ? additionalProperties : UNKNOWN;
    return `{\n${inner}readonly [name: string]: ${typeOf(value, inner)};\n${indent}}`;
  }
  const keys = Object.entries(properties).map(([key, schema]) => {
    const optional = required.includes(key) ? "" : "?";
    return `${comment(schema, inner)}${inner}readonly ${/^\w+$/.test(key) ? key : JSON.stringify(key)}${optional}: ${typeOf(schema, inner)};\n`;
  });
  return `{\n${keys.join("")}${indent}}`;
}

function comment({ description, default: fallback }: Schema, indent: string): string {
  if (description === undefined) return "";
  const text =
    fallback === undefined
      ? description
      : `${description.replace(/\.$/, "")}. Default: ${JSON.stringify(fallback)}`;
  return `${indent}/** ${text.replaceAll("*/", "*\\/")} */\n`;
}
