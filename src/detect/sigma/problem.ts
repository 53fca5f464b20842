import type { Problem, SigmaDocument } from './document.ts';
import { fieldName, type Path } from './field-name.ts';

/** What problems name that are only known when documents are compiled together: fields, and how many levels within. */
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

/** Whether a document keeps the line of a field. All threads have all documents: these lines add a seventh, 110 bytes. */
export function keepsLine([first = '', ...within]: Path): boolean {
  return within.length <= (namedLater.get(first) ?? -1);
}

/** Why a document is refused when it is compiled: the line is always that of the field, and found from it. */
export function problemOf(document: SigmaDocument, field: Path, reason: string): Problem {
  return { line: lineOf(document, field), field: fieldName(field), reason };
}

/** The line of a field, or of the nearest around it that is there. */
function lineOf({ line, lines }: SigmaDocument, field: Path): number {
  for (let levels = field.length; levels > 0; levels--) {
    const found = lines.get(fieldName(field.slice(0, levels)));
    if (found !== undefined) return found;
  }
  return line;
}
