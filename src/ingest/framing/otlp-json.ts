import { invalidField } from '../../errors.ts';
import { limits } from '../../limits.ts';
import { isObject, type JsonObject } from '../fields.ts';
import { Rejection, reject } from '../rejection.ts';
import { textStart } from '../split.ts';
import type { OtlpFraming } from './framing.ts';
import { JsonCursor, noMore, parseJson, parseText, unescapeInPlace } from './json-cursor.ts';
import { eachText, jsonMembers } from './otlp-json-value.ts';
import {
  idAttribute,
  idOf,
  isObjectText,
  type LogEnvelope,
  objectStart,
  orNothing,
  reasons,
  Sender,
  type Sink,
  withoutOrigin,
} from './otlp-record.ts';

/**
 * The log records of an ExportLogsServiceRequest in JSON, as OTLP has it: names in lowerCamelCase, others ignored; numbers
 * of 64 bits as texts or numbers; bytes in base64.
 *
 * A record that cannot be decoded is refused alone, as long as it is known where it ends. INVALID_REQUEST for field `body`
 * where what it lies in is broken. Texts of bodies are unescaped where they are: what `bytes` are is another body then.
 */
export function otlpJson(bytes: Buffer, items: Sink, { sender }: OtlpFraming): undefined {
  try {
    new Request(bytes, items, sender).read();
  } catch (error) {
    if (error instanceof Rejection)
      throw invalidField('body', `is no request of OTLP: its JSON ${error.reason}`);
    throw error;
  }
}

const named = (...names: readonly string[]): readonly Buffer[] => names.map((name) => Buffer.from(name));

const ofRequest = named('resourceLogs');
const ofResourceLogs = named('resource', 'scopeLogs');
const ofResource = named('attributes');
const ofScopeLogs = named('scope', 'logRecords');
const ofScope = named('name');
const ofLogRecord = named('body', 'attributes', 'timeUnixNano', 'observedTimeUnixNano');
const ofValue = named(
  ...['stringValue', 'bytesValue', 'kvlistValue', 'boolValue', 'intValue', 'doubleValue', 'arrayValue'],
);

/** What lies in the body of a record. */
type Body = 'none' | 'text' | 'bytes' | 'list' | 'other';
const bodies: readonly Body[] = ['text', 'bytes', 'list', 'other', 'other', 'other', 'other'];

const id = Buffer.from(idAttribute);
const quote = 34;
const openBracket = 91;
const letterN = 110;
/** A list in a list has four. */
const maxBrackets = 4 * (limits.maxNesting + 2);
/** Digits of 64 bits, each escaped. */
const maxNumberBytes = 120;

class Request {
  readonly #bytes: Buffer;
  readonly #items: Sink;
  readonly #principal: string;
  readonly #cursor: JsonCursor;
  readonly #sender = new Sender();
  readonly #envelope: LogEnvelope = { id: undefined, sensor: undefined, at: undefined };
  #body: Body = 'none';
  #bodyStart = 0;
  #bodyEnd = 0;
  #bodyEscaped = false;
  /** Of the array; -1 where there is none. */
  #attributesStart = -1;
  #attributesEnd = 0;

  constructor(bytes: Buffer, items: Sink, principal: string) {
    this.#bytes = bytes;
    this.#items = items;
    this.#principal = principal;
    this.#cursor = new JsonCursor(bytes, textStart(bytes));
  }

  read(): void {
    const cursor = this.#cursor;
    this.#members(ofRequest, () => this.#elements(() => this.#resourceLogs()));
    if (cursor.peek() !== undefined) reject('json', 'goes on behind its end');
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
      const { start, end } = this.#skipped();
      if (end - start > limits.maxLogRecordBytes || this.#cursor.depth > maxBrackets) return;
      const attributes = parseJson(this.#bytes.toString('utf8', start, end));
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
        this.#envelope.sensor = this.#sender.name;
        this.#elements(() => this.#logRecord());
      }
      known = true;
    });
  }

  #scope(): void {
    this.#members(ofScope, () => {
      const isText = this.#cursor.peek() === quote;
      const { start, end } = this.#skipped();
      const name =
        isText && end - start <= limits.maxTextBytes ? parseText(this.#bytes, start, end) : undefined;
      this.#sender.scope(name);
    });
  }

  #logRecord(): void {
    const cursor = this.#cursor;
    const { at } = cursor;
    try {
      if (!this.#findRecord()) return void this.#items.refuse('log_record', 'is no object');
      if (cursor.at - at > limits.maxLogRecordBytes)
        return void this.#items.refuse('log_record', reasons.tooLong);
    } catch (error) {
      if (!(error instanceof Rejection)) throw error;
      cursor.at = at;
      cursor.skip();
      this.#items.refuse(error.field, error.reason);
      return;
    }
    let record: JsonObject | string | undefined;
    try {
      this.#envelope.id = this.#id();
      record = this.#record();
    } catch (error) {
      if (!(error instanceof Rejection)) throw error;
      this.#items.refuse(error.field, error.reason);
      return;
    }
    if (record !== undefined) this.#items.value(record, this.#envelope);
    else if (this.#body === 'text') this.#items.bytes(this.#bodyStart, this.#bodyEnd, this.#envelope);
    else this.#items.refuse('body', reasons.nothing);
  }

  /** Goes behind the record, and knows where its parts are; false where it is no object. */
  #findRecord(): boolean {
    const cursor = this.#cursor;
    let time: number | undefined;
    let observed: number | undefined;
    this.#body = 'none';
    this.#attributesStart = -1;
    if (!cursor.intoObject()) {
      cursor.skip();
      return false;
    }
    for (
      let member = cursor.member(true, ofLogRecord);
      member !== noMore;
      member = cursor.member(false, ofLogRecord)
    ) {
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
      if (cursor.peek() !== letterN) reject('body', 'is no value of OTLP');
      return cursor.skip();
    }
    for (
      let member = cursor.member(true, ofValue);
      member !== noMore;
      member = cursor.member(false, ofValue)
    ) {
      const text = cursor.peek() === quote;
      const absent = member < 0 || cursor.peek() === letterN;
      cursor.skip();
      if (absent) continue;
      if (!text) this.#requireFlat();
      const body = bodies[member] as Body;
      if (!text && (body === 'text' || body === 'bytes')) reject('body', 'has a text that is none');
      this.#body = body;
      this.#bodyStart = cursor.start;
      this.#bodyEnd = cursor.end;
      this.#bodyEscaped = text && cursor.escaped;
    }
  }

  /** The value that was skipped may be parsed: megabytes of brackets would take a quarter of a second. */
  #requireFlat(): void {
    if (this.#cursor.depth > maxBrackets) reject('json', reasons.tooDeep);
  }

  /** What is to be read of a record, but for bytes of this body; undefined where it is these, or there is nothing. */
  #record(): JsonObject | string | undefined {
    const start = this.#bodyStart;
    const end = this.#bodyEnd;
    switch (this.#body) {
      case 'text': {
        const text = this.#unescaped();
        if (text !== undefined) {
          if (isObjectText(text)) return text;
        } else if (this.#bodyStart >= 0) return undefined;
        break;
      }
      case 'bytes': {
        const base64 = this.#bodyEscaped
          ? parseText(this.#bytes, start, end)
          : this.#bytes.toString('latin1', start, end);
        const text = Buffer.from(base64, 'base64').toString();
        if (isObjectText(text)) return text;
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

  /** The text of the body where it cannot be read from its bytes; else it begins where its object does, or at -1. */
  #unescaped(): string | undefined {
    const bytes = this.#bytes;
    if (this.#bodyEscaped) {
      const end = unescapeInPlace(bytes, this.#bodyStart, this.#bodyEnd);
      if (typeof end === 'string') return end;
      this.#bodyEnd = end;
    }
    this.#bodyStart = objectStart(bytes, this.#bodyStart, this.#bodyEnd);
    return undefined;
  }

  #id(): string | undefined {
    if (this.#attributesStart < 0) return undefined;
    const attributes = this.#bytes.subarray(this.#attributesStart, this.#attributesEnd);
    // No encoder escapes letters and dots.
    if (!attributes.includes(id)) return undefined;
    let found: string | undefined;
    eachText(parseJson(attributes.toString()), (key, text) => {
      if (key === idAttribute) found = idOf(this.#principal, text);
    });
    return found;
  }

  /** Nanoseconds in the value that was skipped, a text or a number, in milliseconds; 0 is unknown. */
  #millis(field: string, isText: boolean): number | undefined {
    const text = this.#short(isText);
    if (text === 'null' || /^0*$/.test(text)) return undefined;
    // A double has its last digits wrong, which is less than a microsecond.
    if (/^\d{1,20}$/.test(text)) return Number(text.slice(0, -6));
    const nanos = Number(text);
    return nanos >= 0 && nanos < 2 ** 64
      ? Math.floor(nanos / 1e6)
      : reject(field, 'is no number of nanoseconds');
  }

  /** Visits the members of an object that are asked for; `visit` goes behind each. Null is as good as none. */
  #members(names: readonly Buffer[], visit: (member: number) => void): void {
    const cursor = this.#cursor;
    if (!cursor.intoObject()) return this.#absent('an object');
    for (let member = cursor.member(true, names); member !== noMore; member = cursor.member(false, names)) {
      if (member < 0) cursor.skip();
      else visit(member);
    }
  }

  /** Visits the first of `names` in what is left of the object, from the value of a member; and comes back. */
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

  /** `visit` goes behind each element. */
  #elements(visit: () => void): void {
    const cursor = this.#cursor;
    if (!cursor.intoArray()) return this.#absent('an array');
    for (let more = cursor.element(true); more; more = cursor.element(false)) visit();
  }

  #absent(wanted: string): void {
    if (this.#cursor.peek() !== letterN) reject('json', `has something else where ${wanted} is`);
    this.#cursor.skip();
  }

  /** The value that was skipped, if it is as short as a number may be; else what is none. */
  #short(isText: boolean): string {
    const { start, end, escaped } = this.#cursor;
    if (end - start > maxNumberBytes) return '-';
    return isText && escaped
      ? parseText(this.#bytes, start, end)
      : this.#bytes.toString('latin1', start, end);
  }

  #skipped(): { readonly start: number; readonly end: number } {
    this.#cursor.skip();
    return this.#cursor;
  }
}
