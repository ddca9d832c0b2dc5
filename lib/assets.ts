// Where the construct finds what it reads beside its code: the saved queries, and the function.

/**
 * `lib` in a clone, the folder of the built construct in the package. The build is CommonJS, which has no `import.meta`:
 * it says `__dirname` here.
 */
export const ASSETS: string = import.meta.dirname;

/** Below that folder: files, each with its title and description in the first two lines. */
export const QUERIES = "data/queries";
