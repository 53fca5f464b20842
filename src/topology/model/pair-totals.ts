import { freed, grown } from '../../sketch/grown.ts';
import { PairIndex } from '../../sketch/pair-index.ts';
import { most } from './edges.ts';

/**
 * Totals between pairs of nodes. A pair takes 24 bytes, and 8 to 16 bytes for the index; an edge with ports and
 * protocols takes 150 bytes. Outgrown memory is released immediately.
 */
export class PairTotals {
  /** Source and target of each pair. */
  readonly pairs = new PairIndex();
  /** Bytes by the number of a pair. */
  bytes = new Float64Array(64);
  /** Connections by the number of a pair. */
  connections = new Float64Array(64);

  /** Adds to the totals from `source` to `target`. */
  add(source: number, target: number, bytes: number, connections: number): void {
    const pair = this.pairs.of(source, target);
    if (pair === this.bytes.length) {
      this.bytes = grown(this.bytes);
      this.connections = grown(this.connections);
    }
    this.bytes[pair] = Math.min(most, this.bytes[pair]! + bytes);
    this.connections[pair] = Math.min(most, this.connections[pair]! + connections);
  }

  /** Releases the memory. The object must not be used afterwards. */
  release(): void {
    this.pairs.release();
    freed(this.bytes);
    freed(this.connections);
  }
}
