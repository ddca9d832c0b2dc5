// The secrets that only the environment may give: an option would stand in the list of processes.

export interface GivenSecrets {
  readonly password: string | undefined;
  readonly clientSecret: string | undefined;
}

/** An empty variable counts as not set. */
export function readSecrets(environment: NodeJS.ProcessEnv): GivenSecrets {
  return {
    password: environment["BRAND_PASSWORD"] || undefined,
    clientSecret: environment["BRAND_CLIENT_SECRET"] || undefined,
  };
}
