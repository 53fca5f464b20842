import { type Samples, server, zeek } from '../records.ts';

export default {
  'Outbound SOCKS proxy': {
    matches: [[zeek('socks', { version: 5, status: 'succeeded', 'request.name': 'a.example' })]],
    spares: [
      [zeek('socks', { version: 5, status: 'succeeded', 'id.resp_h': server })],
      [zeek('socks', { version: 5, status: 'general SOCKS server failure' })],
    ],
  },
} satisfies Samples;
