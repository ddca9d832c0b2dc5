// The default event bus of the AWS account: the function sends an event for every publication, hold and failure.

import { EventBus, type IEventBus } from "aws-cdk-lib/aws-events";
import { PolicyStatement, type Role } from "aws-cdk-lib/aws-iam";
import { Construct } from "constructs";
import { EVENT_SOURCE } from "../../lambdas/job/run/record/run-event.ts";
import type { FunctionSettings } from "../../lambdas/sync/environment.ts";

export class DefaultEventBus extends Construct {
  private readonly bus: IEventBus;

  constructor(scope: Construct, id: string) {
    super(scope, id);
    this.bus = EventBus.fromEventBusName(this, "Bus", "default");
  }

  /** Allows the function to send events with its own source only, and returns the bus. */
  grantTo(role: Role): Pick<FunctionSettings, "eventBus"> {
    role.addToPolicy(
      new PolicyStatement({
        sid: "Announce",
        actions: ["events:PutEvents"],
        resources: [this.bus.eventBusArn],
        // Other rules on this bus trust the source of an event.
        conditions: { StringEquals: { "events:source": EVENT_SOURCE } },
      }),
    );
    return { eventBus: this.bus.eventBusName };
  }
}
