// The entry point of the CDK: reads `cdk.json` and describes the stack.

import { eventSyncApp } from "../lib/app.ts";

try {
  eventSyncApp().app.synth();
} catch (error) {
  // A wrong setting is the reader's to mend: they need the message, not where it was thrown.
  console.error(error instanceof Error ? error.message : error);
  process.exitCode = 1;
}
