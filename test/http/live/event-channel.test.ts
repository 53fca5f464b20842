import { expect, it } from 'vitest';
import { CachedAssets } from '../../../src/events/cached-assets.ts';
import { BlockBuilder } from '../../../src/events/format/block-builder.ts';
import { eventChannel, LiveBlock } from '../../../src/http/live/event-channel.ts';
import { Hub } from '../../../src/http/live/hub.ts';
import { limits } from '../../../src/limits.ts';
import { Bindings } from '../../events/bindings.ts';
import { networkRecord } from '../../store/records.ts';
import { MemoryChannel, MemoryWire } from './fakes.ts';

/** Counts look-ups of address owners. Writing an event as JSON looks up the owners of its addresses. */
class CountedBindings extends Bindings {
  lookups = 0;
  override owners(ip: string) {
    this.lookups++;
    return super.owners(ip);
  }
}

function setUp() {
  const bindings = new CountedBindings();
  const assets = new CachedAssets(bindings);
  const channel = eventChannel(
    'network',
    () => 0,
    () => Promise.reject(new Error('no replay here')),
    assets,
  );
  const other = new MemoryChannel(1);
  const counts = { sent: 0, dropped: 0 };
  const hub = new Hub(
    { 'events.network': channel, 'events.dns': other, alerts: other, topology: other, discovery: other },
    {
      live(outcome, n) {
        counts[outcome] += n;
      },
      limitReached() {},
    },
    (error) => {
      throw error;
    },
  );
  const subscribe = (wire: MemoryWire) =>
    hub.subscribe(wire, 'a', 'events.network', channel.compile({ terms: [] }), undefined);
  const publish = (rows: number) => {
    const first_seq = hub.published('events.network') + 1;
    const builder = new BlockBuilder('network', 0);
    for (let n = 0; n < rows; n++) builder.add(networkRecord({ src_ip: `10.0.0.${n}`, dst_ip: `10.0.1.${n}` }));
    hub.publish(
      'events.network',
      new LiveBlock({ table: 'network', first_seq, rows, buffer: builder.finish() }, assets),
    );
  };
  return { bindings, counts, subscribe, publish };
}

it('an event is not serialised for a reader whose buffer is full', () => {
  const { bindings, counts, subscribe, publish } = setUp();
  const wire = new MemoryWire();
  wire.unread = limits.maxSocketBacklogBytes + 1;
  subscribe(wire);
  publish(100);
  expect(counts).toEqual({ sent: 0, dropped: 100 });
  expect(bindings.lookups).toBe(0);
});

it('an event is serialised once for all readers', () => {
  const { bindings, counts, subscribe, publish } = setUp();
  for (let n = 0; n < 3; n++) subscribe(new MemoryWire());
  publish(100);
  expect(counts).toEqual({ sent: 300, dropped: 0 });
  expect(bindings.lookups).toBe(200);
});
