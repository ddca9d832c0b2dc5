// Secrets Manager as AWS documents it, for what the emulator does not enforce: staging labels move only from the version
// that the caller names, and a version never gets another value.

import { randomUUID } from "node:crypto";
import { once } from "node:events";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import { text } from "node:stream/consumers";
import { SecretsManagerClient } from "@aws-sdk/client-secrets-manager";
import { z } from "zod";

const input = z.object({
  SecretId: z.string(),
  ClientRequestToken: z.string().min(32).max(64).default(randomUUID),
  SecretString: z.string().optional(),
  VersionStages: z.array(z.string()).min(1).default(["AWSCURRENT"]),
  VersionStage: z.string().default("AWSCURRENT"),
  MoveToVersionId: z.string().optional(),
  RemoveFromVersionId: z.string().optional(),
});
type Input = z.infer<typeof input>;

/** All versions of a secret together. */
const MOST_LABELS = 20;

class Refusal extends Error {
  constructor(name: string, message: string) {
    super(message);
    this.name = name;
  }
}

class Secret {
  readonly values = new Map<string, string>();
  /** By label: the one version that has it. */
  readonly labels = new Map<string, string>();
}

/** What a hook sees of a call. `perform` does the work, so that a test can lose the request or the response. */
export type OnCall = (action: string, perform: () => void) => "lose" | undefined;

export class SecretsServer implements AsyncDisposable {
  readonly #secrets = new Map<string, Secret>();
  readonly #server: Server;
  /** The names of the calls so far. */
  readonly calls: string[] = [];
  /** Before each call is performed; `lose`: its connection is cut. */
  onCall: OnCall | undefined;
  #url = "";

  private constructor() {
    this.#server = createServer((message, response) => void this.#handle(message, response));
  }

  static async start(): Promise<SecretsServer> {
    const server = new SecretsServer();
    server.#server.listen(0, "127.0.0.1");
    await once(server.#server, "listening");
    const address = server.#server.address();
    if (typeof address === "object" && address !== null) server.#url = `http://127.0.0.1:${address.port}`;
    return server;
  }

  get url(): string {
    return this.#url;
  }

  /** A client that reaches only this server. */
  client(maxAttempts = 1): SecretsManagerClient {
    return new SecretsManagerClient({
      endpoint: this.#url,
      region: "eu-west-1",
      credentials: { accessKeyId: "simulated", secretAccessKey: "simulated" },
      maxAttempts,
    });
  }

  /** A secret without a value, as the stack makes it. */
  create(name: string): void {
    this.#secrets.set(name, new Secret());
  }

  versions(name: string): number {
    return this.#secret(name).values.size;
  }

  /** What is current. */
  value(name: string): string | undefined {
    const secret = this.#secret(name);
    return secret.values.get(secret.labels.get("AWSCURRENT") ?? "");
  }

  labels(name: string): ReadonlyMap<string, string> {
    return this.#secret(name).labels;
  }

  put(name: string, SecretString: string): void {
    this.#perform("PutSecretValue", input.parse({ SecretId: name, SecretString }));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#server.close();
    this.#server.closeAllConnections();
  }

  async #handle(message: IncomingMessage, response: ServerResponse): Promise<void> {
    const action = String(message.headers["x-amz-target"]).replace("secretsmanager.", "");
    const given = input.parse(JSON.parse(await text(message)));
    this.calls.push(action);
    let answer: readonly [status: number, body: object] | undefined;
    const perform = (): void => {
      answer ??= this.#answer(action, given);
    };
    const lost = this.onCall?.(action, perform) === "lose";
    if (lost) {
      response.destroy();
      return;
    }
    perform();
    const [status, body] = answer ?? [500, {}];
    response.writeHead(status, { "content-type": "application/x-amz-json-1.1" }).end(JSON.stringify(body));
  }

  #answer(action: string, given: Input): readonly [number, object] {
    try {
      return [200, this.#perform(action, given)];
    } catch (error) {
      if (!(error instanceof Refusal)) throw error;
      return [400, { __type: error.name, Message: error.message }];
    }
  }

  #perform(action: string, given: Input): object {
    const secret = this.#secret(given.SecretId);
    switch (action) {
      case "GetSecretValue":
        return read(secret, given);
      case "DescribeSecret":
        return { Name: given.SecretId, VersionIdsToStages: labelsByVersion(secret) };
      case "PutSecretValue":
        return put(secret, given);
      case "UpdateSecretVersionStage":
        return move(secret, given);
      default:
        throw new Refusal("InvalidRequestException", `${action} is not simulated`);
    }
  }

  #secret(name: string): Secret {
    const secret = this.#secrets.get(name);
    if (secret) return secret;
    throw new Refusal("ResourceNotFoundException", "Secrets Manager can't find the specified secret.");
  }
}

function read({ values, labels }: Secret, { VersionStage, SecretId }: Input): object {
  const id = labels.get(VersionStage) ?? "";
  const SecretString = values.get(id);
  if (SecretString === undefined)
    throw new Refusal("ResourceNotFoundException", `no value for staging label ${VersionStage}`);
  return { Name: SecretId, VersionId: id, SecretString };
}

function labelsByVersion({ values, labels }: Secret): Record<string, readonly string[]> {
  const found = [...values.keys()].map((id): [string, readonly string[]] => [
    id,
    [...labels].filter(([, at]) => at === id).map(([label]) => label),
  ]);
  return Object.fromEntries(found.filter(([, stages]) => stages.length > 0));
}

function put(secret: Secret, { ClientRequestToken: id, SecretString = "", VersionStages }: Input): object {
  const existing = secret.values.get(id);
  if (existing !== undefined && existing !== SecretString)
    throw new Refusal("ResourceExistsException", "You can't modify an existing version.");
  if (existing === undefined) {
    secret.values.set(id, SecretString);
    for (const label of VersionStages) attach(secret, label, id);
  }
  return { VersionId: id };
}

function move(secret: Secret, given: Input): object {
  const { VersionStage: label, MoveToVersionId: to, RemoveFromVersionId: from } = given;
  const at = secret.labels.get(label);
  if (to !== undefined && !secret.values.has(to))
    throw new Refusal("ResourceNotFoundException", "there is no such version");
  // "If the label is attached and you either do not specify this parameter, or the version ID does not match, then the
  // operation fails." That a label which is there already may be asked for without it is the lenient reading.
  const isThere = from === undefined && at === to;
  if (at !== from && !isThere)
    throw new Refusal("InvalidParameterException", `${label} is attached to version ${at}, not ${from}`);
  if (to === undefined) secret.labels.delete(label);
  else attach(secret, label, to);
  return {};
}

function attach(secret: Secret, label: string, id: string): void {
  const before = secret.labels.get(label);
  if (label === "AWSCURRENT" && before !== undefined) secret.labels.set("AWSPREVIOUS", before);
  secret.labels.set(label, id);
  if (secret.labels.size > MOST_LABELS) throw new Refusal("LimitExceededException", "too many labels");
}
