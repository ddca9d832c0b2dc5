// The tables and views that Athena reads, described by the code that writes the files.

import { Stack } from "aws-cdk-lib";
import { CfnDatabase, CfnTable } from "aws-cdk-lib/aws-glue";
import { Construct } from "constructs";
import { glueTable, glueViews } from "../../lambdas/job/catalog/glue/glue-tables.ts";
import type { TableName } from "../../lambdas/job/storage/layout.ts";
import type { Settings } from "../settings/settings.ts";

const DESCRIPTIONS: readonly (readonly [TableName, string])[] = [
  ["events", "The events of the latest publication, one row per event"],
  ["event_snapshots", "The events of every published snapshot"],
  ["event_changes", "What each publication added, changed and removed"],
  ["publications", "The publication log: which snapshot readers see, and since when"],
  ["sync_runs", "What each attempt of a run did"],
];

/** @param location `s3://…` */
export function addTables(parent: Construct, { database, lifted }: Settings, location: string): void {
  const scope = new Construct(parent, "Warehouse");
  const { account: catalogId } = Stack.of(scope);
  const { ref: databaseName } = new CfnDatabase(scope, "Database", {
    catalogId,
    databaseInput: { name: database, description: "Events of the Brand Metrics Service" },
  });
  const addTable = (tableInput: CfnTable.TableInputProperty & { readonly name: string }): CfnTable =>
    new CfnTable(scope, tableInput.name, { catalogId, databaseName, tableInput });
  const tables = DESCRIPTIONS.map(([name, description]) =>
    addTable({ ...glueTable(name, location, lifted), description }),
  );
  // So that a view never names a column before its table has it.
  for (const view of glueViews(database, lifted)) addTable(view).node.addDependency(...tables);
}
