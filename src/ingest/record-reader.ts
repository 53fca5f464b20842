import { isAscii } from 'node:buffer';
import { ServiceError } from '../errors.ts';
import type { Table } from '../events/records.ts';
import { limits } from '../limits.ts';
import { isObject, isoTime, type JsonObject, zeekTime } from './fields.ts';
import { flowId } from './flow-id.ts';
import { readNative } from './native.ts';
import type { Reading } from './reading.ts';
import { named, Rejection, reject } from './rejection.ts';
import { nestsTooDeep } from './split.ts';
import { readSuricata } from './suricata.ts';
import { readZeek } from './zeek.ts';
import { ZeekTsv } from './zeek-tsv.ts';

/** Formats that a sender can insist on. `zeek_tsv` takes rows and headers only, `zeek` these and JSON. */
export type SourceFormat = 'zeek' | 'zeek_tsv' | 'suricata' | 'native';

/** What is known of a body's records before they are read. */
export interface Expected {
  readonly source?: SourceFormat | undefined;
  readonly table?: Table | undefined;
}

const openBrace = 123;
const closeBrace = 125;
const hash = 35;

/** Recognises and reads the records of one body, in order; a header of Zeek TSV holds for the rows after it. */
export class RecordReader {
  readonly #bytes: Buffer;
  readonly #reading: Reading;
  readonly #source: SourceFormat | undefined;
  readonly #table: Table | undefined;
  readonly #tsv = new ZeekTsv();
  /** Sensors' lines nearly always are; reading them as Latin-1 saves the check of each (0.1 µs a line). */
  readonly #characters: 'latin1' | 'utf8';
  #records = 0;

  constructor(bytes: Buffer, { source, table }: Expected, reading: Reading) {
    this.#bytes = bytes;
    this.#reading = reading;
    this.#source = table === undefined ? source : 'native';
    this.#table = table;
    this.#characters = isAscii(bytes) ? 'latin1' : 'utf8';
  }

  read(start: number, end: number, line: number): void {
    if (++this.#records > limits.maxBodyRecords) {
      throw new ServiceError('PAYLOAD_TOO_LARGE', `body holds more than ${limits.maxBodyRecords} records`, {
        reason: 'too_many_records',
        max_records: limits.maxBodyRecords,
      });
    }
    this.#reading.batch.begin();
    try {
      this.#record(start, end);
    } catch (error) {
      if (!(error instanceof Rejection)) throw error;
      this.#reading.batch.reject(line, error);
    }
  }

  #record(start: number, end: number): void {
    if (end - start > limits.maxLineBytes) reject('line', `is longer than ${limits.maxLineBytes} bytes`);
    const byte = this.#bytes[start];
    if (byte === openBrace && this.#source !== 'zeek_tsv') this.#json(start, end);
    else if (this.#source !== 'native' && this.#source !== 'suricata' && (byte === hash || this.#tsv.open)) {
      this.#row(this.#bytes.toString(this.#characters, start, end), byte === hash);
    } else reject('line', notARecord[this.#source ?? 'any']);
  }

  #row(line: string, header: boolean): void {
    if (header) return this.#tsv.header(line);
    const record = this.#tsv.row(line);
    const kind = readZeek(record, this.#reading, this.#tsv.path) ?? reject('line', 'is of no known log');
    this.#ask(kind, record);
  }

  #json(start: number, end: number): void {
    // A line that was cut off is refused for 0.3 µs, where the exception of JSON.parse costs 5.
    if (this.#bytes[lastByte(this.#bytes, start, end)] !== closeBrace) reject('line', 'is not valid JSON');
    const line = this.#bytes.toString(this.#characters, start, end);
    // Only a record with more openings than the limit can nest deeper: few reach the exact count.
    if (openings(line) > limits.maxNesting && nestsTooDeep(this.#bytes, start, end)) {
      reject('line', `nests deeper than ${limits.maxNesting}`);
    }
    const record = parseObject(line);
    this.#ask(this.#recognised(record, line) ?? reject('line', unknown[this.#source ?? 'any']), record);
  }

  /** What was taken or ignored, rules are asked about. */
  #ask(kind: string, record: JsonObject): void {
    const { detectors, batch, receivedAt } = this.#reading;
    detectors.rules?.ask(kind, record, () => timeOf(kind, record) ?? receivedAt, batch.matches);
  }

  /** The kind of record that it is, taken or ignored; undefined, and nothing done, where it is none. */
  #recognised(record: JsonObject, line: string): string | undefined {
    const reading = this.#reading;
    switch (this.#source) {
      case 'native':
        return readNative(record, this.#table, reading);
      case 'suricata':
        return readSuricata(record, flowId(record, line), reading);
      case 'zeek':
        return readZeek(record, reading);
      default:
        return (
          (record.type === undefined ? undefined : readNative(record, undefined, reading)) ??
          (record.event_type === undefined
            ? undefined
            : readSuricata(record, flowId(record, line), reading)) ??
          readZeek(record, reading)
        );
    }
  }
}

/** When a record says that it happened. Of one that is ignored nobody has looked at that: undefined where it says nothing. */
function timeOf(kind: string, record: JsonObject): number | undefined {
  try {
    return kind.startsWith('zeek.') ? zeekTime(record.ts, 'ts') : isoTime(record.timestamp, 'timestamp');
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
  native: 'is not a JSON object',
} as const;

const unknown = {
  any: 'is in no known format',
  zeek: 'is no record of Zeek',
  zeek_tsv: 'is no row of Zeek TSV',
  suricata: 'is no record of Suricata',
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
