import { serviceSources, serviceStates } from '../vocabulary.ts';
import { oneOf, type Static } from './common.ts';
import { address, between, count, optional, shape, text, timestamp, uuid } from './fields.ts';

export const Service = shape('Service', {
  asset_id: uuid('The asset that offers it.'),
  ip: address('Where it listens.'),
  port: between(0, 65535, 'Port.'),
  transport: text('Transport protocol in lower case.'),
  name: optional(
    text(
      'Application protocol, in one word whoever named it: `tls` for Zeek’s `ssl` too, `https` for HTTP in it. Several are between commas.',
    ),
  ),
  product: optional(text('Software.')),
  version: optional(text('Version of the software.')),
  state: oneOf(serviceStates, { description: 'Whether it answers.' }),
  source: oneOf(serviceSources, { description: 'How it became known.' }),
  connections: count('Connections that it answered.'),
  clients: count('Distinct addresses that used it (estimated past a few thousand).'),
  first_seen: timestamp('First evidence that it answered.'),
  last_seen: timestamp('Last evidence.'),
});
export type Service = Static<typeof Service>;
