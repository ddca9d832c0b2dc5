// Clients of AWS that reach only the simulated endpoints. Making one takes longer than a whole start, so they are used
// again by the next world.

import { GlueClient } from "@aws-sdk/client-glue";
import { S3Client } from "@aws-sdk/client-s3";

/** Answers one command: its name without "Command", its input. */
export type Endpoint = (command: string, input: Readonly<Record<string, unknown>>) => Promise<object>;

export interface AwsEndpoints {
  readonly s3: Endpoint;
  readonly glue: Endpoint;
}

export interface AwsClients {
  readonly s3: S3Client;
  readonly glue: GlueClient;
}

const CONFIG = {
  region: "eu-west-1",
  credentials: { accessKeyId: "simulated", secretAccessKey: "simulated" },
  cacheMiddleware: true,
};

const FIRST = { step: "initialize", priority: "high" } as const;

interface Slot extends AwsClients {
  endpoints: AwsEndpoints;
}

const slots: Slot[] = [];

/** The clients of the nth process of a world. */
export function awsClients(nth: number, endpoints: AwsEndpoints): AwsClients {
  const slot = slots[nth] ?? newSlot(endpoints);
  slots[nth] = slot;
  slot.endpoints = endpoints;
  return slot;
}

function newSlot(endpoints: AwsEndpoints): Slot {
  const slot: Slot = { endpoints, s3: new S3Client(CONFIG), glue: new GlueClient(CONFIG) };
  const answered =
    (endpoint: () => Endpoint) =>
    (_: unknown, { commandName = "" }: { readonly commandName?: string }) =>
    async ({ input }: { readonly input: object }) => ({
      response: {},
      output: { $metadata: {}, ...(await endpoint()(commandName.replace(/Command$/, ""), { ...input })) },
    });
  slot.s3.middlewareStack.add(
    answered(() => slot.endpoints.s3),
    FIRST,
  );
  slot.glue.middlewareStack.add(
    answered(() => slot.endpoints.glue),
    FIRST,
  );
  return slot;
}

/** As the SDK throws it after its own retries. Without a status no response came. */
export class AwsFailure extends Error {
  readonly $metadata: { readonly httpStatusCode?: number };

  constructor(name: string, status: number | undefined) {
    super(`simulated ${name}`);
    this.name = name;
    this.$metadata = status === undefined ? {} : { httpStatusCode: status };
  }
}

export const members = (value: unknown): Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null ? { ...value } : {};

/** Of an object, as S3 keeps it. */
export const metadataOf = (given: Readonly<Record<string, unknown>>): Readonly<Record<string, string>> =>
  Object.fromEntries(
    Object.entries(members(given["Metadata"])).map(([name, value]) => [name, String(value)]),
  );
