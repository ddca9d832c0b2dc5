// The tables that Athena reads, described by the code that writes them, and the permission to move their partitions.

import { ArnFormat, Stack } from "aws-cdk-lib";
import { CfnDatabase, CfnPartition, CfnTable } from "aws-cdk-lib/aws-glue";
import { PolicyStatement, type Role } from "aws-cdk-lib/aws-iam";
import { Construct } from "constructs";
import {
  linesStorage,
  TABLE_PARAMETERS,
  TABLE_TYPE,
  tableStorage,
  warehouseLocation,
} from "../../lambdas/job/catalog/glue/glue-table.ts";
import type { LiftedColumn } from "../../lambdas/job/snapshot/rows/lifted-column.ts";
import { TABLES, type TableName } from "../../lambdas/job/storage/tables.ts";
import type { FunctionSettings } from "../../lambdas/sync/environment.ts";

/** The function moves their partitions with each publication. Those of the other two are created here, one per account. */
const FOLLOWING = ["events", "event_snapshots", "event_changes"] as const satisfies readonly TableName[];
const LINES = ["publications", "sync_runs"] as const satisfies readonly TableName[];

const DESCRIPTIONS: Readonly<Record<TableName, string>> = {
  events: "The events of the latest publication, one row per event",
  event_snapshots: "The events of every published snapshot",
  event_changes: "What each publication added, changed and removed",
  publications: "The publication log: which snapshot readers see, and since when",
  sync_runs: "What each attempt of a run did",
};

export interface WarehouseProps {
  readonly database: string;
  readonly bucketName: string;
  readonly accounts: readonly string[];
  readonly lifted: readonly LiftedColumn[];
}

export class Warehouse extends Construct {
  readonly database: string;

  constructor(scope: Construct, id: string, props: WarehouseProps) {
    super(scope, id);
    const { account: catalogId } = Stack.of(this);
    const location = warehouseLocation(props.bucketName, "");
    const lifted = props.lifted.map(({ name }) => name);
    const database = new CfnDatabase(this, "Database", {
      catalogId,
      databaseInput: { name: props.database, description: "Events of the Brand Metrics Service" },
    });
    this.database = props.database;
    const table = (name: TableName): CfnTable =>
      new CfnTable(this, name, {
        catalogId,
        databaseName: database.ref,
        tableInput: {
          name,
          description: DESCRIPTIONS[name],
          tableType: TABLE_TYPE,
          parameters: TABLE_PARAMETERS,
          partitionKeys: TABLES[name].partitions.map((key) => ({ name: key, type: "string" })),
          storageDescriptor: tableStorage(name, location, lifted),
        },
      });
    for (const name of FOLLOWING) table(name);
    for (const name of LINES) {
      const { ref } = table(name);
      for (const account of props.accounts) {
        new CfnPartition(this, `${name}-${account}`, {
          catalogId,
          databaseName: database.ref,
          tableName: ref,
          partitionInput: { values: [account], storageDescriptor: linesStorage(name, location, account) },
        });
      }
    }
  }

  /** Allows the function to move the partitions of events, not to change a table, and returns the database. */
  grantTo(role: Role): Pick<FunctionSettings, "database"> {
    const arn = (resource: string, resourceName?: string): string =>
      Stack.of(this).formatArn({
        service: "glue",
        resource,
        ...(resourceName === undefined ? { arnFormat: ArnFormat.NO_RESOURCE_NAME } : { resourceName }),
      });
    role.addToPolicy(
      new PolicyStatement({
        sid: "FollowPublications",
        actions: [
          "glue:GetTable",
          "glue:GetPartition",
          "glue:GetPartitions",
          "glue:BatchCreatePartition",
          "glue:UpdatePartition",
          "glue:BatchDeletePartition",
        ],
        resources: [
          arn("catalog"),
          arn("database", this.database),
          ...FOLLOWING.map((table) => arn("table", `${this.database}/${table}`)),
        ],
      }),
    );
    return { database: this.database };
  }
}
