// The command line, and `EventSync` with its types, as JavaScript. They hold what they import, but for the packages that are
// installed beside them: those with native code, and those that a CDK app brings.

import { execFile } from "node:child_process";
import { cpSync, rmSync } from "node:fs";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { buildSync, type Metafile } from "esbuild";
import * as z from "zod";
import { ACCOUNT_SETTINGS, plainText, type Setting } from "../lambdas/job/settings-file/settings.ts";
import { deploymentSettingsSchema, SHARED_SETTINGS } from "../lambdas/job/settings-file/settings-schema.ts";
import { ASSETS, QUERIES } from "../lib/assets.ts";
import { BUILT, bundleFunction } from "../lib/compute/bundle-function.ts";
import packageJson from "../package.json" with { type: "json" };

/** The lowest version of Node.js that the package runs on. */
const TARGET = `node${packageJson.engines.node.replace(">=", "")}`;

/**
 * Returns what went into each file.
 * @param folder replaced as a whole
 */
export function buildProgram(folder: string): Metafile {
  rmSync(folder, { recursive: true, force: true });
  const { metafile } = buildSync({
    ...BUILT,
    entryPoints: { [packageJson.name]: "bin/sync.ts" },
    outdir: folder,
    chunkNames: "chunks/[name]-[hash]",
    // What a command does not use stays in files that it does not load.
    splitting: true,
    target: TARGET,
    external: Object.keys({ ...packageJson.dependencies, ...packageJson.optionalDependencies }),
  });
  return metafile;
}

/**
 * `EventSync` for CDK apps: JavaScript with its types, and beside it what it reads, the function and the saved queries.
 * CommonJS, as construct libraries are: an app gets it with `import` and with `require`, and Jest loads nothing else.
 * @param folder replaced as a whole
 */
export async function buildConstruct(folder: string): Promise<readonly Metafile[]> {
  rmSync(folder, { recursive: true, force: true });
  const { metafile } = buildSync({
    ...BUILT,
    format: "cjs",
    // A bundler that makes an ES module of it leaves no `__dirname`; then the construct says what to do.
    banner: { js: '"use strict"; const folderOfCode = typeof __dirname === "undefined" ? "" : __dirname;' },
    define: { "import.meta.dirname": "folderOfCode" },
    entryPoints: ["lib/event-sync.ts"],
    outfile: join(folder, "event-sync.js"),
    target: TARGET,
    external: Object.keys(packageJson.peerDependencies),
  });
  await writeFile(join(folder, "package.json"), '{ "type": "commonjs" }\n');
  cpSync(join(ASSETS, QUERIES), join(folder, QUERIES), { recursive: true });
  await declareTypes(folder);
  return [metafile, bundleFunction(join(folder, "function"))];
}

/** The type declarations of `EventSync`: what the compiler says, for what an app sees, but for its settings. */
async function declareTypes(folder: string): Promise<void> {
  const root = BUILT.absWorkingDir;
  const made = await mkdtemp(join(tmpdir(), "brand-events-types-"));
  try {
    const compiler = join(root, "node_modules/typescript/bin/tsc");
    const project = join(root, "lib/tsconfig.types.json");
    await promisify(execFile)(process.execPath, [compiler, "-p", project, "--outDir", made]);
    const eventSync = await readFile(join(made, "lib/event-sync.d.ts"), "utf8");
    const declarations = {
      // The compilers of some apps do not find `./file.ts` in a declaration.
      "event-sync": eventSync.replaceAll(/(from "\.[^"]*)\.ts"/g, '$1.js"'),
      settings: settingsDeclaration(deploymentSettingsSchema),
      index: 'export * from "./event-sync.js";\nexport type * from "./settings.js";\n',
    };
    for (const [name, text] of Object.entries(declarations)) {
      await writeFile(join(folder, `${name}.d.ts`), text);
    }
  } finally {
    await rm(made, { recursive: true });
  }
}

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

/** Written out from the schema key by key: who uses the package has no zod. */
function settingsDeclaration(schema: z.ZodType): string {
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
