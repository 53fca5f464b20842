import { readHeadRow } from '../storage/head-row.ts';
import type { SignedHead } from '../storage/storage.ts';
import type { DatabaseFile, PageDamage, Table } from './database-file.ts';
import type { Findings } from './findings.ts';
import type { PublicKeys } from './public-keys.ts';
import { RowCursor } from './row-cursor.ts';
import { keyNumber, numbersKey } from './row-keys.ts';

interface HeadsInput {
  readonly file: DatabaseFile;
  readonly tables: ReadonlyMap<string, Table>;
  readonly findings: Findings;
  onDamage(damage: PageDamage): void;
}

/**
 * The history of heads by itself: that each row is a head, in the order of sizes and of time, and numbered as the table
 * `history` says. Signatures and roots are checked with the entries. Returns the last head.
 */
export function checkHeads(input: HeadsInput): SignedHead | undefined {
  const { findings } = input;
  const numbers = new NumberedHeads(input);
  let last: SignedHead | undefined;
  for (const head of readHeads(input)) {
    if (last !== undefined && head.timestampNs <= last.timestampNs) {
      const message = `the head of ${head.size} leaves is not later than the one of ${last.size} before it`;
      findings.add('head_order', message, head.size);
    }
    numbers.take(head);
    last = head;
  }
  numbers.end();
  return last;
}

/** The heads of `from` to `to` leaves, in order. Rows that are none are findings. */
export function* readHeads(
  { file, tables, findings, onDamage }: HeadsInput,
  from = 0,
  to = Number.POSITIVE_INFINITY,
): Generator<SignedHead> {
  const table = tables.get('heads');
  if (table === undefined) return;
  const start = from === 0 ? undefined : numbersKey([from, 0]);
  const end = to < Number.MAX_SAFE_INTEGER ? numbersKey([to + 1, 0]) : undefined;
  const rows = new RowCursor(file, table, onDamage, start, end);
  while (rows.next()) {
    const head = readHeadRow(rows.key(), rows.value());
    if (head === undefined) findings.add('head_malformed', 'a row of the history of heads is no head');
    else if (head.size > to) return;
    else yield head;
  }
}

/** That a key of the log signed the head, and one that covers its size. */
export function checkSignature(head: SignedHead, keys: PublicKeys, findings: Findings): void {
  const key = keys.get(head.keyId, 'transparency-sth');
  const name = `the head of ${head.size} leaves`;
  if (key === undefined) {
    findings.add(
      'head_key',
      `${name} is signed by key ${head.keyId}, which is not in the folder keys`,
      head.size,
    );
    return;
  }
  if (!keys.isSigned(head))
    findings.add('head_signature', `the signature of ${name} is not valid`, head.size);
  if (head.size < key.fromSize || head.size > key.toSize) {
    const range = `${key.fromSize} to ${key.toSize === Number.MAX_SAFE_INTEGER ? 'now' : key.toSize}`;
    findings.add('head_range', `${name} is signed by key ${key.kid}, which covers sizes ${range}`, head.size);
  }
}

/** The table `history`, held against the heads. It may end early: start-up numbers the rest. */
class NumberedHeads {
  readonly #findings: Findings;
  readonly #rows: RowCursor | undefined;
  #number = 0;
  #more = true;

  constructor({ file, tables, findings, onDamage }: HeadsInput) {
    this.#findings = findings;
    const table = tables.get('history');
    this.#rows = table && new RowCursor(file, table, onDamage);
  }

  take(head: SignedHead): void {
    const number = this.#number++;
    this.#more = this.#more && this.#rows?.next() === true;
    if (!this.#more || this.#rows === undefined) return;
    const value = this.#rows.value();
    const fits =
      keyNumber(this.#rows.key()) === number &&
      value.length === 16 &&
      Number(value.readBigUInt64BE()) === head.size &&
      value.readBigUInt64BE(8) === head.timestampNs;
    if (fits) return;
    this.#more = false; // one wrong number makes all after it wrong
    this.#findings.add(
      'head_numbers',
      `head number ${number} is not the one of ${head.size} leaves`,
      head.size,
    );
  }

  end(): void {
    if (this.#more && this.#rows?.next() === true)
      this.#findings.add('head_numbers', `there are more numbers than the ${this.#number} heads`);
  }
}
