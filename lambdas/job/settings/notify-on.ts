// Which ends of a run are posted to the notification URL.

import * as z from "zod";

const ENDS = ["published", "held", "failed"] as const;
const EXPECTED = 'expected some of "published", "held" and "failed"';

export type NotifiedEnd = (typeof ENDS)[number];

export const notifyOn = z.array(z.enum(ENDS, EXPECTED), EXPECTED).min(1, EXPECTED);
