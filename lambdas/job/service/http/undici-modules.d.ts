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
