import { client, conn, flow, outside, own, type Samples, server, times } from '../records.ts';

const inner = { 'id.orig_h': client, 'id.resp_h': server };
const silent = { conn_state: 'S0', resp_pkts: 0 };
const unanswered = { state: 'new', pkts_toserver: 1, pkts_toclient: 0 };
const refused = { tcp_flags_ts: '02', tcp_flags_tc: '14' };

export default {
  'Internal connection without an answer': {
    matches: [
      [conn({ ...inner, ...silent })],
      [conn({ ...inner, conn_state: 'REJ' })],
      [flow({ dest_ip: server }, unanswered)],
      [flow({ dest_ip: server, tcp: refused })],
      [own({ dst_ip: server, conn_state: 'REJ' })],
      [own({ dst_ip: server, state: 'refused' })],
    ],
    spares: [
      [conn(inner)],
      [conn({ ...inner, ...silent, proto: 'udp' })],
      [conn(silent)],
      [flow({ dest_ip: server })],
      [own({ dst_ip: server, state: 'closed' })],
      [flow({ dest_ip: outside }, unanswered)],
    ],
  },
  'Internal port scan': {
    matches: [
      times(60, (n) => conn({ ...inner, ...silent, 'id.resp_p': 1 + n }, n)),
      times(60, (n) => flow({ dest_ip: server, dest_port: 1 + n, tcp: refused }, undefined, n)),
    ],
    spares: [
      times(59, (n) => conn({ ...inner, ...silent, 'id.resp_p': 1 + n }, n)),
      times(200, (n) => conn({ ...inner, ...silent, 'id.resp_p': 445 }, n)),
      times(60, (n) => conn({ ...inner, ...silent, 'id.resp_p': 1 + n }, n * 60)),
      times(60, (n) => conn({ ...inner, ...silent, 'id.resp_p': 1 + n, 'id.resp_h': `10.0.0.${n}` }, n)),
    ],
  },
  'Internal port sweep': {
    matches: [times(30, (n) => conn({ ...inner, ...silent, 'id.resp_h': `10.0.0.${n}`, 'id.resp_p': 445 }, n))],
    spares: [
      times(29, (n) => conn({ ...inner, ...silent, 'id.resp_h': `10.0.0.${n}`, 'id.resp_p': 445 }, n)),
      times(30, (n) => conn({ ...inner, 'id.resp_h': `10.0.0.${n}`, 'id.resp_p': 445 }, n)),
      times(30, (n) => conn({ ...inner, ...silent, 'id.resp_h': `10.0.0.${n}`, 'id.resp_p': 1 + n }, n)),
    ],
  },
  'Outbound connection without an answer': {
    matches: [[conn(silent)], [flow({}, unanswered)]],
    spares: [[conn()], [conn({ ...silent, 'id.resp_h': '239.255.255.250' })], [conn({ ...inner, ...silent })]],
  },
  'Outbound port sweep': {
    matches: [times(60, (n) => conn({ ...silent, 'id.resp_h': `198.18.1.${n}`, 'id.resp_p': 22 }, n))],
    spares: [
      times(59, (n) => conn({ ...silent, 'id.resp_h': `198.18.1.${n}`, 'id.resp_p': 22 }, n)),
      times(60, (n) => conn({ ...silent, 'id.resp_h': `198.18.1.${n}`, 'id.resp_p': 1000 + n }, n)),
      times(60, (n) => conn({ 'id.resp_h': `198.18.1.${n}` }, n)),
    ],
  },
} satisfies Samples;
