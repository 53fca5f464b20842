import type { Rejection } from './rejection.ts';

/** Records of one body that were rejected, or ignored, for one reason. Plain data. */
export interface UnstoredRecords {
  readonly kind: 'rejected' | 'ignored';
  /** The field and what is wrong with it, without the value; of ignored ones the kind of record. */
  readonly reason: string;
  times: number;
  /** The beginning of the first, without what looks like a secret. */
  readonly sample?: string;
}

/** Reasons of one body that are told apart. */
const maxReasons = 32;
const maxLength = 160;

/** Counts what one body has that is not stored. */
export class UnstoredTally {
  readonly #counted = new Map<string, UnstoredRecords>();

  get list(): UnstoredRecords[] {
    return [...this.#counted.values()];
  }

  reject({ field, reason }: Rejection, line: number, text: (() => string) | undefined): void {
    const ofAll = reason.replace(/"(?:[^"\\]|\\.)*"/g, '…').replace(/\bis -?[\d.e+]+,/, 'is …,');
    this.count('rejected', `${field} ${ofAll}`, text && (() => `line ${line}: ${sampleOf(text())}`));
  }

  count(kind: UnstoredRecords['kind'], why: string, sample?: () => string): void {
    const isFull = this.#counted.size >= maxReasons && !this.#counted.has(kind + why);
    const reason = isFull ? 'other reasons' : why.slice(0, maxLength).toWellFormed();
    const key = kind + (isFull ? reason : why);
    const known = this.#counted.get(key);
    if (known !== undefined) known.times++;
    else this.#counted.set(key, { kind, reason, times: 1, ...(sample && { sample: sample() }) });
  }
}

const secrets: readonly (readonly [RegExp, string])[] = [
  [/\b(bearer|basic|apikey|splunk)\s+[\w.~+/=-]+/gi, '$1 …'],
  [/(:\/\/)[^\s/@"]+@/g, '$1…@'],
  [
    /((?:pass(?:wor[dt]|phrase)?|pwd|secret|token|api[-_]?key|authorization|cookie|credentials?|session(?:[-_]?id)?|private[-_]?key)\w*["']?\s*[:=]\s*)(?:"(?:[^"\\]|\\.)*"?|'[^']*'?|[^\s,;&"'}]+)/gi,
    '$1…',
  ],
  // Tokens of any make: ours, JWTs, and long texts of letters of either case with digits between.
  [/\b(?:(?:candor|refresh)_[\w-]+|eyJ[\w.-]+|(?=\w*\d)(?=\w*[a-z])(?=\w*[A-Z])[\w/+=-]{32,})/g, '…'],
];

/** The beginning of a record, for people who look for the cause. */
function sampleOf(text: string): string {
  const clean = secrets.reduce((shown, [secret, instead]) => shown.replace(secret, instead), text);
  return clean
    .replace(/\p{Cc}+/gu, ' ')
    .slice(0, maxLength)
    .toWellFormed();
}
