// Settings of a deployment that are taken, and what is said of others.

export const UK = { schedule: "cron(0 6 * * ? *)" };
export const GOOD = { baseUrl: "https://api.example.com", accounts: { uk: UK } };

/** With these settings of its account. */
export const account = (over: object): object => ({ ...GOOD, accounts: { uk: { ...UK, ...over } } });

/** What is thrown, or `taken`. */
export function messageOf(parse: () => unknown): string {
  try {
    parse();
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
  return "taken";
}
