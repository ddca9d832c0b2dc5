// The Athena workgroup for analysts: a scan limit, encrypted results, and saved queries.

import { Stack } from "aws-cdk-lib";
import { CfnNamedQuery, CfnWorkGroup } from "aws-cdk-lib/aws-athena";
import type { IKey } from "aws-cdk-lib/aws-kms";
import { Construct } from "constructs";
import type { FunctionSettings } from "../../lambdas/sync/environment.ts";
import { savedQueries } from "./saved-queries.ts";

const GIGABYTE = 1_000_000_000;

export interface WorkgroupProps {
  /** Of the deployment. */
  readonly name: string;
  readonly database: string;
  /** That the results are encrypted with. */
  readonly encryptionKey: IKey | undefined;
  /** `s3://…/`, where the results expire. */
  readonly resultsLocation: string;
  readonly scanLimitGigabytes: number;
  /** The account that the saved queries read. */
  readonly firstAccount: string;
}

export class Workgroup extends Construct {
  readonly workgroupName: string;

  constructor(scope: Construct, id: string, props: WorkgroupProps) {
    super(scope, id);
    this.workgroupName = props.name;
    const workgroup = new CfnWorkGroup(this, "Workgroup", {
      name: props.name,
      description: "Queries of the events of the Brand Metrics Service",
      // Saved queries and history are deleted with the stack. The results are in the bucket and expire there.
      recursiveDeleteOption: true,
      workGroupConfiguration: {
        // Settings of a client must not send results elsewhere, or unencrypted.
        enforceWorkGroupConfiguration: true,
        publishCloudWatchMetricsEnabled: true,
        bytesScannedCutoffPerQuery: props.scanLimitGigabytes * GIGABYTE,
        engineVersion: { selectedEngineVersion: "Athena engine version 3" },
        resultConfiguration: {
          outputLocation: props.resultsLocation,
          expectedBucketOwner: Stack.of(this).account,
          encryptionConfiguration:
            props.encryptionKey === undefined
              ? { encryptionOption: "SSE_S3" }
              : { encryptionOption: "SSE_KMS", kmsKey: props.encryptionKey.keyArn },
        },
      },
    });
    for (const { title, description, sql } of savedQueries(props.firstAccount)) {
      new CfnNamedQuery(this, title, {
        name: title,
        description,
        database: props.database,
        workGroup: workgroup.ref,
        queryString: sql,
      });
    }
  }

  /** Returns the workgroup for the links in the function's response. The function itself runs no queries. */
  nameFor(): Pick<FunctionSettings, "workgroup"> {
    return { workgroup: this.workgroupName };
  }
}
