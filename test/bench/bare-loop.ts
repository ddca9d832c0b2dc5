// A separate program that fetches the same events as the job, with the same number of connections, and discards
// them. It measures the service and the network; any further time is the job's own work.

import { Agent } from "undici";

interface BareLoopOptions {
  readonly url: string;
  readonly email: string;
  readonly password: string;
  readonly connections: number;
}

const options: BareLoopOptions = JSON.parse(process.argv[2] ?? "");
const { url, email, password, connections } = options;
const agent = new Agent({ connections, pipelining: 1 });

const login = await agent.request({
  origin: url,
  path: "/v1/auth/login",
  method: "POST",
  headers: { "content-type": "application/json" },
  body: JSON.stringify({ meta: { version: "v1" }, data: { email, password } }),
});
await login.body.dump();
const cookies = [login.headers["set-cookie"] ?? []].flat();
const headers = { cookie: cookies.map((cookie) => cookie.split(";")[0]).join("; ") };

const list = await agent.request({ origin: url, path: "/v1/events?is_listed=true", method: "GET", headers });
const uuids: string[] = [];
for (const [, uuid] of (await list.body.text()).matchAll(/"uuid":"([^"]+)"/g)) uuids.push(uuid ?? "");

let next = 0;
await Promise.all(Array.from({ length: connections }, fetchNext));
await agent.close();

async function fetchNext(): Promise<void> {
  for (let uuid = uuids[next++]; uuid !== undefined; uuid = uuids[next++]) {
    const path = `/v1/events/${uuid}`;
    const { statusCode, body } = await agent.request({ origin: url, path, method: "GET", headers });
    if (statusCode !== 200) throw new Error(`${path} returned ${statusCode}`);
    for await (const _ of body);
  }
}
