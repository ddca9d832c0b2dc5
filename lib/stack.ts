// The stack of a deployment that is an app of its own: one `EventSync`.

import { Stack, type StackProps } from "aws-cdk-lib";
import type { Construct } from "constructs";
import { DEFAULT_ID } from "./deployment-names.ts";
import { EventSync } from "./event-sync.ts";
import type { EventSyncProps } from "./event-sync-props.ts";

export interface EventSyncStackProps extends StackProps, Pick<EventSyncProps, "settings"> {}

export class EventSyncStack extends Stack {
  constructor(scope: Construct, id: string, { settings, ...props }: EventSyncStackProps) {
    super(scope, id, props);
    // The CDK leaves this id out of logical ids: the resources are those of the stack itself.
    new EventSync(this, DEFAULT_ID, { settings });
  }
}
