// The file of the bundle that Lambda loads, and the handler in it.

export const FUNCTION_FILE = "index.mjs";
export const FUNCTION_HANDLER = "index.handler";
