// A synthesized template, read as CloudFormation would: resources by type, references resolved to the resources made.

import { randomUUID } from "node:crypto";
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { z } from "zod";
import { ACCOUNT_ID, REGION } from "./aws-call.ts";

const resourceSchema = z.object({
  Type: z.string(),
  Properties: z.record(z.string(), z.unknown()).default({}),
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
  readonly properties: Readonly<Record<string, unknown>>;
}

/** What `Ref` and `Fn::GetAtt` of a resource give. */
export interface Physical {
  readonly ref: string;
  readonly attributes?: Readonly<Record<string, string>>;
}

const PSEUDO: Readonly<Record<string, string>> = {
  "AWS::AccountId": ACCOUNT_ID,
  "AWS::Region": REGION,
  "AWS::Partition": "aws",
  "AWS::URLSuffix": "amazonaws.com",
};

export class Template {
  /** As CloudFormation keeps it. */
  readonly body: string;
  readonly #directory: string;
  readonly #resources: Readonly<Record<string, z.output<typeof resourceSchema>>>;
  readonly #outputs: z.output<typeof templateSchema>["Outputs"];
  readonly #assets: z.output<typeof assetsSchema>;
  readonly #physical = new Map<string, Physical>();
  /** Every deployment is another stack. */
  readonly #stackId = `arn:aws:cloudformation:${REGION}:${ACCOUNT_ID}:stack/Stack/${randomUUID()}`;

  private constructor(directory: string, template: unknown, assets: unknown) {
    this.body = JSON.stringify(template);
    this.#directory = directory;
    const { Resources, Outputs } = templateSchema.parse(template);
    this.#resources = Resources;
    this.#outputs = Outputs;
    this.#assets = assetsSchema.parse(assets);
  }

  /** The only stack of a cloud assembly. */
  static async read(directory: string): Promise<Template> {
    const files = await readdir(directory);
    const json = async (ending: string): Promise<unknown> => {
      const [file, ...others] = files.filter((name) => name.endsWith(ending));
      if (file === undefined || others.length > 0) throw new Error(`expected one ${ending} in ${directory}`);
      return JSON.parse(await readFile(join(directory, file), "utf8"));
    };
    return new Template(directory, await json(".template.json"), await json(".assets.json"));
  }

  /** Unresolved. */
  all(type: string): readonly Resource[] {
    return Object.entries(this.#resources)
      .filter(([, { Type }]) => Type === type)
      .map(([id, { Properties }]) => ({ id, properties: Properties }));
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

  /** The value of an output; throws where it refers to a resource that was not made. */
  output(name: string): string {
    return z.string().parse(this.resolve(this.#outputs[name]?.Value));
  }

  /** The directory of the file asset that was uploaded under this key. */
  assetDirectory(s3Key: string): string {
    const path = this.#assets.files[s3Key.replace(/\.zip$/, "")]?.source.path;
    if (path === undefined) throw new Error(`there is no asset ${s3Key}`);
    return join(this.#directory, path);
  }

  /** The value with all references replaced; throws for one to a resource that was not made. */
  resolve(value: unknown): unknown {
    if (Array.isArray(value)) return value.map((each) => this.resolve(each));
    if (typeof value !== "object" || value === null) return value;
    const [[name, argument] = ["", undefined], ...more] = Object.entries(value);
    if (more.length === 0 && name === "Ref") return this.#ref(String(argument));
    if (more.length === 0 && name.startsWith("Fn::")) return this.#call(name, argument);
    return Object.fromEntries(Object.entries(value).map(([key, each]) => [key, this.resolve(each)]));
  }

  #ref(id: string): string {
    const value = id === "AWS::StackId" ? this.#stackId : (PSEUDO[id] ?? this.#physical.get(id)?.ref);
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
    throw new Error(`${name} is not resolved here`);
  }
}
