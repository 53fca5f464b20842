import { limits } from '../../limits.ts';
import { type ProtobufReader, wire } from './protobuf-reader.ts';

/** A KeyValue in protobuf whose text value is requested. Strings are created only when needed. */
export class TextAttribute {
  readonly #bytes: Buffer;
  #keyStart = 0;
  #keyStop = 0;
  /** Start of the value; -1 if the value is not a text. */
  #valueStart = -1;
  #valueStop = 0;

  constructor(bytes: Buffer) {
    this.#bytes = bytes;
  }

  /** Reads the attribute in the current field. */
  read(reader: ProtobufReader): void {
    this.#keyStart = 0;
    this.#keyStop = 0;
    this.#valueStart = -1;
    const outer = reader.enter();
    while (reader.next()) {
      if (reader.field === 1) {
        reader.expect(wire.bytes);
        this.#keyStart = reader.start;
        this.#keyStop = reader.stop;
      } else if (reader.field === 2) this.#readValue(reader);
    }
    reader.leave(outer);
  }

  get key(): string {
    return this.#text(this.#keyStart, this.#keyStop);
  }

  /** Returns whether the key equals `name`, which must be ASCII. */
  isCalled(name: string): boolean {
    return this.#keyStop - this.#keyStart === name.length && this.key === name;
  }

  get text(): string | undefined {
    return this.#valueStart < 0 ? undefined : this.#text(this.#valueStart, this.#valueStop);
  }

  #readValue(reader: ProtobufReader): void {
    const outer = reader.enter();
    while (reader.next()) {
      if (reader.field > 7) continue;
      if (reader.field === 1) reader.expect(wire.bytes);
      this.#valueStart = reader.field === 1 ? reader.start : -1;
      this.#valueStop = reader.stop;
    }
    reader.leave(outer);
  }

  /** Returns the text, truncated at a length that no name or id exceeds. */
  #text(start: number, stop: number): string {
    return this.#bytes.toString('utf8', start, Math.min(stop, start + limits.maxTextBytes));
  }
}
