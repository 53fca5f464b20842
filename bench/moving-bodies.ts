/** Bodies for as long as a load goes on: the same lines again and again, but each time later, and with other uids. */
export interface MovingBodies {
  readonly linesPerBody: number;
  /** The next body, which stays as it is until all others were taken. */
  next(): Buffer;
}

interface Body {
  readonly bytes: Buffer<ArrayBuffer>;
  /** Where the whole seconds of each line's `ts` begin, ten digits. */
  readonly times: Uint32Array;
  /** Where the four characters of each line's `uid` are that tell one round from the next. */
  readonly uids: Uint32Array;
}

const timeDigits = 10;
const alphabet = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
const letters = Uint8Array.from(alphabet, (letter) => letter.charCodeAt(0));
const ranks = new Uint8Array(256);
for (const [rank, letter] of letters.entries()) ranks[letter] = rank;

/**
 * Bodies of Zeek's JSON lines that never repeat: what detects and counts would make light work of what it saw before.
 * After each round all times are moved on by what the lines span, so that time goes on as they were written. 0.1 µs a
 * line.
 *
 * @param lines - each with a `ts` in seconds and a `uid` of eight characters or more; those beyond the last whole body
 *   are left out
 * @throws Error where there is no whole body, or a line is otherwise
 */
export function movingBodies(lines: readonly string[], linesPerBody: number): MovingBodies {
  const bodies = Array.from({ length: Math.floor(lines.length / linesPerBody) }, (_, n) =>
    placesIn(lines.slice(n * linesPerBody, (n + 1) * linesPerBody)),
  );
  if (bodies.length === 0) throw new Error(`${lines.length} lines are no body of ${linesPerBody}`);
  const spanS = spanOf(lines);
  let taken = 0;
  return {
    linesPerBody,
    next() {
      const body = bodies[taken % bodies.length]!;
      if (taken++ >= bodies.length) move(body, spanS);
      return body.bytes;
    },
  };
}

function spanOf(lines: readonly string[]): number {
  let [first, last] = [Number.POSITIVE_INFINITY, 0];
  for (const line of lines) {
    const seconds = Number(/"ts":(\d{10})\b/.exec(line)?.[1]);
    if (Number.isNaN(seconds)) throw new Error(`no time in whole seconds of ten digits: ${line}`);
    first = Math.min(first, seconds);
    last = Math.max(last, seconds);
  }
  return last - first + 1;
}

function placesIn(lines: readonly string[]): Body {
  const bytes = Buffer.from(`${lines.join('\n')}\n`, 'latin1');
  const times = new Uint32Array(lines.length);
  const uids = new Uint32Array(lines.length);
  let start = 0;
  for (const [n, line] of lines.entries()) {
    const ts = line.indexOf('"ts":');
    const uid = line.indexOf('"uid":"');
    if (uid < 0) throw new Error(`no uid: ${line}`);
    times[n] = start + ts + '"ts":'.length;
    uids[n] = start + uid + '"uid":"'.length + 1;
    start += line.length + 1;
  }
  return { bytes, times, uids };
}

function move({ bytes, times, uids }: Body, byS: number): void {
  for (let n = 0; n < times.length; n++) {
    let seconds = byS;
    for (let at = times[n]! + timeDigits - 1; seconds > 0; at--) {
      const sum = bytes[at]! - 48 + seconds;
      bytes[at] = 48 + (sum % 10);
      seconds = Math.floor(sum / 10);
    }
    // One more, in digits of 62: two uids that differ still do, and no round has those of another.
    for (let at = uids[n]!, end = at + 4, carry = 1; carry === 1 && at < end; at++) {
      const rank = ranks[bytes[at]!]! + 1;
      carry = rank === letters.length ? 1 : 0;
      bytes[at] = letters[carry === 1 ? 0 : rank]!;
    }
  }
}
