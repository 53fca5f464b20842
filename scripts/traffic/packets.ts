import type { Answer, Flow, Lookup, Transport } from './activity.ts';
import { base62, type Random } from './random.ts';

/** Payload of one packet on Ethernet. */
const segment = 1448;

export interface FlowShape {
  readonly start: number;
  readonly durationMs: number;
  readonly src: string;
  readonly dst: string;
  readonly dstPort: number;
  readonly srcPort?: number;
  readonly transport: Transport;
  readonly service?: string;
  readonly srcBytes: number;
  readonly dstBytes: number;
  /** Result of the connection; default `ok`. */
  readonly outcome?: 'ok' | 'silent' | 'refused' | 'reset';
}

/** Derives the rest of a flow from its sizes: packets, state, history, identifiers. */
export function flow(rng: Random, shape: FlowShape): Flow {
  const srcPort = shape.srcPort ?? rng.int(49152, 65536);
  const names = {
    uid: `C${rng.text(17, base62)}`,
    flowId: rng.int(1, 2 ** 21) * 2 ** 32 + rng.int(0, 2 ** 32),
  };
  const ends = {
    src: shape.src,
    srcPort,
    dst: shape.dst,
    dstPort: shape.dstPort,
    transport: shape.transport,
  };
  const base = { kind: 'flow', start: shape.start, ...ends, ...names } as const;
  const service = shape.service === undefined ? {} : { service: shape.service };
  const outcome = shape.outcome ?? 'ok';

  if (outcome === 'silent') {
    const retries = shape.transport === 'tcp' ? rng.int(1, 4) : 1;
    const quiet = { srcBytes: shape.srcBytes, dstBytes: 0, srcPackets: retries, dstPackets: 0 };
    return {
      ...base,
      durationMs: retries === 1 ? 0 : 3000,
      state: 'S0',
      history: shape.transport === 'tcp' ? 'S' : 'D',
      ...quiet,
    };
  }
  if (outcome === 'refused') {
    const quiet = { srcBytes: 0, dstBytes: 0, srcPackets: 1, dstPackets: 1 };
    return { ...base, durationMs: Math.min(shape.durationMs, 2), state: 'REJ', history: 'Sr', ...quiet };
  }
  const handshake = shape.transport === 'tcp' ? 4 : 0;
  const data = { srcBytes: shape.srcBytes, dstBytes: shape.dstBytes };
  const acknowledgements = shape.transport === 'tcp' ? Math.ceil(shape.dstBytes / segment / 2) : 0;
  const srcPackets = handshake + Math.ceil(shape.srcBytes / segment) + acknowledgements;
  const confirmations = shape.transport === 'tcp' ? 3 + Math.ceil(shape.srcBytes / segment / 2) : 0;
  const dstPackets = confirmations + Math.ceil(shape.dstBytes / segment);
  const counts = { ...data, srcPackets: Math.max(srcPackets, 1), dstPackets: Math.max(dstPackets, 1) };
  const whole = { ...base, ...service, durationMs: shape.durationMs, ...counts };
  if (shape.transport === 'icmp') return { ...whole, state: 'OTH', history: '' };
  if (shape.transport === 'udp') return { ...whole, state: 'SF', history: 'Dd' };
  if (outcome === 'reset') return { ...whole, state: 'RSTO', history: 'ShADadR' };
  return { ...whole, state: 'SF', history: rng.chance(0.6) ? 'ShADadFf' : 'ShADadfF' };
}

export interface LookupShape {
  readonly start: number;
  readonly client: string;
  readonly server: string;
  readonly query: string;
  readonly qtype: Lookup['qtype'];
  readonly answers: readonly Answer[];
  readonly rcode?: Lookup['rcode'];
  readonly rttMs: number;
}

/** Returns a lookup with its two datagrams of correct size. */
export function lookup(rng: Random, shape: LookupShape): Lookup {
  const question = 17 + shape.query.length;
  const answer = shape.answers.reduce(
    (sum, a) => sum + 12 + (a.type === 'A' ? 4 : a.type === 'AAAA' ? 16 : a.data.length + 2),
    0,
  );
  const carrier = flow(rng, {
    start: shape.start,
    durationMs: shape.rttMs,
    src: shape.client,
    dst: shape.server,
    dstPort: 53,
    transport: 'udp',
    service: 'dns',
    srcBytes: question,
    dstBytes: question + answer,
  });
  const { query, qtype, answers, rttMs } = shape;
  return {
    kind: 'lookup',
    flow: carrier,
    id: rng.int(0, 65536),
    query,
    qtype,
    rcode: shape.rcode ?? 'NOERROR',
    answers,
    rttMs,
  };
}
