import { afterEach, expect, test } from 'vitest';
import { Connections } from '../../src/admission/connections.ts';
import { descriptorLimit, descriptorsForConnections } from '../../src/admission/descriptors.ts';
import { data } from '../../src/http/reply.ts';
import { type LimitName, limits } from '../../src/limits.ts';
import { eventually, get, serve, stopAll, Wire } from './serve.ts';

afterEach(stopAll);

test.each([
  [64, 16],
  [256, 64],
  [1024, 256],
  [32_768, 32_768 - limits.reservedDescriptors],
])('connections get their share of file descriptors: of %i, %i', (all, connections) => {
  expect(descriptorsForConnections(all)).toBe(connections);
});

test.skipIf(process.platform !== 'linux')('the descriptor limit of the process is read', () => {
  expect(descriptorLimit() ?? Number.POSITIVE_INFINITY).toBeGreaterThan(32);
});

test('connections beyond the descriptors are refused, and the refusals are reported once', async () => {
  const reached: LimitName[] = [];
  const told: number[] = [];
  const connections = new Connections({
    descriptors: 3,
    limitReached: (limit) => reached.push(limit),
    onRefused: (open) => told.push(open),
  });
  const { server } = await serve([get('/ok', () => data('fine'))], { connections });
  const wires = await Promise.all(Array.from({ length: 5 }, () => Wire.open(server.port)));
  await eventually(() => wires.filter(({ closed }) => closed).length === 2);
  expect([server.connections, reached, told]).toEqual([3, ['maxConnections', 'maxConnections'], [3]]);
  for (const wire of wires) wire.end();
  await eventually(() => server.connections === 0);
});

test('a closed WebSocket that may linger still counts as a descriptor', async () => {
  const connections = new Connections({ descriptors: 2, limitReached: () => undefined });
  const { server } = await serve([get('/ok', () => data('fine'))], { connections });
  const first = await Wire.open(server.port);
  await eventually(() => connections.open === 1);
  connections.ended('127.0.0.1');
  expect(connections.open).toBe(0);
  const second = await Wire.open(server.port);
  const third = await Wire.open(server.port);
  await third.untilClosed();
  expect([second.closed, connections.open]).toEqual([false, 1]);
  first.end();
  second.end();
});
