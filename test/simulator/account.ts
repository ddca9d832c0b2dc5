// The one account of the simulated service, with values that a search of logs and files finds at once.

/** None of these may ever appear in a log line, an error or a written file. */
export const CANARY = {
  email: "canary.user@example.test",
  // A colon and a letter beyond ASCII: both are legal in HTTP Basic (RFC 7617 §2 and §2.1).
  password: "canary:Pässword-5f1d",
  /** Every cookie's value starts with it. */
  cookie: "canary-cookie",
  /** Every token and code of OAuth starts with its own. */
  accessToken: "canary-access",
  refreshToken: "canary-refresh",
  code: "canary-code",
  clientSecret: "canary-client-secret",
  /** In every response that is not an event or a list. */
  body: "canary-body",
} as const;

export interface Account {
  readonly email: string;
  readonly password: string;
  /** Disabled for abuse: login and Basic are refused with 401. */
  readonly disabled?: boolean;
  /** The methods the service accepts from it. */
  readonly methods: readonly ("session" | "basic" | "oauth")[];
}

export const CANARY_ACCOUNT: Account = {
  email: CANARY.email,
  password: CANARY.password,
  methods: ["session", "basic", "oauth"],
};
