import { limits } from '../../limits.ts';
import { isObject, type JsonObject } from '../fields.ts';
import { Rejection, reject } from '../rejection.ts';
import {
  type JsonCursor,
  letterN,
  namesOf,
  noMore,
  openBracket,
  parseJson,
  parseText,
  quote,
  unescapeInPlace,
} from './json-cursor.ts';
import { eachText, jsonMembers, maxBrackets } from './otlp-json-value.ts';
import {
  idAttribute,
  idOf,
  isRecordText,
  type LogEnvelope,
  orNothing,
  reasons,
  recordStart,
  type Sink,
  withoutOrigin,
} from './otlp-record.ts';

const ofLogRecord = namesOf('body', 'attributes', 'timeUnixNano', 'observedTimeUnixNano');
const ofValue = namesOf(
  ...['stringValue', 'bytesValue', 'kvlistValue', 'boolValue', 'intValue', 'doubleValue', 'arrayValue'],
);

/** The kind of a record's body. */
type Body = 'none' | 'text' | 'bytes' | 'list' | 'other';
const bodies: readonly Body[] = ['text', 'bytes', 'list', 'other', 'other', 'other', 'other'];

const id = Buffer.from(idAttribute);
/** Maximum bytes of a 64-bit number, with every digit escaped. */
const maxNumberBytes = 120;

/**
 * Reads log records in OTLP's JSON; one instance per body. Finds the parts of a record, and then reads only the
 * part that the sensor wrote. The text of a record's body is unescaped in place, so that it can be read as
 * bytes like a line. The original bytes are restored afterwards.
 */
export class JsonLogRecords {
  readonly #bytes: Buffer;
  readonly #items: Sink;
  /** The principal, to which record ids are scoped. */
  readonly #sender: string;
  readonly #cursor: JsonCursor;
  readonly #envelope: LogEnvelope = { id: undefined, sensor: undefined, at: undefined };
  #body: Body = 'none';
  #bodyStart = 0;
  #bodyEnd = 0;
  #bodyEscaped = false;
  /** The original bytes of the overwritten text. */
  #saved = Buffer.alloc(0);
  /** Position of the overwritten text; -1 if no text was overwritten. */
  #savedStart = -1;
  #savedLength = 0;
  /** Start of the array of attributes; -1 if the record has no attributes. */
  #attributesStart = -1;
  #attributesEnd = 0;

  constructor(bytes: Buffer, cursor: JsonCursor, items: Sink, sender: string) {
    this.#bytes = bytes;
    this.#cursor = cursor;
    this.#items = items;
    this.#sender = sender;
  }

  /** Reads the next record and moves past it. */
  read(sensor: string | undefined): void {
    const cursor = this.#cursor;
    const { at } = cursor;
    this.#envelope.sensor = sensor;
    try {
      if (!this.#find()) return void this.#items.refuse('log_record', 'is not an object');
      if (cursor.at - at > limits.maxLogRecordBytes) return void this.#items.refuse('log_record', reasons.tooLong);
    } catch (error) {
      if (!(error instanceof Rejection)) throw error;
      cursor.at = at;
      cursor.skip();
      this.#items.refuse(error.field, error.reason);
      return;
    }
    try {
      this.#envelope.id = this.#id();
      this.#tell(this.#record());
    } catch (error) {
      if (!(error instanceof Rejection)) throw error;
      this.#items.refuse(error.field, error.reason);
    } finally {
      this.#restore();
    }
  }

  #tell(record: JsonObject | string | undefined): void {
    if (record !== undefined) this.#items.value(record, this.#envelope);
    else if (this.#body === 'text') this.#items.bytes(this.#bodyStart, this.#bodyEnd, this.#envelope);
    else this.#items.refuse('body', reasons.nothing);
  }

  /**
   * Moves past the record and notes the positions of its parts. Returns false if the record is not an object.
   */
  #find(): boolean {
    const cursor = this.#cursor;
    let time: number | undefined;
    let observed: number | undefined;
    this.#body = 'none';
    this.#attributesStart = -1;
    if (!cursor.intoObject()) {
      cursor.skip();
      return false;
    }
    for (let member = cursor.member(true, ofLogRecord); member !== noMore; member = cursor.member(false, ofLogRecord)) {
      if (member === 0) this.#findBody();
      else {
        const first = cursor.peek();
        cursor.skip();
        if (member === 1 && first === openBracket) {
          this.#requireFlat();
          this.#attributesStart = cursor.start;
          this.#attributesEnd = cursor.end;
        } else if (member === 2) time = this.#millis('timeUnixNano', first === quote);
        else if (member === 3) observed = this.#millis('observedTimeUnixNano', first === quote);
      }
    }
    this.#envelope.at = time ?? observed;
    return true;
  }

  #findBody(): void {
    const cursor = this.#cursor;
    if (!cursor.intoObject()) {
      if (cursor.peek() !== letterN) reject('body', 'is not an OTLP value');
      return cursor.skip();
    }
    for (let member = cursor.member(true, ofValue); member !== noMore; member = cursor.member(false, ofValue)) {
      const text = cursor.peek() === quote;
      const absent = member < 0 || cursor.peek() === letterN;
      cursor.skip();
      if (absent) continue;
      if (!text) this.#requireFlat();
      const body = bodies[member] as Body;
      if (!text && (body === 'text' || body === 'bytes'))
        reject('body', 'has a stringValue or bytesValue that is not a string');
      this.#body = body;
      this.#bodyStart = cursor.start;
      this.#bodyEnd = cursor.end;
      this.#bodyEscaped = text && cursor.escaped;
    }
  }

  /**
   * Rejects a deeply nested value that may be parsed later: parsing megabytes of brackets would take a
   * quarter of a second.
   */
  #requireFlat(): void {
    if (this.#cursor.depth > maxBrackets) reject('json', reasons.tooDeep);
  }

  /**
   * Returns the record if it must be read as a value. Returns undefined if the record can be read from the
   * bytes of the body, or is missing.
   */
  #record(): JsonObject | string | undefined {
    const start = this.#bodyStart;
    const end = this.#bodyEnd;
    switch (this.#body) {
      case 'text': {
        const text = this.#unescaped();
        if (text !== undefined) {
          if (isRecordText(text)) return text;
        } else if (this.#bodyStart >= 0) return undefined;
        break;
      }
      case 'bytes': {
        const base64 = this.#bodyEscaped
          ? parseText(this.#bytes, start, end)
          : this.#bytes.toString('latin1', start, end);
        const text = Buffer.from(base64, 'base64').toString();
        if (isRecordText(text)) return text;
        break;
      }
      case 'list': {
        const list = parseJson(this.#bytes.toString('utf8', start, end));
        const document = orNothing(jsonMembers(isObject(list) ? list.values : list, 1));
        if (document !== undefined) return document;
        break;
      }
    }
    this.#body = 'other';
    if (this.#attributesStart < 0) return undefined;
    const attributes = this.#bytes.toString('utf8', this.#attributesStart, this.#attributesEnd);
    return orNothing(withoutOrigin(jsonMembers(parseJson(attributes), 1)));
  }

  /**
   * Returns the body's text if it cannot be read in place. Otherwise, returns undefined and sets `#bodyStart` to the
   * start of the record, or to -1 if there is no record.
   */
  #unescaped(): string | undefined {
    const bytes = this.#bytes;
    if (this.#bodyEscaped) {
      this.#save(this.#bodyStart, this.#bodyEnd);
      const end = unescapeInPlace(bytes, this.#bodyStart, this.#bodyEnd);
      if (typeof end === 'string') return end;
      this.#bodyEnd = end;
    }
    this.#bodyStart = recordStart(bytes, this.#bodyStart, this.#bodyEnd);
    return undefined;
  }

  #save(start: number, end: number): void {
    if (this.#saved.length < end - start) this.#saved = Buffer.allocUnsafe(2 * (end - start));
    this.#savedStart = start;
    this.#savedLength = this.#bytes.copy(this.#saved, 0, start, end);
  }

  #restore(): void {
    if (this.#savedStart < 0) return;
    this.#saved.copy(this.#bytes, this.#savedStart, 0, this.#savedLength);
    this.#savedStart = -1;
  }

  #id(): string | undefined {
    if (this.#attributesStart < 0) return undefined;
    const attributes = this.#bytes.subarray(this.#attributesStart, this.#attributesEnd);
    // The name can be found without unescaping, because encoders do not escape letters and dots.
    if (!attributes.includes(id)) return undefined;
    let found: string | undefined;
    eachText(parseJson(attributes.toString()), (key, text) => {
      if (key === idAttribute) found = idOf(this.#sender, text);
    });
    return found;
  }

  /**
   * Returns the skipped value, which is nanoseconds as a text or a number, in milliseconds. Returns undefined for 0,
   * which means unknown.
   */
  #millis(field: string, isText: boolean): number | undefined {
    const text = this.#short(isText);
    if (text === 'null' || /^0*$/.test(text)) return undefined;
    // The last digits of a double are inexact by less than a microsecond.
    if (/^\d{1,20}$/.test(text)) return Number(text.slice(0, -6));
    const nanos = Number(text);
    return nanos >= 0 && nanos < 2 ** 64 ? Math.floor(nanos / 1e6) : reject(field, 'is not a number of nanoseconds');
  }

  /**
   * Returns the skipped value if it is short enough for a number; otherwise returns a text that is not a
   * number.
   */
  #short(isText: boolean): string {
    const { start, end, escaped } = this.#cursor;
    if (end - start > maxNumberBytes) return '-';
    return isText && escaped ? parseText(this.#bytes, start, end) : this.#bytes.toString('latin1', start, end);
  }
}
