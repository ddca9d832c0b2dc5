// The versions of the job that work on one warehouse: today's, and one that was frozen.

import { JOB as FROZEN } from "../../fixtures/job-0.1/job.js";
import { Chance } from "../chance.ts";
import type { Start } from "../plan/plan.ts";
import type { World } from "../world.ts";
import { JOB, type Job } from "./job.ts";

export type Version = "today" | "0.1";

/** A frozen version that differs from today's in what a world calls is adapted here. */
const JOBS: Readonly<Record<Version, Job>> = { today: JOB, "0.1": FROZEN };

/**
 * Each process has its own, as in the middle of an upgrade; in the end all are today's. Only today's sees changes that a
 * decision has left which would have restarted.
 */
export function drawVersion({ plan, hasFaults }: World, process: string, { command }: Start): Version {
  const isDecision = (command.name === "accept" || command.name === "rollback") && "overDamaged" in command;
  if (!plan.setting.hasTwoVersions || !hasFaults || isDecision) return "today";
  return new Chance(plan.seed, `version of ${process}`).pick(["today", "0.1"]);
}

export const jobOf = (version: Version): Job => JOBS[version];
