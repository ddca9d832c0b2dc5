// The CDK app: reads the settings, makes one stack, and checks it with both rule packs of cdk-nag.

import { App, type AppProps, Stack, Validations } from "aws-cdk-lib";
import { AwsSolutionsChecks, ServerlessChecks } from "cdk-nag";
import { EventSync } from "./event-sync.ts";
import { DEFAULT_ID, parseSettings } from "./settings.ts";

/** Throws an `Error` that names every wrong setting. Needs no AWS account and no network. */
export function eventSyncApp(props?: AppProps): { readonly app: App; readonly stack: Stack } {
  const app = new App(props);
  const settings = parseSettings(app.node.tryGetContext("eventSync"));
  const stack = new Stack(app, settings.stackName, {
    description: "Copies the events of a Brand Metrics Service into your own warehouse",
  });
  // The CDK leaves this id out of logical ids: the resources are those of the stack itself.
  new EventSync(stack, DEFAULT_ID, { settings });
  Validations.of(app).addPlugins(new AwsSolutionsChecks(app), new ServerlessChecks(app));
  return { app, stack };
}
