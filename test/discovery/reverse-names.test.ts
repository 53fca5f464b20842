import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { expect, onTestFinished, test } from 'vitest';
import { ReverseNames, reverseNameOf } from '../../src/discovery/reverse-names.ts';

const u16 = (value: number) => Buffer.from([value >> 8, value & 255]);
const wire = (name: string) =>
  Buffer.concat([
    ...name.split('.').map((label) => Buffer.concat([Buffer.from([label.length]), Buffer.from(label, 'latin1')])),
    Buffer.of(0),
  ]);

/**
 * Starts a name server (RFC 1035) that returns these names for every address, and never responds if `names` is
 * undefined.
 */
async function nameServer(names: readonly string[] | undefined) {
  const socket = createSocket('udp4');
  let asked = 0;
  socket.on('message', (question, { port, address }) => {
    asked++;
    if (names === undefined) return;
    const records = names.map((name) =>
      Buffer.concat([Buffer.of(0xc0, 12), u16(12), u16(1), Buffer.of(0, 0, 0, 60), u16(wire(name).length), wire(name)]),
    );
    const end = question.indexOf(0, 12) + 5;
    const rcode = names.length === 0 ? 3 : 0;
    const head = Buffer.concat([
      question.subarray(0, 2),
      Buffer.of(0x81, 0x80 | rcode),
      u16(1),
      u16(names.length),
      u16(0),
      u16(0),
    ]);
    socket.send(Buffer.concat([head, question.subarray(12, end), ...records]), port, address);
  });
  socket.bind(0, '127.0.0.1');
  await once(socket, 'listening');
  onTestFinished(() => void socket.close());
  return { server: `127.0.0.1:${(socket.address() as AddressInfo).port}`, asked: () => asked };
}

test('names are normalised, and invalid names are omitted', async () => {
  const { server } = await nameServer([
    'WWW.Example.ORG',
    'www.example.org',
    'b\x1bad.example',
    '*.example.org',
    'mail.example.org',
  ]);
  expect(await new ReverseNames([server]).of('10.0.0.1')).toEqual(['www.example.org', 'mail.example.org']);
});

test('at most four names are returned', async () => {
  const { server } = await nameServer(Array.from({ length: 9 }, (_, n) => `h${n}.example`));
  expect(await new ReverseNames([server]).of('2001:db8::1')).toHaveLength(4);
});

test('the name for a reverse lookup contains the address in reverse order', () => {
  expect(reverseNameOf('192.0.2.10')).toBe('10.2.0.192.in-addr.arpa');
  expect(reverseNameOf('::ffff:192.0.2.10')).toBe('10.2.0.192.in-addr.arpa');
  expect(reverseNameOf('2001:db8::567:89ab')).toBe(
    'b.a.9.8.7.6.5.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.8.b.d.0.1.0.0.2.ip6.arpa',
  );
});

test('a lookup of an unknown address returns no names', async () => {
  const { server } = await nameServer([]);
  expect(await new ReverseNames([server]).of('10.0.0.1')).toEqual([]);
});

test('a name server that never responds is queried a limited number of times', async () => {
  const { server, asked } = await nameServer(undefined);
  const names = new ReverseNames([server], 50);
  for (let n = 0; n < 60; n++) expect(await names.of(`10.0.0.${n}`)).toEqual([]);
  expect(asked()).toBeGreaterThan(0);
  expect(asked()).toBeLessThanOrEqual(32);
});

test('a cancelled lookup returns no names', async () => {
  const { server } = await nameServer(undefined);
  const names = new ReverseNames([server], 60_000);
  const asked = Array.from({ length: 40 }, (_, n) => names.of(`10.0.0.${n}`));
  names.cancel();
  expect(await Promise.all(asked)).toEqual(asked.map(() => []));
});
