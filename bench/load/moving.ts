/**
 * Bodies in any format for an endless load: the same bodies are repeated, each time with later times and new
 * identifiers, because repeated events would be unrealistically cheap to process. This takes 0.1 µs per line.
 */
export interface MovingBodies {
  readonly linesPerBody: number;
  /** Returns the next body. It stays unchanged until all other bodies have been returned. */
  next(): Buffer;
}

/** The parts of a body that change. Each expression matches the text that precedes a changing part. */
export interface Marks {
  /** Ten digits of seconds since 1970. */
  readonly epochs?: RegExp;
  /** `2026-11-22T03:04:05`, in UTC. */
  readonly stamps?: RegExp;
  /** Two digits of an address or a port, which increase by one each round, modulo 100, so that tuples are new. */
  readonly counters?: RegExp;
  /** Four characters of an identifier, which are replaced by digits. */
  readonly ids: RegExp;
}

interface Body {
  readonly bytes: Buffer;
  readonly epochs: Uint32Array;
  readonly stamps: Uint32Array;
  readonly counters: Uint32Array;
  readonly ids: Uint32Array;
}

const stampLength = '2026-11-22T03:04:05'.length;

/**
 * @param bodies - one or more, of `linesPerBody` each, modified in place
 * @param spanS - seconds by which all times advance after each round; `now` sets all `epochs` to the current time
 * @throws Error if the number of identifiers in a body differs from the number of its lines
 */
export function moving(
  bodies: readonly Buffer[],
  linesPerBody: number,
  marks: Marks,
  spanS: number | 'now',
): MovingBodies {
  const known = bodies.map((bytes) => placesIn(bytes, marks));
  for (const { ids } of known)
    if (ids.length !== linesPerBody) throw new Error(`found ${ids.length} identifiers in ${linesPerBody} lines`);
  let taken = 0;
  return {
    linesPerBody,
    next() {
      const body = known[taken % known.length]!;
      const round = Math.floor(taken++ / known.length);
      if (round > 0 && spanS !== 'now') advance(body, spanS);
      if (spanS === 'now') setTime(body, Math.floor(Date.now() / 1000));
      if (round > 0) renumber(body, round);
      return body.bytes;
    },
  };
}

export const zeekJson: Marks = { epochs: /"ts":(?=\d{10})/g, ids: /"uid":"C/g };

/**
 * Creates bodies of Zeek's JSON lines, each with a `ts` in seconds and a `uid` that begins with C. An incomplete last
 * body is omitted.
 */
export function zeekJsonBodies(
  lines: readonly string[],
  linesPerBody: number,
  counters?: RegExp,
  spanS: number | 'now' = spanOf(lines),
): MovingBodies {
  const bodies = Array.from({ length: Math.floor(lines.length / linesPerBody) }, (_, n) =>
    Buffer.from(`${lines.slice(n * linesPerBody, (n + 1) * linesPerBody).join('\n')}\n`),
  );
  const marks = counters === undefined ? zeekJson : { ...zeekJson, counters };
  return moving(bodies, linesPerBody, marks, spanS);
}

/** Returns the seconds from the earliest to the latest line, plus one. */
export function spanOf(lines: readonly string[]): number {
  let [first, last] = [Number.POSITIVE_INFINITY, 0];
  for (const line of lines) {
    const seconds = Number(/"ts":(\d{10})\b/.exec(line)?.[1]);
    if (Number.isNaN(seconds)) throw new Error(`the line has no time of ten digits in seconds: ${line}`);
    first = Math.min(first, seconds);
    last = Math.max(last, seconds);
  }
  return last - first + 1;
}

function placesIn(bytes: Buffer, { epochs, stamps, counters, ids }: Marks): Body {
  const text = bytes.toString('latin1');
  const behind = (mark: RegExp | undefined) =>
    Uint32Array.from(
      mark === undefined ? [] : Array.from(text.matchAll(mark), ({ index, 0: all }) => index + all.length),
    );
  return { bytes, epochs: behind(epochs), stamps: behind(stamps), counters: behind(counters), ids: behind(ids) };
}

function setTime({ bytes, epochs }: Body, seconds: number): void {
  for (const at of epochs) bytes.write(String(seconds), at, 'latin1');
}

function advance({ bytes, epochs, stamps }: Body, byS: number): void {
  for (const at of epochs) addTo(bytes, at, byS);
  // The timestamps in a body are within a few seconds of each other, so there are few distinct stamps.
  const later = new Map<string, string>();
  for (const at of stamps) {
    const stamp = bytes.toString('latin1', at, at + stampLength);
    let text = later.get(stamp);
    if (text === undefined) {
      text = new Date(Date.parse(`${stamp}Z`) + byS * 1000).toISOString().slice(0, stampLength);
      later.set(stamp, text);
    }
    bytes.write(text, at, 'latin1');
  }
}

function renumber({ bytes, counters, ids }: Body, round: number): void {
  for (const at of counters) {
    const next = 10 * (bytes[at]! - 48) + bytes[at + 1]! - 48 + 1;
    bytes[at] = 48 + (Math.floor(next / 10) % 10);
    bytes[at + 1] = 48 + (next % 10);
  }
  for (const at of ids)
    for (let place = 0, left = round; place < 4; place++, left = Math.floor(left / 10))
      bytes[at + place] = 48 + (left % 10);
}

/** Adds an amount to a number of ten digits, in place. */
function addTo(bytes: Buffer, start: number, amount: number): void {
  for (let at = start + 9, left = amount; left > 0; at--) {
    const sum = bytes[at]! - 48 + left;
    bytes[at] = 48 + (sum % 10);
    left = Math.floor(sum / 10);
  }
}
