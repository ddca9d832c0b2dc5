// The tables and views that Athena reads, described by the code that writes the files, and the permission to move the
// tables' partitions.

import { ArnFormat, Stack } from "aws-cdk-lib";
import { CfnDatabase, CfnTable } from "aws-cdk-lib/aws-glue";
import { PolicyStatement, type Role } from "aws-cdk-lib/aws-iam";
import { Construct } from "constructs";
import {
  TABLE_PARAMETERS,
  TABLE_TYPE,
  tableStorage,
  warehouseLocation,
} from "../../lambdas/job/catalog/glue/glue-table.ts";
import { glueViews } from "../../lambdas/job/catalog/glue/glue-view.ts";
import type { LiftedColumn } from "../../lambdas/job/snapshot/rows/lifted-column.ts";
import { TABLES, type TableName } from "../../lambdas/job/storage/layout.ts";
import type { FunctionSettings } from "../../lambdas/sync/environment.ts";

const DESCRIPTIONS: Readonly<Record<TableName, string>> = {
  events: "The events of the latest publication, one row per event",
  event_snapshots: "The events of every published snapshot",
  event_changes: "What each publication added, changed and removed",
  publications: "The publication log: which snapshot readers see, and since when",
  sync_runs: "What each attempt of a run did",
};

const NAMES = [
  "events",
  "event_snapshots",
  "event_changes",
  "publications",
  "sync_runs",
] as const satisfies readonly TableName[];

interface WarehouseProps {
  readonly database: string;
  readonly bucketName: string;
  readonly lifted: readonly LiftedColumn[];
}

export class WarehouseTables extends Construct {
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
    const tables = NAMES.map(table);
    for (const view of glueViews(props.database, props.lifted)) {
      const made = new CfnTable(this, view.name, {
        catalogId,
        databaseName: database.ref,
        tableInput: view,
      });
      // So that a view never names a column before its table has it.
      made.node.addDependency(...tables);
    }
  }

  /** Allows the function to make and move partitions, not to change a table, and returns the database. */
  grantTo(role: Role): Pick<FunctionSettings, "database"> {
    const arn = (resource: string, resourceName?: string): string =>
      Stack.of(this).formatArn({
        service: "glue",
        resource,
        ...(resourceName === undefined ? { arnFormat: ArnFormat.NO_RESOURCE_NAME } : { resourceName }),
      });
    const named = NAMES.map((table) => arn("table", `${this.database}/${table}`));
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
        resources: [arn("catalog"), arn("database", this.database), ...named],
      }),
    );
    return { database: this.database };
  }
}
