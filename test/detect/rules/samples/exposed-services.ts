import { conn, connected, flow, type Line, outside, type Samples, server, times, zeek } from '../records.ts';

const refused = { conn_state: 'REJ' };
const from = (n: number) => `198.18.50.${n}`;
const inbound = (n: number, port: number, more: Line = {}) =>
  conn({ 'id.orig_h': from(n), 'id.resp_h': '10.20.99.10', 'id.resp_p': port, ...more }, n * 60);

export default {
  'Outbound SMB to the Internet': {
    matches: connected({ port: 445, service: 'smb' }),
    spares: [
      ...connected({ port: 445, dst: server }),
      ...connected({ port: 443 }),
      [conn({ 'id.resp_p': 445, conn_state: 'S0' })],
      [flow({ dest_port: 445 }, { state: 'closed', pkts_toserver: 1, pkts_toclient: 1 })],
    ],
  },
  'NTLM credential leak to the Internet': {
    matches: [[zeek('ntlm', { username: 'anna' })]],
    spares: [[zeek('ntlm', { username: 'anna', 'id.resp_h': server })], [zeek('ntlm')]],
  },
  'Outbound LDAP or RMI (possible Log4Shell callback)': {
    matches: [...connected({ port: 389 }), ...connected({ port: 1389 })],
    spares: [...connected({ port: 389, dst: server }), [conn({ 'id.resp_p': 389, ...refused })]],
  },
  'Outbound remote administration (RDP, VNC, WinRM, telnet)': {
    matches: connected({ port: 3389, service: 'rdp' }),
    spares: [...connected({ port: 3389, dst: server }), [conn({ 'id.resp_p': 3389, ...refused })]],
  },
  'Admin port answered the Internet': {
    matches: [[inbound(1, 3389)], [flow({ src_ip: outside, dest_ip: server, dest_port: 445 })]],
    spares: [[inbound(1, 3389, refused)], [inbound(1, 443)], ...connected({ port: 3389, dst: server })],
  },
  'Remote admin service exposed to the Internet (RDP, VNC, WinRM, SMB)': {
    matches: [times(3, (n) => inbound(n, 3389))],
    spares: [
      times(2, (n) => inbound(n, 3389)),
      times(9, () => inbound(1, 3389)),
      times(9, (n) => inbound(n, 3389, refused)),
      times(9, (n) => inbound(n, 445, { conn_state: 'RSTR', history: 'SrFRr' })),
      times(3, (n) => inbound(n, 3389, { 'id.resp_h': `10.20.99.${n}` })),
    ],
  },
  'Database port answered the Internet': {
    matches: [[inbound(1, 5432)]],
    spares: [[inbound(1, 5432, refused)], ...connected({ port: 5432, dst: server })],
  },
  'Database exposed to the Internet': {
    matches: [times(3, (n) => inbound(n, 6379))],
    spares: [times(2, (n) => inbound(n, 6379)), times(9, (n) => inbound(n, 6379, refused))],
  },
} satisfies Samples;
