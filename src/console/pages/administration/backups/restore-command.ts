/** Returns the command that restores a backup, with the path quoted for a POSIX shell if necessary. */
export const restoreCommand = (path: string): string =>
  `npx candor restore ${/^[\w./@:+-]+$/.test(path) ? path : `'${path.replaceAll("'", `'\\''`)}'`}`;
