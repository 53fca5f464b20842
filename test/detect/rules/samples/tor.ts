import { asked, connected, eve, type Samples, server, zeek } from '../records.ts';

const relay = { subject: 'CN=www.4hgx2mqkn.net', issuer: 'CN=www.vr5q3bznaa.com' };

export default {
  'Tor: .onion name in DNS': {
    matches: [...asked('facebookwkhpilnemxj7asaniu7vnjjbiltxjqhye3mhbshg7kx5tfyd.onion'), ...asked('a.ONION')],
    spares: [...asked('onion'), ...asked('onion.example.org'), ...asked('union'), ...asked('a.onion.example.org')],
  },
  'Tor2web gateway lookup': {
    matches: [...asked('abcdefgh.onion.ws'), ...asked('abcdefgh.tor2web.org')],
    spares: [...asked('onion.example'), ...asked('abcdefgh.onion'), ...asked('champignon.ws')],
  },
  'Tor directory authority connection': {
    matches: [...connected({ dst: '193.23.244.244', port: 443 }), ...connected({ dst: '128.31.0.39', port: 9101 })],
    spares: [...connected({ dst: '193.23.244.245', port: 443 })],
  },
  'Tor relay certificate': {
    matches: [[zeek('ssl', relay)]],
    spares: [
      [zeek('ssl', { ...relay, issuer: relay.subject })],
      [zeek('ssl', { ...relay, subject: 'CN=www.example-shop.net' })],
      [zeek('ssl', { ...relay, subject: `${relay.subject},O=Shop` })],
    ],
  },
  'Tor relay certificate (Suricata)': {
    matches: [[eve('tls', { tls: { subject: relay.subject, issuerdn: relay.issuer } })]],
    spares: [[eve('tls', { tls: { subject: relay.subject, issuerdn: 'C=US, O=Some CA' } })]],
  },
  'Connection to a Tor relay port': {
    matches: [...connected({ port: 9001 }), ...connected({ port: 9030 })],
    spares: [
      ...connected({ port: 9001, dst: server }),
      ...connected({ port: 9000 }),
      connected({ port: 9001 }, { conn_state: 'S0' })[0]!,
    ],
  },
} satisfies Samples;
