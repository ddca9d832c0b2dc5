// Renewals of access tokens: few requests, one process at a time, and stored before the first use.

import type { Model } from "../model/model.ts";
import type { ProcessFacts } from "../model/process-facts.ts";

/** One request of the token endpoint. */
export interface TokenRequest {
  readonly process: ProcessFacts;
  readonly refreshToken: string;
  /** Undefined until its answer has come. */
  status: number | undefined;
}

const MOST_OF_A_RENEWAL = 3;

export function checkTokenRequest(model: Model, facts: ProcessFacts, refreshToken: string): void {
  const { name, start } = facts;
  const own = model.tokenRequests.filter(({ process }) => process === facts);
  const failed = own.slice(own.findLastIndex(({ status }) => status === 200) + 1);
  if (failed.length >= MOST_OF_A_RENEWAL)
    model.fail(`${name} sends more than 3 token requests for a renewal`);
  const other = model.tokenRequests.find(
    ({ process, status, ...request }) =>
      process !== facts && !process.isOver && status === undefined && request.refreshToken === refreshToken,
  );
  const isTroubled = other && (model.isTroubled(start.id) || model.isTroubled(other.process.start.id));
  if (other && !isTroubled) model.fail(`${name} renews at the same time as ${other.process.name}`);
}

export function checkAccessToken(model: Model, { name }: ProcessFacts, authorization: string): void {
  const accessToken = /^Bearer (\S+)$/.exec(authorization)?.[1];
  if (accessToken !== undefined && !model.account.tokens.hadAccessToken(accessToken))
    model.fail(`${name} uses an access token before it is stored`);
}
