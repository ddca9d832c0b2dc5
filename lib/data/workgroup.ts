// The Athena workgroup for analysts: a scan limit, encrypted results, and saved queries.

import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { Stack } from "aws-cdk-lib";
import { CfnNamedQuery, CfnWorkGroup } from "aws-cdk-lib/aws-athena";
import type { IKey } from "aws-cdk-lib/aws-kms";
import { Construct } from "constructs";
import { ASSETS, QUERIES } from "../assets.ts";
import type { Settings } from "../settings.ts";

const GIGABYTE = 1_000_000_000;

interface WorkgroupProps {
  /** The name of the deployment. */
  readonly name: string;
  /** The key that the results are encrypted with. */
  readonly encryptionKey: IKey | undefined;
  /** `s3://…/`, where the results expire. */
  readonly resultsLocation: string;
  readonly settings: Settings;
}

export function addWorkgroup(
  parent: Construct,
  { name, encryptionKey, resultsLocation, settings }: WorkgroupProps,
): void {
  const scope = new Construct(parent, "Analysis");
  const workgroup = new CfnWorkGroup(scope, "Workgroup", {
    name,
    description: "Queries of the events of the Brand Metrics Service",
    // Saved queries and history are deleted with the stack. The results are in the bucket and expire there.
    recursiveDeleteOption: true,
    workGroupConfiguration: {
      // Settings of a client must not send results elsewhere, or unencrypted.
      enforceWorkGroupConfiguration: true,
      publishCloudWatchMetricsEnabled: true,
      bytesScannedCutoffPerQuery: settings.scanLimitGigabytes * GIGABYTE,
      engineVersion: { selectedEngineVersion: "Athena engine version 3" },
      resultConfiguration: {
        outputLocation: resultsLocation,
        expectedBucketOwner: Stack.of(scope).account,
        encryptionConfiguration:
          encryptionKey === undefined
            ? { encryptionOption: "SSE_S3" }
            : { encryptionOption: "SSE_KMS", kmsKey: encryptionKey.keyArn },
      },
    },
  });
  const [firstAccount = ""] = Object.keys(settings.accounts);
  for (const { title, description, sql } of savedQueries(firstAccount)) {
    new CfnNamedQuery(scope, title, {
      name: title,
      description,
      database: settings.database,
      workGroup: workgroup.ref,
      queryString: sql,
    });
  }
}

interface SavedQuery {
  readonly title: string;
  readonly description: string;
  /** Athena's SQL, with its comments: the console's editor shows them. */
  readonly sql: string;
}

/** In the order of the file names. `{{account}}` is replaced by the account. */
export function savedQueries(account: string): readonly SavedQuery[] {
  const directory = join(ASSETS, QUERIES);
  const files = readdirSync(directory).filter((file) => file.endsWith(".sql"));
  return files.toSorted().map((file) => {
    const content = readFileSync(join(directory, file), "utf8");
    const sql = content.trim().replaceAll("{{account}}", account);
    const [, title, description] = /^-- (.+)\n-- (.+)\n/.exec(sql) ?? [];
    if (title !== undefined && description !== undefined) return { title, description, sql };
    throw new Error(
      `lib/${QUERIES}/${file}: expected "-- Title" in the first line and "-- Description" in the second`,
    );
  });
}
