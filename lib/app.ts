// The CDK app: reads the settings, makes one stack, and checks it with both rule packs of cdk-nag.

import { App, type AppProps, Stack, type StackProps, Validations } from "aws-cdk-lib";
import { AwsSolutionsChecks, ServerlessChecks } from "cdk-nag";
import type { Construct } from "constructs";
import { EventSync } from "./event-sync.ts";
import { DEFAULT_ID, parseSettings, type Settings } from "./settings.ts";

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

interface EventSyncStackProps extends StackProps {
  readonly settings: Settings;
}

/** The stack of a deployment that is an app of its own: one `EventSync`. */
export class EventSyncStack extends Stack {
  constructor(scope: Construct, id: string, { settings, ...props }: EventSyncStackProps) {
    super(scope, id, props);
    // The CDK leaves this id out of logical ids: the resources are those of the stack itself.
    new EventSync(this, DEFAULT_ID, { settings });
  }
}
