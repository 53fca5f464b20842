import { AddressList } from '../../src/events/format/column-readers.ts';
import type { FlowFact } from '../../src/inventory/model/seen.ts';
import { addressBytes } from '../../src/net/ip.ts';
import { printBlock } from '../../src/topology/model/nodes.ts';
import type { Segment } from '../../src/topology/model/segment.ts';

/** An edge in a bucket, as a plain object. */
export interface PlainRow {
  readonly bucket: number;
  readonly source: string;
  readonly target: string;
  readonly connections: number;
  readonly bytes: number;
  readonly first: number;
  readonly last: number;
  readonly ports: readonly number[];
  readonly protocols: readonly string[];
}

export function rowsOf(segments: readonly Segment[]): PlainRow[] {
  return segments.flatMap((segment) =>
    Array.from({ length: segment.rows }, (_, row) => ({
      bucket: segment.bucket[row]!,
      source: printBlock(segment, segment.source[row]!),
      target: printBlock(segment, segment.target[row]!),
      connections: segment.connections[row]!,
      bytes: segment.bytes[row]!,
      first: segment.first[row]!,
      last: segment.last[row]!,
      ports: [...segment.ports.subarray(segment.portStart[row], segment.portStart[row + 1])],
      protocols: Array.from(
        segment.protocols.subarray(segment.protocolStart[row], segment.protocolStart[row + 1]),
        (text) => segment.texts[text]!,
      ),
    })),
  );
}

/** Returns a list of one address, as in a block in which all addresses belong to the same family. */
export function listOf(address: string): AddressList {
  const bytes = addressBytes(address)!;
  if (address.includes(':')) return new AddressList(bytes, 1);
  return new AddressList(new Uint8Array(Uint32Array.of(new DataView(bytes.buffer).getUint32(12)).buffer), 1);
}

export interface PlainFlow {
  readonly src: string;
  readonly dst: string;
  readonly srcHome: boolean;
  readonly dstHome: boolean;
  readonly answered: boolean;
  readonly port: number;
  readonly app: string | undefined;
  readonly connections: number;
  readonly bytes: number;
  readonly first: number;
  readonly last: number;
}

export function factOf(flow: PlainFlow): FlowFact {
  return {
    ...flow,
    isFirst: flow.connections === 1,
    isFirstAnswered: flow.answered && flow.connections === 1,
    srcs: listOf(flow.src),
    dsts: listOf(flow.dst),
    src: 0,
    dst: 0,
    transport: 'tcp',
  };
}
