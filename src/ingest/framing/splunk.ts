import { envelopeFaults, noData } from '../../contract/splunk.ts';
import { invalidField } from '../../errors.ts';
import { maxTime } from '../../events/format/columns.ts';
import { limits } from '../../limits.ts';
import type { ItemReader } from '../item-reader.ts';
import { closeBracket, comma, newline, openBrace, openBracket, quote, skipBlank, valueEnd } from '../json-bytes.ts';
import type { EnvelopeContext } from '../parse-context.ts';
import { named, Rejection, reject } from '../rejection.ts';
import { eachLine, eachValue, textStart } from '../split.ts';
import { epochMillis } from '../time.ts';
import type { SplunkFraming } from './framing.ts';
import { type Span, SplunkEnvelope, says } from './splunk-envelope.ts';

/**
 * Reads the events of Splunk's HTTP Event Collector: envelopes in sequence, optionally separated by white
 * space, or in an array.
 *
 * A broken envelope is refused individually where possible. If its brackets close on the same line, the next envelope
 * starts after the closing bracket; otherwise, the next envelope starts on the next line. The skipped bytes are scanned
 * again line by line. Each byte is scanned at most three times.
 */
export function splunkEvent(bytes: Buffer, items: ItemReader, { host }: SplunkFraming<'splunk_event'>): undefined {
  const events = new Events(bytes, items, host);
  const { length } = bytes;
  let at = skipBlank(bytes, textStart(bytes), length);
  const inArray = bytes[at] === openBracket;
  if (inArray) at = skipBlank(bytes, at + 1, length);
  let isOpen = inArray;
  /** Position up to which envelopes must end on their line, because an envelope of several lines was broken. */
  let byLine = 0;
  let line = -1;
  /** Returns the end of the line at `at`. Each line is searched once. */
  const lineEnd = () => {
    if (at > line) line = nextLine(bytes, at);
    return line;
  };
  while (at < length) {
    const byte = bytes[at];
    if (byte === openBrace) {
      if (events.read(at, at < byLine ? lineEnd() : length)) at = events.end;
      else {
        byLine = Math.max(byLine, events.end);
        at = valueEnd(bytes, at, lineEnd());
      }
    } else if (isOpen && byte === closeBracket) {
      isOpen = false;
      at++;
    } else {
      items.refuse('envelope', 'is not a JSON object');
      at = nextBrace(bytes, at + 1);
    }
    at = skipBlank(bytes, at, length);
    if (isOpen && bytes[at] === comma) at = skipBlank(bytes, at + 1, length);
  }
  if (isOpen) items.refuse('envelope', 'is in an array without a closing bracket');
  if (items.count === 0) throw invalidField(noData.field, noData.reason);
}

function nextLine(bytes: Buffer, at: number): number {
  const found = bytes.indexOf(newline, at);
  return found < 0 ? bytes.length : found;
}

/** Returns the position of the next brace on this line, or the end of the line. */
function nextBrace(bytes: Buffer, start: number): number {
  let at = start;
  while (at < bytes.length && bytes[at] !== openBrace && bytes[at] !== newline) at++;
  return at;
}

/** Reads envelopes and the records in them. */
class Events {
  readonly #bytes: Buffer;
  readonly #items: ItemReader;
  readonly #envelope: SplunkEnvelope;
  /** Envelope data, reused for all envelopes, because the data is read immediately. */
  readonly #said: EnvelopeContext;
  readonly #host: string | undefined;
  /** Position, in the body, of the host that was read last. */
  readonly #hostAt: Span = { start: 0, end: 0 };
  #hostRead: string | undefined;

  constructor(bytes: Buffer, items: ItemReader, host: string | undefined) {
    this.#bytes = bytes;
    this.#items = items;
    this.#envelope = new SplunkEnvelope(bytes);
    this.#host = nameOf(host);
    this.#said = { id: undefined, sensor: undefined, at: undefined };
  }

  /** The end of the last envelope. */
  get end(): number {
    return this.#envelope.end;
  }

  /** Reads an envelope. Returns false if the envelope is broken, and therefore refused. */
  read(start: number, limit: number): boolean {
    const isWhole = this.#envelope.read(start, limit);
    try {
      if (!isWhole) reject('envelope', 'is not valid JSON');
      this.#take(this.#envelope.event);
    } catch (error) {
      if (!(error instanceof Rejection)) throw error;
      this.#items.refuse(error.field, error.reason);
    }
    return isWhole;
  }

  #take(event: Span): void {
    const bytes = this.#bytes;
    const { fields, time, host } = this.#envelope;
    if (this.#isAbsent(event)) refuse(envelopeFaults.eventMissing);
    if (!this.#isAbsent(fields) && bytes[fields.start] !== openBrace) refuse(envelopeFaults.invalidFields);
    this.#said.at = this.#isAbsent(time) ? undefined : this.#timeOf(time);
    this.#said.sensor = this.#isAbsent(host) ? this.#host : this.#nameOf(host);
    if (bytes[event.start] === openBrace) {
      if (skipBlank(bytes, event.start + 1, event.end) === event.end - 1) refuse(envelopeFaults.eventBlank);
      this.#items.bytes(event.start, event.end, this.#said);
      return;
    }
    const text = this.#eventText(event);
    if (text.trim() === '') refuse(envelopeFaults.eventBlank);
    this.#items.value(text, this.#said);
  }

  #eventText(event: Span): string {
    const { start, end } = event;
    if (end - start > limits.maxLineBytes) reject('event', `is longer than ${limits.maxLineBytes} bytes`);
    const value = this.#valueOf(event);
    if (value === undefined) reject('envelope.event', 'is not valid JSON');
    return typeof value === 'string' ? value : reject('event', `is ${named(value)}, not an object or a string`);
  }

  #isAbsent({ start, end }: Span): boolean {
    return start < 0 || (end - start === 4 && says(this.#bytes, start, 'null'));
  }

  /**
   * Converts a time in seconds, which may be a text, to epoch milliseconds; returns undefined for an empty
   * value.
   */
  #timeOf({ start, end }: Span): number | undefined {
    const quotes = this.#bytes[start] === quote ? 1 : 0;
    if (end - start > maxTimeLength) reject('envelope.time', 'is not epoch seconds');
    const digits = this.#bytes.toString('latin1', start + quotes, end - quotes);
    if (digits === '') return undefined;
    if (!/^-?\d+(\.\d+)?([eE][+-]?\d+)?$/.test(digits))
      reject('envelope.time', `is ${named(digits)}, not epoch seconds`);
    const millis = epochMillis(Number(digits));
    if (millis >= 0 && millis <= maxTime) return millis;
    return reject('envelope.time', `is ${digits}, not a time in the years 1970 to 9999`);
  }

  #nameOf(host: Span): string | undefined {
    const last = this.#hostAt;
    // Consecutive events usually have the same host: comparing takes a fifth of the time of reading.
    if (this.#bytes.compare(this.#bytes, host.start, host.end, last.start, last.end) === 0) return this.#hostRead;
    if (host.end - host.start > maxHostBytes) return this.#host;
    const value = this.#valueOf(host);
    if (typeof value !== 'string') reject('envelope.host', 'is not a string');
    const name = nameOf(value);
    last.start = host.start;
    last.end = host.end;
    this.#hostRead = name ?? this.#host;
    return this.#hostRead;
  }

  /** Returns the parsed value; undefined if the bytes are not JSON. */
  #valueOf({ start, end }: Span): unknown {
    try {
      return JSON.parse(this.#bytes.toString('utf8', start, end));
    } catch (error) {
      if (error instanceof SyntaxError) return undefined;
      throw error;
    }
  }
}

const refuse = ({ field, reason }: { readonly field: string; readonly reason: string }) => reject(field, reason);

/** Maximum length of a time. A double with all digits has 25 characters. */
const maxTimeLength = 64;

/** Maximum length of a sensor's name, as in `?sensor=`. Longer names are ignored rather than refused. */
const maxNameLength = 200;
/** Maximum length of a sensor's name with every character escaped. */
const maxHostBytes = 6 * maxNameLength + 2;

function nameOf(host: string | undefined): string | undefined {
  if (host === undefined || host === '' || host.length > maxNameLength) return undefined;
  return host.toWellFormed();
}

/**
 * Reads the body of Splunk's raw endpoint: each line is a record of any supported kind, or an array of records.
 * A line may also contain several objects, because Vector sends objects without separators.
 */
export function splunkRaw(bytes: Buffer, items: ItemReader, { host }: SplunkFraming<'splunk_raw'>): undefined {
  const sensor = nameOf(host);
  const envelope = sensor === undefined ? undefined : { id: undefined, sensor, at: undefined };
  const take = (start: number, end: number) => items.bytes(start, end, envelope);
  const start = skipBlank(bytes, textStart(bytes), bytes.length);
  if (bytes[start] === openBracket) eachValue(bytes, take);
  else {
    let pair = nextPair(bytes, start);
    eachLine(bytes, (from, to) => {
      if (pair < from) pair = nextPair(bytes, from);
      if (pair >= to || bytes[from] !== openBrace) take(from, to);
      else eachValue(bytes.subarray(from, to), (first, last) => take(from + first, from + last));
    });
  }
  if (items.count === 0) throw invalidField(noData.field, noData.reason);
}

/**
 * Returns the position where an object directly follows another object; otherwise a position past the end.
 */
function nextPair(bytes: Buffer, from: number): number {
  const found = bytes.indexOf('}{', from, 'latin1');
  return found < 0 ? Number.POSITIVE_INFINITY : found;
}
