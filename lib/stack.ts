// The stack of a deployment that is an app of its own: one `EventSync`.

import { Stack, type StackProps } from "aws-cdk-lib";
import type { Construct } from "constructs";
import { EventSync } from "./event-sync.ts";
import type { Settings } from "./settings/settings.ts";

export interface EventSyncStackProps extends StackProps {
  readonly settings: Settings;
}

export class EventSyncStack extends Stack {
  constructor(scope: Construct, id: string, { settings, ...props }: EventSyncStackProps) {
    super(scope, id, props);
    // The CDK leaves this id out of logical ids: the resources are those of the stack itself.
    new EventSync(this, "Default", { settings });
  }
}
