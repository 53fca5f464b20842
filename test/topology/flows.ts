import fc from 'fast-check';
import type { PlainFlow } from './rows.ts';

const hour = 3_600_000;

/** Addresses of home hosts, outside hosts and groups. The list is short, so that edges repeat. */
const addresses = [
  '192.168.1.1',
  '192.168.1.2',
  '192.168.2.1',
  '10.0.0.1',
  '203.0.113.5',
  '203.0.113.6',
  '198.51.100.7',
  '224.0.0.251',
  '255.255.255.255',
  'fd00::1',
  'fd00::2:1',
  '2001:db8:1::5',
  '2001:db8:2:3::5',
  'ff02::fb',
  '::1',
  '0.0.0.0',
];

const isHome = (address: string) => /^(192\.168|10\.|fd00)/.test(address);

/** Flows, most of them within sixty hours, some without a port or with extreme times and byte counts. */
export const anyFlow: fc.Arbitrary<PlainFlow> = fc
  .record({
    src: fc.constantFrom(...addresses),
    dst: fc.constantFrom(...addresses),
    answered: fc.boolean(),
    port: fc.oneof(fc.integer({ min: 0, max: 65_535 }), fc.constant(Number.NaN)),
    app: fc.oneof(
      fc.constantFrom('ssl', 'dns', 'http', 'ssh', 'smb', 'ntp', 'krb', 'dhcp', 'a', 'z'),
      fc.string(),
      fc.constant(undefined),
    ),
    connections: fc.constantFrom(0, 1),
    bytes: fc.oneof(fc.nat(1_000_000), fc.constantFrom(0, 1e300, 2 ** 53, 0.5)),
    first: fc.oneof(fc.integer({ min: 0, max: 60 * hour }), fc.constantFrom(0, 253_402_300_799_999, 1e300, -5, 1.5)),
    length: fc.constantFrom(0, 1, 5 * hour, 1e300),
  })
  .map(({ length, ...flow }) => ({
    ...flow,
    srcHome: isHome(flow.src),
    dstHome: isHome(flow.dst),
    last: flow.first + length,
  }));
