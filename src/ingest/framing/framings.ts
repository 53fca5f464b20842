import type { ItemReader } from '../item-reader.ts';
import { elasticsearchBulk } from './elasticsearch-bulk.ts';
import type { BulkItems, Framing, FramingOptions } from './framing.ts';
import { otlpJson } from './otlp-json.ts';
import { otlpProtobuf } from './otlp-protobuf.ts';
import { splunkEvent } from './splunk-event.ts';
import { splunkRaw } from './splunk-raw.ts';

type Named<N extends FramingOptions['name']> = Extract<FramingOptions, { readonly name: N }>;

/** The framings of shipper protocols, by name. */
const framings: { readonly [N in FramingOptions['name']]: Framing<Named<N>> } = {
  elasticsearch_bulk: elasticsearchBulk,
  otlp_json: otlpJson,
  otlp_protobuf: otlpProtobuf,
  splunk_event: splunkEvent,
  splunk_raw: splunkRaw,
};

export function frame(bytes: Buffer, items: ItemReader, options: FramingOptions): BulkItems | undefined {
  return (framings[options.name] as Framing<FramingOptions>)(bytes, items, options);
}
