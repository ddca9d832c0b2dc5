// The saved queries of CloudWatch Logs Insights, in a folder with the name of the deployment.

import { CfnQueryDefinition, type ILogGroup } from "aws-cdk-lib/aws-logs";
import { Construct } from "constructs";
import { LOG_QUERIES, queryText } from "./log-queries.ts";

export class SavedLogQueries extends Construct {
  /** @param name of the deployment */
  constructor(scope: Construct, id: string, name: string, logGroup: ILogGroup) {
    super(scope, id);
    for (const query of LOG_QUERIES) {
      new CfnQueryDefinition(this, query.title.replaceAll(/[^A-Za-z]/g, ""), {
        name: `${name}/${query.title}`,
        queryString: queryText(query),
        logGroupNames: [logGroup.logGroupName],
      });
    }
  }
}
