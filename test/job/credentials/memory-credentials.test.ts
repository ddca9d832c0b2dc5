// Credentials in memory keep the contract.

import { credentialsContract } from "./credentials-contract.ts";
import { MemoryCredentials } from "./memory-credentials.ts";

credentialsContract("MemoryCredentials", async () => {
  const credentials = new MemoryCredentials();
  return { credentials, store: async (text) => credentials.store(text) };
});
