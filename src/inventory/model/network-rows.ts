import { type ConnectionState, connectionStates } from '../../contract/vocabulary.ts';
import {
  bothSent,
  type Counters,
  handshakeDone,
  hasEnded,
  isIcmp,
  tcpAnswered,
} from '../../events/connection-state.ts';
import type { EventBlock } from '../../events/format/block.ts';
import type { TextList } from '../../events/format/column-readers.ts';
import type { ColumnName } from '../../events/format/columns.ts';
import { plausibleBytes, plausibleDuration } from '../../events/plausible-bytes.ts';
import { limits } from '../../limits.ts';
import { writeCodes, writeNumbers } from './columns.ts';

type Mutable<T> = { -readonly [K in keyof T]: T[K] };

export const transports = { tcp: 1, icmp: 2, other: 3 } as const;
/** Whether the handshake was completed, by the kind of conn_state. */
const handshakes = [undefined, true, false] as const;

/** Columns that show which connection a row belongs to, its bytes, and whether it was answered and has ended. */
const recalled = [
  'timestamp',
  'received_at',
  'duration_ms',
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
const numberColumns = [...recalled, 'direction'] as const satisfies readonly ColumnName<'network'>[];
const addressColumns = ['src_ip', 'dst_ip'] as const;
const textColumns = ['src_mac', 'dst_mac', 'transport', 'app_protocol', 'conn_state'] as const;
const codeColumns = [...addressColumns, ...textColumns] as const;

/**
 * Rows of a block of network events, with the columns of evidence copied to arrays. Valid until the next
 * read.
 */
export class NetworkRows {
  readonly numbers = columnsOf(numberColumns, (size) => new Float64Array(size));
  readonly codes = columnsOf(codeColumns, (size) => new Uint16Array(size));
  /** Index in `transports` for each code of a transport. */
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

  /** Reads only the columns that identify connections, and that show their bytes and states. */
  readConnections(block: EventBlock, from: number, to: number): void {
    for (const name of recalled) writeNumbers(block.numbers(name), from, to, this.numbers[name]);
    this.#readEnds(block, from, to);
    for (const name of ['transport', 'conn_state'] as const) writeCodes(block.texts(name), from, to, this.codes[name]);
    this.#readKinds(block);
  }

  /** Returns whether the row shows that the responder answered. */
  answered(row: number, kind: number): boolean {
    const numbers = this.numbers;
    const counters = this.#counters;
    counters.src_bytes = numbers.src_bytes[row]!;
    counters.dst_bytes = numbers.dst_bytes[row]!;
    counters.src_payload_bytes = numbers.src_payload_bytes[row]!;
    counters.dst_payload_bytes = numbers.dst_payload_bytes[row]!;
    counters.src_packets = numbers.src_packets[row]!;
    counters.dst_packets = numbers.dst_packets[row]!;
    const state: ConnectionState | undefined = connectionStates[numbers.state[row]!];
    if (kind !== transports.tcp) return bothSent(counters, state, kind === transports.icmp);
    return tcpAnswered(handshakes[this.#handshakes[this.codes.conn_state[row]!]!], state, counters);
  }

  /** Returns whether the row shows that the connection has ended. */
  ended(row: number, kind: number): boolean {
    const { state, duration_ms } = this.numbers;
    return hasEnded(connectionStates[state[row]!], kind === transports.tcp, duration_ms[row]!);
  }

  /** Returns the byte count of the row, in both directions. */
  bytes(row: number): number {
    const { src_bytes, dst_bytes, src_payload_bytes, dst_payload_bytes } = this.numbers;
    const { duration_ms, timestamp, received_at } = this.numbers;
    const duration = plausibleDuration(duration_ms[row]!, timestamp[row]!, received_at[row]!);
    return (
      plausibleBytes(src_bytes[row]!, src_payload_bytes[row]!, duration) +
      plausibleBytes(dst_bytes[row]!, dst_payload_bytes[row]!, duration)
    );
  }

  #readKinds(block: EventBlock): void {
    this.transportKinds = byCode(block.texts('transport').list, transportKind);
    this.#handshakes = byCode(block.texts('conn_state').list, handshakeKind);
  }

  #readEnds(block: EventBlock, from: number, to: number): void {
    for (const name of addressColumns) writeCodes(block.addresses(name), from, to, this.codes[name]);
  }
}

function transportKind(transport: string): number {
  if (transport === 'tcp') return transports.tcp;
  return isIcmp(transport) ? transports.icmp : transports.other;
}

function handshakeKind(connState: string): number {
  return handshakes.indexOf(handshakeDone(connState));
}

/** Computes a value for each code of a column; 0 for an absent value. */
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
    src_bytes: Number.NaN,
    dst_bytes: Number.NaN,
    src_payload_bytes: Number.NaN,
    dst_payload_bytes: Number.NaN,
    src_packets: Number.NaN,
    dst_packets: Number.NaN,
  };
}
