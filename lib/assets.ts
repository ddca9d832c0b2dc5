// Where the construct finds what it reads beside its code: the saved queries, and the function.

/** `lib` in a clone, the built construct's folder in the package: as CommonJS, the build says `__dirname` here. */
export const ASSETS: string = import.meta.dirname;

/** Below that folder: files, each with its title and description in the first two lines. */
export const QUERIES = "data/queries";
