import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { findSuricataAlert } from '../../src/detect/suricata-alert.ts';
import { findZeekNotice } from '../../src/detect/zeek-notice.ts';
import { openBlock } from '../../src/events/format/block.ts';
import { readEvent } from '../../src/events/resource.ts';
import type { Detectors } from '../../src/ingest/detectors.ts';
import { type IngestInput, type ParsedBody, parseBody } from '../../src/ingest/parse-body.ts';

export const home = ['10.0.0.0/8', '172.16.0.0/12', '192.168.0.0/16', '169.254.0.0/16', 'fc00::/7', 'fe80::/10'];
export const receivedAt = Date.UTC(2026, 0, 2, 3, 4, 5, 678);
export const detectors: Detectors = { suricataAlert: findSuricataAlert, zeekNotice: findZeekNotice };

/** The folder of real sensor data, if present. */
export const shared = process.env.CANDOR_SHARED ?? join(import.meta.dirname, '../../../shared');
export const hasShared = existsSync(join(shared, 'data'));
export const sharedFile = (path: string): Buffer => readFileSync(join(shared, 'data', path));

export type Body = string | Uint8Array | readonly object[];

export function parse(body: Body, options: Partial<IngestInput> = {}): ParsedBody {
  const bytes =
    body instanceof Uint8Array
      ? body
      : Buffer.from(typeof body === 'string' ? body : body.map((line) => JSON.stringify(line)).join('\n'));
  const own = new Uint8Array(bytes).buffer;
  return parseBody(
    {
      pieces: [own],
      length: own.byteLength,
      mediaType: 'ndjson',
      receivedAt,
      home,
      digest: false,
      ...options,
    },
    detectors,
  );
}

export type Attributes = Readonly<Record<string, unknown>>;

/** Returns every event of the blocks, in order, as in the contract, but without derived and constant fields. */
export function events({ blocks }: Pick<ParsedBody, 'blocks'>): Attributes[] {
  return blocks.flatMap((buffer) => {
    const block = openBlock(buffer, 1);
    return Array.from({ length: block.rows }, (_, row) => {
      const { attributes } = readEvent(block, row) as { attributes: Attributes };
      const { received_at: _1, end_time: _2, registered_domain: _3, ...rest } = attributes;
      const given = block.texts('community_id').text(row);
      return { ...rest, ...(given === undefined ? { community_id: undefined } : {}) };
    });
  });
}

export const one = (line: object, options?: Partial<IngestInput>): Attributes => {
  const parsed = parse([line], options);
  const [event] = events(parsed);
  if (event === undefined) throw new Error(JSON.stringify(parsed.answer));
  return event;
};
