import { serviceSources, serviceStates } from '../vocabulary.ts';
import { oneOf, type Static } from './common.ts';
import { address, between, count, optional, shape, text, timestamp, uuid } from './fields.ts';

export const Service = shape('Service', {
  asset_id: uuid('Identifier of the asset that offers the service.'),
  ip: address('Address on which the service listens.'),
  port: between(0, 65535, 'Port.'),
  transport: text('Transport protocol in lower case.'),
  name: optional(
    text(
      'Application protocol, as a normalised name: `tls` also for Zeek’s `ssl`, `https` for HTTP over TLS. Several protocols are separated by commas.',
    ),
  ),
  product: optional(text('Name of the software.')),
  version: optional(text('Version of the software.')),
  state: oneOf(serviceStates, 'Whether the service is open.'),
  source: oneOf(serviceSources, 'How the service was discovered.'),
  connections: count('Number of connections that the service answered.'),
  clients: count('Number of distinct client addresses (estimated above a few thousand).'),
  first_seen: timestamp('Time at which the service was first seen to answer.'),
  last_seen: timestamp('Time at which the service was last seen to answer.'),
});
export type Service = Static<typeof Service>;
