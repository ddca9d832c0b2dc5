// The Athena workgroup for analysts: a scan limit, encrypted results, and saved queries.

import { readdirSync, readFileSync } from "node:fs";
import { Stack } from "aws-cdk-lib";
import { CfnNamedQuery, CfnWorkGroup } from "aws-cdk-lib/aws-athena";
import type { IKey } from "aws-cdk-lib/aws-kms";
import { Construct } from "constructs";
import type { FunctionSettings } from "../../lambdas/sync/environment.ts";

const GIGABYTE = 1_000_000_000;

interface WorkgroupProps {
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

/** The saved queries: the files in `queries/`, each with its title and description in the first two lines. */
const DIRECTORY = new URL("queries/", import.meta.url);

interface SavedQuery {
  readonly title: string;
  readonly description: string;
  /** Athena's SQL, with its comments: the console's editor shows them. */
  readonly sql: string;
}

/** In the order of the file names. `{{account}}` is replaced by the account. */
export function savedQueries(account: string): readonly SavedQuery[] {
  return readdirSync(DIRECTORY)
    .filter((file) => file.endsWith(".sql"))
    .toSorted()
    .map((file) => parse(file, readFileSync(new URL(file, DIRECTORY), "utf8"), account));
}

function parse(file: string, content: string, account: string): SavedQuery {
  const sql = content.trim().replaceAll("{{account}}", account);
  const [, title, description] = /^-- (.+)\n-- (.+)\n/.exec(sql) ?? [];
  if (title === undefined || description === undefined) {
    throw new Error(
      `lib/data/queries/${file}: expected "-- Title" in the first line and "-- Description" in the second`,
    );
  }
  return { title, description, sql };
}
