// What an app may bring to a deployment. Everything but the settings is made where it is left out.

import type { IManagedPolicy } from "aws-cdk-lib/aws-iam";
import type { IKey } from "aws-cdk-lib/aws-kms";
import type { ILogGroup } from "aws-cdk-lib/aws-logs";
import type { IBucket } from "aws-cdk-lib/aws-s3";
import type { IScheduleGroup } from "aws-cdk-lib/aws-scheduler";
import type { ITopic } from "aws-cdk-lib/aws-sns";
import type { EventSyncSettings } from "./settings/settings.ts";

export interface EventSyncProps {
  /** The settings, as in `cdk.json` under `context.eventSync`, or the path of a settings file. */
  readonly settings: EventSyncSettings | string;
  /**
   * The bucket for all files. One of this app gets the lifecycle rules and the policy that protect the files, for the
   * folders of the deployment; of an imported one a warning names what it needs.
   */
  readonly bucket?: IBucket;
  /**
   * Encrypts the bucket, the results of queries, the secrets and the alarms' topic. With `bucket` it is not set there:
   * it is the key that the bucket is encrypted with.
   */
  readonly encryptionKey?: IKey;
  /** The permissions boundary of every role. */
  readonly permissionsBoundary?: IManagedPolicy;
  /** The function's log. Its retention is yours, and `logRetentionDays` is ignored. */
  readonly logGroup?: ILogGroup;
  /** Where alarms go. `alarmEmail` subscribes to it. */
  readonly alarmTopic?: ITopic;
  /** The group of the schedules. */
  readonly scheduleGroup?: IScheduleGroup;
}
