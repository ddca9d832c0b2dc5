// A person at the identity provider's pages, without a browser: logs in and decides.

/** Follows the pages from the authorization address on; returns where the browser would be sent at the end. */
export const decide = async (
  address: string,
  {
    user,
    decision,
  }: {
    readonly user: { readonly email: string; readonly password: string };
    readonly decision: "allow" | "deny";
  },
): Promise<string> => {
  const login = await fetch(address, { redirect: "manual" });
  if (login.status !== 200) return sentTo(login);
  const transaction = /name="transaction" value="([^"]+)"/.exec(await login.text())?.[1] ?? "";
  const page = new URL("/oauth/authorize", address);
  const submit = (fields: Readonly<Record<string, string>>): Promise<Response> =>
    fetch(page, {
      method: "POST",
      body: new URLSearchParams({ transaction, ...fields }),
      redirect: "manual",
    });
  await (await submit({ ...user })).text();
  return sentTo(await submit({ decision }));
};

const sentTo = async (response: Response): Promise<string> => {
  const location = response.headers.get("location");
  if (location === null) throw new Error(`the page answered ${response.status}: ${await response.text()}`);
  return location;
};
