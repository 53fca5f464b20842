import { invalidField } from '../../errors.ts';
import { Rejection } from '../rejection.ts';
import type { OtlpFraming } from './framing.ts';
import { TextAttribute } from './otlp-attribute.ts';
import { LogRecords } from './otlp-protobuf-record.ts';
import { Sender, type Sink } from './otlp-record.ts';
import { ProtobufReader, wire } from './protobuf-reader.ts';

/**
 * Reads the log records of an ExportLogsServiceRequest (opentelemetry/proto/collector/logs/v1) in Protocol
 * Buffers' wire format:
 *
 *     request → resource_logs* → scope_logs* → log_records*
 *                     └ resource      └ scope
 *
 * A record that cannot be decoded is refused individually, if its end is known. Throws INVALID_REQUEST for
 * field `body` if the structure around records is broken.
 */
export function otlpProtobuf(bytes: Buffer, items: Sink, { sender }: OtlpFraming): undefined {
  try {
    new Request(bytes, new LogRecords(bytes, items, sender)).read();
  } catch (error) {
    if (error instanceof Rejection) throw invalidField('body', `is not an OTLP request: it ${error.reason}`);
    throw error;
  }
}

class Request {
  readonly #records: LogRecords;
  readonly #reader: ProtobufReader;
  readonly #attribute: TextAttribute;
  readonly #sender = new Sender();

  constructor(bytes: Buffer, records: LogRecords) {
    this.#records = records;
    this.#reader = new ProtobufReader(bytes);
    this.#attribute = new TextAttribute(bytes);
  }

  read(): void {
    const reader = this.#reader;
    while (reader.next()) if (reader.field === 1) this.#resourceLogs();
  }

  /** Reads the resource before the records, because fields may be in any order. */
  #resourceLogs(): void {
    const reader = this.#reader;
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
    const reader = this.#reader;
    const outer = reader.enter();
    while (reader.next()) {
      if (reader.field !== 1) continue;
      this.#attribute.read(reader);
      this.#sender.attribute(this.#attribute.key, this.#attribute.text);
    }
    reader.leave(outer);
  }

  #scopeLogs(): void {
    const reader = this.#reader;
    this.#sender.beginScope();
    const { start, stop } = reader;
    const outer = reader.enter();
    while (reader.next()) {
      if (reader.field === 1) this.#scope();
      else if (reader.field === 2) reader.expect(wire.bytes);
    }
    const sensor = this.#sender.name;
    reader.moveTo(start, stop);
    while (reader.next()) if (reader.field === 2) this.#records.read(reader.start, reader.stop, sensor);
    reader.leave(outer);
  }

  #scope(): void {
    const reader = this.#reader;
    const outer = reader.enter();
    while (reader.next()) if (reader.field === 1) this.#sender.scope(reader.text());
    reader.leave(outer);
  }
}
