import { isAscii } from 'node:buffer';
import { ServiceError } from '../errors.ts';
import type { Table } from '../events/records.ts';
import type { TsvHeader } from '../events/tsv-headers.ts';
import { limits } from '../limits.ts';
import { readEcs } from './ecs.ts';
import { isObject, isoTime, type JsonObject, zeekTime } from './fields.ts';
import { flowId } from './flow-id.ts';
import { readNative } from './native.ts';
import type { Reading } from './reading.ts';
import { named, Rejection, reject } from './rejection.ts';
import type { Said } from './said.ts';
import { ShapedJson } from './shaped-json.ts';
import { nestsTooDeep } from './split.ts';
import { readSuricata } from './suricata.ts';
import { senderOf, withoutAdded, wrappedText, wrapperOf } from './wrapped.ts';
import { readZeek } from './zeek.ts';
import { ZeekTsv } from './zeek-tsv.ts';

/** Formats that a sender can insist on. `zeek_tsv` takes rows and headers only, `zeek` these and JSON. */
export type SourceFormat = 'zeek' | 'zeek_tsv' | 'suricata' | 'ecs' | 'native';

/** What is known of a body's records before they are read. */
export interface Expected {
  readonly source?: SourceFormat | undefined;
  readonly table?: Table | undefined;
  /** What is known of the record that is read from what it came in; shippers' documents are unwrapped then. */
  readonly said?: Said | undefined;
  /** Headers of Zeek TSV that came before the body. */
  readonly headers?: readonly TsvHeader[] | undefined;
}

const openBrace = 123;
const closeBrace = 125;

/** What this thread knows of the lines that sensors write, from body to body. */
const shaped = new ShapedJson();

/**
 * Recognises and reads the records of one body, in order; a header of Zeek TSV holds for the rows after it. A record is
 * good until the next is read: who needs more of it than values MUST copy them.
 */
export class RecordReader {
  readonly #bytes: Buffer;
  readonly #view: DataView;
  readonly #reading: Reading;
  readonly #source: SourceFormat | undefined;
  readonly #table: Table | undefined;
  readonly #said: Said | undefined;
  readonly #tsv: ZeekTsv;
  /** Sensors' bodies nearly always are ASCII: reading them as Latin-1 saves the check of each line (0.1 µs). */
  #characters: 'latin1' | 'utf8' | undefined;
  #records = 0;
  #start = 0;
  #end = 0;
  /** Of a record that is not bytes of the body. */
  #own: string | JsonObject | undefined;
  #kind = '';
  #record: JsonObject = none;
  /** What rules are asked about in the place of a document of ECS. */
  #restored: JsonObject | undefined;

  constructor(bytes: Buffer, { source, table, said, headers }: Expected, reading: Reading) {
    this.#bytes = bytes;
    this.#view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    this.#reading = reading;
    this.#source = table === undefined ? source : 'native';
    this.#table = table;
    this.#said = said;
    this.#tsv = new ZeekTsv(headers);
  }

  /** Headers of Zeek TSV that the body had; undefined for none. */
  get headers(): readonly TsvHeader[] | undefined {
    return this.#tsv.changed;
  }

  read(start: number, end: number, line: number): void {
    this.#begin();
    try {
      this.#read(start, end);
    } catch (error) {
      this.#refuse(error, line);
    }
  }

  /** A record that is no bytes of the body: JSON text, or what that says. */
  readValue(value: string | JsonObject, line: number): void {
    this.#begin();
    this.#own = value;
    try {
      if (typeof value !== 'string') this.#document(value);
      else if (!this.#isRow(value)) this.#document(this.#parsedText(value));
    } catch (error) {
      this.#refuse(error, line);
    } finally {
      this.#own = undefined;
    }
  }

  /** What stands in the place of a record, and is none. */
  refuse(rejection: Rejection, line: number): void {
    this.#begin();
    this.#reading.batch.reject(line, rejection);
  }

  #begin(): void {
    if (++this.#records > limits.maxBodyRecords) {
      throw new ServiceError('PAYLOAD_TOO_LARGE', `body holds more than ${limits.maxBodyRecords} records`, {
        reason: 'too_many_records',
        max_records: limits.maxBodyRecords,
      });
    }
    this.#restored = undefined;
    this.#reading.batch.begin();
  }

  #refuse(error: unknown, line: number): void {
    if (!(error instanceof Rejection)) throw error;
    this.#reading.batch.reject(line, error, this.#beginning);
  }

  #read(start: number, end: number): void {
    this.#start = start;
    this.#end = end;
    if (end - start > limits.maxLineBytes) reject('line', `is longer than ${limits.maxLineBytes} bytes`);
    const byte = this.#bytes[start];
    if (byte === openBrace && this.#source !== 'zeek_tsv') this.#json(start, end);
    else if (!this.#isRow(this.#line())) reject('line', notARecord[this.#source ?? 'any']);
  }

  /** Reads a line of Zeek TSV; returns false for any other line. */
  #isRow(text: string): boolean {
    const isHeader = /^\s*#/.test(text);
    const isJson = !isHeader && /^\s*\{/.test(text) && this.#source !== 'zeek_tsv';
    if (isJson || !takesRows[this.#source ?? 'any']) return false;
    if (!isHeader && !this.#tsv.open && !text.includes('\t')) return false;
    const line = text.replace(/^[ \r\n]+|[\r\n]+$/g, '');
    const sensor = this.#said?.sensor ?? this.#reading.sensor ?? '';
    if (isHeader) {
      this.#tsv.header(line, sensor);
      return true;
    }
    const record = this.#tsv.row(line, sensor);
    const kind = readZeek(record, this.#reading, this.#tsv.path) ?? reject('line', 'is of no known log');
    this.#ask(kind, record);
    return true;
  }

  #json(start: number, end: number): void {
    const record = shaped.read(this.#bytes, this.#view, start, end) ?? this.#parsed(start, end);
    if (this.#said !== undefined) return this.#document(record);
    const kind = this.#recognised(record) ?? reject('line', unknown[this.#source ?? 'any']);
    this.#ask(kind, this.#restored ?? record);
  }

  /** A record with what its shipper added, or one that is wrapped in it. */
  #document(document: JsonObject): void {
    const said = this.#said;
    if (said !== undefined) said.sensor ??= senderOf(document);
    const record = withoutAdded(document);
    const kind = this.#recognised(record);
    if (kind !== undefined) return this.#ask(kind, this.#restored ?? record);
    const wrapped = wrappedText(document);
    if (wrapped === undefined) reject('line', unknown[this.#source ?? 'any']);
    if (said !== undefined) said.sensor ??= wrapperOf(document);
    const outer = this.#own;
    try {
      if (this.#isRow(wrapped.text)) return;
      const inner = this.#parsedText(wrapped.text);
      const innerKind = this.#recognised(inner) ?? reject(wrapped.field, unknown[this.#source ?? 'any']);
      this.#ask(innerKind, this.#restored ?? inner);
    } catch (error) {
      if (error instanceof Rejection && error.field === 'line') reject(wrapped.field, error.reason);
      throw error;
    } finally {
      this.#own = outer;
    }
  }

  #parsedText(text: string): JsonObject {
    this.#own = text;
    if (openings(text) > limits.maxNesting) {
      const bytes = Buffer.from(text);
      if (nestsTooDeep(bytes, 0, bytes.length)) reject('line', `nests deeper than ${limits.maxNesting}`);
    }
    return parseObject(text);
  }

  #parsed(start: number, end: number): JsonObject {
    // A line that was cut off is refused for 0.3 µs, where the exception of JSON.parse costs 5.
    if (this.#bytes[lastByte(this.#bytes, start, end)] !== closeBrace) reject('line', 'is not valid JSON');
    const line = this.#line();
    // Only a record with more openings than the limit can nest deeper: few reach the exact count.
    if (openings(line) > limits.maxNesting && nestsTooDeep(this.#bytes, start, end)) {
      reject('line', `nests deeper than ${limits.maxNesting}`);
    }
    const record = parseObject(line);
    shaped.learn(this.#bytes, this.#view, start, end, record);
    return record;
  }

  /** The text of the record that is read. */
  readonly #line = (): string => {
    const own = this.#own;
    if (own !== undefined) return typeof own === 'string' ? own : JSON.stringify(own);
    this.#characters ??= isAscii(this.#bytes) ? 'latin1' : 'utf8';
    return this.#bytes.toString(this.#characters, this.#start, this.#end);
  };

  /** The part of a rejected record that operators see. */
  readonly #beginning = (): string =>
    this.#own === undefined
      ? this.#bytes.toString('utf8', this.#start, Math.min(this.#end, this.#start + maxShown))
      : this.#line().slice(0, maxShown);

  /** What was taken or ignored, rules are asked about. */
  #ask(kind: string, record: JsonObject): void {
    const { detectors, batch } = this.#reading;
    batch.nameIgnored(kind);
    if (detectors.rules === undefined) return;
    this.#kind = kind;
    this.#record = record;
    detectors.rules.ask(kind, record, this.#time, batch.matches);
  }

  readonly #time = (): number =>
    timeOf(this.#kind, this.#record) ?? this.#said?.at ?? this.#reading.receivedAt;

  /** The kind of record that it is, taken or ignored; undefined, and nothing done, where it is none. */
  #recognised(record: JsonObject): string | undefined {
    const reading = this.#reading;
    switch (this.#source) {
      case 'native':
        return readNative(record, this.#table, reading);
      case 'suricata':
        return readSuricata(record, flowId(record, this.#line), reading);
      case 'zeek':
        return readZeek(record, reading);
      case 'ecs':
        return this.#ecs(record, this.#said === undefined);
      default:
        return (
          (record.type === undefined ? undefined : readNative(record, undefined, reading)) ??
          (record.event_type === undefined
            ? undefined
            : readSuricata(record, flowId(record, this.#line), reading)) ??
          readZeek(record, reading) ??
          (record['@timestamp'] === undefined ? undefined : this.#ecs(record, false))
        );
    }
  }

  #ecs(record: JsonObject, only: boolean): string | undefined {
    const read = readEcs(record, this.#line, this.#reading, only);
    this.#restored = read?.record;
    return read?.kind;
  }
}

const none: JsonObject = {};

/** Bytes of a rejected record that are looked at for a sample. */
const maxShown = 400;

/** When a record says that it happened. Of one that is ignored nobody has looked at that: undefined where it says nothing. */
function timeOf(kind: string, record: JsonObject): number | undefined {
  try {
    if (kind.startsWith('zeek.')) return zeekTime(record.ts, 'ts');
    if (kind.startsWith('ecs.')) return zeekTime(record['@timestamp'], '@timestamp');
    return isoTime(record.timestamp, 'timestamp');
  } catch (error) {
    if (error instanceof Rejection) return undefined;
    throw error;
  }
}

/** Of lines that do not begin with a brace (with one, for `zeek_tsv`). */
const notARecord = {
  any: 'is neither a JSON object nor a row after a header of Zeek TSV',
  zeek: 'is neither a JSON object nor a row after a header of Zeek TSV',
  zeek_tsv: 'is no row after a header of Zeek TSV',
  suricata: 'is not a JSON object',
  ecs: 'is not a JSON object',
  native: 'is not a JSON object',
} as const;

/** Formats that have rows of Zeek TSV among their lines. */
const takesRows = {
  any: true,
  zeek: true,
  zeek_tsv: true,
  suricata: false,
  ecs: false,
  native: false,
} as const;

const unknown = {
  any: 'is in no known format',
  zeek: 'is no record of Zeek',
  zeek_tsv: 'is no row of Zeek TSV',
  suricata: 'is no record of Suricata',
  ecs: 'is no event of ECS that tells of both ends of a connection',
  native: 'has no type, network_event or dns_event',
} as const;

/** Where the last byte is that is no white space. */
function lastByte(bytes: Buffer, start: number, end: number): number {
  let at = end - 1;
  while (at > start && (bytes[at] as number) <= 32) at--;
  return at;
}

function parseObject(line: string): JsonObject {
  let record: unknown;
  try {
    record = JSON.parse(line);
  } catch (error) {
    if (error instanceof SyntaxError) return reject('line', 'is not valid JSON');
    throw error;
  }
  return isObject(record) ? record : reject('line', `is ${named(record)}, not an object`);
}

/** Openings of objects and arrays after the first, counted no further than it matters. */
function openings(line: string): number {
  let found = 1;
  for (let at = line.indexOf('{', 1); at >= 0 && found <= limits.maxNesting; at = line.indexOf('{', at + 1))
    found++;
  for (let at = line.indexOf('['); at >= 0 && found <= limits.maxNesting; at = line.indexOf('[', at + 1))
    found++;
  return found;
}
