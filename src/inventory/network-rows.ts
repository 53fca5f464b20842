import type { EventBlock } from '../events/block.ts';
import type { TextList } from '../events/column-readers.ts';
import type { ColumnName } from '../events/columns.ts';
import { limits } from '../limits.ts';
import { writeCodes, writeNumbers } from './columns.ts';
import { bothSent, type Counters, handshakeDone, isIcmp, tcpEstablished } from './evidence.ts';

type Mutable<T> = { -readonly [K in keyof T]: T[K] };

export const transports = { tcp: 1, icmp: 2, other: 3 } as const;
const handshakes = { unknown: 0, done: 1, failed: 2 } as const;

const numberColumns = [
  'timestamp',
  'duration_ms',
  'src_port',
  'dst_port',
  'state',
  'direction',
  'src_bytes',
  'dst_bytes',
  'src_payload_bytes',
  'dst_payload_bytes',
  'src_packets',
  'dst_packets',
] as const satisfies readonly ColumnName<'network'>[];
/** Those that a connection is told by, its bytes, and whether it was answered. */
const recalled = [
  'src_port',
  'dst_port',
  'state',
  'src_bytes',
  'dst_bytes',
  'src_payload_bytes',
  'dst_payload_bytes',
  'src_packets',
  'dst_packets',
] as const satisfies readonly ColumnName<'network'>[];
const addressColumns = ['src_ip', 'dst_ip'] as const;
const textColumns = ['src_mac', 'dst_mac', 'transport', 'app_protocol', 'conn_state'] as const;
const codeColumns = [...addressColumns, ...textColumns] as const;

/** Rows of a block of network events, the columns that evidence is made of written out. Good until the next. */
export class NetworkRows {
  readonly numbers = columnsOf(numberColumns, (size) => new Float64Array(size));
  readonly codes = columnsOf(codeColumns, (size) => new Uint16Array(size));
  /** Which of `transports` the code of a transport is. */
  transportKinds: Uint8Array = new Uint8Array(0);
  #handshakes: Uint8Array = new Uint8Array(0);
  readonly #counters: Mutable<Counters> = emptyCounters();

  read(block: EventBlock, from: number, to: number): void {
    const { numbers, codes } = this;
    for (const name of numberColumns) writeNumbers(block.numbers(name), from, to, numbers[name]);
    this.#readEnds(block, from, to);
    for (const name of textColumns) writeCodes(block.texts(name), from, to, codes[name]);
    this.#readKinds(block);
  }

  /** Only what connections are told by, their bytes, and whether they were answered. */
  readConnections(block: EventBlock, from: number, to: number): void {
    for (const name of recalled) writeNumbers(block.numbers(name), from, to, this.numbers[name]);
    this.#readEnds(block, from, to);
    for (const name of ['transport', 'conn_state'] as const)
      writeCodes(block.texts(name), from, to, this.codes[name]);
    this.#readKinds(block);
  }

  /** Whether there is evidence that the responder answered. */
  answered(row: number, kind: number): boolean {
    const handshake = this.#handshakes[this.codes.conn_state[row]!]!;
    if (kind === transports.tcp && handshake !== handshakes.unknown) return handshake === handshakes.done;
    const numbers = this.numbers;
    const counters = this.#counters;
    counters.state = numbers.state[row]!;
    counters.src_bytes = numbers.src_bytes[row]!;
    counters.dst_bytes = numbers.dst_bytes[row]!;
    counters.src_payload_bytes = numbers.src_payload_bytes[row]!;
    counters.dst_payload_bytes = numbers.dst_payload_bytes[row]!;
    counters.src_packets = numbers.src_packets[row]!;
    counters.dst_packets = numbers.dst_packets[row]!;
    return kind === transports.tcp ? tcpEstablished(counters) : bothSent(counters, kind === transports.icmp);
  }

  /** IP bytes both ways; payload of a side of which nothing else is known. */
  bytes(row: number): number {
    const { src_bytes, dst_bytes, src_payload_bytes, dst_payload_bytes } = this.numbers;
    return known(src_bytes[row]!, src_payload_bytes[row]!) + known(dst_bytes[row]!, dst_payload_bytes[row]!);
  }

  #readKinds(block: EventBlock): void {
    this.transportKinds = byCode(block.texts('transport').list, transportKind);
    this.#handshakes = byCode(block.texts('conn_state').list, handshakeKind);
  }

  #readEnds(block: EventBlock, from: number, to: number): void {
    for (const name of addressColumns) writeCodes(block.addresses(name), from, to, this.codes[name]);
  }
}

const known = (bytes: number, payload: number): number => (bytes >= 0 ? bytes : payload >= 0 ? payload : 0);

function transportKind(transport: string): number {
  if (transport === 'tcp') return transports.tcp;
  return isIcmp(transport) ? transports.icmp : transports.other;
}

function handshakeKind(connState: string): number {
  const done = handshakeDone(connState);
  if (done === undefined) return handshakes.unknown;
  return done ? handshakes.done : handshakes.failed;
}

/** What holds for each code of a column; 0 for the absent. */
function byCode(list: TextList, of: (text: string) => number): Uint8Array {
  const kinds = new Uint8Array(list.length + 1);
  for (let i = 0; i < list.length; i++) kinds[i + 1] = of(list.text(i));
  return kinds;
}

function columnsOf<N extends string, A>(names: readonly N[], make: (size: number) => A): Record<N, A> {
  return Object.fromEntries(names.map((name) => [name, make(limits.maxBlockRows)])) as Record<N, A>;
}

function emptyCounters(): Mutable<Counters> {
  return {
    state: Number.NaN,
    src_bytes: Number.NaN,
    dst_bytes: Number.NaN,
    src_payload_bytes: Number.NaN,
    dst_payload_bytes: Number.NaN,
    src_packets: Number.NaN,
    dst_packets: Number.NaN,
  };
}
