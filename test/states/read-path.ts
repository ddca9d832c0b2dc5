// Reads values by the reference paths of the language: `$`, `$.a.b`, and `$$.a.b` in the context object.

/** An error of the engine or of a task, as an execution fails with it: the name that `Retry` compares, and a text. */
export class StateError extends Error {
  override readonly name = "StateError";
  /** `States.Timeout`, `SERVICE_UNAVAILABLE` */
  readonly error: string;

  constructor(error: string, cause: string) {
    super(cause);
    this.error = error;
  }
}

/** What the paths of a state are read in. */
export interface Data {
  /** The state's input. */
  readonly input: unknown;
  readonly context: Readonly<Record<string, unknown>>;
}

/** Throws an `Error` for a path of another form, and `error` as the engine's name where nothing is at the path. */
export function readPath(path: string, { input, context }: Data, error = "States.Runtime"): unknown {
  if (!/^\$\$?(\.[A-Za-z_]\w*)*$/.test(path)) {
    throw new Error(`This path is not read here: ${path}. Expected a form such as $.a.b or $$.Execution.Id`);
  }
  const [root, ...keys] = path.split(".");
  let value: unknown = root === "$" ? input : context;
  for (const key of keys) {
    const entries = new Map(isObject(value) ? Object.entries(value) : []);
    if (!entries.has(key)) {
      throw new StateError(
        error,
        `The path '${path}' could not be found in the input ${JSON.stringify(input)}`,
      );
    }
    value = entries.get(key);
  }
  return value;
}

/** `Parameters`: a key that ends in `.$` has a path as its value, and loses the ending. */
export function fillParameters(template: unknown, data: Data): unknown {
  if (Array.isArray(template)) return template.map((each) => fillParameters(each, data));
  if (!isObject(template)) return template;
  return Object.fromEntries(
    Object.entries(template).map(([key, value]) => {
      if (!key.endsWith(".$")) return [key, fillParameters(value, data)];
      return [key.slice(0, -2), readPath(String(value), data, "States.ParameterPathFailure")];
    }),
  );
}

function isObject(value: unknown): value is object {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
