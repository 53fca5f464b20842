import { createHash } from 'node:crypto';
import type { Rule } from '../contract/resources/rule.ts';
import { keyOf } from '../detect/sigma/correlation/references.ts';
import type { Problem, SigmaDocument } from '../detect/sigma/document.ts';
import type { RuleOrigin, RuleRow } from '../detect/store/rule-row.ts';
import { nameUuid } from '../events/scoped-id.ts';
import { limits } from '../limits.ts';
import { canonicalUuid } from '../uuid.ts';
import type { FileDocument } from './rule-folder.ts';
import type { ParsedRule } from './tasks.ts';

/** Rules by their ids. */
export type Rows = ReadonlyMap<string, RuleRow>;

export const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex');

/** Returns the key of a document in findings and hits; undefined for filters. */
export const findingKey = (document: SigmaDocument | undefined): string | undefined =>
  document === undefined || document.kind === 'filter' ? undefined : keyOf(document);

/** Returns the document of a row. A document without an id gets the row's id, so that alerts name an id of the API. */
export function documentOf(row: Pick<RuleRow, 'id'>, document: SigmaDocument): SigmaDocument {
  return document.kind === 'filter' || document.id !== undefined ? document : { ...document, id: row.id };
}

const originOrder: readonly RuleOrigin[] = ['shipped', 'folder', 'api'];

/** Returns rules in the order of compilation. If two rules have the same id, the first is applied. */
export function inOrder(rows: Iterable<RuleRow>): RuleRow[] {
  const place = (row: RuleRow) =>
    `${originOrder.indexOf(row.origin)} ${row.file ?? ''}\0${String(row.line).padStart(8, '0')} ${row.id}`;
  return [...rows].sort((a, b) => (place(a) < place(b) ? -1 : 1));
}

/** Splits hashes and texts into parts. Each part ends with the text that reaches `limits.ruleParseBytes`. */
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

/** Returns the title and level of a row. The title of an unreadable document is `where`. */
export function headOf({ document }: ParsedRule, where: string): Pick<RuleRow, 'title' | 'level'> {
  return { title: document?.title ?? where, level: document?.level ?? 'medium' };
}

/**
 * Returns the rows of a folder's documents. A document gets the id that it states, if that id is an unused UUID.
 * Otherwise, the document gets the id of the previous document at the same place in the file, or an id derived from the
 * place. A rule with a known id stays enabled or disabled.
 *
 * @param taken - ids of other rules
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
  for (const row of before.values()) if (row.origin === origin) places.set(placeOf(row, nth(before, row)), row);
  const seen = new Map<string, number>();
  const wantedBy = (text: string) => canonicalUuid(parsed(text).document?.id ?? '');
  // An id that a document states is reserved for that document, even if another document had that id before.
  const claimed = new Set(documents.map(({ text }) => wantedBy(text)));
  return documents.map(({ file, line, text }) => {
    const n = seen.get(file) ?? 0;
    seen.set(file, n + 1);
    const one = parsed(text);
    const wanted = wantedBy(text);
    const there = places.get(placeOf({ origin, file }, n))?.id;
    const known = claimed.has(there) ? undefined : there;
    const id = [wanted, known].find((one) => one !== undefined && !used.has(one)) ?? nameUuid(`${origin} ${file} ${n}`);
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

const placeOf = ({ origin, file }: { origin: RuleOrigin; file?: string }, n: number) => `${origin} ${file ?? ''} ${n}`;

/** Returns the number of preceding documents in the row's file. */
function nth(rows: Rows, { origin, file, line }: RuleRow): number {
  let before = 0;
  for (const other of rows.values()) if (other.origin === origin && other.file === file && other.line < line) before++;
  return before;
}

/** Returns whether two rows have the same text and are both enabled or both disabled. */
export const isSame = (a: RuleRow, b: RuleRow): boolean => a.sha256 === b.sha256 && a.enabled === b.enabled;

/** Returns the fields of a rule in a log entry. */
const entryOf = ({ id, title, level, enabled, sha256 }: RuleRow) => ({
  id,
  title,
  level,
  enabled,
  source_sha256: sha256,
});

/** Returns the changes between two sets of rules. */
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

/** Formats a problem for users, with its line in the file or in the submitted text. */
export function told({ file, line }: Pick<RuleRow, 'file' | 'line'>, { line: at, field, reason }: Problem): string {
  const where = file === undefined ? `line ${at}` : `${file}:${line + at - 1}`;
  return `${where}: ${field === '' ? '' : `${field} `}${reason}`;
}

/** Returns a rule as an API resource. */
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
  const logsource = document === undefined || document.kind === 'correlation' ? {} : { ...document.logsource };
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
