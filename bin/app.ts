// The CDK's entry point: reads the settings from `cdk.json` and synthesizes the stack.

import { eventSyncApp } from "../lib/app.ts";

try {
  // The CDK would synthesize what there is also after an error.
  eventSyncApp({ autoSynth: false }).app.synth();
} catch (error) {
  // The user corrects a wrong setting and needs the message, not the stack trace.
  console.error(error instanceof Error ? error.message : error);
  process.exitCode = 1;
}
