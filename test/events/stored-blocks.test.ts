/**
 * Stored blocks in the current format. The number of columns is part of the format: a change that appends a column
 * needs a new magic, and these blocks must stay readable.
 */
import { readFileSync } from 'node:fs';
import { inflateRawSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { openBlock } from '../../src/events/format/block.ts';
import { tables } from '../../src/events/format/columns.ts';
import type { Table } from '../../src/events/records.ts';
import { readEvent } from '../../src/events/resource.ts';
import { hasSeals, StoredHeader } from '../../src/events/store/stored-header.ts';

interface Stored {
  /** A block, deflated, in base64. */
  readonly block: string;
  /** Its header with checksums, as in the table `event-headers`. */
  readonly header: string;
  readonly events: readonly { readonly id: string; readonly attributes: object }[];
}

const blocks: Readonly<Record<Table, Stored>> = JSON.parse(
  readFileSync(new URL('stored-blocks.json', import.meta.url), 'utf8'),
);
const bytesOf = (text: string) => Uint8Array.from(inflateRawSync(Buffer.from(text, 'base64')));

describe.each(tables)('a stored block of %s events', (table) => {
  const { block, header, events } = blocks[table];

  it('is read with every value', () => {
    const opened = openBlock(bytesOf(block).buffer, 1);
    const read = Array.from({ length: opened.rows }, (_, row) => readEvent(opened, row));
    expect(read).toEqual(events.map(({ id, attributes }) => ({ id, attributes })));
  });

  it('has a header with valid checksums', () => {
    expect(hasSeals(StoredHeader.open(table, 1, bytesOf(header)))).toBe(true);
  });
});
