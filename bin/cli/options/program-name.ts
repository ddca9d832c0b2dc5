// How this program is started where it runs. Every command that it prints begins with this.

/** `file` is a URL of this program's own code: sources run in a clone, built code where the package is installed. */
export function programName(file: string): string {
  return file.endsWith(".ts") ? "npm run sync --" : "brand-events-sync";
}

export const PROGRAM_NAME: string = programName(import.meta.url);
