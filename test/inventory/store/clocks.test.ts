import { expect, test } from 'vitest';
import type { Asset } from '../../../src/contract/resources/asset.ts';
import type { Service } from '../../../src/contract/resources/service.ts';
import type { NetworkRecord } from '../../../src/events/records.ts';
import { limits } from '../../../src/limits.ts';
import { everything, opened, resources, start } from '../../store/opened.ts';
import { batch, ssh } from './traffic.ts';

/** Commits a connection and sightings, and returns the times in the lists of assets and services. */
async function times(changes: Partial<NetworkRecord>, sightings: Parameters<typeof batch>[1] = {}) {
  const { store, reader, clock } = opened();
  clock.now = start;
  await store.commit(batch([ssh({ timestamp: start - 1000, ...changes })], sightings));
  const [asset] = resources<Asset>(reader.listAssets(everything));
  const [service] = resources<Service>(reader.listServices(everything));
  return {
    asset: { first_seen: asset?.attributes.first_seen, last_seen: asset?.attributes.last_seen },
    service: { first_seen: service?.attributes.first_seen, last_seen: service?.attributes.last_seen },
  };
}

const iso = (ms: number) => new Date(ms).toISOString();
const farFuture = Date.UTC(9999, 11, 31);
const latest = iso(start + limits.maxClockLeadMs);

test.each([1e300, 8.7e15, 1e9])(
  'a connection of %d ms counts as last seen at the latest allowed time',
  async (duration_ms) => {
    const seen = { first_seen: iso(start - 1000), last_seen: latest };
    expect(await times({ duration_ms })).toEqual({ asset: seen, service: seen });
  },
);

test('a connection in the future counts as seen at the latest allowed time', async () => {
  const seen = { first_seen: latest, last_seen: latest };
  expect(await times({ timestamp: farFuture })).toEqual({ asset: seen, service: seen });
});

test('a service record from the future counts as seen at the latest allowed time', async () => {
  const service = { kind: 'service', ip: '10.0.0.1', port: 22, transport: 'tcp', at: farFuture } as const;
  const seen = { first_seen: iso(start - 1000), last_seen: latest };
  expect(await times({}, { sightings: [service] })).toMatchObject({ service: seen });
});

test('a name record from the future does not remain the newest name, and does not change when the asset was seen', async () => {
  const { store, reader, clock } = opened();
  const name = (text: string, at: number) => ({ kind: 'name', ip: '10.0.0.1', name: text, from: 'dhcp', at }) as const;
  const sightings = [name('before', start - 500), name('pinned', farFuture)];
  await store.commit(batch([ssh({ timestamp: start - 1000 })], { sightings }));
  clock.now = start + limits.maxClockLeadMs + 1;
  await store.commit(batch([], { sightings: [name('later', clock.now)] }));
  const [asset] = resources<Asset>(reader.listAssets(everything));
  expect(asset?.attributes).toMatchObject({
    hostnames: ['later', 'pinned', 'before'],
    last_seen: iso(start - 1000),
  });
});
