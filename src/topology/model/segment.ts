import { maxPorts, maxProtocols } from '../../contract/vocabulary.ts';
import type { Edges } from './edges.ts';
import { type Blocks, sortedNodes } from './nodes.ts';

/**
 * Edges as one binary value, which is read in place. Rows are in ascending order of bucket, source and
 * target, so that the rows of a bucket are adjacent and segments can be merged during reading. Numbers are
 * little-endian.
 *
 * ```
 *   u32 × 8    version, rows, nodes, texts, ports, protocols, least bucket, greatest bucket
 *   f64 × rows connections, bytes, first, last
 *   u32 × rows bucket, source, target       u32 × rows + 1   where the ports start, where the protocols start
 *   u32 × protocols                         u32 × nodes      four words of each block's address
 *   u32 × texts + 1  where the texts start  u16 × ports      u8 × nodes  prefix, home      UTF-8 of the texts
 * ```
 */
export class Segment implements Blocks {
  readonly encoded: Uint8Array;
  readonly rows: number;
  readonly nodeCount: number;
  readonly minBucket: number;
  readonly maxBucket: number;
  readonly connections: Float64Array;
  readonly bytes: Float64Array;
  readonly first: Float64Array;
  readonly last: Float64Array;
  readonly bucket: Uint32Array;
  readonly source: Uint32Array;
  readonly target: Uint32Array;
  readonly portStart: Uint32Array;
  readonly protocolStart: Uint32Array;
  readonly protocols: Uint32Array;
  readonly w0: Uint32Array;
  readonly w1: Uint32Array;
  readonly w2: Uint32Array;
  readonly w3: Uint32Array;
  /** Where each name of a protocol starts, in bytes from the start of the texts. */
  readonly textStart: Uint32Array;
  readonly ports: Uint16Array;
  readonly prefix: Uint8Array;
  readonly home: Uint8Array;
  /** Names of protocols. */
  readonly texts: readonly string[];

  /** @param bytes - a segment from `encodeSegments`, which must stay unchanged while the segment is in use */
  constructor(bytes: Uint8Array) {
    this.encoded = bytes;
    const given = bytes.byteOffset % 8 === 0 ? bytes : Uint8Array.prototype.slice.call(bytes, 0, bytes.length);
    const buffer = given.buffer;
    const { f64, u32, u16, u8 } = arraysIn(buffer, given.byteOffset);
    const [version, rows, nodes, texts, ports, protocols, minBucket, maxBucket] = u32(headerWords) as unknown as [
      number,
      number,
      number,
      number,
      number,
      number,
      number,
      number,
    ];
    if (version !== formatVersion) throw new Error(`a segment of edges has the unsupported version ${version}`);
    this.rows = rows;
    this.nodeCount = nodes;
    this.minBucket = minBucket;
    this.maxBucket = maxBucket;
    this.connections = f64(rows);
    this.bytes = f64(rows);
    this.first = f64(rows);
    this.last = f64(rows);
    this.bucket = u32(rows);
    this.source = u32(rows);
    this.target = u32(rows);
    this.portStart = u32(rows + 1);
    this.protocolStart = u32(rows + 1);
    this.protocols = u32(protocols);
    this.w0 = u32(nodes);
    this.w1 = u32(nodes);
    this.w2 = u32(nodes);
    this.w3 = u32(nodes);
    this.textStart = u32(texts + 1);
    this.ports = u16(ports);
    this.prefix = u8(nodes);
    this.home = u8(nodes);
    const { textStart } = this;
    const textBytes = u8(textStart[texts]!);
    const utf8 = Buffer.from(textBytes.buffer as ArrayBuffer, textBytes.byteOffset, textBytes.length);
    this.texts = Array.from({ length: texts }, (_, i) => utf8.toString('utf8', textStart[i]!, textStart[i + 1]!));
  }

  /** Returns the half-open range of rows in buckets from `from` to before `to`. */
  range(from: number, to: number): readonly [number, number] {
    return [this.#firstRow(from), this.#firstRow(to)];
  }

  /** Adds a row to a row of `edges`. `texts` contains the indices of this segment's texts in `edges`. */
  addTo(edges: Edges, to: number, row: number, texts: Uint32Array): void {
    edges.add(to, this.connections[row]!, this.bytes[row]!, this.first[row]!, this.last[row]!);
    for (let i = this.portStart[row]!; i < this.portStart[row + 1]!; i++) edges.addPort(to, this.ports[i]!);
    for (let i = this.protocolStart[row]!; i < this.protocolStart[row + 1]!; i++)
      edges.addProtocol(to, texts[this.protocols[i]!]!);
  }

  /** Returns the indices in `edges` of this segment's protocol names. */
  textsIn(edges: Edges): Uint32Array {
    return Uint32Array.from(this.texts, (text) => edges.text(text));
  }

  #firstRow(bucket: number): number {
    let low = 0;
    let high = this.rows;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (this.bucket[middle]! < bucket) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}

/** Returns functions that create consecutive arrays in the buffer. */
function arraysIn(buffer: ArrayBufferLike, start: number) {
  let at = start;
  const taken = (length: number): number => {
    at += length;
    return at - length;
  };
  return {
    f64: (length: number) => new Float64Array(buffer, taken(8 * length), length),
    u32: (length: number) => new Uint32Array(buffer, taken(4 * length), length),
    u16: (length: number) => new Uint16Array(buffer, taken(2 * length), length),
    u8: (length: number) => new Uint8Array(buffer, taken(length), length),
  };
}

const formatVersion = 1;
const headerWords = 8;

/** Maximum number of rows of a segment. This many rows are about 1 MB, and take 20 ms to merge and write. */
export const maxSegmentRows = 16_384;

/**
 * Encodes the edges as segments of at most `maxRows` rows, in order. Each combination of bucket, source and
 * target occurs once, even across segments.
 */
export function encodeSegments(edges: Edges, maxRows = maxSegmentRows): Uint8Array<ArrayBuffer>[] {
  const { nodes, count } = edges;
  const byAddress = sortedNodes(nodes);
  const rank = new Uint32Array(nodes.count);
  byAddress.forEach((node, place) => {
    rank[node] = place;
  });
  let order: Uint32Array = Uint32Array.from({ length: count }, (_, i) => i);
  order = sortedBy(order, nodes.count, (row) => rank[edges.target[row]!]!);
  order = sortedBy(order, nodes.count, (row) => rank[edges.source[row]!]!);
  const buckets = [...new Set(edges.bucket.subarray(0, count))].sort((a, b) => a - b);
  if (buckets.length > 1) {
    const places = new Map(buckets.map((bucket, place) => [bucket, place]));
    order = sortedBy(order, buckets.length, (row) => places.get(edges.bucket[row]!)!);
  }
  const parts: Uint8Array<ArrayBuffer>[] = [];
  for (let from = 0; from < count; from += maxRows)
    parts.push(encode(edges, order.subarray(from, from + maxRows), byAddress));
  return parts;
}

/**
 * Returns the rows of `order` after a stable counting sort by `keyOf`, whose keys are below `keys`. One call takes 10
 * ns per row. An order needs three calls; sorting by a comparison function takes 300 ns per row.
 */
function sortedBy(order: Uint32Array, keys: number, keyOf: (row: number) => number): Uint32Array {
  const starts = new Uint32Array(keys + 1);
  for (const row of order) starts[keyOf(row) + 1]!++;
  for (let key = 0; key < keys; key++) starts[key + 1]! += starts[key]!;
  const sorted = new Uint32Array(order.length);
  for (const row of order) sorted[starts[keyOf(row)]!++] = row;
  return sorted;
}

function encode(edges: Edges, order: Uint32Array, byAddress: Uint32Array): Uint8Array<ArrayBuffer> {
  const { nodes } = edges;
  const rows = order.length;
  const nodePlace = new Int32Array(nodes.count).fill(-1);
  const textPlace = new Int32Array(edges.texts.length).fill(-1);
  const texts: Buffer[] = [];
  let ports = 0;
  let protocols = 0;
  for (const row of order) {
    nodePlace[edges.source[row]!] = 0;
    nodePlace[edges.target[row]!] = 0;
    ports += edges.portCount[row]!;
    protocols += edges.protocolCount[row]!;
    for (let i = 0; i < edges.protocolCount[row]!; i++) {
      const text = edges.protocols[row * maxProtocols + i]!;
      if (textPlace[text]! < 0) textPlace[text] = texts.push(Buffer.from(edges.texts[text]!, 'utf8')) - 1;
    }
  }
  const used = byAddress.filter((node) => nodePlace[node] === 0);
  used.forEach((node, place) => {
    nodePlace[node] = place;
  });
  const textBytes = texts.reduce((sum, { length }) => sum + length, 0);
  const words = headerWords + 5 * rows + 2 + protocols + 4 * used.length + texts.length + 1;
  const size = 32 * rows + 4 * words + 2 * ports + 2 * used.length + textBytes;
  const out = new Uint8Array(size);
  const least = edges.bucket[order[0]!]!;
  const greatest = edges.bucket[order[rows - 1]!]!;
  const header = [formatVersion, rows, used.length, texts.length, ports, protocols, least, greatest];
  new Uint32Array(out.buffer, 0, headerWords).set(header);
  // The columns are views of `out`, and are filled below.
  const segment = new Segment(out);
  let port = 0;
  let protocol = 0;
  for (let i = 0; i < rows; i++) {
    const row = order[i]!;
    segment.connections[i] = edges.connections[row]!;
    segment.bytes[i] = edges.bytes[row]!;
    segment.first[i] = edges.first[row]!;
    segment.last[i] = edges.last[row]!;
    segment.bucket[i] = edges.bucket[row]!;
    segment.source[i] = nodePlace[edges.source[row]!]!;
    segment.target[i] = nodePlace[edges.target[row]!]!;
    for (let k = 0; k < edges.portCount[row]!; k++) segment.ports[port++] = edges.ports[row * maxPorts + k]!;
    for (let k = 0; k < edges.protocolCount[row]!; k++)
      segment.protocols[protocol++] = textPlace[edges.protocols[row * maxProtocols + k]!]!;
    segment.portStart[i + 1] = port;
    segment.protocolStart[i + 1] = protocol;
  }
  for (let i = 0; i < used.length; i++) {
    const node = used[i]!;
    segment.w0[i] = nodes.w0[node]!;
    segment.w1[i] = nodes.w1[node]!;
    segment.w2[i] = nodes.w2[node]!;
    segment.w3[i] = nodes.w3[node]!;
    segment.prefix[i] = nodes.prefix[node]!;
    segment.home[i] = nodes.home[node]!;
  }
  const { textStart } = segment;
  for (const [i, text] of texts.entries()) {
    out.set(text, size - textBytes + textStart[i]!);
    textStart[i + 1] = textStart[i]! + text.length;
  }
  return out;
}
