import { type Cell, cellFineness } from '../model/event-fold.ts';
import { decodeRollup, encodeRollup } from '../model/rollup-bytes.ts';

/**
 * Encodes cells in sequence, each as f64 start, u8 1 for a minute and 0 for an hour, u32 length, and the
 * rollup.
 */
export function encodeCells(cells: Iterable<Cell>): Buffer {
  const parts: Buffer[] = [];
  for (const { level, start, rollup } of cells) {
    const bytes = encodeRollup(rollup);
    const head = Buffer.allocUnsafe(13);
    head.writeDoubleLE(start, 0);
    head.writeUInt8(level === 'minute' ? 1 : 0, 8);
    head.writeUInt32LE(bytes.length, 9);
    parts.push(head, bytes);
  }
  return Buffer.concat(parts);
}

/** Decodes cells. @param withTops - see `decodeRollup` */
export function* decodeCells(bytes: Buffer, withTops = true): Generator<Cell> {
  for (let at = 0; at < bytes.length; ) {
    const start = bytes.readDoubleLE(at);
    const level = bytes.readUInt8(at + 8) === 1 ? 'minute' : 'hour';
    const end = at + 13 + bytes.readUInt32LE(at + 9);
    yield { level, start, rollup: decodeRollup(bytes.subarray(at + 13, end), cellFineness, withTops) };
    at = end;
  }
}
