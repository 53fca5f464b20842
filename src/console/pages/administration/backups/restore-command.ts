/** Brings a backup back; the path is quoted for a POSIX shell where it has to be. */
export const restoreCommand = (path: string): string =>
  `npx candor restore ${/^[\w./@:+-]+$/.test(path) ? path : `'${path.replaceAll("'", `'\\''`)}'`}`;
