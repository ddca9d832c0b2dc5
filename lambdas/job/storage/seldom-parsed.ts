// For schemas whose values come a few times in a run: otherwise Zod generates code for a schema when it is first used, which
// takes several times as long as to parse such a value.

export const SELDOM_PARSED = { jitless: true } as const;
