import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { ServiceError } from '../../src/errors.ts';
import { limits } from '../../src/limits.ts';
import { addressesOf, countHosts, parseTargets } from '../../src/net/scan-targets.ts';

const everywhere = ['0.0.0.0/0', '::/0'];
const hosts = (targets: readonly string[], allowed: readonly string[] = everywhere) => [
  ...addressesOf(parseTargets(targets, allowed)),
];

/** Returns the field that the error names; undefined if the targets are valid. */
function refused(targets: readonly string[], allowed: readonly string[] = everywhere): unknown {
  try {
    parseTargets(targets, allowed);
    return undefined;
  } catch (error) {
    expect(error).toBeInstanceOf(ServiceError);
    expect((error as ServiceError).code).toBe('INVALID_REQUEST');
    return (error as ServiceError).details?.field;
  }
}

describe('targets', () => {
  test('are addresses and blocks, without the network and broadcast address of an IPv4 block', () => {
    expect(hosts(['10.0.0.0/30'])).toEqual(['10.0.0.1', '10.0.0.2']);
    expect(hosts(['10.0.0.0/31'])).toEqual(['10.0.0.0', '10.0.0.1']);
    expect(hosts(['10.0.0.7/32', '10.0.0.7'])).toEqual(['10.0.0.7']);
    expect(hosts(['10.0.0.255', '10.0.0.254/31'])).toEqual(['10.0.0.254', '10.0.0.255']);
    expect(hosts(['2001:db8::/126'])).toEqual(['2001:db8::', '2001:db8::1', '2001:db8::2', '2001:db8::3']);
    expect(countHosts(parseTargets(['10.1.0.0/16'], everywhere))).toBe(65_534);
  });

  test('are scanned once and in order if they overlap', () => {
    expect(hosts(['10.0.0.4', '10.0.0.0/29', '10.0.0.2', '10.0.0.4/30', '10.0.0.1'])).toEqual(
      [1, 2, 3, 4, 5, 6].map((n) => `10.0.0.${n}`),
    );
  });

  test('are IPv4 addresses if they are IPv4-mapped', () => {
    expect(hosts(['::ffff:127.0.0.1', '127.0.0.1'], ['127.0.0.0/8'])).toEqual(['127.0.0.1']);
    expect(hosts(['::ffff:127.0.0.0/126'], ['127.0.0.0/8'])).toEqual(['127.0.0.1', '127.0.0.2']);
    expect(refused(['::ffff:10.0.0.1'], ['127.0.0.0/8', '::/0'])).toBe('targets.0');
  });

  test('are rejected if invalid, and the error names the field', () => {
    for (const bad of [
      '',
      'host',
      '10.0.0',
      '10.0.0.1/33',
      '10.0.0.1/-1',
      '01.2.3.4',
      '::1/129',
      '10.0.0.1 ',
      '1.2.3.4/',
      'fe80::1%eth0',
    ])
      expect(refused(['127.0.0.1', bad]), bad).toBe('targets.1');
  });

  test('are rejected if wholly or partly outside the allowed networks', () => {
    const allowed = ['127.0.0.0/8', '::1/128', '10.0.0.0/25', '10.0.0.128/25'];
    expect(refused(['127.0.0.1', '10.0.0.0/24', '::1'], allowed)).toBeUndefined();
    expect(refused(['10.0.0.0/23'], allowed)).toBe('targets.0');
    expect(refused(['127.0.0.1', '10.0.1.0'], allowed)).toBe('targets.1');
    expect(refused(['0.0.0.0/0'], allowed)).toBe('targets.0');
    expect(refused(['::/0'], allowed)).toBe('targets.0');
    expect(refused(['127.0.0.1'], [])).toBe('targets.0');
  });

  test('are rejected if multicast, broadcast, unspecified or link-local', () => {
    for (const bad of [
      '224.0.0.1',
      '255.255.255.255',
      '0.0.0.0',
      '0.1.2.3',
      '::',
      'ff02::1',
      'fe80::1',
      '239.0.0.0/30',
    ])
      expect(refused([bad]), bad).toBe('targets.0');
  });

  test('are limited in number', () => {
    expect(limits.maxScanHosts).toBe(65_536);
    expect(refused(['10.0.0.0/16', '10.1.0.1', '10.1.0.2'])).toBeUndefined();
    expect(refused(['10.0.0.0/16', '10.1.0.1', '10.1.0.2', '10.1.0.3'])).toBe('targets.3');
    expect(refused(['10.0.0.0/15'])).toBe('targets.0');
    expect(refused(['2001:db8::/32'])).toBe('targets.0');
    expect(refused(Array.from({ length: limits.maxScanTargets }, () => '10.0.0.0/16'))).toBeUndefined();
  });

  test('expand to exactly the requested addresses, in order and without duplicates, for any blocks', () => {
    const block = fc.tuple(fc.nat(255), fc.integer({ min: 24, max: 32 })).map(([n, length]) => `10.0.0.${n}/${length}`);
    fc.assert(
      fc.property(fc.array(block, { minLength: 1, maxLength: 8 }), (blocks) => {
        const wanted = new Set<number>();
        for (const one of blocks) {
          const [text = '', bits] = one.split('/');
          const size = 2 ** (32 - Number(bits));
          const first = Math.floor(Number(text.split('.')[3]) / size) * size;
          const edge = size > 2 ? 1 : 0;
          for (let n = first + edge; n < first + size - edge; n++) wanted.add(n);
        }
        expect(hosts(blocks)).toEqual([...wanted].sort((a, b) => a - b).map((n) => `10.0.0.${n}`));
      }),
    );
  });
});
