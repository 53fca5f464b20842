import { asked, conn, eve, flow, type Samples, server, zeek } from '../records.ts';

const hours = { state: 'closed', pkts_toserver: 900, pkts_toclient: 900, age: 7200 };

export default {
  'Cryptomining pool lookup': {
    matches: [...asked('pool.supportxmr.com'), ...asked('eu1.nanopool.org'), ...asked('stratum.example.org')],
    spares: [...asked('www.nanopool.org'), ...asked('supportxmr.com.example.org'), ...asked('example.org')],
  },
  'TLS connection to a cryptomining pool': {
    matches: [[zeek('ssl', { server_name: 'gulf.moneroocean.stream' })]],
    spares: [[zeek('ssl', { server_name: 'www.nanopool.org' })], [zeek('ssl', { server_name: 'example.org' })]],
  },
  'Cryptominer user agent': {
    matches: [
      [zeek('http', { user_agent: 'XMRig/6.21.0 (Linux x86_64)' })],
      [eve('http', { http: { http_user_agent: 'cpuminer/2.5.1' } })],
    ],
    spares: [[zeek('http', { user_agent: 'Mozilla/5.0 XMRig/6' })], [zeek('http', { uri: '/XMRig/' })]],
  },
  'Long connection to a mining port (Stratum)': {
    matches: [[conn({ 'id.resp_p': 3333, duration: 7200 })], [flow({ dest_port: 14444 }, hours)]],
    spares: [
      [conn({ 'id.resp_p': 3333, duration: 60 })],
      [conn({ 'id.resp_p': 443, duration: 7200 })],
      [conn({ 'id.resp_p': 3333, duration: 7200, 'id.resp_h': server })],
      [flow({ dest_port: 14444 }, { ...hours, age: 10 })],
    ],
  },
} satisfies Samples;
