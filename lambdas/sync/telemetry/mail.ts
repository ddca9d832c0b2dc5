// The lines of a mail, which a rule of EventBridge puts into its template.

/** Contract: the sections of the runbook that mails lead to; rules match on them. */
export const MAIL_SECTIONS = {
  "Snapshot Held": ["held"],
  "Run Failed": ["failed", "login-refused", "execution"],
} as const;

/** Contract: in the detail of an event that a person is told of. The templates name these. */
export interface Mail {
  readonly section: string;
  readonly what: string;
  readonly why: string;
  /** Of a held snapshot: what publishing it would do. */
  readonly effect?: string;
  /** Of a held snapshot: the first uuids of each kind. */
  readonly examples?: string;
  /** Of a held snapshot: what happens if no person accepts it. */
  readonly wait?: string;
  /** What the function is invoked with, in base64: a template cannot show double quotes. */
  readonly accept?: string;
  readonly diff?: string;
  readonly check?: string;
  readonly run?: string;
}
