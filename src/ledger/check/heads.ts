import { verifyHead } from '../heads.ts';
import type { KeyRing } from '../keys/key-ring.ts';
import { readHeadRow } from '../storage/head-row.ts';
import type { SignedHead } from '../storage/storage.ts';
import type { CheckInput } from './check-input.ts';
import type { Findings } from './findings.ts';
import { RowCursor } from './row-cursor.ts';
import { keyNumber, numbersKey } from './row-keys.ts';

/**
 * Checks the history of heads without the entries: each row must be a head, in the order of sizes and of time, and
 * numbered as in the table `history`. Signatures and roots are checked with the entries. Returns the last head;
 * undefined without a readable head.
 */
export function checkHeads(input: CheckInput): SignedHead | undefined {
  const { findings } = input;
  const numbers = new NumberedHeads(input);
  let last: SignedHead | undefined;
  for (const head of readHeads(input)) {
    if (last !== undefined && head.timestampNs <= last.timestampNs) {
      const message = `the head of ${head.size} leaves is not later than the head of ${last.size} leaves before it`;
      findings.add('head_order', message, head.size);
    }
    numbers.take(head);
    last = head;
  }
  numbers.end();
  return last;
}

/** Yields the heads of `from` to `to` leaves, in order. Rows that are not heads become findings. */
export function* readHeads(
  { file, tables, findings, onDamage }: CheckInput,
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
    if (head === undefined) findings.add('head_malformed', 'a row in the table heads is not a head');
    else if (head.size > to) return;
    else yield head;
  }
}

/** Checks that the head is signed by a key of the log that covers the head's size. */
export function checkSignature(head: SignedHead, keys: KeyRing, findings: Findings): void {
  const key = keys.get(head.keyId, 'transparency-sth');
  const name = `the head of ${head.size} leaves`;
  if (key === undefined) {
    findings.add('head_key', `${name} is signed by key ${head.keyId}, which is not in the folder keys`, head.size);
    return;
  }
  if (!verifyHead(head, keys)) findings.add('head_signature', `the signature of ${name} is not valid`, head.size);
  if (head.size < key.fromSize || head.size > key.toSize) {
    const range = `${key.fromSize} to ${key.toSize === Number.MAX_SAFE_INTEGER ? 'now' : key.toSize}`;
    findings.add('head_range', `${name} is signed by key ${key.kid}, which covers sizes ${range}`, head.size);
  }
}

type HeadPosition = Pick<SignedHead, 'size' | 'timestampNs'>;

/**
 * Compares the table `history` with the heads. The table may end early, because start-up numbers the remaining heads.
 */
class NumberedHeads {
  readonly #findings: Findings;
  readonly #rows: RowCursor | undefined;
  #number = 0;
  #more = true;
  #last: SignedHead | undefined;

  constructor({ file, tables, findings, onDamage }: CheckInput) {
    this.#findings = findings;
    const table = tables.get('history');
    this.#rows = table && new RowCursor(file, table, onDamage);
  }

  take(head: SignedHead): void {
    for (let place = this.#next(); place !== undefined; place = this.#next()) {
      const isHere = place.size === head.size && place.timestampNs === head.timestampNs;
      if (!isHere && this.#isBetween(place, head)) {
        const message = `the history lacks head number ${this.#number - 1}, of ${place.size} leaves`;
        this.#findings.add('head_missing', message, place.size);
        continue;
      }
      if (!isHere) {
        this.#more = false; // one wrong number makes all later numbers wrong
        const message = `head number ${this.#number - 1} is not the head of ${head.size} leaves`;
        this.#findings.add('head_numbers', message, head.size);
      }
      break;
    }
    this.#last = head;
  }

  /** Returns the head of the next number; size −1 if its row is malformed, undefined after the last number. */
  #next(): HeadPosition | undefined {
    const number = this.#number++;
    this.#more = this.#more && this.#rows?.next() === true;
    if (!this.#more || this.#rows === undefined) return undefined;
    const value = this.#rows.value();
    if (keyNumber(this.#rows.key()) !== number || value.length !== 16) return { size: -1, timestampNs: 0n };
    return { size: Number(value.readBigUInt64BE()), timestampNs: value.readBigUInt64BE(8) };
  }

  /** Returns whether a position is between the last head and this head: then a head was removed there. */
  #isBetween({ size, timestampNs }: HeadPosition, head: SignedHead): boolean {
    const last = this.#last ?? { size: 0, timestampNs: 0n };
    return size >= last.size && size <= head.size && timestampNs > last.timestampNs && timestampNs < head.timestampNs;
  }

  end(): void {
    if (this.#more && this.#rows?.next() === true)
      this.#findings.add('head_numbers', `there are more numbers than the ${this.#number} heads`);
  }
}
