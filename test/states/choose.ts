// Where a Choice state leads.

import type { State } from "./definition.ts";
import { type Data, readPath } from "./read-path.ts";
import { StateError } from "./state-error.ts";

/** The name of the next state: of the first rule that holds, or the default. */
export function choose(state: Extract<State, { readonly Type: "Choice" }>, data: Data): string {
  const chosen = state.Choices.find(
    ({ Variable, BooleanEquals }) => readPath(Variable, data) === BooleanEquals,
  );
  const next = chosen?.Next ?? state.Default;
  if (next === undefined) throw new StateError("States.NoChoiceMatched", "No choice rule matched.");
  return next;
}
