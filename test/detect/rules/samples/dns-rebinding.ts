import { asked, dns, eve, type Samples } from '../records.ts';

const answered = (address: string, ttl: number, n = 0, query = 'a.evil.example') =>
  dns({ query, answers: [address], TTLs: [ttl] }, n);
const eveAnswered = (rdata: string, ttl: number, n = 0) =>
  eve(
    'dns',
    {
      dest_ip: '10.20.0.10',
      dest_port: 53,
      dns: {
        version: 2,
        type: 'answer',
        id: 1,
        rrname: 'a.evil.example',
        rrtype: 'A',
        rcode: 'NOERROR',
        answers: [{ rrname: 'a.evil.example', rrtype: 'A', ttl, rdata }],
      },
    },
    n,
  );

export default {
  'DNS answer with a public address and a TTL of seconds': {
    matches: [[answered('198.18.0.1', 1)], [eveAnswered('198.18.0.1', 0)]],
    spares: [[answered('198.18.0.1', 300)], [answered('10.0.0.1', 1)], [dns({ query: 'a.example' })]],
  },
  'DNS answer with a private address and a TTL of seconds': {
    matches: [[answered('10.0.0.1', 1)], [answered('127.0.0.1', 0)], [eveAnswered('192.168.1.1', 1)]],
    spares: [[answered('10.0.0.1', 1200)], [answered('198.18.0.1', 1)]],
  },
  'DNS rebinding': {
    matches: [
      [answered('198.18.0.1', 1), answered('192.168.1.1', 1, 60)],
      [eveAnswered('198.18.0.1', 1), eveAnswered('10.0.0.1', 1, 60)],
    ],
    spares: [
      [answered('198.18.0.1', 1), answered('192.168.1.1', 1, 60, 'b.evil.example')],
      [answered('198.18.0.1', 300), answered('192.168.1.1', 300, 60)],
      [answered('198.18.0.1', 1), answered('198.18.0.2', 1, 60)],
      [answered('198.18.0.1', 1), answered('192.168.1.1', 1, 1000)],
    ],
  },
  'DNS rebinding service lookup': {
    matches: [...asked('7f000001.c0a80001.rbndr.us'), ...asked('make-1.2.3.4-rebind-10.0.0.1.1u.ms')],
    spares: [...asked('rbndr.us.example'), ...asked('nip.io')],
  },
} satisfies Samples;
