/** A position in a document: keys and indexes from the root. */
export type Path = readonly (string | number)[];

/** Formats a path: `detection.selection.query|contains`, `tags[2]`. */
export function fieldName(path: Path): string {
  return path.reduce<string>((name, part) => {
    if (typeof part === 'number') return `${name}[${part}]`;
    const short = part.length > 120 ? `${part.slice(0, 120)}…`.toWellFormed() : part;
    return name === '' ? short : `${name}.${short}`;
  }, '');
}
