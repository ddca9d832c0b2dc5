// Credentials in a file keep the contract.

import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { FileCredentials } from "../../bin/local/file-credentials.ts";
import { credentialsContract } from "../credentials/credentials-contract.ts";
import { LogLines } from "../host/log-lines.ts";
import { temporaryDirectory } from "./temporary-directory.ts";

credentialsContract("FileCredentials", async () => {
  const file = join(await temporaryDirectory(), "credentials.json");
  const credentials = new FileCredentials(file, new LogLines());
  return { credentials, store: (text) => writeFile(file, text, { mode: 0o600 }) };
});
