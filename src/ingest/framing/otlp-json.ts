import { invalidField } from '../../errors.ts';
import { limits } from '../../limits.ts';
import { Rejection, reject } from '../rejection.ts';
import { textStart } from '../split.ts';
import type { OtlpFraming } from './framing.ts';
import { JsonCursor, letterN, namesOf, noMore, parseJson, parseText, quote } from './json-cursor.ts';
import { JsonLogRecords } from './otlp-json-record.ts';
import { eachText, maxBrackets } from './otlp-json-value.ts';
import { Sender, type Sink } from './otlp-record.ts';

/**
 * Reads the log records of an ExportLogsServiceRequest in OTLP's JSON: names in lowerCamelCase, unknown names
 * ignored; 64-bit numbers as texts or numbers; bytes in base64.
 *
 * A record that cannot be decoded is refused individually, if its end is known. Throws INVALID_REQUEST for
 * field `body` if the structure around records is broken. `bytes` are overwritten during reading and restored
 * afterwards.
 */
export function otlpJson(bytes: Buffer, items: Sink, { sender }: OtlpFraming): undefined {
  const cursor = new JsonCursor(bytes, textStart(bytes));
  try {
    new Request(bytes, cursor, new JsonLogRecords(bytes, cursor, items, sender)).read();
  } catch (error) {
    if (error instanceof Rejection) throw invalidField('body', `is not an OTLP request: its JSON ${error.reason}`);
    throw error;
  }
}

const ofRequest = namesOf('resourceLogs');
const ofResourceLogs = namesOf('resource', 'scopeLogs');
const ofResource = namesOf('attributes');
const ofScopeLogs = namesOf('scope', 'logRecords');
const ofScope = namesOf('name');

class Request {
  readonly #bytes: Buffer;
  readonly #cursor: JsonCursor;
  readonly #records: JsonLogRecords;
  readonly #sender = new Sender();

  constructor(bytes: Buffer, cursor: JsonCursor, records: JsonLogRecords) {
    this.#bytes = bytes;
    this.#cursor = cursor;
    this.#records = records;
  }

  read(): void {
    this.#members(ofRequest, () => this.#elements(() => this.#resourceLogs()));
    if (this.#cursor.peek() !== undefined) reject('json', 'is followed by more data');
  }

  #resourceLogs(): void {
    this.#sender.beginResource();
    let known = false;
    this.#members(ofResourceLogs, (member) => {
      if (member === 0) this.#resource();
      else {
        if (!known) this.#ahead(ofResourceLogs, () => this.#resource());
        this.#elements(() => this.#scopeLogs());
      }
      known = true;
    });
  }

  #resource(): void {
    this.#members(ofResource, () => {
      const cursor = this.#cursor;
      cursor.skip();
      if (cursor.end - cursor.start > limits.maxLogRecordBytes || cursor.depth > maxBrackets) return;
      const attributes = parseJson(this.#bytes.toString('utf8', cursor.start, cursor.end));
      eachText(attributes, (key, text) => this.#sender.attribute(key, text));
    });
  }

  #scopeLogs(): void {
    this.#sender.beginScope();
    let known = false;
    this.#members(ofScopeLogs, (member) => {
      if (member === 0) this.#scope();
      else {
        if (!known) this.#ahead(ofScopeLogs, () => this.#scope());
        const sensor = this.#sender.name;
        this.#elements(() => this.#records.read(sensor));
      }
      known = true;
    });
  }

  #scope(): void {
    this.#members(ofScope, () => {
      const cursor = this.#cursor;
      const isText = cursor.peek() === quote;
      cursor.skip();
      const usable = isText && cursor.end - cursor.start <= limits.maxTextBytes;
      this.#sender.scope(usable ? parseText(this.#bytes, cursor.start, cursor.end) : undefined);
    });
  }

  /**
   * Visits the requested members of an object. `visit` must move past each value. Null is treated as absent.
   */
  #members(names: readonly Buffer[], visit: (member: number) => void): void {
    const cursor = this.#cursor;
    if (!cursor.intoObject()) return this.#absent('an object');
    for (let member = cursor.member(true, names); member !== noMore; member = cursor.member(false, names)) {
      if (member < 0) cursor.skip();
      else visit(member);
    }
  }

  /**
   * Visits the members named `names[0]` in the rest of the object, and then returns to the current member.
   */
  #ahead(names: readonly Buffer[], visit: () => void): void {
    const cursor = this.#cursor;
    const { at } = cursor;
    cursor.skip();
    for (let member = cursor.member(false, names); member !== noMore; member = cursor.member(false, names)) {
      if (member === 0) visit();
      else cursor.skip();
    }
    cursor.at = at;
  }

  /** Visits the elements of an array. `visit` must move past each element. */
  #elements(visit: () => void): void {
    const cursor = this.#cursor;
    if (!cursor.intoArray()) return this.#absent('an array');
    for (let more = cursor.element(true); more; more = cursor.element(false)) visit();
  }

  #absent(wanted: string): void {
    if (this.#cursor.peek() !== letterN) reject('json', `has another value instead of ${wanted}`);
    this.#cursor.skip();
  }
}
