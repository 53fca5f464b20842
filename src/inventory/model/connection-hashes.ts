import { hash, randomUUID } from 'node:crypto';
import type { EventBlock } from '../../events/format/block.ts';
import type { TextList } from '../../events/format/column-readers.ts';
import { limits } from '../../limits.ts';
import { finish, step } from '../../sketch/hash.ts';
import { addressHash } from './addresses.ts';
import type { ConnectionMemory } from './connection-memory.ts';

/**
 * Secret key of this process, so that no sensor can forge connections that look like connections of another
 * sensor.
 */
const key = randomUUID();
const noSensor = [0, 0] as const;

function sensorHash(sensorId: string): readonly [number, number] {
  const digest = hash('sha256', `${key} ${sensorId}`, 'buffer');
  return [digest.readInt32LE(0), digest.readInt32LE(4)];
}

/** Number of connections to prefetch. Their buckets of 64 bytes fit into the L1 cache. */
export const fetchedAtOnce = 64;

/**
 * Identifies the connections of a block's rows by two independent 32-bit hashes of the sensor, the sensor's id
 * of the connection, and the addresses and ports. All hashes are computed before the first use, so that the
 * connection memory can prefetch buckets.
 */
export class ConnectionHashes {
  readonly places = new Uint32Array(limits.maxBlockRows);
  readonly checks = new Uint32Array(limits.maxBlockRows);
  /** By row: 1 if the sensor gave the connection an id. */
  readonly known = new Uint8Array(limits.maxBlockRows);

  /** @param srcHashes - hashes of the originators, by index in the block's list */
  fill(
    block: EventBlock,
    srcHashes: Uint32Array,
    { src_port, dst_port }: Readonly<Record<'src_port' | 'dst_port', Float64Array>>,
    { src_ip, dst_ip }: Readonly<Record<'src_ip' | 'dst_ip', Uint16Array>>,
    from: number,
    to: number,
  ): void {
    const ids = block.texts('connection_id');
    const dsts = block.addresses('dst_ip').list;
    const dstHashes = new Uint32Array(dsts.length);
    for (let i = 0; i < dsts.length; i++) dstHashes[i] = addressHash(dsts, i);
    const sensors = block.texts('sensor_id');
    const sensorHashes = Array.from({ length: sensors.list.length }, (_, i) => sensorHash(sensors.list.text(i)));
    for (let row = from; row < to; row++) {
      const id = ids.code(row);
      this.known[row] = id === 0 ? 0 : 1;
      if (id === 0) continue;
      const src = srcHashes[src_ip[row]! - 1]!;
      const dst = dstHashes[dst_ip[row]! - 1]!;
      const sensor = sensors.code(row);
      const [a, b] = sensor === 0 ? noSensor : sensorHashes[sensor - 1]!;
      // A missing port is NaN, which becomes 0 in the hash.
      this.#hash(row, ids.list, id - 1, src ^ a, dst ^ b, (src_port[row]! << 16) ^ dst_port[row]!);
    }
  }

  fetch(memory: ConnectionMemory, from: number, to: number): void {
    memory.fetch(this.places, from, to);
  }

  #hash(row: number, ids: TextList, id: number, src: number, dst: number, ports: number): void {
    const { utf8 } = ids;
    const end = ids.offsets[id + 1]!;
    let at = ids.offsets[id]!;
    let place = src | 0;
    let check = dst | 0;
    let rest = end - at;
    for (; at + 4 <= end; at += 4) {
      const word = utf8[at]! | (utf8[at + 1]! << 8) | (utf8[at + 2]! << 16) | (utf8[at + 3]! << 24);
      place = step(place, word);
      check = Math.imul(check ^ word, 0x5bd1e995);
      check ^= check >>> 15;
    }
    for (; at < end; at++) rest = (rest << 8) | utf8[at]!;
    place = step(step(step(place, rest), ports), dst);
    check = Math.imul(check ^ rest, 0x5bd1e995) ^ src;
    check = Math.imul(check ^ (check >>> 15) ^ ports, 0x5bd1e995);
    this.places[row] = finish(place);
    this.checks[row] = finish(check);
  }
}
