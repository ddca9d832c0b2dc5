// Which events the service is asked for (docs/service-interface.md §3.2).

import * as z from "zod";

/** `any` sends no filter. */
export const isListed = z.enum(["true", "false", "any"], 'expected "true", "false" or "any"');

export type IsListed = z.output<typeof isListed>;
