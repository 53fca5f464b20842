import { describe, expect, test } from 'vitest';
import type { ConnectionState as State } from '../../src/contract/vocabulary.ts';
import { bothSent, type Counters, handshakeDone, hasEnded, tcpAnswered } from '../../src/events/connection-state.ts';

const event = (told: Partial<Counters>): Counters => ({
  src_bytes: Number.NaN,
  dst_bytes: Number.NaN,
  src_payload_bytes: Number.NaN,
  dst_payload_bytes: Number.NaN,
  src_packets: Number.NaN,
  dst_packets: Number.NaN,
  ...told,
});

test("Zeek's states show whether a handshake was completed; other states show nothing", () => {
  const done = ['S1', 'SF', 'S2', 'S3', 'RSTO', 'RSTR'];
  const not = ['S0', 'REJ', 'SH', 'SHR', 'RSTOS0', 'RSTRH', 'OTH'];
  expect(done.map(handshakeDone)).toEqual(done.map(() => true));
  expect(not.map(handshakeDone)).toEqual(not.map(() => false));
  expect(['new', 'established', 'closed', '', 'sf'].map(handshakeDone)).toEqual(Array(5).fill(undefined));
});

describe('a TCP connection counts as answered', () => {
  const payload = { src_payload_bytes: 1, dst_payload_bytes: 1 };
  test.each<[boolean, State | undefined, Partial<Counters>]>([
    [true, 'open', {}],
    [true, 'closed', {}],
    [true, 'closed', { dst_packets: 3, dst_bytes: 180 }],
    [false, 'open', { dst_packets: 0 }],
    [false, 'closed', { dst_bytes: 0 }],
    [true, 'reset', payload],
    [false, 'reset', {}],
    [true, 'reset', { src_packets: 3, dst_packets: 1 }],
    [false, 'reset', { src_packets: 3, dst_packets: 0 }],
    [false, 'reset', { ...payload, dst_payload_bytes: 0 }],
    [true, undefined, payload],
    [false, undefined, { dst_packets: 4 }],
    [false, 'attempt', payload],
    [false, 'refused', payload],
    [false, 'failed', payload],
    [false, 'traffic', payload],
  ])('%s: state %s, %o', (answered, state, told) => {
    expect(tcpAnswered(undefined, state, event(told))).toBe(answered);
  });
});

describe('a connection of another protocol counts as answered if both sides sent data', () => {
  test.each<[boolean, State | undefined, Partial<Counters>]>([
    [true, undefined, { src_packets: 1, dst_packets: 1 }],
    [true, undefined, { dst_bytes: 60 }],
    [true, 'attempt', { dst_payload_bytes: 5 }],
    [false, 'closed', { src_packets: 1, dst_packets: 0 }],
    [false, 'closed', { dst_packets: 2, src_packets: 0 }],
    [true, 'closed', { dst_packets: 2, src_packets: 0, src_bytes: 30 }],
    [false, undefined, { src_packets: 3 }],
    [true, 'closed', {}],
    [true, 'open', {}],
    [false, 'attempt', {}],
    [false, undefined, {}],
  ])('%s: state %s, %o', (sent, state, told) => {
    expect(bothSent(event(told), state, false)).toBe(sent);
  });

  test('ICMP is answered only if counters show that both sides sent data, because ICMP has no state', () => {
    expect(bothSent(event({}), 'closed', true)).toBe(false);
    expect(bothSent(event({ src_packets: 2, dst_packets: 2 }), undefined, true)).toBe(true);
  });
});

const minute = 60_000;
describe('a connection counts as ended', () => {
  test.each<[boolean, State | undefined, 'tcp' | 'udp', number]>([
    [true, 'closed', 'tcp', 3600 * minute],
    [true, 'reset', 'tcp', 3600 * minute],
    [true, 'refused', 'tcp', Number.NaN],
    [true, 'attempt', 'tcp', Number.NaN],
    [true, 'failed', 'tcp', minute - 1],
    [false, 'failed', 'tcp', minute],
    [true, 'traffic', 'tcp', 0],
    [false, 'traffic', 'tcp', 10 * minute],
    [false, 'open', 'tcp', 0],
    [false, undefined, 'tcp', Number.NaN],
    [true, 'closed', 'udp', minute - 1],
    [true, 'attempt', 'udp', Number.NaN],
    [false, 'closed', 'udp', 10 * minute],
    [false, 'traffic', 'udp', 10 * minute],
    [false, 'open', 'udp', 0],
    [false, undefined, 'udp', 0],
  ])('%s: state %s, %s, duration %d ms', (ended, state, transport, durationMs) => {
    expect(hasEnded(state, transport === 'tcp', durationMs)).toBe(ended);
  });
});
