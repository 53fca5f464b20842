import { conn, connected, own, type Samples, server } from '../records.ts';

export default {
  'SSH on a non-standard port to the Internet': {
    matches: [...connected({ port: 40_022, service: 'ssh' }), [own({ dst_port: 40_022, app_protocol: 'ssh' })]],
    spares: [
      ...connected({ port: 22, service: 'ssh' }),
      ...connected({ port: 443, service: 'ssh' }),
      ...connected({ port: 40_022, service: 'ssh', dst: server }),
      ...connected({ port: 40_022, service: 'ssh', src: '198.18.4.4' }),
      ...connected({ port: 40_022 }),
    ],
  },
  'SSH on a web or DNS port (possible tunnel)': {
    matches: [...connected({ port: 443, service: 'ssh' }), ...connected({ port: 53, service: 'ssh', dst: server })],
    spares: [...connected({ port: 443, service: 'ssl' }), ...connected({ port: 22, service: 'ssh' })],
  },
  'TLS on a non-standard port to the Internet': {
    matches: [...connected({ port: 4444, service: 'tls' }), [conn({ 'id.resp_p': 50_443, service: 'ssl,http' })]],
    spares: [
      ...connected({ port: 443, service: 'tls' }),
      ...connected({ port: 993, service: 'tls' }),
      ...connected({ port: 4444, service: 'tls', dst: server }),
      ...connected({ port: 4444 }),
      [conn({ 'id.resp_p': 4444, service: 'ssl', proto: 'udp' })],
    ],
  },
  'HTTP on a non-standard port to the Internet': {
    matches: connected({ port: 4711, service: 'http' }),
    spares: [
      ...connected({ port: 80, service: 'http' }),
      ...connected({ port: 8080, service: 'http' }),
      ...connected({ port: 631, service: 'http', dst: server }),
    ],
  },
  'DNS on a non-standard port': {
    matches: connected({ port: 5300, service: 'dns' }),
    spares: [
      ...connected({ port: 53, service: 'dns' }),
      ...connected({ port: 5300, service: 'dns', dst: server }),
      ...connected({ port: 5300 }),
    ],
  },
  'RDP or VNC on a non-standard port': {
    matches: [
      ...connected({ port: 33_890, service: 'rdp', dst: server }),
      ...connected({ port: 8443, service: 'rfb' }),
    ],
    spares: [
      ...connected({ port: 3389, service: 'rdp' }),
      ...connected({ port: 5901, service: 'rfb' }),
      ...connected({ port: 33_890 }),
    ],
  },
} satisfies Samples;
