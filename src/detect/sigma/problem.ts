import type { Problem, SigmaDocument } from './document.ts';

/**
 * Fields for which problems may be found when documents are compiled together, with the depth of nested
 * fields.
 */
const namedLater: ReadonlyMap<string | number, number> = new Map([
  ['title', 0],
  ['id', 0],
  ['name', 0],
  ['status', 0],
  ['logsource', 0],
  ['detection', 0],
  ['filter', 1],
  ['correlation', 3],
]);

/**
 * Returns true if a document stores the line of a field. Documents are copied to all threads, and these lines
 * increase their size by a seventh, 110 bytes.
 */
export function keepsLine([first = '', ...within]: Path): boolean {
  return within.length <= (namedLater.get(first) ?? -1);
}

/** Creates a problem found at compilation. Its line is looked up by the field. */
export function problemOf(document: SigmaDocument, field: Path, reason: string): Problem {
  return { line: lineOf(document, field), field: fieldName(field), reason };
}

/** Returns the line of a field, or of the nearest enclosing field that exists. */
function lineOf({ line, lines }: SigmaDocument, field: Path): number {
  for (let levels = field.length; levels > 0; levels--) {
    const found = lines.get(fieldName(field.slice(0, levels)));
    if (found !== undefined) return found;
  }
  return line;
}

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
