import { expect, it } from 'vitest';
import { AlertFeed } from '../../../src/http/live/alert-feed.ts';
import type { LiveBatch } from '../../../src/http/live/channel.ts';
import type { AlertUpdate } from '../../../src/store/store.ts';
import { batchOf, finding, opened } from '../../store/opened.ts';

function setUp() {
  const { store, reader } = opened();
  const published: LiveBatch[] = [];
  const feed = new AlertFeed({ reader, publish: (batch) => void published.push(batch) });
  const raise = async (...rules: string[]): Promise<readonly AlertUpdate[]> => {
    const { alerts } = await store.commit(batchOf(rules.map((rule_id) => finding({ rule_id }))));
    return alerts;
  };
  const everything = { filter: { terms: [] }, wanted: () => true };
  const told = () =>
    published.flatMap((batch) =>
      batch
        .match(everything)
        .map(
          ({ seq, json }) =>
            `${seq} ${JSON.parse(json).attributes.rule_id} ${JSON.parse(json).attributes.count}`,
        ),
    );
  return { feed, raise, told, published };
}

it('tells what an answer told of as it comes', async () => {
  const { feed, raise, told } = setUp();
  feed.committed(await raise('a', 'b'));
  feed.committed(await raise());
  feed.committed(await raise('a'));
  expect(told()).toEqual(['1 a 1', '2 b 1', '3 a 2']);
  expect(feed.poll()).toBe(false);
  expect(told()).toHaveLength(3);
});

it('finds what no answer told of, in the order of the sequence', async () => {
  const { feed, raise, told } = setUp();
  await raise('a');
  await raise('b');
  feed.committed(await raise('c'));
  expect(told()).toEqual(['1 a 1', '2 b 1', '3 c 1']);
  await raise('d');
  expect(feed.poll()).toBe(true);
  expect(feed.poll()).toBe(false);
  expect(told().at(-1)).toBe('4 d 1');
});

it('tells nothing twice when it found what an answer then tells of', async () => {
  const { feed, raise, told } = setUp();
  const late = await raise('a', 'b');
  feed.poll();
  feed.committed(late);
  feed.committed(await raise('c'));
  expect(told()).toEqual(['1 a 1', '2 b 1', '3 c 1']);
});

it('tells of an alert that changed twice since as it is now', async () => {
  const { feed, raise, told } = setUp();
  await raise('a');
  await raise('b');
  await raise('a');
  feed.poll();
  expect(told()).toEqual(['2 b 1', '3 a 2']);
});

it('reads more than fits one read', async () => {
  const { feed, raise, told, published } = setUp();
  for (let i = 0; i < 3; i++) await raise(...Array.from({ length: 400 }, (_, n) => `${i} ${n}`));
  expect(feed.poll()).toBe(true);
  expect(told()).toHaveLength(1200);
  expect(published.length).toBeGreaterThan(1);
});
