import type { eventSources } from '../contract/vocabulary.ts';
import type { Column, columns } from './format/columns.ts';
import type { TextSpan } from './format/text-span.ts';

/** Columns that every event has. */
type Required = 'timestamp' | 'src_ip' | 'dst_ip' | 'transport' | 'direction' | 'kind' | 'source' | 'severity';

type Value<C extends Column> = C extends { readonly values: readonly (infer Word)[] }
  ? Word
  : C['kind'] extends 'time' | 'number'
    ? number
    : C['kind'] extends 'boolean'
      ? boolean
      : string;

type RecordOf<C extends Readonly<Record<string, Column>>> = {
  -readonly [K in Exclude<keyof C, 'received_at' | 'sensor_id'>]:
    | Value<C[K]>
    | (K extends Required ? never : undefined);
};

/**
 * One event to be stored in a block: flat, normalised, `undefined` if unknown. Times are epoch milliseconds
 * (integers), addresses any valid text form, texts well-formed Unicode. Producers take their records from
 * ingest/event-records.ts, so that V8 sees one shape.
 */
export type NetworkRecord = RecordOf<typeof columns.network>;
export type DnsRecord = RecordOf<typeof columns.dns>;

/** An event whose ids may be bytes of the body that contains it. */
export type WithSpans<R extends NetworkRecord | DnsRecord> = Omit<R, 'community_id' | 'connection_id'> & {
  [K in 'community_id' | 'connection_id']: string | TextSpan | undefined;
};

export type EventSource = (typeof eventSources)[number];
export type Table = 'network' | 'dns';
