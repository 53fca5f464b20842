import { limits } from '../../limits.ts';
import type { JsonObject } from '../fields.ts';
import { Rejection } from '../rejection.ts';
import { TextAttribute } from './otlp-attribute.ts';
import {
  idAttribute,
  idOf,
  type LogEnvelope,
  millisOf,
  orNothing,
  reasons,
  recordStart,
  type Sink,
  withoutOrigin,
} from './otlp-record.ts';
import { type Members, member } from './otlp-value.ts';
import { ProtobufReader, wire } from './protobuf-reader.ts';

/** The kind of a record's body. */
type Body = 'none' | 'text' | 'list' | 'other';

/**
 * Reads log records (opentelemetry/proto/logs/v1) in protobuf; one instance per body. Finds the part that the
 * sensor wrote, and then reads it. If the body of a record is a text, nothing else is decoded, and reading the
 * record takes only 0.3 µs more than reading the line.
 */
export class LogRecords {
  readonly #bytes: Buffer;
  readonly #items: Sink;
  /** The principal, to which record ids are scoped. */
  readonly #sender: string;
  readonly #reader: ProtobufReader;
  readonly #attribute: TextAttribute;
  readonly #envelope: LogEnvelope = { id: undefined, sensor: undefined, at: undefined };
  #body: Body = 'none';
  /** Start of the record's body, if the body is a text. */
  #start = 0;
  /** End of the record's body, if the body is a text. */
  #stop = 0;
  /** Starts and ends of the lists that form the record's body. */
  readonly #lists: number[] = [];
  #attributes = 0;

  constructor(bytes: Buffer, items: Sink, sender: string) {
    this.#bytes = bytes;
    this.#items = items;
    this.#sender = sender;
    this.#reader = new ProtobufReader(bytes);
    this.#attribute = new TextAttribute(bytes);
  }

  /** Reads the record in `[start, stop)`. */
  read(start: number, stop: number, sensor: string | undefined): void {
    if (stop - start > limits.maxLogRecordBytes) {
      this.#items.refuse('log_record', reasons.tooLong);
      return;
    }
    this.#envelope.sensor = sensor;
    let document: JsonObject | undefined;
    try {
      this.#find(start, stop);
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

  /** Reads the envelope and finds the other parts. */
  #find(start: number, stop: number): void {
    const reader = this.#reader;
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
          this.#attribute.read(reader);
          if (this.#attribute.isCalled(idAttribute)) this.#envelope.id = idOf(this.#sender, this.#attribute.text);
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

  #findBody(): void {
    const reader = this.#reader;
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
          // Two lists in sequence form one list, because repeated messages are merged.
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

  /** Discards a body text that is not a sensor's record. */
  #judgeText(): void {
    if (this.#body !== 'text') return;
    this.#start = recordStart(this.#bytes, this.#start, this.#stop);
    if (this.#start < 0) this.#body = 'other';
  }

  #listed(): JsonObject | undefined {
    const reader = this.#reader;
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
    const reader = this.#reader;
    const object: Members = {};
    reader.moveTo(start, stop);
    while (reader.next()) if (reader.field === 6) member(reader, this.#bytes, 1, object);
    return orNothing(withoutOrigin(object));
  }
}
