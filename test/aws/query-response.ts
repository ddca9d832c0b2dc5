// A response of the services that answer in XML with members: CloudFormation, IAM.

import type { Fault } from "./aws-proxy.ts";

export const queryResponse = (action: string, result: object): Fault => ({
  status: 200,
  body: xmlOf({ [`${action}Response`]: { [`${action}Result`]: result } }),
});

function xmlOf(value: unknown): string {
  if (Array.isArray(value)) return value.map((each) => `<member>${xmlOf(each)}</member>`).join("");
  if (typeof value === "object" && value !== null) {
    return Object.entries(value)
      .map(([name, each]) => `<${name}>${xmlOf(each)}</${name}>`)
      .join("");
  }
  return String(value).replaceAll("&", "&amp;").replaceAll("<", "&lt;");
}
