import { decodeClients, encodeClients } from '../../sketch/client-count.ts';
import type { TopList } from '../../sketch/top-list.ts';
import { counters, distincts, type Fineness, Rollup, tops } from './rollup.ts';

/**
 * Encodes a rollup, little-endian:
 *
 * ```
 *   f64 × 7          the counters
 *   3 ×  u32 length, the sketch of a distinct count
 *   4 ×  number of entries, upper bounds of an absent value (events, bytes),
 *        for each entry: length of its name in UTF-8, name, events and their error, bytes and their error
 * ```
 *
 * Numbers in lists have a variable length: seven bits per byte, the lowest bits first. The eighth bit is set if more
 * bytes follow.
 */
export function encodeRollup(rollup: Rollup): Buffer {
  const out = new Writer();
  for (const count of rollup.counts) out.float(count);
  for (const of of distincts) out.sketch(encodeClients(rollup.distinct[of]));
  for (const top of tops) {
    const { entries, absentEvents, absentBytes } = rollup.top[top];
    out.number(entries.size);
    out.number(absentEvents);
    out.number(absentBytes);
    for (const [name, { events, eventsError, bytes, bytesError }] of entries) {
      out.text(name);
      out.number(events);
      out.number(eventsError);
      out.number(bytes);
      out.number(bytesError);
    }
  }
  return out.finish();
}

/** @param withTops - false to leave lists empty, because decoding lists takes most of the time */
export function decodeRollup(bytes: Buffer, fineness: Fineness, withTops = true): Rollup {
  const rollup = new Rollup(fineness);
  let at = 0;
  for (let i = 0; i < counters.length; i++, at += 8) rollup.counts[i] = bytes.readDoubleLE(at);
  for (const of of distincts) {
    const end = at + 4 + bytes.readUInt32LE(at);
    rollup.distinct[of] = decodeClients(bytes.subarray(at + 4, end));
    at = end;
  }
  if (!withTops) return rollup;
  const number = (): number => {
    let value = 0;
    for (let scale = 1; ; scale *= 128) {
      const byte = bytes[at++]!;
      value += (byte & 127) * scale;
      if (byte < 128) return value;
    }
  };
  for (const top of tops) {
    const list: TopList = rollup.top[top];
    const size = number();
    list.absentEvents = number();
    list.absentBytes = number();
    for (let i = 0; i < size; i++) {
      const length = number();
      const name = bytes.toString('utf8', at, at + length);
      at += length;
      const events = number();
      const eventsError = number();
      const sum = number();
      list.entries.set(name, { events, eventsError, bytes: sum, bytesError: number() });
    }
  }
  return rollup;
}

class Writer {
  #bytes = Buffer.allocUnsafe(4096);
  #at = 0;

  float(value: number): void {
    this.#room(8);
    this.#at = this.#bytes.writeDoubleLE(value, this.#at);
  }

  sketch(sketch: Buffer): void {
    this.#room(4 + sketch.length);
    this.#at = this.#bytes.writeUInt32LE(sketch.length, this.#at);
    this.#at += sketch.copy(this.#bytes, this.#at);
  }

  /** Writes a number, rounded down to an integer from 0 to `Number.MAX_SAFE_INTEGER`. */
  number(value: number): void {
    this.#room(8);
    let rest = value > 0 ? Math.floor(Math.min(value, Number.MAX_SAFE_INTEGER)) : 0;
    while (rest >= 128) {
      this.#bytes[this.#at++] = (rest % 128) | 128;
      rest = Math.floor(rest / 128);
    }
    this.#bytes[this.#at++] = rest;
  }

  text(text: string): void {
    const length = Buffer.byteLength(text);
    this.number(length);
    this.#room(length);
    this.#at += this.#bytes.write(text, this.#at);
  }

  finish(): Buffer {
    return this.#bytes.subarray(0, this.#at);
  }

  #room(bytes: number): void {
    if (this.#at + bytes <= this.#bytes.length) return;
    const longer = Buffer.allocUnsafe(2 * (this.#at + bytes));
    this.#bytes.copy(longer, 0, 0, this.#at);
    this.#bytes = longer;
  }
}
