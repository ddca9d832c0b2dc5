// Tables, queries and secrets, as AWS describes them.

import { type Kind, tagsOf, unlessMissing, without } from "./kind.ts";

export const GLUE_TABLES: readonly Kind[] = [
  {
    type: "AWS::Glue::Database",
    read: async ({ glue }, { id }) => {
      const { Database } = await glue.getDatabase({ Name: id });
      return { CatalogId: Database?.CatalogId, DatabaseInput: without(Database, "CatalogId CreateTime") };
    },
    filledIn: {
      // By the settings of Lake Formation: IAM alone decides, or Lake Formation.
      "DatabaseInput.CreateTableDefaultPermissions": [
        [{ Principal: { DataLakePrincipalIdentifier: "IAM_ALLOWED_PRINCIPALS" }, Permissions: ["ALL"] }],
      ],
    },
  },
  {
    type: "AWS::Glue::Table",
    read: async ({ glue }, { id, text }) => {
      const { Table } = await glue.getTable({ DatabaseName: text("DatabaseName"), Name: id });
      const ofItself =
        "CatalogId DatabaseName CreateTime CreatedBy UpdateTime LastAccessTime IsRegisteredWithLakeFormation VersionId";
      return Table && { CatalogId: Table.CatalogId, TableInput: without(Table, ofItself) };
    },
    filledIn: {
      "TableInput.IsMaterializedView": [false],
      "TableInput.IsMultiDialectView": [false],
      "TableInput.Retention": [0],
      "TableInput.StorageDescriptor.Compressed": [false],
      "TableInput.StorageDescriptor.NumberOfBuckets": [0, -1],
      "TableInput.StorageDescriptor.StoredAsSubDirectories": [false],
    },
  },
];

export const WORKGROUP: readonly Kind[] = [
  {
    type: "AWS::Athena::WorkGroup",
    read: async ({ athena }, { id, arn }) => {
      const { WorkGroup: { Configuration, ...found } = {} } = await athena.getWorkGroup({ WorkGroup: id });
      const ResourceARN = arn("athena", `workgroup/${id}`);
      const { Tags } = await athena.listTagsForResource({ ResourceARN });
      return { ...without(found, "CreationTime"), WorkGroupConfiguration: Configuration, ...tagsOf(Tags) };
    },
    filledIn: {
      State: ["ENABLED"],
      "WorkGroupConfiguration.EnableMinimumEncryptionConfiguration": [false],
      "WorkGroupConfiguration.EngineVersion.EffectiveEngineVersion": ["Athena engine version 3"],
      "WorkGroupConfiguration.ManagedQueryResultsConfiguration": [{ Enabled: false }],
      "WorkGroupConfiguration.RequesterPaysEnabled": [false],
    },
    notReturned: {
      RecursiveDeleteOption: "it tells CloudFormation how to delete, and Athena does not know it",
    },
  },
  {
    type: "AWS::Athena::NamedQuery",
    read: async ({ athena }, { id }) =>
      without((await athena.getNamedQuery({ NamedQueryId: id })).NamedQuery, "NamedQueryId"),
  },
];

export const SECRETS: readonly Kind[] = [
  {
    type: "AWS::SecretsManager::Secret",
    read: async ({ secrets }, { id }) => {
      const found = await secrets.describeSecret({ SecretId: id });
      const { ResourcePolicy } =
        (await secrets.getResourcePolicy({ SecretId: id }).catch(unlessMissing)) ?? {};
      const ofItself = "ARN CreatedDate LastAccessedDate LastChangedDate VersionIdsToStages";
      return { ...without(found, ofItself), ResourcePolicy, ...tagsOf(found.Tags) };
    },
    filledIn: { RotationEnabled: [false] },
  },
];
