import { envelopeFaults, noData } from '../../contract/splunk.ts';
import { invalidField } from '../../errors.ts';
import { maxTime } from '../../events/columns.ts';
import { limits } from '../../limits.ts';
import type { Items } from '../items.ts';
import { named, Rejection, reject } from '../rejection.ts';
import type { Said } from '../said.ts';
import { textStart } from '../split.ts';
import { epochMillis } from '../time.ts';
import type { SplunkFraming } from './framing.ts';
import { type Span, SplunkEnvelope, says, skipBlank, valueEnd } from './splunk-envelope.ts';

/**
 * The events of Splunk's HTTP Event Collector: envelopes one behind the other, with or without white space between, or in
 * an array.
 *
 * An envelope that is broken is refused alone, as far as that can be told: where its brackets close on its line, the next
 * one begins behind them, else on the next line. What was taken for it is looked at again so, line by line: each byte
 * three times at most.
 */
export function splunkEvent(bytes: Buffer, items: Items, { host }: SplunkFraming<'splunk_event'>): undefined {
  const events = new Events(bytes, items, host);
  const { length } = bytes;
  let at = skipBlank(bytes, textStart(bytes), length);
  const inArray = bytes[at] === openBracket;
  if (inArray) at = skipBlank(bytes, at + 1, length);
  let isOpen = inArray;
  /** Up to here envelopes may not go past their line, because one that did was broken. */
  let byLine = 0;
  let line = -1;
  /** Where the line ends that `at` is on; looked for once a line. */
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
  if (isOpen) items.refuse('envelope', 'is missing: the array is not closed');
  if (items.count === 0) throw invalidField(noData.field, noData.reason);
}

const comma = 44;
const newline = 10;
const quote = 34;
const openBracket = 91;
const closeBracket = 93;
const openBrace = 123;

function nextLine(bytes: Buffer, at: number): number {
  const found = bytes.indexOf(newline, at);
  return found < 0 ? bytes.length : found;
}

/** Where the next object may begin: at a brace of this line, else behind it. */
function nextBrace(bytes: Buffer, start: number): number {
  let at = start;
  while (at < bytes.length && bytes[at] !== openBrace && bytes[at] !== newline) at++;
  return at;
}

/** Reads envelopes, and tells what is in them. */
class Events {
  readonly #bytes: Buffer;
  readonly #items: Items;
  readonly #envelope: SplunkEnvelope;
  /** One for all: it is read at once. */
  readonly #said: Said;
  readonly #host: string | undefined;
  /** The last host that was read, as bytes of the body. */
  readonly #hostAt: Span = { start: 0, end: 0 };
  #hostRead: string | undefined;

  constructor(bytes: Buffer, items: Items, host: string | undefined) {
    this.#bytes = bytes;
    this.#items = items;
    this.#envelope = new SplunkEnvelope(bytes);
    this.#host = nameOf(host);
    this.#said = { id: undefined, sensor: undefined, at: undefined };
  }

  /** One past the last envelope. */
  get end(): number {
    return this.#envelope.end;
  }

  /** False where the envelope is broken, and so refused. */
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
    return typeof value === 'string' ? value : reject('event', `is ${named(value)}, not an object or a text`);
  }

  #isAbsent({ start, end }: Span): boolean {
    return start < 0 || (end - start === 4 && says(this.#bytes, start, 'null'));
  }

  /** Epoch milliseconds of a time in seconds, which may be in a text as well; undefined for an empty one. */
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
    // Mostly one sender after the other: comparing takes a fifth of reading.
    if (this.#bytes.compare(this.#bytes, host.start, host.end, last.start, last.end) === 0)
      return this.#hostRead;
    if (host.end - host.start > maxHostBytes) return this.#host;
    const value = this.#valueOf(host);
    if (typeof value !== 'string') reject('envelope.host', 'is not a text');
    const name = nameOf(value);
    last.start = host.start;
    last.end = host.end;
    this.#hostRead = name ?? this.#host;
    return this.#hostRead;
  }

  /** What it says; undefined where it is no JSON. */
  #valueOf({ start, end }: Span): unknown {
    try {
      return JSON.parse(this.#bytes.toString('utf8', start, end));
    } catch (error) {
      if (error instanceof SyntaxError) return undefined;
      throw error;
    }
  }
}

const refuse = ({ field, reason }: { readonly field: string; readonly reason: string }) =>
  reject(field, reason);

/** A double with all its digits has 25. */
const maxTimeLength = 64;

/** As long as `?sensor=` may be: nothing is refused for the name of its shipper. */
const maxNameLength = 200;
/** … each of its characters escaped. */
const maxHostBytes = 6 * maxNameLength + 2;

export function nameOf(host: string | undefined): string | undefined {
  if (host === undefined || host === '' || host.length > maxNameLength) return undefined;
  return host.toWellFormed();
}
