// The CDK app: reads the settings, makes one stack, and checks it with both rule packs of cdk-nag.

import { App, type AppProps, Validations } from "aws-cdk-lib";
import { AwsSolutionsChecks, ServerlessChecks } from "cdk-nag";
import { parseSettings } from "./settings/settings.ts";
import { EventSyncStack } from "./stack.ts";

/** Throws an `Error` that names every wrong setting. Needs no AWS account and no network. */
export function eventSyncApp(props?: AppProps): { readonly app: App; readonly stack: EventSyncStack } {
  const app = new App(props);
  const settings = parseSettings(app.node.tryGetContext("eventSync"));
  const stack = new EventSyncStack(app, settings.stackName, {
    description: "Copies the events of a Brand Metrics Service into your own warehouse",
    settings,
  });
  Validations.of(app).addPlugins(new AwsSolutionsChecks(app), new ServerlessChecks(app));
  return { app, stack };
}
