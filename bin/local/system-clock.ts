// The machine's own clock: the same on a laptop as in AWS.

export { systemClock } from "../../lambdas/host/system-clock.ts";
