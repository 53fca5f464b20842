import { expect, it } from 'vitest';
import { AlertFeed } from '../../../src/http/live/alert-feed.ts';
import type { LiveBatch } from '../../../src/http/live/channel.ts';
import type { AlertUpdate } from '../../../src/store/store.ts';
import { batchOf, finding, opened } from '../../store/opened.ts';

function setUp() {
  const { store, reader } = opened();
  const batches: LiveBatch[] = [];
  const changed: AlertUpdate[] = [];
  const feed = new AlertFeed({
    reader,
    publish: (batch) => void batches.push(batch),
    onChanged: (updates) => void changed.push(...updates),
  });
  /** Raises alerts of these rules without an announcement. */
  const raise = async (...rules: string[]): Promise<readonly AlertUpdate[]> => {
    const { alerts } = await store.commit(batchOf(rules.map((rule_id) => finding({ rule_id }))));
    return alerts;
  };
  /** Passes changes to the feed, as a notice from the store would. */
  const announce = (updates: readonly AlertUpdate[] = []) => feed.committed(updates, reader.head('alerts'));
  const everything = { filter: { terms: [] }, wanted: () => true };
  const published = () =>
    batches.flatMap((batch) =>
      batch
        .match(everything)
        .map(({ seq, json }) => `${seq} ${JSON.parse(json).attributes.rule_id} ${JSON.parse(json).attributes.count}`),
    );
  return { raise, announce, published, batches, changed };
}

it('the feed publishes the changes of a notice', async () => {
  const { raise, announce, published } = setUp();
  announce(await raise('a', 'b'));
  announce(await raise());
  announce(await raise('a'));
  expect(published()).toEqual(['1 a 1', '2 b 1', '3 a 2']);
});

it('the feed reads changes that no notice contained from the tables, before it publishes later changes', async () => {
  const { raise, announce, published } = setUp();
  await raise('a');
  await raise('b');
  announce(await raise('c'));
  expect(published()).toEqual(['1 a 1', '2 b 1', '3 c 1']);
});

it('a notice without changes makes the feed read all changes up to its head, once', async () => {
  const { raise, announce, published, changed } = setUp();
  announce(await raise('a'));
  await raise('b');
  await raise('c', 'd');
  announce();
  announce();
  expect(published()).toEqual(['1 a 1', '2 b 1', '3 c 1', '4 d 1']);
  expect(changed.map(({ seq }) => seq)).toEqual([1, 2, 3, 4]);
});

it('the feed does not publish a change again when a later notice contains it', async () => {
  const { raise, announce, published } = setUp();
  const late = await raise('a', 'b');
  announce();
  announce(late);
  announce(await raise('c'));
  expect(published()).toEqual(['1 a 1', '2 b 1', '3 c 1']);
});

it('the feed publishes an alert that changed twice without a notice only in its latest state', async () => {
  const { raise, announce, published } = setUp();
  await raise('a');
  await raise('b');
  await raise('a');
  announce();
  expect(published()).toEqual(['2 b 1', '3 a 2']);
});

it('the feed reads all changes if they exceed one batch', async () => {
  const { raise, announce, published, batches } = setUp();
  for (let i = 0; i < 3; i++) await raise(...Array.from({ length: 400 }, (_, n) => `${i} ${n}`));
  announce();
  expect(published()).toHaveLength(1200);
  expect(batches.length).toBeGreaterThan(1);
});
