// An error of the engine or of a task, as an execution fails with it: the name that `Retry` compares, and a text.

export class StateError extends Error {
  override readonly name = "StateError";
  /** `States.Timeout`, `SERVICE_UNAVAILABLE` */
  readonly error: string;

  constructor(error: string, cause: string) {
    super(cause);
    this.error = error;
  }
}
