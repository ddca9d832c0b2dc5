// The runbook's section "Held", acted out: the function's answers are those on the page.

import { afterAll, beforeAll, expect, test } from "vitest";
import { z } from "zod";
import { layout } from "../../lambdas/job/storage/layout.ts";
import { onEmulator } from "../aws/emulator.ts";
import { askedIn, asShown, mailBelow, stepsBelow } from "../docs/held/runbook-steps.ts";
import { firstDay, worseDay } from "../docs/held/worse-day.ts";
import { DAY_MS, DeployedAccounts } from "./deployed-accounts.ts";

const HEADING = "### Two minutes with a held snapshot";
const ids = z.object({ run_id: z.string() });
const mail = z.object({ what: z.string(), effect: z.string() });

type Account = "uk" | "us";

onEmulator(`the runbook, "${HEADING.slice(4)}"`, () => {
  let deployed: DeployedAccounts<Account>;
  const steps = stepsBelow(HEADING);
  const step = (part: string) => {
    const found = steps.find(({ command }) => command.includes(part));
    if (found === undefined) throw new Error(`the page has no command with ${part}`);
    return found;
  };

  beforeAll(async () => {
    deployed = await DeployedAccounts.deploy<Account>({ uk: {}, us: {} });
  }, 120_000);
  afterAll(() => deployed?.[Symbol.asyncDispose]());

  /** Two days of the schedule: published, then held. */
  async function heldDay(account: Account) {
    const first = Date.now() - 2 * DAY_MS;
    firstDay(deployed.service(account));
    const head = ids.parse(await deployed.run(account, first)).run_id;
    worseDay(deployed.service(account));
    return { head, held: ids.parse(await deployed.run(account, first + DAY_MS)).run_id };
  }

  /** The answer to a command of the page, with the page's names. */
  async function answerTo(part: string, account: Account, story: { head: string; held: string }) {
    const answer = await deployed.invoke(askedIn(step(part).command, account, story.held));
    return JSON.parse(asShown(JSON.stringify(answer), story));
  }

  test("its commands are these, in this order", () => {
    expect(
      steps.map(({ command }) => /action\\":\\"(\w+)|(^aws s3 cp)/.exec(command)?.slice(1).join("")),
    ).toEqual(["diff", "aws s3 cp", "accept", "run", "status"]);
  });

  test("the right snapshot: mail, diff, what is left out, accept, status", async () => {
    const account = "uk";
    const story = await heldDay(account);
    const shown = (part: string): object => JSON.parse(step(part).answer);

    const event = deployed.busEvents(account).find(({ DetailType }) => DetailType === "Snapshot Held");
    const { what, effect } = mail.parse(event?.detail["mail"]);
    expect([what, effect].map((line) => asShown(line, story))).toEqual(mailBelow(HEADING));
    expect(await answerTo('diff\\"', account, story)).toEqual(shown('diff\\"'));
    const left = await deployed.store.read(layout(account).leftOut(story.held));
    expect(
      Buffer.from(left?.bytes ?? [])
        .toString()
        .trim(),
    ).toBe(step("aws s3 cp").answer);
    expect(await answerTo('accept\\"', account, story)).toMatchObject(shown('accept\\"'));
    expect(await answerTo('status\\"', account, story)).toMatchObject(shown('status\\"'));
  });

  test("the wrong snapshot: nothing is done, and the next run publishes", async () => {
    const account = "us";
    const story = await heldDay(account);

    firstDay(deployed.service(account));
    const next = await answerTo('run\\"', account, story);

    expect(next).toMatchObject(JSON.parse(step('run\\"').answer));
  });
});
