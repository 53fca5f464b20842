import type { Rejection } from './rejection.ts';

/** Records of one body that were rejected or ignored for the same reason. Plain data. */
export interface UnstoredRecords {
  readonly kind: 'rejected' | 'ignored';
  /** The rejected field and the error, without the value. For ignored records, the kind of the records. */
  readonly reason: string;
  times: number;
  /** The beginning of the first record, with secrets redacted. */
  readonly sample?: string;
}

/** Maximum number of reasons per body. Further reasons are counted together. */
const maxReasons = 32;
const maxLength = 160;

/** Counts the records of one body that are not stored. */
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
  // Tokens: Candor's own tokens, JWTs, and long texts of letters in both cases with digits.
  [/\b(?:(?:candor|refresh)_[\w-]+|eyJ[\w.-]+|(?=\w*\d)(?=\w*[a-z])(?=\w*[A-Z])[\w/+=-]{32,})/g, '…'],
];

/** Returns the beginning of a rejected record, with secrets redacted, so that operators can find the cause. */
function sampleOf(text: string): string {
  const clean = secrets.reduce((shown, [secret, instead]) => shown.replace(secret, instead), text);
  return clean
    .replace(/\p{Cc}+/gu, ' ')
    .slice(0, maxLength)
    .toWellFormed();
}
