// The account's default event bus, on which every publication, hold and failure is announced.

import { EventBus, type IEventBus } from "aws-cdk-lib/aws-events";
import { PolicyStatement, type Role } from "aws-cdk-lib/aws-iam";
import { Construct } from "constructs";
import type { FunctionSettings } from "../lambdas/sync/environment.ts";

export class DefaultEventBus extends Construct {
  private readonly bus: IEventBus;

  constructor(scope: Construct, id: string) {
    super(scope, id);
    this.bus = EventBus.fromEventBusName(this, "Bus", "default");
  }

  /** Lets the function announce what it did, and says where. */
  grantTo(role: Role): Pick<FunctionSettings, "eventBus"> {
    role.addToPolicy(
      new PolicyStatement({
        sid: "Announce",
        actions: ["events:PutEvents"],
        resources: [this.bus.eventBusArn],
      }),
    );
    return { eventBus: this.bus.eventBusName };
  }
}
