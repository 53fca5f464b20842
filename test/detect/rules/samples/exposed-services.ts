import { conn, connected, flow, type Line, outside, type Samples, server, times, zeek } from '../records.ts';

const refused = { conn_state: 'REJ' };
const from = (n: number) => `198.18.50.${n}`;
const inbound = (n: number, port: number, more: Line = {}) =>
  conn({ 'id.orig_h': from(n), 'id.resp_h': '10.20.99.10', 'id.resp_p': port, ...more }, n * 60);

export default {
  'Windows file sharing with the Internet': {
    matches: connected({ port: 445, service: 'smb' }),
    spares: [
      ...connected({ port: 445, dst: server }),
      ...connected({ port: 443 }),
      [conn({ 'id.resp_p': 445, conn_state: 'S0' })],
      [flow({ dest_port: 445 }, { state: 'closed', pkts_toserver: 1, pkts_toclient: 1 })],
    ],
  },
  'NTLM sign-in on the Internet': {
    matches: [[zeek('ntlm', { username: 'anna' })]],
    spares: [[zeek('ntlm', { username: 'anna', 'id.resp_h': server })], [zeek('ntlm')]],
  },
  'Directory on the Internet asked': {
    matches: [...connected({ port: 389 }), ...connected({ port: 1389 })],
    spares: [...connected({ port: 389, dst: server }), [conn({ 'id.resp_p': 389, ...refused })]],
  },
  'Host on the Internet controlled from within': {
    matches: connected({ port: 3389, service: 'rdp' }),
    spares: [...connected({ port: 3389, dst: server }), [conn({ 'id.resp_p': 3389, ...refused })]],
  },
  'Administration port answered to the Internet': {
    matches: [[inbound(1, 3389)], [flow({ src_ip: outside, dest_ip: server, dest_port: 445 })]],
    spares: [[inbound(1, 3389, refused)], [inbound(1, 443)], ...connected({ port: 3389, dst: server })],
  },
  'Service for administration open to the Internet': {
    matches: [times(3, (n) => inbound(n, 3389))],
    spares: [
      times(2, (n) => inbound(n, 3389)),
      times(9, () => inbound(1, 3389)),
      times(9, (n) => inbound(n, 3389, refused)),
      times(9, (n) => inbound(n, 445, { conn_state: 'RSTR', history: 'SrFRr' })),
      times(3, (n) => inbound(n, 3389, { 'id.resp_h': `10.20.99.${n}` })),
    ],
  },
  'Database port answered to the Internet': {
    matches: [[inbound(1, 5432)]],
    spares: [[inbound(1, 5432, refused)], ...connected({ port: 5432, dst: server })],
  },
  'Database open to the Internet': {
    matches: [times(3, (n) => inbound(n, 6379))],
    spares: [times(2, (n) => inbound(n, 6379)), times(9, (n) => inbound(n, 6379, refused))],
  },
} satisfies Samples;
