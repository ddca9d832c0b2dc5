// `npm run protocol`: explores the protocol completely, and then with each planted defect.

import { DEFECTS, isDefect, planted } from "./defects.ts";
import {
  catalogsOf,
  exploreScenario,
  isCollecting,
  isScenario,
  SCENARIOS,
  type ScenarioName,
} from "./scenarios.ts";

/**
 * Each process may crash once and come back. One that collects, or works beside a removal, does not: a collection would
 * have some ten million worlds.
 */
const startsIn = (scenario: ScenarioName): number =>
  isCollecting(scenario) || scenario.includes("removal") ? 1 : 2;

process.exitCode = exploreAll() && findAll() ? 0 : 1;

function exploreAll(): boolean {
  console.log(
    "The protocol: every interleaving of two processes, each of which may crash at any step, twice.",
  );
  let total = 0;
  for (const scenario of Object.keys(SCENARIOS).filter(isScenario)) {
    for (const catalog of catalogsOf(scenario)) {
      const { states, ends, violation } = exploreScenario(scenario, { catalog, starts: startsIn(scenario) });
      console.log(`${count(states)} states, ${count(ends)} ends  ${scenario} (${catalog})`);
      if (violation) {
        console.error([violation.law, ...violation.story].join("\n  "));
        return false;
      }
      total += states;
    }
  }
  console.log(`${count(total)} states in all. No law is broken in any of them.\n`);
  return true;
}

function findAll(): boolean {
  console.log("Planted defects: the number of states until one breaks a law.");
  return Object.keys(DEFECTS)
    .filter(isDefect)
    .map((defect) => {
      const { scenario, change, catalog = "views.sql" } = planted(defect);
      const { states, violation } = exploreScenario(scenario, { catalog, starts: 1, defect });
      console.log(
        `${count(states)}  ${defect}: ${change}\n${" ".repeat(11)}${violation?.law ?? "NOT FOUND"}`,
      );
      return violation !== undefined;
    })
    .every(Boolean);
}

function count(n: number): string {
  return n.toLocaleString("en-US").padStart(9);
}
