// The program's version: the same on a laptop as in AWS.

export { VERSION } from "../../lambdas/host/program-version.ts";
