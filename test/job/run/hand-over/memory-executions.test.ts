import { executionsContract } from "./executions-contract.ts";
import { MemoryExecutions } from "./memory-executions.ts";

executionsContract(async () => {
  const executions = new MemoryExecutions();
  return {
    executions,
    end: async (arn) => {
      executions.end(arn, "ABORTED");
      return "ABORTED";
    },
  };
});
