import { createHash } from 'node:crypto';
import type { Rule } from '../contract/resources/rule.ts';
import { keyOf } from '../detect/sigma/correlation/references.ts';
import type { Problem, SigmaDocument } from '../detect/sigma/document.ts';
import { limits } from '../limits.ts';
import type { RuleOrigin, RuleRow } from '../store/rule-row.ts';
import { canonicalUuid } from '../uuid.ts';
import type { FileDocument } from './rule-folder.ts';
import type { ParsedRule } from './tasks.ts';

/** Rules by their ids. */
export type Rows = ReadonlyMap<string, RuleRow>;

export const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex');

/** By what findings and hits name it; a filter finds nothing. */
export const findingKey = (document: SigmaDocument | undefined): string | undefined =>
  document === undefined || document.kind === 'filter' ? undefined : keyOf(document);

/** The document of a row, under the row's id where it has none of its own: so alerts name what the interface finds. */
export function documentOf(row: Pick<RuleRow, 'id'>, document: SigmaDocument): SigmaDocument {
  return document.kind === 'filter' || document.id !== undefined ? document : { ...document, id: row.id };
}

const originOrder: readonly RuleOrigin[] = ['shipped', 'folder', 'api'];

/** In the order in which they are compiled: of two with the same id, the first is applied. */
export function inOrder(rows: Iterable<RuleRow>): RuleRow[] {
  const place = (row: RuleRow) =>
    `${originOrder.indexOf(row.origin)} ${row.file ?? ''}\0${String(row.line).padStart(8, '0')} ${row.id}`;
  return [...rows].sort((a, b) => (place(a) < place(b) ? -1 : 1));
}

/** Hashes with their texts, in parts of `limits.ruleParseBytes` and at least one text. */
export function inParts(texts: readonly (readonly [hash: string, text: string])[]) {
  const parts: (typeof texts)[number][][] = [];
  let room = 0;
  for (const one of texts) {
    if (room <= 0) {
      parts.push([]);
      room = limits.ruleParseBytes;
    }
    room -= one[1].length;
    parts.at(-1)!.push(one);
  }
  return parts;
}

/** What a row says of a document, or of one that cannot be read. */
export function headOf({ document }: ParsedRule, where: string): Pick<RuleRow, 'title' | 'level'> {
  return { title: document?.title ?? where, level: document?.level ?? 'medium' };
}

/**
 * The rows of a folder's documents. One that was there before keeps its id and whether it is enabled; a new one takes
 * the document's id where that is a UUID that no other has.
 *
 * @param taken - ids of rules from elsewhere
 */
export function rowsOfFolder(
  origin: RuleOrigin,
  documents: readonly FileDocument[],
  parsed: (text: string) => ParsedRule,
  before: Rows,
  taken: ReadonlySet<string>,
  changedAt: string,
): RuleRow[] {
  const used = new Set(taken);
  const places = new Map<string, RuleRow>();
  for (const row of before.values())
    if (row.origin === origin) places.set(placeOf(row, nth(before, row)), row);
  const seen = new Map<string, number>();
  const wantedBy = (text: string) => canonicalUuid(parsed(text).document?.id ?? '');
  // What a document is to have by its own word, none that stands where it stood before may take.
  const claimed = new Set(documents.map(({ text }) => wantedBy(text)));
  return documents.map(({ file, line, text }) => {
    const n = seen.get(file) ?? 0;
    seen.set(file, n + 1);
    const one = parsed(text);
    const wanted = wantedBy(text);
    const there = places.get(placeOf({ origin, file }, n))?.id;
    const known = claimed.has(there) ? undefined : there;
    const id =
      [wanted, known].find((one) => one !== undefined && !used.has(one)) ??
      derivedId(`${origin} ${file} ${n}`);
    used.add(id);
    const was = before.get(id);
    const row: RuleRow = {
      id,
      origin,
      file,
      line,
      source: text,
      sha256: sha256(text),
      ...headOf(one, `${file}:${line}`),
      enabled: was?.enabled ?? true,
      version: was?.version ?? 1,
      changed_at: was?.changed_at ?? changedAt,
    };
    if (was === undefined || isSame(was, row)) return row;
    return { ...row, version: was.version + 1, changed_at: changedAt };
  });
}

const placeOf = ({ origin, file }: { origin: RuleOrigin; file?: string }, n: number) =>
  `${origin} ${file ?? ''} ${n}`;

/** How many documents of its file come before it. */
function nth(rows: Rows, { origin, file, line }: RuleRow): number {
  let before = 0;
  for (const other of rows.values())
    if (other.origin === origin && other.file === file && other.line < line) before++;
  return before;
}

/** Whether they say and do the same: where they stand in their file doesn't matter. */
export const isSame = (a: RuleRow, b: RuleRow): boolean => a.sha256 === b.sha256 && a.enabled === b.enabled;

/** What an entry of the log says of a rule. */
const entryOf = ({ id, title, level, enabled, sha256 }: RuleRow) => ({
  id,
  title,
  level,
  enabled,
  source_sha256: sha256,
});

/** What turns the rules before into those after. */
export function differenceOf(before: Rows, after: Rows) {
  const isNew = (row: RuleRow) => !before.has(row.id);
  const rows = [...after.values()];
  return {
    added: rows.filter(isNew).map(entryOf),
    removed: [...before.values()].filter(({ id }) => !after.has(id)).map(entryOf),
    changed: rows.flatMap((row) => {
      const was = before.get(row.id);
      return was === undefined || isSame(was, row) ? [] : [{ before: entryOf(was), after: entryOf(row) }];
    }),
  };
}

/** Version 8 of RFC 9562: a name's hash. */
function derivedId(name: string): string {
  const hex = sha256(name);
  const variant = ((Number.parseInt(hex[16]!, 16) & 3) | 8).toString(16);
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-8${hex.slice(13, 16)}-${variant}${hex.slice(17, 20)}-${hex.slice(20, 32)}`;
}

/** A problem as people are told of it: with the line in the file, or in the text that was given. */
export function told(
  { file, line }: Pick<RuleRow, 'file' | 'line'>,
  { line: at, field, reason }: Problem,
): string {
  const where = file === undefined ? `line ${at}` : `${file}:${line + at - 1}`;
  return `${where}: ${field === '' ? '' : `${field} `}${reason}`;
}

/** A rule as the contract shows it. */
export function ruleOf(
  row: RuleRow,
  { document }: ParsedRule,
  state: {
    readonly hits: number;
    readonly cost: number | undefined;
    readonly errors: readonly string[];
    readonly missing: readonly string[];
  },
): Rule {
  const { origin, file, line } = row;
  const logsource =
    document === undefined || document.kind === 'correlation' ? {} : { ...document.logsource };
  return {
    title: row.title,
    ...(document === undefined ? {} : { kind: document.kind }),
    level: row.level,
    ...(document?.status === undefined ? {} : { status: document.status }),
    logsource,
    tags: [...(document?.tags ?? [])],
    source: row.source,
    origin,
    ...(file === undefined ? {} : { file, line }),
    enabled: row.enabled,
    hits: state.hits,
    ...(state.cost === undefined ? {} : { cost: state.cost }),
    errors: [...state.errors],
    ...(state.missing.length === 0 ? {} : { missing_fields: [...state.missing] }),
    changed_at: row.changed_at,
    version: row.version,
  };
}
