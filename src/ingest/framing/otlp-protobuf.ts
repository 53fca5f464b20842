import { invalidField } from '../../errors.ts';
import { limits } from '../../limits.ts';
import type { JsonObject } from '../fields.ts';
import { Rejection } from '../rejection.ts';
import type { OtlpFraming } from './framing.ts';
import {
  idAttribute,
  idOf,
  type LogEnvelope,
  millisOf,
  objectStart,
  orNothing,
  reasons,
  Sender,
  type Sink,
  withoutOrigin,
} from './otlp-record.ts';
import { type Members, member } from './otlp-value.ts';
import { ProtobufReader, wire } from './protobuf-reader.ts';

/**
 * The log records of an ExportLogsServiceRequest (opentelemetry/proto/collector/logs/v1) in Protocol Buffers' wire format:
 *
 *     request → resource_logs* → scope_logs* → log_records*
 *
 * A record that cannot be decoded is refused alone, as long as it is known where it ends. INVALID_REQUEST for field `body`
 * where what it lies in is broken.
 */
export function otlpProtobuf(bytes: Buffer, items: Sink, { sender }: OtlpFraming): undefined {
  try {
    new Request(bytes, items, sender).read();
  } catch (error) {
    if (error instanceof Rejection) throw invalidField('body', `is no request of OTLP: it ${error.reason}`);
    throw error;
  }
}

/** What lies in the body of a record. */
type Body = 'none' | 'text' | 'list' | 'other';

class Request {
  readonly #bytes: Buffer;
  readonly #items: Sink;
  readonly #principal: string;
  /** Reads what records lie in, and the records. */
  readonly #outer: ProtobufReader;
  readonly #inner: ProtobufReader;
  readonly #sender = new Sender();
  readonly #envelope: LogEnvelope = { id: undefined, sensor: undefined, at: undefined };
  #body: Body = 'none';
  /** Of the text of the body; of its lists, one after the other. */
  #start = 0;
  #stop = 0;
  readonly #lists: number[] = [];
  /** Of the attribute that is looked at; a value that is no text begins at -1. */
  #keyStart = 0;
  #keyStop = 0;
  #valueStart = -1;
  #valueStop = 0;
  #attributes = 0;

  constructor(bytes: Buffer, items: Sink, principal: string) {
    this.#bytes = bytes;
    this.#items = items;
    this.#principal = principal;
    this.#outer = new ProtobufReader(bytes);
    this.#inner = new ProtobufReader(bytes);
  }

  read(): void {
    const reader = this.#outer;
    while (reader.next()) if (reader.field === 1) this.#resourceLogs();
  }

  /** Fields come in any order: the resource is looked for first, over its records. */
  #resourceLogs(): void {
    const reader = this.#outer;
    this.#sender.beginResource();
    const { start, stop } = reader;
    const outer = reader.enter();
    while (reader.next()) {
      if (reader.field === 1) this.#resource();
      else if (reader.field === 2) reader.expect(wire.bytes);
    }
    reader.moveTo(start, stop);
    while (reader.next()) if (reader.field === 2) this.#scopeLogs();
    reader.leave(outer);
  }

  #resource(): void {
    const reader = this.#outer;
    const outer = reader.enter();
    while (reader.next()) if (reader.field === 1) this.#ofResource();
    reader.leave(outer);
  }

  #ofResource(): void {
    this.#findText(this.#outer);
    this.#sender.attribute(this.#text(this.#keyStart, this.#keyStop), this.#foundText());
  }

  #scopeLogs(): void {
    const reader = this.#outer;
    this.#sender.beginScope();
    const { start, stop } = reader;
    const outer = reader.enter();
    while (reader.next()) {
      if (reader.field === 1) this.#scope();
      else if (reader.field === 2) reader.expect(wire.bytes);
    }
    this.#envelope.sensor = this.#sender.name;
    reader.moveTo(start, stop);
    while (reader.next()) if (reader.field === 2) this.#logRecord(reader.start, reader.stop);
    reader.leave(outer);
  }

  #scope(): void {
    const reader = this.#outer;
    const outer = reader.enter();
    while (reader.next()) if (reader.field === 1) this.#sender.scope(reader.text());
    reader.leave(outer);
  }

  #logRecord(start: number, stop: number): void {
    if (stop - start > limits.maxLogRecordBytes) {
      this.#items.refuse('log_record', reasons.tooLong);
      return;
    }
    let document: JsonObject | undefined;
    try {
      this.#envelopeOf(start, stop);
      if (this.#body === 'list') document = this.#listed();
      if (this.#body !== 'text') document ??= this.#attributed(start, stop);
    } catch (error) {
      if (!(error instanceof Rejection)) throw error;
      this.#items.refuse(error.field, error.reason);
      return;
    }
    if (document !== undefined) this.#items.value(document, this.#envelope);
    else if (this.#body === 'text') this.#items.bytes(this.#start, this.#stop, this.#envelope);
    else this.#items.refuse('body', reasons.nothing);
  }

  /** Everything of a record that is not the sensor's: the rest is only found. */
  #envelopeOf(start: number, stop: number): void {
    const reader = this.#inner;
    let time: number | undefined;
    let observed: number | undefined;
    this.#envelope.id = undefined;
    this.#body = 'none';
    this.#attributes = 0;
    reader.moveTo(start, stop);
    while (reader.next()) {
      switch (reader.field) {
        case 1:
          reader.expect(wire.eight);
          time = millisOf(reader.high, reader.low);
          break;
        case 5:
          this.#findBody();
          break;
        case 6:
          this.#attributes++;
          this.#findId();
          break;
        case 11:
          reader.expect(wire.eight);
          observed = millisOf(reader.high, reader.low);
          break;
      }
    }
    this.#envelope.at = time ?? observed;
    this.#judgeText();
  }

  /** A text that is no object is nothing that a sensor wrote. */
  #judgeText(): void {
    if (this.#body !== 'text') return;
    this.#start = objectStart(this.#bytes, this.#start, this.#stop);
    if (this.#start < 0) this.#body = 'other';
  }

  #findBody(): void {
    const reader = this.#inner;
    const outer = reader.enter();
    while (reader.next()) {
      switch (reader.field) {
        case 1:
        case 7:
          reader.expect(wire.bytes);
          this.#body = 'text';
          this.#start = reader.start;
          this.#stop = reader.stop;
          break;
        case 6:
          reader.expect(wire.bytes);
          if (this.#body !== 'list') this.#lists.length = 0;
          this.#body = 'list';
          this.#lists.push(reader.start, reader.stop);
          break;
        case 2:
        case 3:
        case 4:
        case 5:
          this.#body = 'other';
          break;
      }
    }
    reader.leave(outer);
  }

  /** The attribute that is read, if it is the id of the record. */
  #findId(): void {
    this.#findText(this.#inner);
    if (this.#keyStop - this.#keyStart !== idAttribute.length) return;
    if (this.#text(this.#keyStart, this.#keyStop) !== idAttribute) return;
    this.#envelope.id = idOf(this.#principal, this.#foundText());
  }

  /** Where the key of the KeyValue in the field that is read is, and its value if that is a text. */
  #findText(reader: ProtobufReader): void {
    this.#keyStart = 0;
    this.#keyStop = 0;
    this.#valueStart = -1;
    const outer = reader.enter();
    while (reader.next()) {
      if (reader.field === 1) {
        reader.expect(wire.bytes);
        this.#keyStart = reader.start;
        this.#keyStop = reader.stop;
      } else if (reader.field === 2) this.#findValue(reader);
    }
    reader.leave(outer);
  }

  #findValue(reader: ProtobufReader): void {
    const outer = reader.enter();
    while (reader.next()) {
      if (reader.field > 7) continue;
      if (reader.field === 1) reader.expect(wire.bytes);
      this.#valueStart = reader.field === 1 ? reader.start : -1;
      this.#valueStop = reader.stop;
    }
    reader.leave(outer);
  }

  #foundText(): string | undefined {
    return this.#valueStart < 0 ? undefined : this.#text(this.#valueStart, this.#valueStop);
  }

  /** What is no UTF-8 in it becomes U+FFFD. Longer than any name and id, it is none of these. */
  #text(start: number, stop: number): string {
    return this.#bytes.toString('utf8', start, Math.min(stop, start + limits.maxTextBytes));
  }

  #listed(): JsonObject | undefined {
    const reader = this.#inner;
    const lists = this.#lists;
    const object: Members = {};
    for (let at = 0; at < lists.length; at += 2) {
      reader.moveTo(lists[at] as number, lists[at + 1] as number);
      while (reader.next()) if (reader.field === 1) member(reader, this.#bytes, 1, object);
    }
    return orNothing(object);
  }

  #attributed(start: number, stop: number): JsonObject | undefined {
    if (this.#attributes === 0) return undefined;
    const reader = this.#inner;
    const object: Members = {};
    reader.moveTo(start, stop);
    while (reader.next()) if (reader.field === 6) member(reader, this.#bytes, 1, object);
    return orNothing(withoutOrigin(object));
  }
}
