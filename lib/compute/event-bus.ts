// The account's default event bus, on which every publication, hold and failure is announced.

import { EventBus, type IEventBus } from "aws-cdk-lib/aws-events";
import { PolicyStatement, type Role } from "aws-cdk-lib/aws-iam";
import { Construct } from "constructs";
import type { FunctionSettings } from "../../lambdas/sync/environment.ts";
import { EVENT_SOURCE } from "../../lambdas/sync/telemetry/run-event.ts";

export class DefaultEventBus extends Construct {
  private readonly bus: IEventBus;

  constructor(scope: Construct, id: string) {
    super(scope, id);
    this.bus = EventBus.fromEventBusName(this, "Bus", "default");
  }

  /** Lets the function announce what it did, under its own name only, and says where. */
  grantTo(role: Role): Pick<FunctionSettings, "eventBus"> {
    role.addToPolicy(
      new PolicyStatement({
        sid: "Announce",
        actions: ["events:PutEvents"],
        resources: [this.bus.eventBusArn],
        // Rules of others on this bus believe what an event says its source is.
        conditions: { StringEquals: { "events:source": EVENT_SOURCE } },
      }),
    );
    return { eventBus: this.bus.eventBusName };
  }
}
