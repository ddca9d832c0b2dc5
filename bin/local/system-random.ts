// The machine's own randomness: the same on a laptop as in AWS.

export { systemRandom } from "../../lambdas/host/system-random.ts";
