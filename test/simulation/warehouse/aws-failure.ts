// What the clients of AWS throw, and what they send, read without their types.

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
