// A template, synthesized with the settings of a test, and read as CloudFormation would: resources by type, references
// resolved to the resources made.

import { spawn } from "node:child_process";
import { randomUUID } from "node:crypto";
import { once } from "node:events";
import { mkdtemp, readdir, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { z } from "zod";
import { ACCOUNT_ID, REGION } from "./aws-call.ts";

const resourceSchema = z.object({
  Type: z.string(),
  Properties: z.record(z.string(), z.unknown()).default({}),
  Metadata: z.object({ "aws:cdk:path": z.string().default("") }).default({ "aws:cdk:path": "" }),
});
const templateSchema = z.object({
  Resources: z.record(z.string(), resourceSchema),
  Outputs: z.record(z.string(), z.object({ Value: z.unknown() })),
});
const assetsSchema = z.object({
  files: z.record(z.string(), z.object({ source: z.object({ path: z.string() }) })),
});

export interface Resource {
  readonly id: string;
  /** Of its construct; empty where the app leaves it out. */
  readonly path: string;
  readonly properties: Readonly<Record<string, unknown>>;
}

/** What `Ref` and `Fn::GetAtt` of a resource give. */
export interface Physical {
  readonly ref: string;
  readonly attributes?: Readonly<Record<string, string>>;
}

/** Beside the template, in the folder of a cloud assembly. */
interface Assets {
  readonly directory: string;
  readonly files: z.output<typeof assetsSchema>["files"];
}

export class Template {
  /** As CloudFormation keeps it. */
  readonly body: string;
  readonly #resources: Readonly<Record<string, z.output<typeof resourceSchema>>>;
  readonly #outputs: z.output<typeof templateSchema>["Outputs"];
  readonly #assets: Assets | undefined;
  readonly #physical = new Map<string, Physical>();
  readonly #exports = new Map<string, string>();

  /** @param stackId which has the region and the AWS account in it */
  constructor(body: string, stackId: string, assets?: Assets) {
    this.body = body;
    const { Resources, Outputs } = templateSchema.parse(JSON.parse(body));
    this.#resources = Resources;
    this.#outputs = Outputs;
    this.#assets = assets;
    const [, partition = "", , region = "", account = ""] = stackId.split(":");
    const pseudo = {
      StackId: stackId,
      AccountId: account,
      Region: region,
      Partition: partition,
      URLSuffix: partition === "aws-cn" ? "amazonaws.com.cn" : "amazonaws.com",
    };
    for (const [name, ref] of Object.entries(pseudo)) this.made(`AWS::${name}`, { ref });
  }

  /** The only stack of a cloud assembly. */
  static async read(directory: string): Promise<Template> {
    const files = await readdir(directory);
    const read = async (ending: string): Promise<string> => {
      const [file, ...others] = files.filter((name) => name.endsWith(ending));
      if (file === undefined || others.length > 0) throw new Error(`expected one ${ending} in ${directory}`);
      return readFile(join(directory, file), "utf8");
    };
    // Every deployment is another stack.
    const stackId = `arn:aws:cloudformation:${REGION}:${ACCOUNT_ID}:stack/Stack/${randomUUID()}`;
    const { files: assets } = assetsSchema.parse(JSON.parse(await read(".assets.json")));
    return new Template(await read(".template.json"), stackId, { directory, files: assets });
  }

  /** Unresolved. */
  all(type: string): readonly Resource[] {
    return Object.entries(this.#resources)
      .filter(([, { Type }]) => Type === type)
      .map(([id, { Properties, Metadata }]) => ({
        id,
        path: Metadata["aws:cdk:path"],
        properties: Properties,
      }));
  }

  one(type: string): Resource {
    const [resource, ...others] = this.all(type);
    if (resource === undefined || others.length > 0) throw new Error(`expected one ${type}`);
    return resource;
  }

  /** Later references to the resource resolve to this. */
  made(id: string, physical: Physical): void {
    this.#physical.set(id, physical);
  }

  /** Of the construct; empty where the app leaves it out. */
  pathOf(id: string): string {
    return this.#resources[id]?.Metadata["aws:cdk:path"] ?? "";
  }

  /** Later references to what another stack exports resolve to this. */
  exported(name: string, value: string): void {
    this.#exports.set(name, value);
  }

  /** The value of an output; throws where it refers to a resource that was not made. */
  output(name: string): string {
    return z.string().parse(this.resolve(this.#outputs[name]?.Value));
  }

  /** The directory of the file asset that was uploaded under this key. */
  assetDirectory(s3Key: string): string {
    const path = this.#assets?.files[s3Key.replace(/\.zip$/, "")]?.source.path;
    if (path === undefined) throw new Error(`there is no asset ${s3Key}`);
    return join(this.#assets?.directory ?? "", path);
  }

  /**
   * The value with all references replaced.
   * @param unknown for one to what is not known here: a resource that was not made, another stack's export, a condition.
   * Without it that throws
   */
  resolve(value: unknown, unknown?: symbol): unknown {
    if (Array.isArray(value)) return value.map((each) => this.resolve(each, unknown));
    if (typeof value !== "object" || value === null) return value;
    const [[name, argument] = ["", undefined], ...more] = Object.entries(value);
    if (more.length > 0 || !(name === "Ref" || name.startsWith("Fn::"))) {
      const all = Object.entries(value).map(([key, each]) => [key, this.resolve(each, unknown)]);
      return Object.fromEntries(all);
    }
    try {
      return name === "Ref" ? this.#ref(String(argument)) : this.#call(name, argument);
    } catch (error) {
      if (unknown === undefined) throw error;
      return unknown;
    }
  }

  #ref(id: string): string {
    const value = this.#physical.get(id)?.ref;
    if (value === undefined) throw new Error(`${id} was not made`);
    return value;
  }

  #call(name: string, argument: unknown): string {
    if (name === "Fn::GetAtt") {
      const [id, attribute] = z.tuple([z.string(), z.string()]).parse(argument);
      const value = this.#physical.get(id)?.attributes?.[attribute];
      if (value === undefined) throw new Error(`${id}.${attribute} was not made`);
      return value;
    }
    if (name === "Fn::Join") {
      const [separator, parts] = z.tuple([z.string(), z.array(z.unknown())]).parse(argument);
      return parts.map((part) => String(this.resolve(part))).join(separator);
    }
    if (name === "Fn::Select") {
      const [index, split] = z
        .tuple([z.number(), z.object({ "Fn::Split": z.tuple([z.string(), z.unknown()]) })])
        .parse(argument);
      const [separator, text] = split["Fn::Split"];
      return String(this.resolve(text)).split(separator)[index] ?? "";
    }
    if (name === "Fn::Sub") {
      return z
        .string()
        .parse(argument)
        .replaceAll(/\$\{([^}.]+)\}/g, (_, id: string) => this.#ref(id));
    }
    const value = name === "Fn::ImportValue" ? this.#exports.get(String(this.resolve(argument))) : undefined;
    if (value !== undefined) return value;
    throw new Error(`${name} is not resolved here`);
  }
}

const root = (path: string): string => fileURLToPath(new URL(`../../${path}`, import.meta.url));

/**
 * Returns the directory of the cloud assembly. It is outside the project, so that the bundle cannot import from the
 * project's `node_modules`.
 * @param flags context in addition to that of `cdk.json`.
 */
export async function synth(eventSync: object, flags: object = {}): Promise<string> {
  const directory = await mkdtemp(join(tmpdir(), "brand-events-synth-"));
  const { context } = JSON.parse(await readFile(root("cdk.json"), "utf8"));
  const child = spawn(process.execPath, [root("bin/app.ts")], {
    cwd: root("."),
    env: {
      ...process.env,
      CDK_OUTDIR: directory,
      CDK_CONTEXT_JSON: JSON.stringify({ ...context, ...flags, eventSync }),
    },
    stdio: ["ignore", "ignore", "pipe"],
  });
  const errors: Buffer[] = [];
  child.stderr.on("data", (chunk: Buffer) => errors.push(chunk));
  const [code] = await once(child, "close");
  if (code !== 0) throw new Error(`synth failed: ${Buffer.concat(errors).toString()}`);
  return directory;
}

/** The template alone, of a stack that is not run: nothing is bundled. */
export async function synthTemplate(eventSync: object): Promise<Template> {
  const directory = await synth(eventSync, { "aws:cdk:bundling-stacks": [] });
  try {
    return await Template.read(directory);
  } finally {
    await rm(directory, { recursive: true });
  }
}
