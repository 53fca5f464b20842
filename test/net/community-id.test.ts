import { createHash } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { communityId, flowMatches, parseCommunityId } from '../../src/net/community-id.ts';
import { addressBytes } from '../../src/net/ip.ts';

const flow = (src: string, dst: string, transport: string, srcPort: number, dstPort: number) => ({
  src: addressBytes(src)!,
  srcOffset: 0,
  dst: addressBytes(dst)!,
  dstOffset: 0,
  transport,
  srcPort,
  dstPort,
});

describe('community id', () => {
  it('matches the specification', () => {
    expect(communityId(flow('1.2.3.4', '5.6.7.8', 'tcp', 1122, 3344))).toBe('1:wCb3OG7yAFWelaUydu0D+125CLM=');
    expect(communityId(flow('192.168.0.89', '192.168.0.1', 'icmp', 8, 0))).toBe('1:X0snYXpgwiv9TZtqg64sgzUn6Dk=');
    expect(communityId(flow('fe80::200:86ff:fe05:80da', 'fe80::260:97ff:fe07:69ea', 'icmp', 135, 0))).toBe(
      '1:dGHyGvjMfljg6Bppwm3bg0LO8TY=',
    );
  });

  const port = fc.nat(65_535);
  const pair = fc.oneof(fc.tuple(fc.ipV4(), fc.ipV4()), fc.tuple(fc.constant('2001:db8::1'), fc.constant('fe80::7')));

  it('has the hash that node:crypto computes', () => {
    fc.assert(
      fc.property(pair, port, port, ([a, b], p, q) => {
        const [one, two] = [a, b].map((text) => {
          const bytes = Buffer.from(addressBytes(text)!);
          return text.includes(':') ? bytes : bytes.subarray(12);
        }) as [Buffer, Buffer];
        const order = one.compare(two) || p - q;
        const [x, y, m, n] = order <= 0 ? [one, two, p, q] : [two, one, q, p];
        const tail = Buffer.from([17, 0, m >> 8, m & 255, n >> 8, n & 255]);
        const hash = createHash('sha1')
          .update(Buffer.concat([Buffer.alloc(2), x, y, tail]))
          .digest('base64');
        expect(communityId(flow(a, b, 'udp', p, q))).toBe(`1:${hash}`);
      }),
    );
  });

  it('is the same for both directions, and its parsed form matches the flow', () => {
    fc.assert(
      fc.property(pair, port, port, fc.constantFrom('tcp', 'udp', 'sctp'), ([a, b], p, q, transport) => {
        const id = communityId(flow(a, b, transport, p, q))!;
        expect(communityId(flow(b, a, transport, q, p))).toBe(id);
        expect(flowMatches(flow(b, a, transport, q, p), parseCommunityId(id)!)).toBe(true);
        expect(flowMatches(flow(b, a, transport, q, p ^ 1), parseCommunityId(id)!)).toBe(p === (p ^ 1));
      }),
    );
  });

  it('keeps the direction of one-way ICMP', () => {
    expect(communityId(flow('10.0.0.1', '10.0.0.2', 'icmp', 3, 1))).not.toBe(
      communityId(flow('10.0.0.2', '10.0.0.1', 'icmp', 3, 1)),
    );
  });

  it('is absent if ports, protocol or a common address family are missing', () => {
    expect(communityId(flow('1.2.3.4', '5.6.7.8', 'tcp', Number.NaN, 80))).toBeUndefined();
    expect(communityId(flow('1.2.3.4', '5.6.7.8', 'gre', 0, 0))).toBeUndefined();
    expect(communityId(flow('1.2.3.4', '::1', 'tcp', 1, 2))).toBeUndefined();
  });

  it.each(['', '1:', '2:wCb3OG7yAFWelaUydu0D+125CLM=', '1:wCb3OG7yAFWelaUydu0D+125CLN='])(
    '%j is not a community id',
    (text) => {
      expect(parseCommunityId(text)).toBeUndefined();
    },
  );

  const file = join(process.env.CANDOR_SHARED ?? '../shared', 'data/suricata/duplicate-alerts.eve.ndjson.gz');
  describe.skipIf(!existsSync(file))('in real alerts', () => {
    it('equals the id that the sensor computed', () => {
      const lines = gunzipSync(readFileSync(file)).toString().trim().split('\n');
      for (const line of lines) {
        const e = JSON.parse(line);
        expect(communityId(flow(e.src_ip, e.dest_ip, e.proto.toLowerCase(), e.src_port, e.dest_port))).toBe(
          e.community_id,
        );
      }
    });
  });
});
