// Declarations of what packages ship without.

// The modules of undici that we use. Its index loads all of it, fetch, caches and mocks too, at each start.

declare module "undici/lib/core/connect.js" {
  import { buildConnector } from "undici";

  export = buildConnector;
}

declare module "undici/lib/core/errors.js" {
  import { errors } from "undici";

  export = errors;
}

declare module "undici/lib/dispatcher/agent.js" {
  import { Agent } from "undici";

  export = Agent;
}

// The one function we use of fs-native-extensions, which ships no declarations.

declare module "fs-native-extensions" {
  /** Takes an exclusive lock on the open file; false while another open file holds it. Closing the file releases it. */
  export function tryLock(fd: number): boolean;
}
