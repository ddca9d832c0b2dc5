// What the clients of AWS throw.

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
